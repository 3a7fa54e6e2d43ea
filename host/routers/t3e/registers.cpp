#include "host/routers/t3e/registers.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>

#include "host/config/text_source.hpp"
#include "host/config/value.hpp"
#include "kernels/common/error.hpp"

namespace flitlab::t3e {
namespace {

std::string hexadecimal(u64 x) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(x));
  return text;
}

}  // namespace

std::vector<RegisterRecord> register_records() {
  std::vector<RegisterRecord> records;
#define FLITLAB_REGISTER_RECORD(unused, first, name, count, bits, read, write, help) \
  records.push_back({name, static_cast<u32>(std::bit_width(register_bits(first))), help, true});
  FLITLAB_T3E_REGISTERS(FLITLAB_REGISTER_RECORD)
  return records;
}

std::vector<std::string> register_names() {
  std::vector<std::string> names;
#define FLITLAB_REGISTER_NAMES(unused, first, name, count, ...) \
  for (u32 n = 0; n < (count); ++n) names.push_back(element_name(name, n));
  FLITLAB_T3E_REGISTERS(FLITLAB_REGISTER_NAMES)
  return names;
}

u32 register_number(const std::string& name) {
  static const std::map<std::string, u32> numbers = [] {
    std::map<std::string, u32> map;
    for (const std::string& known : register_names()) map.emplace(known, static_cast<u32>(map.size()));
    return map;
  }();
  if (const auto at = numbers.find(name); at != numbers.end()) return at->second;
  std::string known;
#define FLITLAB_REGISTER_RANGE(unused, first, name, count, ...)  \
  known += (known.empty() ? "" : ", ") + element_name(name, 0) + \
           ((count) > 1 ? " to " + element_name(name, (count) - 1) : "");
  FLITLAB_T3E_REGISTERS(FLITLAB_REGISTER_RANGE)
  throw ConfigError("register " + shown(Value{name}) + " does not exist in this PE; it has " + known + ".");
}

void check_value(u32 number, u64 value) {
  if (value & ~register_bits(number))
    throw ConfigError(register_names()[number] + " = " + hexadecimal(value) +
                      " sets bits that the register does not have: its bits are " + hexadecimal(register_bits(number)) +
                      ".");
}

u64 read_register(const NodeRegisters& node, u32 number) {
  return read_register(node.routing, node.software, node.lut[lut_index(number)], node.wired, number);
}

void write_register(NodeRegisters& node, u32 number, u64 value) {
  write_register(node.routing, node.software, node.lut[lut_index(number)], node.wired, number, value);
}

void load_registers(const std::string& path, u32 nodes,
                    const std::function<void(u32, const std::string&, u64)>& write) {
  std::ifstream file(path);
  if (!file) throw ConfigError("registers.file: cannot read " + path + ".");
  skip_mark(file, "registers.file: " + path);
  std::string line;
  for (u64 number = 1; std::getline(file, line); ++number) {
    line.erase(std::remove_if(line.begin(), line.end(), [](unsigned char c) { return std::isspace(c); }), line.end());
    if (line.empty() || line[0] == '#') continue;
    const std::string where = "registers.file: " + path + ":" + std::to_string(number) + ": ";
    std::istringstream fields(line);
    std::string node, name, value, rest;
    std::getline(fields, node, ',');
    std::getline(fields, name, ',');
    std::getline(fields, value, ',');
    const auto parse = [](std::string_view text, u64& x) {
      const bool hex = text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X";
      if (hex) text.remove_prefix(2);
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x, hex ? 16 : 10);
      return error == std::errc() && end == text.data() + text.size();
    };
    u64 bits = 0, first = 0;
    if (std::getline(fields, rest, ',') || name.empty() || !parse(value, bits) || (node != "*" && !parse(node, first)))
      throw ConfigError(where + "a line must be node,name,value, for example 3,R_CHAN0,0x4; node * is every node.");
    if (node != "*" && first >= nodes)
      throw ConfigError(where + "nodes are numbered 0 to " + std::to_string(nodes - 1) + ".");
    const u64 last = node == "*" ? nodes : first + 1;
    try {
      for (u64 n = first; n < last; ++n) write(static_cast<u32>(n), name, bits);
    } catch (const ConfigError& e) {
      throw ConfigError(where + e.what());
    }
  }
}

}  // namespace flitlab::t3e
