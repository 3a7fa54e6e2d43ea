#pragma once
/// What is reached by scan in a METRO router while the rest of the machine runs (METRO, 5.1, Scan Support; Table 2),
/// and the words on its wires. Ports are f0, f1, ... (forward) and b0, b1, ... (backward).
#include <map>
#include <string>
#include <vector>

#include "host/plan/console.hpp"
#include "host/routers/metro/faults.hpp"
#include "kernels/engines/engine.hpp"

namespace flitlab {

/// The routers' settings of a replica, to be changed between cycles.
class MetroRegisters {
 public:
  MetroRegisters(Engine& engine, u32 replica, const metro::Table& table);

  void apply(const MetroFault& fault);
  /// ConfigError if the register cannot be written or does not take the value.
  void set(u32 router, const std::string& name, u64 value, const MetroNetwork& network);
  /// Back to the replica.
  void write();

  /// Whether it takes scan to reach a register; words and states are there to be looked at.
  static bool by_scan(const std::string& name);
  /// A message about a name that is none of these.
  static std::string unknown(const std::string& name, const std::map<std::string, u64>& all);

 private:
  void set_port(u32 router, u32 port, bool on);

  Engine& engine_;
  u32 replica_;
  const metro::Table& t_;
  std::vector<metro::RouterControl> control_;
  std::vector<metro::WireState> wire_, endpoint_wire_;
  std::vector<u32> links_on_, drive_;
  std::vector<u8> turn_delay_;
  std::vector<metro::ForwardPort> forward_;
};

/// What they are. `max_turn_delay`: the most that a port's turn_delay can be.
std::vector<RegisterRecord> metro_register_records(const metro::Table& table, u32 max_turn_delay);

/// All registers of a router of the first replica.
std::map<std::string, u64> metro_registers(const Engine& engine, const metro::Table& table, const MetroNetwork& network,
                                           u32 router);

}  // namespace flitlab
