#pragma once
/// What the engine calls of lanes, by pointers: each width is compiled for the processors that have its registers, and
/// the one for this machine is chosen when it runs (kernels/routers/vc/lanes/lanes.hpp).
#include "kernels/common/counters.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/replica.hpp"
#include "kernels/routers/vc/lanes/state.hpp"

namespace flitlab::vc::lanes {

/// A replica in lanes.
struct Replica {
  const void* table;  ///< of the type that the code was asked for
  const Wiring* wiring;
  std::byte* memory;
  const ReplicaRow* row;
};

/// Tables that there is code for.
enum class TableKind : int {
  kFixed,      ///< FixedVcTable
  kOpen,       ///< OpenVcTable
  kRoundRobin  ///< RoundRobinVcTable
};

struct Code {
  u32 width;  ///< routers to a block
  u32 vcs;    ///< that there is room for at each port
  std::size_t (*bytes)(u32 routers, u32 slots, u32 ring);
  /// From a state in canonical order, and back.
  void (*load)(const Replica&, std::byte* canonical, const Placement&, Cycle now);
  void (*store)(const Replica&, std::byte* canonical, const Placement&, Cycle now);
  /// Blocks `begin` to `end` for some cycles; all blocks if that is more than one. The state in canonical order is
  /// where terminals are that are not in lanes.
  void (*run)(const Replica&, std::byte* canonical, const Placement&, CounterShard&, u32 begin, u32 end, Cycle now,
              u32 cycles);
};

}  // namespace flitlab::vc::lanes
