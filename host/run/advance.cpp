#include "host/run/advance.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include "host/plan/interrupt.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {

void require_time(Cycle now, u64 cycles) {
  if (now > kEndOfTime || cycles > kEndOfTime - now)
    throw RunError("cycle " + std::to_string(now + cycles) + " cannot be reached: emulated time ends at " +
                   std::to_string(kEndOfTime) + ", since clocks have 32 bits. Divide the work into several runs.");
}

namespace {

/// Cycles at a time, so that a stop is heard within a second, whatever engine does them and however large the network
/// is: a few at first, then twice as many as long as that takes less than a quarter of a second.
void advance_in_pieces(Engine& engine, u32 cycles, std::span<const u32> active) {
  using Clock = std::chrono::steady_clock;
  constexpr u64 kFirst = 1000000;  // router-cycles: the slowest model does as many in half a second
  constexpr auto kLong = std::chrono::milliseconds(250);
  u64 most = std::max<u64>(1, kFirst / std::max<u64>(1, u64{engine.layout().kinds[0].count} * active.size()));
  for (u32 left = cycles; left;) {
    const u32 piece = static_cast<u32>(std::min<u64>(left, most));
    const auto start = Clock::now();
    engine.advance(piece, active);
    left -= piece;
    if (left) check_interrupt();
    most = Clock::now() - start < kLong ? most * 2 : std::max<u64>(1, most / 2);
  }
}

}  // namespace

void advance(Engine& engine, const Plan& plan, std::vector<TraceFeed>& feeds, Idle& idle, u32 cycles,
             std::span<const u32> active) {
  require_time(engine.now(), cycles);
  while (cycles) {
    const u64 now = engine.now();
    u64 step = cycles;
    if (!feeds.empty()) {
      const u32 phase = now % kTraceRing;
      if (phase == 0) {
        for (u32 replica : active) feeds[replica].exchange(engine, replica);
        if (const u32 skipped = idle.skip(engine, plan, feeds, cycles, active)) {
          cycles -= skipped;
          continue;
        }
      }
      step = std::min<u64>(step, kTraceRing - phase);
    }
    u64 change = plan.next_change(now);
    if (change == now) {
      for (u32 replica : active) plan.change(engine, replica);
      change = plan.next_change(now + 1);
    }
    step = std::min(step, change - now);
    advance_in_pieces(engine, static_cast<u32>(step), active);
    cycles -= static_cast<u32>(step);
  }
}

}  // namespace flitlab
