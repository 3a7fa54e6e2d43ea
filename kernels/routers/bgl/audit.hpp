#pragma once
/// Conservation, checked between cycles: on every link and VC, tokens at the sender and on their way back, packets on
/// their way and in the buffer add up to the buffer; every packet is in one place; FIFOs have the room that is known
/// of. Where links may spoil packets, those that are to be sent again have kept their space, and are where their copy
/// is kept; copies that are not valid are no packets.
#include "kernels/common/fault.hpp"
#include "kernels/common/mail.hpp"
#include "kernels/routers/bgl/link.hpp"

namespace flitlab::bgl {

/// Heads on a link that its receiver will let in, by VC, and packets that it waits for besides.
struct OnTheLink {
  u8 heads[kMaxVcs] = {};
  u8 lost[kMaxVcs] = {};
};

template <class V, int W>
FLITLAB_HD OnTheLink on_the_link(const V& v, const Item<W>& node, const Item<W>& upstream, u32 receiver, u32 sender,
                                 Cycle now) {
  const auto& t = v.t;
  OnTheLink link;
  const LinkReceiver* r = t.protocol ? &receiver_at(v, node, receiver) : nullptr;
  bool in_sequence = r && !(r->coming && r->spoiled);
  u8 next = r ? static_cast<u8>(r->expected + (r->coming != 0)) : 0;
  for (Cycle at = now; at != now + t.slot_mask + 1; ++at) {
    const u32 mail = static_cast<u32>(node.at(t.node_fields.mail, at & t.slot_mask).link[receiver]);
    if (!mail) continue;
    const Hit hit = static_cast<Hit>(mail >> kHitShift);
    if (r && (!in_sequence || hit == Hit::kHeader || static_cast<u8>(mail >> kSequenceShift) != next)) continue;
    ++next;
    in_sequence = hit != Hit::kBody;
    ++link.heads[(mail & 0xF) - 1];
  }
  if (r)
    for (const u8 end = sender_at(v, upstream, sender).next; next != end; ++next)
      ++link.lost[(kept_at(v, upstream, sender, next).word & 0xF) - 1];
  return link;
}

struct AuditNode {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }

  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle now) {
    const auto& t = v.t;
    const auto node = v.nodes[index];
    const auto terminal = v.terminals[index];
    NodeControl& control = node.at(t.node_fields.control);
    u32 fault = 0, flits = 0, packets = 0;
    u32 to_software[kReceptionFifos] = {};  // chunks on their way to the reception FIFOs, in them, or just taken
    const u64 moving = control.leaving | control.arriving;
    const u64 asking = control.waiting | control.here;
    if ((control.waiting & control.here) | (asking & control.entering) | ((asking | control.entering) & moving))
      raise_fault(fault, kFaultBookkeeping, kNoFaultPort);
    for (u32 receiver = 0; receiver < 2 * t.dims; ++receiver) {
      const Peer peer = t.peers[index * t.ports + receiver];
      if (peer.item == kNone) continue;
      const auto upstream = v.nodes[peer.item];
      const OnTheLink link = on_the_link(v, node, upstream, receiver, peer.port, now);
      for (u32 vc = 0; vc < t.vcs; ++vc) {
        const u32 queue = queue_of(receiver, vc);
        const Queue& state = queue_at(v, node, queue);
        // A spoiled packet that has gone on before it was known to be one is still here, but will come again.
        const bool spoiled = is_spoiled(v, node, queue), gone = spoiled && !is_coming(v, node, queue);
        u32 sum = upstream.at(t.node_fields.tokens, peer.port * t.vcs + vc), held = 0;
        for (u32 i = 0; i < state.packets + link.heads[vc] + link.lost[vc] + 0u; ++i) {
          const Packet& packet =
              packet_at(v, node, queue, (state.first + i - (gone && i >= state.packets)) % t.ring[vc]);
          const bool head = i == 0 && state.packets, valid = !(packet.tag & kNotValid);
          if (i < state.packets) held += packet.flits;
          if (head && control.arriving & bit(queue))
            to_software[reception_fifo(receiver, route_of(packet))] += packet.flits;
          if (head && gone) continue;
          if (!head || spoiled || !(control.bypassing & bit(queue))) sum += token_cost(t, vc, packet.flits);
          if ((head && control.leaving & bit(queue) && !spoiled) || !valid) continue;  // counted where it goes
          flits += packet.flits;
          ++packets;
        }
        for (u32 slot = 0; slot <= t.slot_mask; ++slot)
          sum += upstream.at(t.node_fields.mail, slot).link[peer.port] >> (32 + 4 * vc) & 0xF;
        if (sum != t.buffer[vc]) raise_fault(fault, kFaultCreditLost, receiver);
        if (held != state.held || held > t.buffer[vc]) raise_fault(fault, kFaultBufferOverflow, receiver);
        const bool active = (asking | control.entering | moving) >> queue & 1;
        if (active != (state.packets > 0)) raise_fault(fault, kFaultBookkeeping, receiver);
      }
    }
    for (u32 f = 0; f < kInjectionFifos; ++f) {
      const Queue& state = queue_at(v, node, kInjectionQueue + f);
      u32 sum = terminal.at(t.software_fields.injection, f).room + state.held, pending = 0;
      for (u32 slot = 0; slot <= t.slot_mask; ++slot) pending += node.at(t.node_fields.mail, slot).put >> f & 1;
      for (u32 i = 0; i < pending; ++i)
        sum += packet_at(v, node, kInjectionQueue + f, (state.first + state.packets + i) % t.injection_ring).flits;
      for (u32 side = 0; side < 2; ++side) sum += terminal.at(t.software_fields.space_mail, side) >> 4 * f & 0xF;
      if (sum != t.injection_flits) raise_fault(fault, kFaultQueueOverflow, kNoFaultPort);
    }
    for (u32 f = 0; f < kReceptionFifos; ++f) {
      const ReceptionFifo& fifo = terminal.at(t.software_fields.reception, f);
      u32 pending = 0, sum = control.reception_room[f] + to_software[f];
      for (u32 side = 0; side < 2; ++side) {
        pending += terminal.at(t.software_fields.arrival_mail, side) >> 4 * f & 0xF;
      }
      for (u32 slot = 0; slot <= t.slot_mask; ++slot) sum += node.at(t.node_fields.mail, slot).taken >> 4 * f & 0xF;
      for (u32 i = 0; i < fifo.packets + pending; ++i) {
        const Packet& packet =
            terminal.at(t.software_fields.reception_ring, f * t.reception_ring + (fifo.first + i) % t.reception_ring);
        sum += packet.flits;
        if (route_of(packet) & kHints) continue;  // a copy
        flits += packet.flits;
        ++packets;
      }
      if (sum != t.reception_flits) raise_fault(fault, kFaultQueueOverflow, kNoFaultPort);
    }
    count(*v.shard, Total::kAuditedFlits, flits);
    count(*v.shard, Total::kAuditedPackets, packets);
    if (fault) raise_fault(control.fault, fault, fault_port(fault));
  }
};

}  // namespace flitlab::bgl
