#pragma once
/// Audit between cycles: every message is in exactly one location, and counts of buffers and queues are correct.
#include "kernels/routers/sconnect/host_queues.hpp"
#include "kernels/routers/sconnect/tic.hpp"

namespace flitlab::sconnect {

struct AuditTic {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }

  /// Returns whether the far end has accepted the message of a slot, although the acknowledgment has not arrived yet.
  template <class V>
  FLITLAB_HD static bool taken(const V& v, const Link& link, const Slot& slot, u32 slot_index) {
    const auto& t = v.t;
    const u32 there = (slot_index + link.delay) % link.round;
    const Slot& far = v.tics[link.far].at(t.fields.slot, t.slot_first[link.far * kPorts + link.port] + there);
    return bool(far.bits & kExpected) != bool(slot.bits & kSending);
  }

  template <class V>
  FLITLAB_HD static void audit_host(const V& v, u32 index, u32 p) {
    const auto terminal = v.terminals[index];
    TerminalControl& control = terminal.at(v.t.terminal_fields.control);
    const HostQueues<V, V::width> queues{v, terminal, index, p, control, terminal.at(v.t.host_fields.host)};
    if (!queues.sound()) raise_fault(control.fault, kFaultBookkeeping, kNoFaultPort);
  }

  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    const auto item = v.tics[index];
    TicControl& control = item.at(t.fields.control);
    u64 waiting = 0, seen = 0;
    u32 fault = 0, used = 0, reserved = 0, held[kQueues] = {}, held_control[2] = {};

    const auto mark_seen = [&](u32 buffer) {
      if (buffer >= t.buffers) return void(fault |= kFaultBookkeeping);  // index out of range: corrupted state
      if (seen >> buffer & 1 || control.free >> buffer & 1) fault |= kFaultBookkeeping;
      seen |= u64{1} << buffer;
    };
    const auto count_inside = [&](u32 buffer) {
      if (buffer >= t.buffers) return;
      const Message& m = item.at(t.fields.message, buffer);
      if (m.control || item.at(t.fields.buffer, buffer).flags & (kComing | kBad)) return;
      count(*v.shard, Total::kAuditedPackets);
      count(*v.shard, Total::kAuditedFlits, m.flits);
    };

    for (u32 q = 0; q < kQueues; ++q) {
      const Queue& list = item.at(t.fields.queue, q);
      waiting |= u64{list.messages > 0} << q;
      u32 buffer = list.head;
      for (u32 i = 0; i < list.messages; ++i) {
        if (buffer >= t.buffers) {  // kNoBuffer included
          fault |= kFaultBookkeeping;
          break;
        }
        const BufferState& b = item.at(t.fields.buffer, buffer);
        if (b.queue != q || !(b.flags & kWaiting)) fault |= kFaultBookkeeping;
        // The port by which a damaged message arrived must refer to it, in order to drop the message in the next cycle.
        const Port& source = item.at(t.fields.port, b.source);
        if (b.flags & kBad && source.doubtful != buffer && source.spoiled != buffer) fault |= kFaultBookkeeping;
        mark_seen(buffer);
        count_inside(buffer);
        if (i + 1u == list.messages && list.tail != buffer) fault |= kFaultBookkeeping;
        buffer = b.next;
      }
    }
    if (waiting != control.waiting) fault |= kFaultBookkeeping;

    for (u32 p = 0; p < kPorts; ++p) {
      const Link& link = t.links[index * kPorts + p];
      const Port& port = item.at(t.fields.port, p);
      if (link.kind == LinkKind::kHost) audit_host(v, link.far, p);
      if (link.kind == LinkKind::kHost && port.sending != kNoBuffer) {
        mark_seen(port.sending);
        count_inside(port.sending);
      }
      if (link.kind != LinkKind::kSerial && link.kind != LinkKind::kParallel) continue;
      for (u32 s = 0; s < link.round; ++s) {
        const Slot& slot = item.at(t.fields.slot, t.slot_first[index * kPorts + p] + s);
        if (slot.buffer == kNoBuffer) continue;
        mark_seen(slot.buffer);
        if (!taken(v, link, slot, s)) count_inside(slot.buffer);
      }
    }

    for (u64 set = seen; set; set &= set - 1) {
      const Message& m = item.at(t.fields.message, lowest_bit(set));
      const BufferState& b = item.at(t.fields.buffer, lowest_bit(set));
      used += m.flits;
      if (b.queue >= kQueues) {
        fault |= kFaultBookkeeping;
        continue;
      }
      (b.flags & kApart ? held_control[is_reply(m)] : held[b.queue]) += m.flits;
      if (b.flags & kApart && !m.control) fault |= kFaultBookkeeping;
    }
    if (used != control.used || seen != (~control.free & ~u64{0} >> (64 - t.buffers))) fault |= kFaultBookkeeping;
    for (u32 q = 0; q < kQueues; ++q) {
      const u32 reservation = reserved_buffers(t, index, q);
      if (held[q] != control.held[q]) fault |= kFaultBookkeeping;
      reserved += reservation > held[q] ? reservation - held[q] : 0;
    }
    for (u32 kind : {0u, 1u}) {
      if (held_control[kind] != control.held_control[kind]) fault |= kFaultBookkeeping;
      reserved += t.control_buffers > held_control[kind] ? t.control_buffers - held_control[kind] : 0;
    }
    if (reserved != control.reserved || used + reserved > t.buffers) fault |= kFaultBookkeeping;
    if (fault) raise_fault(control.fault, fault, kNoFaultPort);
  }
};

}  // namespace flitlab::sconnect
