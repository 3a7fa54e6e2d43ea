#pragma once
/// A T3E as an experiment describes it: nodes and links, numbers, register contents, and what breaks.
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/routers/t3e/numbers.hpp"
#include "host/routers/t3e/tables.hpp"
#include "host/routers/t3e/ways.hpp"

namespace flitlab::t3e {

struct Machine {
  /// ConfigError for what does not fit, PEs that cannot be connected, or tables that can deadlock.
  /// `checked`: false to have a machine that would be refused because of what its tables do.
  explicit Machine(const Experiment& experiment, bool checked = true);

  Shape shape;
  std::vector<u8> wired;       ///< [nodes] R_ORIENT by which + leads to higher coordinates
  bool orient_inverts = true;  ///< R_ORIENT is told over links of like ports inverted
  std::vector<u8> broken;      ///< [nodes] directions whose links break, or are broken (bits)
  std::vector<u32> broken_nodes;
  u64 break_cycle = 0;        ///< 0: before the run
  u64 reroute_cycle = 0;      ///< when `rerouted` is loaded, if the break is not before the run
  std::vector<u32> io_nodes;  ///< nodes with an I/O device
  Staff staff;
  Tables tables;                            ///< of cycle 0
  Tables rerouted;                          ///< empty if nothing breaks during the run
  std::vector<SoftwareRegisters> software;  ///< [nodes]
  bool own_tables = true;                   ///< from cycle 0 on there are flitlab's, not those of a file, nor none
  std::vector<std::string> warnings;

  bool breaks() const;
  /// Cycle, from `now` on, at which something breaks or is mended.
  u64 next_change(u64 now) const;

 private:
  void read_faults(const Experiment& e);
  void read_io(const Experiment& e);
  /// Tables that route around `links`; PEs of `dead` nodes are out of service. `later`: not those of cycle 0.
  Tables make(const Experiment& e, const std::vector<u8>& links, const std::vector<u32>& dead, bool later,
              Staff& who) const;
  void check_connected(const WayReport& report, bool refuse);
  void load_file(const Experiment& e);

  bool checked_;
};

/// SELECT bits of a node's R_VCSEL by which a packet on a way shorter than half the ring would pass the dateline on
/// set 1. `registers`: [nodes].
u32 stopped_entries(const Shape& shape, const Registers* registers, u32 node, u32 direction);

/// Nodes of a node's ring that have any.
std::vector<u32> stopping_nodes(const Shape& shape, const Registers* registers, u32 node, u32 direction);

/// ConfigError if a tag of `node` makes its initial hop to the dateline of that direction. `name`: of the register.
void check_initial_hop(const Shape& shape, const std::vector<Registers>& registers, u32 node, const std::string& name,
                       Tag tag);

}  // namespace flitlab::t3e
