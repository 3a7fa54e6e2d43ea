#include "host/routers/t3e/registers.hpp"

#include <algorithm>
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
  return {
      {"R_ORIENT", 3,
       "Bits 0, 1, 2: 1 if port 1 of X, Y, Z is +, else port 0 is. A write sets all nodes; over a link of like "
       "ports the dimension's bit is inverted.",
       true},
      {"R_PWHO", 20, "Physical number of the node: X in bits 2:0, Y in 12:8, Z in 19:16.", true},
      {"R_LWHO", 12, "Logical number of the PE, under which routing tables have the tags of packets to it.", true},
      {"L_WHOAMI", 12, "The same number, as the PE reads it.", true},
      {"R_CHAN#", 4,
       "For channels +X +Y +Z -X -Y -Z, node, I/O: bit 0 IGNORE_NORMAL, 1 IGNORE_SPCL, 2 NO_ADAPT, 3 NO_FAST; node "
       "and I/O have only bits 0 and 1.",
       true},
      {"R_LUT_OVERRIDE", 34, "Tag of mode 3 in bits 18:0, mode 0 to 3 of the R_NET_LUT in 33:32.", true},
      {"R_VCSEL#", 33,
       "For directions +X +Y +Z -X -Y -Z. Bits 7:0 SELECT: virtual channel set, by the three low bits of the "
       "destination's coordinate; bit 32 DATELINE: the dateline of the direction is at this node.",
       true},
      {"R_SGET_RTRN", 48, "Path of answers to an SGET: six signed bytes of hops, primary X lowest.", true},
      {"R_SW", 64, "Free for software; the hardware does not use it.", true},
      {"R_NET_LUT#", 19, "Routing tag by logical number: coordinates, directions, initial and final hop, ADAPT.", true},
  };
}

std::vector<std::string> register_names() {
  std::vector<std::string> names(kRegisterCount);
  names[kOrient] = "R_ORIENT";
  names[kPwho] = "R_PWHO";
  names[kLwho] = "R_LWHO";
  names[kWhoami] = "L_WHOAMI";
  names[kOverride] = "R_LUT_OVERRIDE";
  names[kSgetReturn] = "R_SGET_RTRN";
  names[kScratch] = "R_SW";
  for (u32 n = 0; n < 8; ++n) names[kChan + n] = "R_CHAN" + std::to_string(n);
  for (u32 n = 0; n < kDirections; ++n) names[kVcsel + n] = "R_VCSEL" + std::to_string(n);
  for (u32 n = 0; n < kLutRegisters; ++n) names[kLut + n] = "R_NET_LUT" + std::to_string(n);
  return names;
}

u32 register_number(const std::string& name) {
  static const std::map<std::string, u32> numbers = [] {
    std::map<std::string, u32> map;
    for (const std::string& known : register_names()) map.emplace(known, static_cast<u32>(map.size()));
    return map;
  }();
  if (const auto at = numbers.find(name); at != numbers.end()) return at->second;
  throw ConfigError("register " + shown(Value{name}) +
                    " does not exist in this PE; it has R_ORIENT, R_PWHO, R_LWHO, L_WHOAMI, R_CHAN0 to R_CHAN7, "
                    "R_NET_LUT0 to R_NET_LUT543, R_LUT_OVERRIDE, R_VCSEL0 to R_VCSEL5, R_SGET_RTRN and R_SW.");
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
