#pragma once
/// A T3E as an experiment describes it: nodes, links, PE numbers, register contents, and faults.
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/routers/t3e/numbers.hpp"
#include "host/routers/t3e/paths.hpp"
#include "host/routers/t3e/tables.hpp"

namespace flitlab::t3e {

struct Machine {
  /// ConfigError for parameters that do not fit together, for PEs that cannot be connected, and for tables that can
  /// deadlock. `checked` = false accepts the last two kinds of faults.
  explicit Machine(const Experiment& experiment, bool checked = true);

  Shape shape;
  std::vector<u8> wired;  ///< [nodes] value of R_ORIENT for which + leads to higher coordinates (bit d: dimension d)
  /// R_ORIENT's bit is inverted when it passes a link between two ports of the same number.
  bool orient_inverts = true;
  std::vector<u8> broken;  ///< [nodes] directions whose links are broken, at the start or later (bits)
  std::vector<u32> broken_nodes;
  u64 break_cycle = 0;        ///< cycle in which the links break; 0: before the run
  u64 reroute_cycle = 0;      ///< cycle in which `rerouted` is loaded after a break in the run
  std::vector<u32> io_nodes;  ///< nodes with an I/O device
  Assignment assignment;
  Tables tables;                            ///< tables at cycle 0
  Tables rerouted;                          ///< tables that are loaded after a break during the run; otherwise empty
  std::vector<SoftwareRegisters> software;  ///< [nodes]
  bool has_plan_tables = true;              ///< the tables at cycle 0 are flitlab's: no registers.file, no cold start
  std::vector<std::string> warnings;

  bool breaks() const;
  /// Returns the first cycle, from `now` on, in which links break or new tables are loaded; kNever if there is no such
  /// cycle.
  u64 next_change(u64 now) const;

 private:
  void read_faults(const Experiment& e);
  void read_io(const Experiment& e);
  /// Returns tables that route around the broken `links`, with the PEs of `dead` nodes out of service. `later`: the
  /// tables are for the time after a break during the run. `pe_assignment`: receives the assignment of the PEs.
  Tables make(const Experiment& e, const std::vector<u8>& links, const std::vector<u32>& dead, bool later,
              Assignment& pe_assignment) const;
  void check_connected(const PathReport& report, bool refuse);
  void load_file(const Experiment& e);

  bool checked_;
};

/// Returns the SELECT bits in a node's R_VCSEL that are set but must not be: they send a packet through the dateline on
/// VC set 1, on a path shorter than half the ring. `registers`: [nodes].
u32 stopped_entries(const Shape& shape, const Registers* registers, u32 node, u32 direction);

/// Returns the nodes of a node's ring that have such SELECT bits (stopped_entries()).
std::vector<u32> stopping_nodes(const Shape& shape, const Registers* registers, u32 node, u32 direction);

/// Throws ConfigError if the initial hop of routing tag `tag` of `node` leads to the dateline of that direction.
/// `name`: name of the register that holds the tag, for the message.
void check_initial_hop(const Shape& shape, const std::vector<Registers>& registers, u32 node, const std::string& name,
                       Tag tag);

}  // namespace flitlab::t3e
