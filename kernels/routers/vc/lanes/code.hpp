#pragma once
/// Table of the functions that work on lane state; the engine calls them by pointers.
/// They are compiled once for each vector width, and flitlab chooses a width at run time
/// (kernels/routers/vc/lanes/lanes.hpp).
#include "kernels/common/counters.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/replica.hpp"
#include "kernels/routers/vc/lanes/state.hpp"

namespace flitlab::vc::lanes {

/// Arguments of these functions that describe a replica with lane state.
struct Replica {
  const void* table;  ///< plan, of the type that the code was chosen for (TableKind)
  const Wiring* wiring;
  std::byte* memory;
  const ReplicaRow* row;
};

/// Plan types that code is compiled for.
enum class TableKind : int {
  kFixed,       ///< FixedVcTable
  kFixedLoop,   ///< FixedVcTable with requests and replies
  kFixedTrace,  ///< FixedVcTable with the traffic of a trace
  kNoScript,    ///< NoScriptVcTable
  kScript       ///< ScriptVcTable
};

/// The smallest code that fits a plan.
struct CodeChoice {
  TableKind table;
  Room room;
  u32 element_bits;
  u32 ports;
};

struct Code {
  u32 width;  ///< routers per block
  u32 element_bytes;
  u32 vcs;  ///< number of virtual channels per port for which there is room
  std::size_t (*bytes)(const VcTable& t);
  /// Convert the scalar state (`canonical`) to lane state, and back.
  void (*load)(const Replica&, std::byte* canonical, const Placement&, Cycle now);
  void (*store)(const Replica&, std::byte* canonical, const Placement&, Cycle now);
  /// Runs blocks `begin` to before `end` for `cycles` cycles; more than one cycle needs all blocks. `canonical` holds
  /// terminals without lane state.
  void (*run)(const Replica&, std::byte* canonical, const Placement&, CounterShard&, u32 begin, u32 end, Cycle now,
              u32 cycles);
  /// Audits all routers. If there is a fault, returns false and counts nothing.
  bool (*audit)(const Replica&, std::byte* canonical, const Placement&, CounterShard&, Cycle now);
  /// Lets a terminal without lane state run in the next cycle.
  void (*wake)(const Replica&, u32 terminal);
};

}  // namespace flitlab::vc::lanes
