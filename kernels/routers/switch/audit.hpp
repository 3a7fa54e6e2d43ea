#pragma once
/// Audit between cycles. It counts the messages in outputs, and checks that each output's set of requesting inputs
/// agrees with the inputs, and that no head waits for an output with room.
#include "kernels/routers/switch/phases.hpp"

namespace flitlab::sw {

struct AuditSwitch {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }
  /// `now`: the next cycle.
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle now) {
    const auto& t = v.t;
    const SwitchCycle<V, V::width> s{v, v.routers[index], now};
    Control& control = v.routers[index].at(t.fields.control);
    for (u32 o = 0; o < t.terminals; ++o) {
      const Output& out = s.output(o);
      count(*v.shard, Total::kAuditedPackets, out.held);
      for (u32 n = 0; n < out.held; ++n)
        count(*v.shard, Total::kAuditedFlits, s.message(o, (out.first + n) % t.output_buffers).flits);
      if (out.held > t.output_buffers) raise_fault(control.fault, kFaultBufferOverflow, o);
      u64 wanted = 0;
      for (u32 i = 0; i < t.terminals; ++i) {
        if (s.input(i).output != o) continue;
        wanted |= u64{1} << i;
        if (s.input(i).since < now && out.held < t.output_buffers) raise_fault(control.fault, kFaultBookkeeping, i);
      }
      if (wanted != out.wanted || (out.held && out.done < now)) raise_fault(control.fault, kFaultBookkeeping, o);
    }
  }
};

}  // namespace flitlab::sw
