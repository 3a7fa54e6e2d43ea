#pragma once
/// Conservation checks between cycles. On every channel and VC, credits at the sender, credits in transit, flits in
/// transit and buffered flits add up to the buffer size. Packets are counted by their tails. The arbiter's state must
/// agree with the queues.
#include "kernels/common/packet_queue.hpp"
#include "kernels/routers/t3e/move.hpp"
#include "kernels/routers/t3e/special.hpp"
#include "kernels/routers/t3e/totals.hpp"

namespace flitlab::t3e {

struct AuditRouter {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }

  /// Checks the channels that enter this router and the channels from it to its PE and I/O device.
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    const auto router = v.routers[index];
    const RouterControl& control = router.at(t.router_fields.control);
    u32 fault = 0, flits = 0, packets = 0;
    for (u32 port = 0; port < kPorts; ++port) {
      const Peer peer = t.peers[index * kPorts + port];
      if (peer.item == kNone) continue;
      for (u32 vc = 0; vc < (is_terminal_port(port) ? kDeterministicVcs : t.link_vcs); ++vc) {
        const InputVc& in = input_vc(v, router, port, vc);
        const OutputVc& out = output_vc(v, router, port, vc);
        u32 sum = in.flits;
        const u32 start = descriptor_start(t, port, vc);
        const u32 left = in.stage != FrontState::kIdle ? in.left : 1;
        packets += tails_among(router, t.router_fields.ring, start, most_packets_of(t, vc), in.first, left, in.flits);
        u32 to_node = 0;
        for (u32 slot = 0; slot <= t.slot_mask; ++slot) {
          const u8 flit = byte_of_port(router.at(t.router_fields.flit_mail, slot), port);
          if ((flit & kVcBits) == vc + 1) ++sum, ++flits, packets += (flit & kTailMark) != 0;
          if (is_terminal_port(port)) {
            const auto terminal = v.terminals[peer.item];
            if (terminal.at(t.terminal_fields.credit_mail, slot) == vc + 1) ++sum;
            const u8 leaving = terminal.at(t.terminal_fields.flit_mail, slot);
            if ((leaving & kVcBits) == vc + 1) ++to_node, ++flits, packets += (leaving & kTailMark) != 0;
            if (byte_of_port(router.at(t.router_fields.credit_mail, slot), port) == vc + 1) ++to_node;
          } else if (byte_of_port(v.routers[peer.item].at(t.router_fields.credit_mail, slot), peer.port) == vc + 1) {
            ++sum;
          }
        }
        flits += in.flits;
        if (is_terminal_port(port)) {
          const auto terminal = v.terminals[peer.item];
          if (t.mode == TrafficMode::kRequestReply) {
            const EjectionVc& held = terminal.at(t.terminal_fields.held, vc);
            const u32 first = terminal.at(t.terminal_fields.first, vc);
            to_node += held.flits;
            flits += held.flits;
            packets += tails_among(
                terminal, t.terminal_fields.ring, vc * t.ring, t.ring, first,
                held.left ? held.left : terminal.at(t.terminal_fields.ring, vc * t.ring + first).flits, held.flits);
          }
          sum += terminal.at(t.terminal_fields.output, vc).credits;
          if (to_node + out.credits != t.buffer_flits) raise_fault(fault, kFaultCreditLost, port);
        } else {
          sum += output_vc(v, v.routers[peer.item], peer.port, vc).credits;
        }
        if (sum != buffer_of(t, vc)) raise_fault(fault, kFaultCreditLost, port);

        const u32 me = bit_of(port, vc);
        bool agrees =
            (control.ready >> me & 1) == (in.flits > 0) && (in.packets > 0) == (in.stage != FrontState::kIdle);
        if (in.stage == FrontState::kFlowing) agrees &= output_vc(v, router, in.out_port, in.out_vc).owner == me;
        if (in.stage == FrontState::kRequesting && in.adaptive_port != kNoVc)
          agrees &= output_vc(v, router, in.adaptive_port, in.adaptive_vc).owner == me;
        const bool open = out.asked_by && out.owner == kNoVc;
        agrees &= (control.asked >> me & 1) == open;
        if (!agrees) raise_fault(fault, kFaultBookkeeping, port);
      }
    }
    for (u32 port = kNodePort; port < kPorts; ++port) {
      const Peer peer = t.peers[index * kPorts + port];
      if (peer.item == kNone) continue;
      const auto terminal = v.terminals[peer.item];
      packets += terminal.at(t.terminal_fields.control).lane.left != 0;  // the tail of the packet has not been sent
      if (t.mode == TrafficMode::kRequestReply) packets += terminal.at(t.terminal_fields.loop).lane.left != 0;
    }
    count(*v.shard, Total::kAuditedFlits, flits);
    count(*v.shard, Total::kAuditedPackets, packets);
    if (t.special) count(*v.shard, Count::kAuditedSpecial, special_packets(v, index));
    if (fault) raise_fault(router.at(t.router_fields.control).fault, fault, fault_port(fault));
  }
};

}  // namespace flitlab::t3e
