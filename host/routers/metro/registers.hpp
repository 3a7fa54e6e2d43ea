#pragma once
/// Registers of METRO routers: settings that scan can access while the machine runs (METRO, 5.1, Scan Support; Table
/// 2), and the words on the wires, which can be read only. Ports are named f0, f1, ... (forward) and b0, b1, ...
/// (backward).
#include <map>
#include <string>
#include <vector>

#include "host/plan/console.hpp"
#include "host/routers/metro/faults.hpp"
#include "kernels/engines/engine.hpp"

namespace flitlab {

/// Settings of the routers of a replica, changed between two cycles.
class MetroRegisters {
 public:
  MetroRegisters(Engine& engine, u32 replica, const metro::Table& table)
      : engine_(engine), replica_(replica), t_(table) {}

  /// Applies a fault, or a repair, to the settings.
  void apply(const MetroFault& fault);
  /// Sets a register of a router. ConfigError if it is read-only or the value is out of range.
  void set(u32 router, const std::string& name, u64 value, const MetroNetwork& network);

  /// Returns whether a register is accessed by scan, through the router's test access ports, of which one must work.
  /// All other registers (words and states) can always be read.
  static bool by_scan(const std::string& name);
  /// Returns the error message for a register name that does not exist.
  static std::string unknown(const std::string& name, const std::map<std::string, u64>& all);

 private:
  /// Calls change(element) for element `index` of a field of an item.
  template <class T, class Change>
  void change(u32 kind, u32 item, const char* field, u32 index, Change&& change);
  void set_port(u32 router, u32 port, bool on);

  Engine& engine_;
  u32 replica_;
  const metro::Table& t_;
};

/// Returns the records of all registers. `max_turn_delay`: largest turn_delay of a port, cycles.
std::vector<RegisterRecord> metro_register_records(const metro::Table& table, u32 max_turn_delay);

/// Returns the values of all registers of a router in the first replica, by name.
std::map<std::string, u64> metro_registers(const Engine& engine, const metro::Table& table, const MetroNetwork& network,
                                           u32 router);

}  // namespace flitlab
