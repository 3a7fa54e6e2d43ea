#pragma once
/// Barriers and eurekas (paper, section 6). A barrier unit is a virtual network: a spanning tree of the routers. A
/// router combines the messages of its children in a unit's tree and sends the result to its parent; the root's answer
/// goes down the tree. A barrier packet is one flit, goes before normal packets and is always accepted: it only changes
/// the register of its unit, which stores the messages still to be sent. Barrier packets therefore need no buffers and
/// cannot block.
#include "kernels/common/counters.hpp"
#include "kernels/common/inbox.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/t3e/state.hpp"
#include "kernels/routers/t3e/streams.hpp"
#include "kernels/routers/t3e/totals.hpp"

namespace flitlab::t3e {

/// Stores a eureka for all children. If a completion is still to be sent to a child, the eureka follows it, because
/// that completion ends the previous round.
FLITLAB_HD inline void send_found(BarrierRegister& r) {
  r.send_found |= static_cast<u8>(r.children & ~r.send_done);
  r.found_after |= static_cast<u8>(r.children & r.send_done);
}

/// Processes a message that reaches a unit's register by a port.
FLITLAB_HD inline void take_message(BarrierRegister& r, BarrierMessage message, u32 port) {
  switch (message) {
    case BarrierMessage::kJoin:
      r.joined |= static_cast<u8>(1u << port);
      if (r.joined != r.children) return;
      r.joined = 0;
      if (r.parent == kNoParent)
        r.send_done = r.children;
      else
        r.send_join = 1;
      return;
    case BarrierMessage::kEureka:
      if (r.parent == kNoParent)
        send_found(r);
      else
        r.send_eureka = 1;
      return;
    case BarrierMessage::kDone: r.send_done = r.children; return;
    case BarrierMessage::kFound: send_found(r); return;
  }
}

/// Removes the oldest message for a port from a register. Returns false if there is no message. To the parent a eureka
/// is older than a join, because a PE joins after it has signalled. At most three messages wait for a child: a eureka,
/// the completion of the round and the eureka of the next round. The next completion needs a join, which the child
/// sends only after this completion.
FLITLAB_HD inline bool next_message(BarrierRegister& r, u32 port, BarrierMessage& message) {
  const u8 bit = static_cast<u8>(1u << port);
  if (r.parent == port && r.send_eureka) {
    message = BarrierMessage::kEureka;
    r.send_eureka = 0;
  } else if (r.parent == port && r.send_join) {
    message = BarrierMessage::kJoin;
    r.send_join = 0;
  } else if (r.send_found & bit) {
    message = BarrierMessage::kFound;
    r.send_found &= static_cast<u8>(~bit);
  } else if (r.send_done & bit) {
    message = BarrierMessage::kDone;
    r.send_done &= static_cast<u8>(~bit);
    r.send_found |= r.found_after & bit;
    r.found_after &= static_cast<u8>(~bit);
  } else {
    return false;
  }
  return true;
}

FLITLAB_HD inline bool has_messages(const BarrierRegister& r) {
  return (r.send_join | r.send_eureka | r.send_done | r.send_found) != 0;
}

/// Processes the barrier packets of this clock: the arrivals, then one packet for every port for which a unit has a
/// message. `busy`: output ports that special packets have taken (bits). Returns the ports in `busy` and the ports that
/// barrier packets take.
template <class V, int W>
FLITLAB_INLINE u32 pass_barriers(const V& v, const Item<W>& router, u32 index, u32 busy, Cycle now) {
  const auto& t = v.t;
  u32& pending = router.at(t.barrier_fields.pending);
  const auto take = [&](u64& word, u64 bytes) {
    for (u64 left = word & bytes; left;) {
      const u32 shift = lowest_bit(left) & 0x38u, byte = static_cast<u32>(left >> shift) & 0xFF;
      BarrierRegister& r = router.at(t.barrier_fields.registers, byte & 31);
      take_message(r, static_cast<BarrierMessage>(byte >> 5 & 3), shift / 8);
      if (has_messages(r)) pending |= 1u << (byte & 31);
      left &= ~(u64{0xFF} << shift);
    }
    word &= ~bytes;
  };
  constexpr u64 kNodeByte = u64{0xFF} << (8 * kNodePort);
  take(router.at(t.barrier_fields.mail, now & t.slot_mask), kNodeByte);
  take(router.at(t.barrier_fields.mail, (now - t.barrier_wait) & t.slot_mask), ~kNodeByte);
  for (u32 left = pending; left;) {  // each clock begins with another unit
    const u32 unit = first_at_or_after(left, now % kBarrierUnits);
    left &= ~(1u << unit);
    BarrierRegister& r = router.at(t.barrier_fields.registers, unit);
    for (u32 port = 0; port < kPorts; ++port) {
      BarrierMessage message;
      if ((busy >> port & 1) || !next_message(r, port, message)) continue;
      busy |= 1u << port;
      if (!link_works(t, index, port, now)) continue;  // the packet is lost
      const u8 packet = barrier_byte(message, unit);
      const Peer& peer = t.peers[index * kPorts + port];
      if (port == kNodePort)
        v.terminals[peer.item].at(t.barrier_pe_fields.mail, (now + t.barrier_eject) & t.slot_mask) = packet;
      else
        put_byte(v.routers[peer.item].at(t.barrier_fields.mail, (now + t.link_delay) & t.slot_mask), peer.port, packet);
    }
    if (!has_messages(r)) pending &= ~(1u << unit);
  }
  return busy;
}

/// Returns the cycle of a PE's next action on a unit; kNever if PEs act only by hand. The time from `now`, the PE's
/// last action or notification, is uniformly distributed from 0 to twice the mean (barrier.work).
template <class V>
FLITLAB_INLINE Cycle next_action(const V& v, u32 index, u32 unit, u32 round, Cycle now) {
  if (v.t.barrier_program == BarrierProgram::kByHand) return kNever;
  if (!v.t.barrier_work) return now;
  const Random4 r = philox(v.row->seed, t3e::stream::kBarrier, index * kBarrierUnits + unit, round);
  return now + below(r.word[0], 2 * v.t.barrier_work + 1);
}

/// Barrier units at a PE: their states, and the program that repeatedly joins barriers, in eureka mode after a eureka.
struct BarrierPhase {
  static constexpr const char* name = "barrier";

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.barrier_units ? v.t.routers : 0;
  }

  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    const auto& t = v.t;
    const auto terminal = v.terminals[index];
    u8& arrival = terminal.at(t.barrier_pe_fields.mail, now & t.slot_mask);
    if (arrival) {
      const u32 number = arrival & 31;
      BarrierUnit& unit = terminal.at(t.barrier_pe_fields.unit, number);
      if (static_cast<BarrierMessage>(arrival >> 5 & 3) == BarrierMessage::kDone) {
        unit.state = BarrierState::kBar;
        count(*v.shard, Count::kBarriers);
        count(*v.shard, Count::kBarrierWaitSum, now - unit.armed);
        ++unit.round;
        unit.next = next_action(v, index, number, unit.round, now);
      } else if (unit.state == BarrierState::kBar) {
        unit.state = BarrierState::kEur;
        unit.next = next_action(v, index, number, unit.round, now);
      }
      arrival = 0;
    }
    bool sent = false;
    for (u32 number = 0; number < t.barrier_units; ++number) {
      BarrierUnit& unit = terminal.at(t.barrier_pe_fields.unit, number);
      if (unit.state != BarrierState::kArm && unit.next == now) act(v, unit, index, number, now);
      if (sent || !(unit.send_join | unit.send_eureka)) continue;
      sent = true;  // one barrier packet a clock
      const BarrierMessage message = unit.send_eureka ? BarrierMessage::kEureka : BarrierMessage::kJoin;
      (unit.send_eureka ? unit.send_eureka : unit.send_join) = 0;
      const u32 slot = (now + t.inject_delay) & t.slot_mask;
      put_byte(v.routers[index].at(t.barrier_fields.mail, slot), kNodePort, barrier_byte(message, number));
    }
  }

 private:
  /// Joins the barrier (OP_BAR). In eureka mode the PE that is drawn for the round also signals a eureka (OP_EUR_B);
  /// the other PEs wait for this eureka before they join.
  template <class V>
  FLITLAB_INLINE static void act(const V& v, BarrierUnit& unit, u32 index, u32 number, Cycle now) {
    if (v.t.barrier_program == BarrierProgram::kEureka && unit.state == BarrierState::kBar) {
      const Random4 r = philox(v.row->seed, t3e::stream::kBarrier, ~number, unit.round);
      const TrafficGroup group = group_of(v.t.traffic, index);
      if (below(r.word[0], group.count) != group.rank) return;
      unit.send_eureka = 1;
    }
    unit.send_join = 1;
    unit.armed = now;
    unit.state = BarrierState::kArm;
  }
};

}  // namespace flitlab::t3e
