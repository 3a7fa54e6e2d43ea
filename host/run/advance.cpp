#include "host/run/advance.hpp"

#include <algorithm>
#include <string>

#include "kernels/common/error.hpp"

namespace flitlab {

void require_time(Cycle now, u64 cycles) {
  if (now > kEndOfTime || cycles > kEndOfTime - now)
    throw RunError("cycle " + std::to_string(now + cycles) + " cannot be reached: emulated time ends at " +
                   std::to_string(kEndOfTime) + ", since clocks have 32 bits. Divide the work into several runs.");
}

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
    engine.advance(static_cast<u32>(step), active);
    cycles -= static_cast<u32>(step);
  }
}

}  // namespace flitlab
