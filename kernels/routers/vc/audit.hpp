#pragma once
/// Audit of conservation between cycles. On every channel and VC, credits at the sender, credits and flits in transit
/// and flits in the buffer add up to the buffer's size. Packets are counted by their tails. The sets in RouterControl
/// must agree with the states of the VCs.
#include "kernels/common/fault.hpp"
#include "kernels/common/packet_queue.hpp"
#include "kernels/routers/vc/state.hpp"

namespace flitlab::vc {

/// Returns whether the sets in RouterControl agree with the state of (port, vc).
template <class T, int W>
FLITLAB_HD inline bool sets_agree(const T& t, const Item<W>& router, u32 port, u32 vc) {
  const InputVc& in = router.at(t.router_fields.input, port * t.vcs + vc);
  const OutputVc& out = router.at(t.router_fields.output, port * t.vcs + vc);
  const RouterControl& word = router.at(t.router_fields.control, port >> t.set_shift);
  const auto has = [&](u64 set) { return ((set >> bit_of(t, port, vc)) & 1) != 0; };
  const bool owns = in.stage == VcState::kHead || in.stage == VcState::kBody;
  if (has(word.flits) != (in.flits > 0) || has(word.taken) != (out.owner != kNoOwner)) return false;
  if (has(word.waiting) != (in.stage == VcState::kRouting || in.stage == VcState::kWaiting)) return false;
  if ((has(word.granted) || has(word.pending)) != owns) return false;
  return !owns || has(word.credits) == (router.at(t.router_fields.output, in.out_port * t.vcs + in.out_vc).credits > 0);
}

/// Counts the flits in the queue of an output port by their VC. Returns the number of their tails.
template <class T, int W>
FLITLAB_HD inline u32 count_queue(const T& t, const Item<W>& router, u32 port, u32 (&flits)[kMaxVcs]) {
  if (!t.queue_flits) return 0;
  const PortQueues& q = router.at(t.router_fields.queues, port);
  u32 tails = 0;
  for (u32 i = 0; i < q.flits; ++i) {
    const u8 flit = router.at(t.router_fields.queue, port * t.queue_flits + (q.first + i) % t.queue_flits);
    ++flits[((flit & kVcBits) - 1u) % kMaxVcs];
    tails += (flit & kTailMark) != 0;
  }
  return tails;
}

/// Returns whether a port's sum of owed credits agrees with its VCs.
template <class T, int W>
FLITLAB_HD inline bool owed_agree(const T& t, const Item<W>& router, u32 port) {
  u32 owed = 0;
  for (u32 vc = 0; vc < t.vcs; ++vc) owed += router.at(t.router_fields.owed, port * t.vcs + vc);
  return owed == router.at(t.router_fields.queues, port).credits;
}

/// Counts the flits and packets that wait in an ejection VC of a closed loop's terminal. Returns the number of flits.
template <class T, int W>
FLITLAB_HD inline u32 count_held(const T& t, const Item<W>& terminal, u32 vc, u32& flits, u32& packets) {
  const EjectionVc& held = terminal.at(t.terminal_fields.held, vc);
  const u32 first = terminal.at(t.terminal_fields.first, vc);
  const u32 left = held.left ? held.left : terminal.at(t.terminal_fields.ring, vc * t.ring + first).flits;
  flits += held.flits;
  packets += tails_among(terminal, t.terminal_fields.ring, vc * t.ring, t.ring, first, left, held.flits);
  return held.flits;
}

/// Returns the number of packets of which a terminal has sent a part: it still has their tails.
template <class T, int W>
FLITLAB_HD inline u32 packets_in_injection(const T& t, const Item<W>& terminal) {
  if (t.traffic.classes > 1) {
    u32 packets = 0;
    for (u32 c = 0; c < t.traffic.classes; ++c) packets += terminal.at(t.terminal_fields.source, c).lane.left != 0;
    return packets;
  }
  u32 packets = terminal.at(t.terminal_fields.control).lane.left != 0;
  if (t.mode == TrafficMode::kRequestReply) packets += terminal.at(t.terminal_fields.loop).lane.left != 0;
  return packets;
}

struct AuditRouter {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }

  /// Checks the channels that enter this router and its channels to terminals.
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    const auto router = v.routers[index];
    u32 fault = 0, flits = 0, packets = 0;
    for (u32 port = 0; port < t.ports; ++port) {
      const Peer peer = t.peers[std::size_t{index} * t.ports + port];
      if (peer.item == kNone) continue;
      const bool closed = router.at(t.router_fields.control, port >> t.set_shift).closed >> port_bit(t, port) & 1;
      if (closed != (t.narrow && !t.queue_flits && is_occupied(t, router, index, port)))
        raise_fault(fault, kFaultBookkeeping, port);
      // Flits and credits of each VC in transit: into this router, and from it to a terminal. `queued`: flits in this
      // router's queue toward the port's other end.
      u32 entering[kMaxVcs]{}, leaving[kMaxVcs]{}, queued[kMaxVcs]{};
      packets += count_queue(t, router, port, queued);
      if (t.late_credits && !owed_agree(t, router, port)) raise_fault(fault, kFaultBookkeeping, port);
      if (!peer.is_terminal) count_queue(t, v.routers[peer.item], peer.port, entering);
      const auto find = [&](u32(&sums)[kMaxVcs], u8 arrival, bool is_flit) {
        if (!arrival) return;
        ++sums[((arrival & kVcBits) - 1u) % kMaxVcs];
        flits += is_flit;
        packets += is_flit && (arrival & kTailMark);
      };
      for (u32 slot = 0; slot <= t.slot_mask; ++slot) {
        const u32 word = slot * t.port_words + port / 8;
        find(entering, byte_of_port(router.at(t.router_fields.flit_mail, word), port), true);
        if (peer.is_terminal) {
          const auto terminal = v.terminals[peer.item];
          find(entering, terminal.at(t.terminal_fields.credit_mail, slot), false);
          find(leaving, terminal.at(t.terminal_fields.flit_mail, slot), true);
          find(leaving, byte_of_port(router.at(t.router_fields.credit_mail, word), port), false);
        } else {
          const u64 back = v.routers[peer.item].at(t.router_fields.credit_mail, slot * t.port_words + peer.port / 8);
          find(entering, byte_of_port(back, peer.port), false);
        }
      }
      for (u32 vc = 0; vc < t.vcs; ++vc) {
        const u32 flat = port * t.vcs + vc;
        const InputVc& in = router.at(t.router_fields.input, flat);
        u32 in_sum = in.flits + entering[vc], out_sum = leaving[vc] + queued[vc];
        flits += in.flits + queued[vc];
        if (t.late_credits) in_sum += router.at(t.router_fields.owed, flat);
        const u32 left =
            in.stage >= VcState::kWaiting ? in.left : router.at(t.router_fields.ring, flat * t.ring + in.first).flits;
        packets += tails_among(router, t.router_fields.ring, flat * t.ring, t.ring, in.first, left, in.flits);
        if (!sets_agree(t, router, port, vc)) raise_fault(fault, kFaultBookkeeping, port);
        if (peer.is_terminal) {
          if (t.mode == TrafficMode::kRequestReply)
            out_sum += count_held(t, v.terminals[peer.item], vc, flits, packets);
          in_sum += v.terminals[peer.item].at(t.terminal_fields.output, vc).credits;
          out_sum += router.at(t.router_fields.output, port * t.vcs + vc).credits;
          if (out_sum != t.buffer_flits) raise_fault(fault, kFaultCreditLost, port);
        } else {
          in_sum += v.routers[peer.item].at(t.router_fields.output, peer.port * t.vcs + vc).credits;
        }
        if (in_sum != t.buffer_flits) raise_fault(fault, kFaultCreditLost, port);
      }
      if (peer.is_terminal) packets += packets_in_injection(t, v.terminals[peer.item]);
    }
    count(*v.shard, Total::kAuditedFlits, flits);
    count(*v.shard, Total::kAuditedPackets, packets);
    if (fault) raise_fault(router.at(t.router_fields.control).fault, fault, fault_port(fault));
  }
};

}  // namespace flitlab::vc
