#pragma once
/// The registers of a node by the names of the manual (HMM-146-0).
#include <functional>
#include <string>
#include <vector>

#include "host/plan/console.hpp"
#include "kernels/routers/t3e/registers.hpp"

namespace flitlab::t3e {

/// All registers of one node.
struct NodeRegisters {
  Registers routing;
  SoftwareRegisters software;
  std::vector<Tag> lut;  ///< [kLutRegisters]
  u32 wired;             ///< R_ORIENT by which + leads to higher coordinates
};

/// What they are, in the order of RegisterNumber.
std::vector<RegisterRecord> register_records();
/// R_ORIENT, R_PWHO, R_LWHO, L_WHOAMI, R_CHAN0 to 7, R_LUT_OVERRIDE, R_VCSEL0 to 5, R_SGET_RTRN, R_SW, R_NET_LUT0 to
/// 543: in the order of RegisterNumber.
std::vector<std::string> register_names();

/// RegisterNumber of a name; ConfigError if there is none.
u32 register_number(const std::string& name);

/// ConfigError for a value with bits that the register does not have.
void check_value(u32 number, u64 value);

u64 read_register(const NodeRegisters& node, u32 number);
void write_register(NodeRegisters& node, u32 number, u64 value);

/// Calls `write(node, name, value)` for every line node,name,value of a CSV file; node * becomes one call for every
/// node. ConfigError naming file and line for what cannot be read, and around what `write` throws.
void load_registers(const std::string& path, u32 nodes, const std::function<void(u32, const std::string&, u64)>& write);

}  // namespace flitlab::t3e
