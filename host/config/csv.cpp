#include "host/config/csv.hpp"

#include "host/config/value.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/portable.hpp"

namespace flitlab {

void read_csv(std::string_view key, const TextSource& source,
              const std::function<void(const std::vector<double>&, std::size_t)>& line) {
  const std::unique_ptr<std::istream> in = source.open(std::string(key));
  std::string text;
  std::vector<double> numbers;
  for (std::size_t number = 1; std::getline(*in, text); ++number) {
    if (!text.empty() && text.back() == '\r') text.pop_back();
    if (text.empty() || text[0] == '#') continue;
    numbers.clear();
    const char* at = text.data();
    const char* end = at + text.size();
    while (at <= end) {
      while (at < end && *at == ' ') ++at;
      double x = 0;
      const auto [next, error] = portable::from_chars(at, end, x);
      const char* rest = next;
      while (rest < end && *rest == ' ') ++rest;
      if (error != std::errc{} || (rest < end && *rest != ','))
        throw ConfigError(std::string(key) + ": " + source.path() + ":" + std::to_string(number) + ": " +
                          shown(Value{text}) +
                          " is not a line of comma-separated numbers. Correct it, or start it with # to skip it.");
      numbers.push_back(x);
      if (rest >= end) break;
      at = rest + 1;
    }
    line(numbers, number);
  }
}

}  // namespace flitlab
