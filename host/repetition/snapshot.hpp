#pragma once
/// A replica between two cycles.
#include <cstddef>
#include <vector>

#include "kernels/common/counters.hpp"
#include "kernels/common/types.hpp"
#include "kernels/traffic/program_state.hpp"

namespace flitlab {

/// What is read first, because it takes little time.
struct Glance {
  u64 cycle = 0;
  std::vector<ProgramControl> controls;  ///< [terminals * ranks] progress of programs
  std::vector<std::byte> sample;         ///< Motion::quick of some items, if the host has access to them
};

struct Snapshot : Glance {
  std::vector<std::byte> state;  ///< in canonical order
  CounterShard counters{};
};

/// Two snapshots of a run between which something has happened that may happen again.
struct Period {
  const Snapshot &before, &after;

  u32 cycles() const { return static_cast<u32>(after.cycle - before.cycle); }
};

}  // namespace flitlab
