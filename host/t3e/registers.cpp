#include "host/t3e/registers.hpp"

#include <map>

#include "host/error.hpp"

namespace flitlab::t3e {
namespace {

std::string hexadecimal(u64 x) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(x));
  return text;
}

/// Index of the R_NET_LUT register among those of a node, if the number is that of one.
u32 lut_index(u32 number) { return number >= kLut ? number - kLut : 0; }

}  // namespace

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
  throw ConfigError("there is no register " + name +
                    ": there are R_ORIENT, R_PWHO, R_LWHO, L_WHOAMI, R_CHAN0 to R_CHAN7, R_NET_LUT0 to R_NET_LUT543, "
                    "R_LUT_OVERRIDE, R_VCSEL0 to R_VCSEL5, R_SGET_RTRN and R_SW.");
}

void check_value(u32 number, u64 value) {
  if (value & ~register_bits(number))
    throw ConfigError(register_names()[number] + " = " + hexadecimal(value) +
                      " sets bits that the register does not have: its bits are " + hexadecimal(register_bits(number)) +
                      ".");
}

u64 read_register(const NodeRegisters& node, u32 number) {
  return read_register(node.routing, node.software, node.lut[lut_index(number)], number);
}

void write_register(NodeRegisters& node, u32 number, u64 value) {
  write_register(node.routing, node.software, node.lut[lut_index(number)], number, value);
}

}  // namespace flitlab::t3e
