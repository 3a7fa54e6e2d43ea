#pragma once
/// Phase that runs one router for one cycle. CPUs use bulk phases with the same results instead
/// (kernels/routers/metro/lanes).
#include "kernels/engines/phases.hpp"
#include "kernels/routers/metro/router.hpp"

namespace flitlab::metro {

struct RouterPhase {
  static constexpr const char* name = "router";

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }

  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    const auto& t = v.t;
    const auto node = v.routers[index];
    RouterControl& control = node.at(t.router_fields.control);
    const u32 ports = t.ports(), slot = (now & t.slot_mask) * ports;
    using Words = InboxWords<V::width>;
    const Words in{&node.at(t.router_fields.mail, slot)};
    u32 any = 0, arrived = 0;
    FLITLAB_BY_FOUR for (u32 p = 0; p < ports; ++p) {
      const Word word = in[p];
      any |= word;
      arrived |= u32{word != 0 && p < t.inputs} << p % 32;
    }
    if (!any && !control.active && t.slices == 1 && !control.some_off) return;
    DeferredWords::One back, forward;
    const DeferredWords far{back, forward};
    RouterResult result;
    result.clear();
    const RouterCycle<V, DeferredWords, Words> cycle{v,  far,           node,  router_name(t, index), now, control,
                                                     in, in + t.inputs, result};
    FLITLAB_ROLLED for (u32 left = begin_router(cycle, arrived); left; left &= left - 1) {
      cycle.step(lowest_bit(left));
      cycle.drive();
    }
    if (result.requests) cycle.allocate();
    control.used &= ~result.freed;
    if (t.slices > 1) publish_in_use(v, node, cycle.name, now);
    if (any) in.clear(ports);
  }
};

}  // namespace flitlab::metro
