#include "host/run/advance.hpp"

#include <algorithm>
#include <string>

#include "kernels/common/error.hpp"

namespace flitlab {

void require_time(Cycle now, u64 cycles) {
  if (now > kEndOfTime || cycles > kEndOfTime - now)
    throw RunError("cycle " + std::to_string(now + cycles) + " cannot be reached: emulated time ends at " +
                   std::to_string(kEndOfTime) + ", because clocks have 32 bits. Divide the work into several runs.");
}

namespace {

/// Advances in pieces that take at most a fraction of a second each, so that every engine stops soon after an
/// interrupt.
void advance_in_pieces(Engine& engine, WorkSlicer& slicer, u32 cycles, std::span<const u32> active) {
  const u64 routers = u64{engine.layout().kinds[0].count} * active.size();
  for (u32 left = cycles; left;) {
    const u32 piece = slicer.piece(routers, left);
    engine.advance(piece, active);
    slicer.done(piece);
    left -= piece;
    if (left) slicer.check();
  }
}

}  // namespace

void advance(Engine& engine, const Plan& plan, const Feeds& feeds, Skips& skips, u32 cycles,
             std::span<const u32> active) {
  WorkSlicer slicer(plan.facts().cost);
  advance(engine, plan, feeds, skips, cycles, active, slicer);
}

void advance(Engine& engine, const Plan& plan, const Feeds& feeds, Skips& skips, u32 cycles,
             std::span<const u32> active, WorkSlicer& slicer) {
  require_time(engine.now(), cycles);
  while (cycles) {
    // Check before the host changes the state in this cycle, so that a run that is stopped here and resumed makes the
    // change once.
    slicer.check_if_due();
    const u64 now = engine.now();
    u64 step = cycles;
    if (!feeds.empty()) {
      for (u32 replica : active)
        if (feeds[replica]->due(engine.now())) feeds[replica]->exchange(engine, replica);
      const u32 offset = now % kTraceQueue;
      if (offset == 0)
        if (const u32 skipped = skips.idle.skip(engine, plan, feeds, cycles, active)) {
          cycles -= skipped;
          continue;
        }
      step = std::min<u64>(step, kTraceQueue - offset);
    }
    if (skips.repeats && active.size() == 1) {
      const u64 most = skips.beyond ? kEndOfTime - now : cycles;
      if (const u64 skipped = skips.repetition.skip(engine, active.front(), most)) {
        cycles -= static_cast<u32>(std::min<u64>(cycles, skipped));
        continue;
      }
      step = std::min<u64>(step, skips.repetition.pause(now));
    }
    u64 change = plan.next_change(now);
    if (change == now) {
      for (u32 replica : active) plan.change(engine, replica);
      change = plan.next_change(now + 1);
    }
    step = std::min(step, change - now);
    advance_in_pieces(engine, slicer, static_cast<u32>(step), active);
    cycles -= static_cast<u32>(step);
  }
}

}  // namespace flitlab
