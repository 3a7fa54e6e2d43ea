#include "host/config/csv.hpp"

#include <charconv>
#include <cstring>
#include <fstream>

#include "host/config/value.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {

void read_csv(std::string_view key, const std::string& path,
              const std::function<void(const std::vector<double>&, std::size_t)>& line) {
  std::ifstream file(path);
  const auto unreadable = [&] {
    return ConfigError(std::string(key) + " = " + to_text(Value{path}) + " cannot be read: " + std::strerror(errno) +
                       ". Give the name of a CSV file, relative to the configuration's folder.");
  };
  if (!file) throw unreadable();
  std::string text;
  std::vector<double> numbers;
  for (std::size_t number = 1; std::getline(file, text); ++number) {
    if (!text.empty() && text.back() == '\r') text.pop_back();
    if (text.empty() || text[0] == '#') continue;
    numbers.clear();
    const char* at = text.data();
    const char* end = at + text.size();
    while (at <= end) {
      while (at < end && *at == ' ') ++at;
      double x = 0;
      const auto [next, error] = std::from_chars(at, end, x);
      const char* rest = next;
      while (rest < end && *rest == ' ') ++rest;
      if (error != std::errc{} || (rest < end && *rest != ','))
        throw ConfigError(std::string(key) + ": " + path + ":" + std::to_string(number) + ": " + shown(Value{text}) +
                          " is not a line of comma-separated numbers. Correct it, or start it with # to skip it.");
      numbers.push_back(x);
      if (rest >= end) break;
      at = rest + 1;
    }
    line(numbers, number);
  }
  if (file.bad()) throw unreadable();  // a folder can be opened, but not read
}

}  // namespace flitlab
