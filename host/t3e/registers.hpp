#pragma once
/// The registers of a node in the bit formats of the manual (HMM-146-0), where it gives them; the places of the bits of
/// R_NET_LUT and R_LUT_OVERRIDE are flitlab's (kernels/routers/t3e/state.hpp), their tables being lost.
#include <functional>
#include <string>
#include <vector>

#include "kernels/routers/t3e/state.hpp"

namespace flitlab::t3e {

/// All registers of one node.
struct NodeRegisters {
  Registers routing;
  SoftwareRegisters software;
  std::vector<Tag> lut;  ///< [kLutRegisters]
};

/// R_ORIENT, R_PWHO, R_LWHO, L_WHOAMI, R_CHAN0 to 7, R_NET_LUT0 to 543, R_LUT_OVERRIDE (tag in bits 18:0, mode in
/// 33:32), R_VCSEL0 to 5, R_SGET_RTRN, R_SW.
std::vector<std::string> register_names();

/// ConfigError for a name that does not exist.
u64 read_register(const NodeRegisters& node, const std::string& name);

/// ConfigError for a name that does not exist, or a value with bits that the register does not use.
void write_register(NodeRegisters& node, const std::string& name, u64 value);

/// Calls `write(node, name, value)` for every line node,name,value of a CSV file; node * becomes one call for every
/// node. ConfigError naming file and line for what cannot be read, and around what `write` throws.
void load_registers(const std::string& path, u32 nodes, const std::function<void(u32, const std::string&, u64)>& write);

}  // namespace flitlab::t3e
