#pragma once
/// One cycle of a router, or of the routers of a block of GPU threads. CPUs use bulk phases with the same results
/// instead (kernels/routers/metro/lanes).
#include "kernels/common/flat_lists.hpp"
#include "kernels/engines/phases.hpp"
#include "kernels/routers/metro/router.hpp"

namespace flitlab::metro {

/// What the parts of a step know of its routers.
template <u32 kMost>
struct RouterLists {
  KindList<kMost, kMaxPorts, 2> ports;  ///< forward ports; kind 0: words flow toward the destination
  ItemList<kMost> running, requesting;
  u32 any[kMost];  ///< `[router]`: not 0 if a word has arrived
  RouterResult result[kMost];

  FLITLAB_INLINE void clear(const ItemRange<kMost>& all) {
    ports.clear(all.threads), running.clear(all.threads), requesting.clear(all.threads);
  }
};

struct RouterPhase : PhaseOfLists<RouterPhase, RouterLists> {
  static constexpr const char* name = "router";

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }

  /// One cycle of the routers `items` (OneItem, lists.hpp).
  template <class Items, class Lists>
  FLITLAB_INLINE static void step(const Items& items, Lists& lists, Cycle now) {
    const auto& t = items.table();
    const u32 ports = t.ports();
    for (u32 i : items.all())
      with_router(items, lists, i, now, [&](const auto& cycle) __attribute__((always_inline)) {
        u32 any = 0, arrived = 0;
        FLITLAB_BY_FOUR for (u32 p = 0; p < ports; ++p) {
          const Word word = cycle.in[p];
          any |= word;
          arrived |= u32{word != 0 && p < t.inputs} << p % 32;
        }
        if (!any && !cycle.control.active && t.slices == 1 && !cycle.control.some_off) return;
        lists.any[i] = any;
        cycle.result.clear();
        lists.running.add(i, true);
        FLITLAB_ROLLED for (u32 left = begin_router(cycle, arrived); left; left &= left - 1) {
          const u32 p = lowest_bit(left);
          lists.ports.add(true, cycle.forward(p).state != PortState::kForward, i, p);
        }
      });
    lists.ports.for_each([&](u32 i, u32 p) __attribute__((always_inline)) {
      with_router(items, lists, i, now, [&](const auto& cycle) __attribute__((always_inline)) {
        cycle.step(p);
        cycle.drive();
      });
    });
    for (u32 i : lists.running) lists.requesting.add(i, lists.result[i].requests != 0);
    for (u32 i : lists.requesting)
      with_router(items, lists, i, now, [](const auto& cycle) __attribute__((always_inline)) { cycle.allocate(); });
    for (u32 i : lists.running)
      with_router(items, lists, i, now, [&](const auto& cycle) __attribute__((always_inline)) {
        cycle.control.used &= ~cycle.result.freed;
        if (t.slices > 1) publish_in_use(cycle.v, cycle.node, cycle.name, now);
        if (lists.any[i]) cycle.in.clear(ports);
      });
  }

 private:
  /// Calls work(cycle) with the RouterCycle of router i.
  template <class Items, class Lists, class Work>
  FLITLAB_INLINE static void with_router(const Items& routers, Lists& lists, u32 i, Cycle now, Work&& work) {
    const auto& v = routers.view(i);
    using V = std::remove_cvref_t<decltype(v)>;
    using Words = InboxWords<V::width>;
    const auto& t = v.t;
    const auto node = v.routers[routers.index(i)];
    const Words in{&node.at(t.router_fields.mail, (now & t.slot_mask) * t.ports())};
    DeferredWords::One back, forward;
    const DeferredWords far{back, forward};
    work(RouterCycle<V, DeferredWords, Words>{v, far, node, router_name(t, routers.index(i)), now,
                                              node.at(t.router_fields.control), in, in + t.inputs, lists.result[i]});
  }
};

}  // namespace flitlab::metro
