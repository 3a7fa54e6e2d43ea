#include "common/icnt_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

namespace flitlab_adapters {
namespace {

std::string trimmed(const std::string& text) {
  const char* const kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(kBlank) + 1 - first);
}

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  IcntFile read() {
    if (std::filesystem::is_directory(path_)) throw std::runtime_error(path_ + " is a folder, not an .icnt file.");
    std::ifstream file(path_);
    if (!file) throw std::runtime_error(path_ + " cannot be read: does the file exist?");
    for (std::string line; std::getline(file, line); ++line_) statements(line.substr(0, line.find("//")));
    ++line_;
    return icnt_;
  }

 private:
  [[noreturn]] void reject(const std::string& why) const {
    throw std::runtime_error(path_ + ", line " + std::to_string(line_) + ": " + why);
  }

  void statements(const std::string& line) {
    for (size_t begin = 0; begin <= line.size();) {
      const size_t end = std::min(line.find(';', begin), line.size());
      const std::string text = trimmed(line.substr(begin, end - begin));
      begin = end + 1;
      if (text.empty() || text.front() == '[') continue;  // [config] is the head of a file
      const size_t equals = text.find('=');
      if (equals == std::string::npos) reject("`" + text + "` is not a statement NAME = VALUE.");
      assign(trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1)));
    }
  }

  void assign(const std::string& name, const std::string& value) {
    const std::map<std::string, uint32_t*> numbers = {{"flit_size", &icnt_.flit_size},
                                                      {"subnets", &icnt_.subnets},
                                                      {"num_vcs", &icnt_.num_vcs},
                                                      {"vc_buf_size", &icnt_.vc_buf_size},
                                                      {"input_buffer_size", &icnt_.input_buffer_size},
                                                      {"ejection_buffer_size", &icnt_.ejection_buffer_size},
                                                      {"boundary_buffer_size", &icnt_.boundary_buffer_size},
                                                      {"use_map", &icnt_.use_map}};
    const bool may_be_0 = name == "input_buffer_size" || name == "ejection_buffer_size" || name == "use_map";
    if (const auto found = numbers.find(name); found != numbers.end())
      *found->second = number(name, value, may_be_0 ? 0 : 1);
    else if (name == "memory_node_map")
      icnt_.memory_node_map = numbers_in_braces(name, value);
  }

  uint32_t number(const std::string& name, const std::string& text, uint32_t least) const {
    constexpr unsigned long kMost = 1'000'000'000;
    char* end = nullptr;
    errno = 0;
    const unsigned long value = std::strtoul(text.c_str(), &end, 10);
    if (text.empty() || text.front() < '0' || text.front() > '9' || *end || errno || value < least || value > kMost)
      reject(name + " = " + text + " must be a whole number from " + std::to_string(least) + " to " +
             std::to_string(kMost) + ".");
    return static_cast<uint32_t>(value);
  }

  std::vector<uint32_t> numbers_in_braces(const std::string& name, const std::string& text) const {
    std::vector<uint32_t> list;
    if (text.empty()) return list;
    if (text.size() < 2 || text.front() != '{' || text.back() != '}')
      reject(name + " = " + text + " must be a list {A,B,...} in one line.");
    for (size_t begin = 1; begin < text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size() - 1);
      list.push_back(number(name, trimmed(text.substr(begin, end - begin)), 0));
      begin = end + 1;
    }
    return list;
  }

  std::string path_;
  uint32_t line_ = 1;
  IcntFile icnt_;
};

}  // namespace

IcntFile read_icnt(const std::string& path) { return Reader(path).read(); }

std::string toml_beside(const std::string& icnt) {
  const std::string toml = std::filesystem::path(icnt).replace_extension(".toml").string();
  if (!std::filesystem::exists(toml))
    throw std::runtime_error(toml + " does not exist. flitlab reads the network from this file. `flitlab import " +
                             icnt + " -o " + toml + "` writes it.");
  return toml;
}

}  // namespace flitlab_adapters
