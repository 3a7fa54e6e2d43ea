#pragma once
/// A T3E as an experiment describes it: nodes and links, numbers, register contents, and faults.
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/routers/t3e/numbers.hpp"
#include "host/routers/t3e/paths.hpp"
#include "host/routers/t3e/tables.hpp"

namespace flitlab::t3e {

struct Machine {
  /// ConfigError for parameters that do not fit together, PEs that cannot be connected, and tables that can deadlock.
  /// `checked` = false accepts the last two.
  explicit Machine(const Experiment& experiment, bool checked = true);

  Shape shape;
  std::vector<u8> wired;       ///< [nodes] value of R_ORIENT for which + leads to higher coordinates
  bool orient_inverts = true;  ///< R_ORIENT's bit is inverted over links of like ports
  std::vector<u8> broken;      ///< [nodes] directions whose links are broken, now or later (bits)
  std::vector<u32> broken_nodes;
  u64 break_cycle = 0;        ///< cycle of the break; 0: before the run
  u64 reroute_cycle = 0;      ///< cycle in which `rerouted` is loaded after a break in the run
  std::vector<u32> io_nodes;  ///< nodes with an I/O device
  Assignment assignment;
  Tables tables;                            ///< at cycle 0
  Tables rerouted;                          ///< tables after a break during the run; else empty
  std::vector<SoftwareRegisters> software;  ///< [nodes]
  bool has_plan_tables = true;              ///< cycle 0 has flitlab's tables: no registers.file, no cold start
  std::vector<std::string> warnings;

  bool breaks() const;
  /// Returns the first cycle, from `now` on, in which links break or new tables are loaded; kNever if there is no such
  /// cycle.
  u64 next_change(u64 now) const;

 private:
  void read_faults(const Experiment& e);
  void read_io(const Experiment& e);
  /// Makes tables that route around the broken `links`, with the PEs of `dead` nodes out of service. `later`: for the
  /// time after a break during the run. `pe_assignment`: receives the PEs' assignment.
  Tables make(const Experiment& e, const std::vector<u8>& links, const std::vector<u32>& dead, bool later,
              Assignment& pe_assignment) const;
  void check_connected(const PathReport& report, bool refuse);
  void load_file(const Experiment& e);

  bool checked_;
};

/// Returns the SELECT bits of a node's R_VCSEL that send a packet through the dateline on set 1, on a path shorter than
/// half the ring. `registers`: [nodes].
u32 stopped_entries(const Shape& shape, const Registers* registers, u32 node, u32 direction);

/// Returns the nodes of a node's ring that have such bits.
std::vector<u32> stopping_nodes(const Shape& shape, const Registers* registers, u32 node, u32 direction);

/// ConfigError if the initial hop of a tag of `node` leads to the dateline of that direction. `name`: of the register.
void check_initial_hop(const Shape& shape, const std::vector<Registers>& registers, u32 node, const std::string& name,
                       Tag tag);

}  // namespace flitlab::t3e
