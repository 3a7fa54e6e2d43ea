#pragma once
/// Lane code of one vector width: the functions that code.hpp declares.
#include "kernels/routers/vc/lanes/audit.hpp"
#include "kernels/routers/vc/lanes/canonical.hpp"
#include "kernels/routers/vc/lanes/closed_loop.hpp"
#include "kernels/routers/vc/lanes/code.hpp"
#include "kernels/routers/vc/lanes/routers.hpp"
#include "kernels/routers/vc/lanes/scalar_terminals.hpp"

namespace flitlab::vc::lanes {

template <class C, class S, class T>
struct Unit {
  using View = vc::View<1, false, T>;

  static State<C, S> state_of(const Replica& r) {
    const T& t = *static_cast<const T*>(r.table);
    State<C, S> s;
    State<C, S>::lay_out(s, r.memory, t, t.routers, t.slot_mask + 1);
    return s;
  }

  static std::size_t bytes(const VcTable& t) {
    State<C, S> s;
    return State<C, S>::lay_out(s, nullptr, t, t.routers, t.slot_mask + 1);
  }

  static View view_of(const Replica& r, CounterShard* shard, std::byte* canonical, const Placement& placement) {
    return {{*static_cast<const T*>(r.table), r.row, shard, {}},
            placement.items<1>(canonical, 0),
            placement.items<1>(canonical, 1)};
  }

  static void load(const Replica& r, std::byte* canonical, const Placement& placement, Cycle now) {
    const View v = view_of(r, nullptr, canonical, placement);
    const State<C, S> s = state_of(r);
    std::memset(r.memory, 0, bytes(v.t));
    for (u32 i = 0; i < v.t.routers; ++i) Conversion<C, S, View, true>{v, s, *r.wiring, i, now}.convert();
  }
  static void store(const Replica& r, std::byte* canonical, const Placement& placement, Cycle now) {
    const View v = view_of(r, nullptr, canonical, placement);
    const State<C, S> s = state_of(r);
    for (u32 i = 0; i < v.t.routers; ++i) Conversion<C, S, View, false>{v, s, *r.wiring, i, now}.convert();
  }

  static void run(const Replica& r, std::byte* canonical, const Placement& placement, CounterShard& shard, u32 begin,
                  u32 end, Cycle now, u32 cycles) {
    const View v = view_of(r, &shard, canonical, placement);
    const State<C, S> s = state_of(r);
    for (const Cycle last = now + cycles; now != last; ++now)
      for (u32 b = begin; b < end; ++b) {
        if constexpr (kLaneTerminals<T>)
          step_terminals(v, s, b, now);
        else
          step_scalar_terminals(v, s, b, now);
        Routers<C, S, View>(v, s, *r.wiring, b, now).step();
      }
  }

  static bool audit(const Replica& r, std::byte* canonical, const Placement& placement, CounterShard& shard,
                    Cycle now) {
    const View v = view_of(r, &shard, canonical, placement);
    const State<C, S> s = state_of(r);
    u64 flits = 0, packets = 0;
    for (u32 b = 0; b < s.blocks; ++b) {
      BlockAudit<C, S, View> block{v, s, *r.wiring, b, now};
      if (!block.sound()) return false;
      flits += block.flits;
      packets += block.packets;
    }
    count(shard, Total::kAuditedFlits, flits);
    count(shard, Total::kAuditedPackets, packets);
    return true;
  }

  static void wake(const Replica& r, u32 terminal) {
    if constexpr (!kLaneTerminals<T>) {
      const State<C, S> s = state_of(r);
      s.next_creation[place_of_terminal(s, *static_cast<const T*>(r.table), terminal)] = 0;
    }
  }

  static constexpr Code code{C::lanes, sizeof(typename C::Element), S::vcs, bytes, load, store, run, audit, wake};
};

}  // namespace flitlab::vc::lanes
