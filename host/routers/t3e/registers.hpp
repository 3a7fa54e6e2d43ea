#pragma once
/// Registers of a node, under their names in the manual (HMM-146-0).
#include <functional>
#include <string>
#include <vector>

#include "host/plan/console.hpp"
#include "kernels/routers/t3e/registers.hpp"

namespace flitlab::t3e {

/// Kinds of items in the state (StateLayout::kinds).
inline constexpr u32 kRouterKind = 0, kPeKind = 1, kTablesKind = 2;

/// All registers of one node.
struct NodeRegisters {
  Registers routing;
  SoftwareRegisters software;
  std::vector<Tag> lut;  ///< [kLutRegisters]
  u32 wired;             ///< value of R_ORIENT for which + leads to higher coordinates
};

/// Returns the records of all registers, in the order of RegisterNumber.
std::vector<RegisterRecord> register_records();
/// Returns the names of all registers, in the order of RegisterNumber.
std::vector<std::string> register_names();

/// Returns the RegisterNumber of a name. ConfigError for an unknown name.
u32 register_number(const std::string& name);

/// Throws ConfigError if a value has bits that the register does not have.
void check_value(u32 number, u64 value);

/// Returns the index of an R_NET_LUT register in NodeRegisters::lut; 0 for other registers.
inline u32 lut_index(u32 number) { return number >= kLut ? number - kLut : 0; }

u64 read_register(const NodeRegisters& node, u32 number);
void write_register(NodeRegisters& node, u32 number, u64 value);

/// Calls `write(node, name, value)` for every line node,name,value of a CSV file. A line with * as its node gives one
/// call for every node. ConfigError with file and line if a line cannot be read or `write` throws ConfigError.
void load_registers(const std::string& path, u32 nodes, const std::function<void(u32, const std::string&, u64)>& write);

}  // namespace flitlab::t3e
