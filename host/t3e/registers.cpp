#include "host/t3e/registers.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <sstream>

#include "host/error.hpp"

namespace flitlab::t3e {
namespace {

struct Access {
  u64 used;  ///< bits of the register
  std::function<u64(const NodeRegisters&)> read;
  std::function<void(NodeRegisters&, u64)> write;
};

constexpr u64 kTagBits = (u64{1} << 19) - 1;

/// The number behind a register's name, if the name begins so and the number is below `count`.
bool numbered(const std::string& name, const std::string& stem, u32 count, u32& number) {
  if (name.size() <= stem.size() || name.compare(0, stem.size(), stem) != 0 || name.size() > stem.size() + 3)
    return false;
  number = 0;
  for (std::size_t i = stem.size(); i < name.size(); ++i) {
    if (name[i] < '0' || name[i] > '9') return false;
    number = number * 10 + static_cast<u32>(name[i] - '0');
  }
  return number < count;
}

Access find(const std::string& name) {
  u32 n = 0;
  if (name == "R_PWHO")
    return {0xF1F07, [](const NodeRegisters& r) { return u64{r.routing.pwho}; },
            [](NodeRegisters& r, u64 x) { r.routing.pwho = static_cast<u32>(x); }};
  if (name == "R_LWHO" || name == "L_WHOAMI")
    return {0xFFF, [](const NodeRegisters& r) { return u64{r.routing.lwho}; },
            [](NodeRegisters& r, u64 x) { r.routing.lwho = static_cast<u16>(x); }};
  if (name == "R_ORIENT")
    return {0x7, [](const NodeRegisters& r) { return u64{r.routing.orient}; },
            [](NodeRegisters& r, u64 x) { r.routing.orient = static_cast<u8>(x); }};
  if (name == "R_LUT_OVERRIDE")
    return {kTagBits | u64{3} << 32,
            [](const NodeRegisters& r) { return u64{r.routing.override_tag} | u64{r.routing.lut_mode} << 32; },
            [](NodeRegisters& r, u64 x) {
              r.routing.override_tag = static_cast<Tag>(x & kTagBits);
              r.routing.lut_mode = static_cast<u8>(x >> 32);
            }};
  if (name == "R_SGET_RTRN")
    return {~u64{0}, [](const NodeRegisters& r) { return r.software.sget_return; },
            [](NodeRegisters& r, u64 x) { r.software.sget_return = x; }};
  if (name == "R_SW")
    return {~u64{0}, [](const NodeRegisters& r) { return r.software.scratch; },
            [](NodeRegisters& r, u64 x) { r.software.scratch = x; }};
  if (numbered(name, "R_CHAN", 8, n))
    return {n < kDirections ? u64{15} : u64{3}, [n](const NodeRegisters& r) { return u64{r.routing.chan[n]}; },
            [n](NodeRegisters& r, u64 x) { r.routing.chan[n] = static_cast<u8>(x); }};
  if (numbered(name, "R_VCSEL", kDirections, n))
    return {0xFF | u64{1} << 32,
            [n](const NodeRegisters& r) {
              const u64 v = r.routing.vcsel[n];
              return (v & 0xFF) | (v & kDateline ? u64{1} << 32 : 0);
            },
            [n](NodeRegisters& r, u64 x) {
              r.routing.vcsel[n] = static_cast<u16>((x & 0xFF) | (x >> 32 ? kDateline : 0));
            }};
  if (numbered(name, "R_NET_LUT", kLutRegisters, n))
    return {kTagBits, [n](const NodeRegisters& r) { return u64{r.lut[n]}; },
            [n](NodeRegisters& r, u64 x) { r.lut[n] = static_cast<Tag>(x); }};
  throw ConfigError("there is no register " + name +
                    ": there are R_ORIENT, R_PWHO, R_LWHO, L_WHOAMI, R_CHAN0 to R_CHAN7, R_NET_LUT0 to R_NET_LUT543, "
                    "R_LUT_OVERRIDE, R_VCSEL0 to R_VCSEL5, R_SGET_RTRN and R_SW.");
}

std::string hexadecimal(u64 x) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(x));
  return text;
}

}  // namespace

std::vector<std::string> register_names() {
  std::vector<std::string> names{"R_ORIENT", "R_PWHO", "R_LWHO", "L_WHOAMI"};
  for (u32 n = 0; n < 8; ++n) names.push_back("R_CHAN" + std::to_string(n));
  for (u32 n = 0; n < kLutRegisters; ++n) names.push_back("R_NET_LUT" + std::to_string(n));
  names.push_back("R_LUT_OVERRIDE");
  for (u32 n = 0; n < kDirections; ++n) names.push_back("R_VCSEL" + std::to_string(n));
  names.push_back("R_SGET_RTRN");
  names.push_back("R_SW");
  return names;
}

u64 read_register(const NodeRegisters& node, const std::string& name) { return find(name).read(node); }

void write_register(NodeRegisters& node, const std::string& name, u64 value) {
  const Access access = find(name);
  if (value & ~access.used)
    throw ConfigError(name + " = " + hexadecimal(value) + " sets bits that the register does not have: its bits are " +
                      hexadecimal(access.used) + ".");
  access.write(node, value);
}

void load_registers(const std::string& path, u32 nodes,
                    const std::function<void(u32, const std::string&, u64)>& write) {
  std::ifstream file(path);
  if (!file) throw ConfigError("registers.file: cannot read " + path + ".");
  std::string line;
  for (u64 number = 1; std::getline(file, line); ++number) {
    line.erase(std::remove_if(line.begin(), line.end(), [](unsigned char c) { return std::isspace(c); }), line.end());
    if (line.empty() || line[0] == '#') continue;
    const std::string where = "registers.file: " + path + ":" + std::to_string(number) + ": ";
    std::istringstream words(line);
    std::string node, name, value, rest;
    std::getline(words, node, ',');
    std::getline(words, name, ',');
    std::getline(words, value, ',');
    const auto parse = [](std::string_view text, u64& x) {
      const bool hex = text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X";
      if (hex) text.remove_prefix(2);
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x, hex ? 16 : 10);
      return error == std::errc() && end == text.data() + text.size();
    };
    u64 bits = 0, first = 0;
    if (std::getline(words, rest, ',') || name.empty() || !parse(value, bits) || (node != "*" && !parse(node, first)))
      throw ConfigError(where + "a line is node,name,value such as 3,R_CHAN0,0x4; node * is every node.");
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
