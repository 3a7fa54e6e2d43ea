#pragma once
/// Audit between cycles. It counts messages in buffers and on channels, and checks that buffers do not overflow, that
/// no position is used twice, and that messages are in order.
#include "kernels/routers/adaptive/pool.hpp"

namespace flitlab::adaptive {

struct AuditRouter {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    const RouterFields& f = t.router_fields;
    const auto node = v.routers[index];
    RouterControl& control = node.at(f.control);
    if (control.stored > t.buffers[index]) raise_fault(control.fault, kFaultBufferOverflow, kNoFaultPort);
    u32 messages = control.stored;
    for (u32 i = 0; i < (t.slot_mask + 1) * t.channels; ++i) messages += node.at(f.came, i);
    count(*v.shard, Total::kAuditedPackets, messages);
    count(*v.shard, Total::kAuditedFlits, messages);
    bool fits = true;
    for (u32 i = 0; i < t.positions; ++i) {
      const u8 position = node.at(f.order, i);
      for (u32 j = 0; j < i; ++j) fits &= node.at(f.order, j) != position;
      if (i >= control.stored) continue;
      const Packet& packet = node.at(f.pool, position);
      fits &= node.at(f.options, position) == t.minimal[std::size_t{index} * t.routers + packet.dst];
      if (i == 0) continue;
      const u8 before = node.at(f.order, i - 1);
      fits &= preferred(node.at(f.pool, before), node.at(f.options, before), packet, node.at(f.options, position));
    }
    if (!fits) raise_fault(control.fault, kFaultBookkeeping, kNoFaultPort);
  }
};

}  // namespace flitlab::adaptive
