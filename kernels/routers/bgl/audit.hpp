#pragma once
/// Audit between cycles: for every link and VC, tokens at the sender and under way, packets on the link and packets in
/// the buffer add up to the buffer's size. Every packet is counted once, and FIFO contents match their free space. With
/// the link protocol, a packet to be retransmitted keeps its space in the receiver's buffer, and the copy that the
/// sender keeps is counted. Copies marked as not valid are not counted as packets.
#include "kernels/common/fault.hpp"
#include "kernels/routers/bgl/acknowledge.hpp"
#include "kernels/routers/bgl/processor.hpp"

namespace flitlab::bgl {

struct AuditNode {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }

  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    const auto node = v.nodes[index];
    const auto terminal = v.terminals[index];
    NodeControl& control = node.at(t.node_fields.control);
    u32 fault = 0, flits = 0, packets = 0;
    u32 to_software[kReceptionFifos] = {};  // `[FIFO]`: chunks of the packets that are moving to the FIFO
    const u64 moving = control.leaving | control.arriving;
    const u64 requesting = control.waiting | control.here;
    if ((control.waiting & control.here) | (requesting & control.entering) | ((requesting | control.entering) & moving))
      raise_fault(fault, kFaultBookkeeping, kNoFaultPort);
    for (u32 receiver = 0; receiver < 2 * t.dims; ++receiver) {
      const Peer peer = t.peers[index * t.ports + receiver];
      if (peer.item == kNone) continue;
      const auto upstream = v.nodes[peer.item];
      for (u32 vc = 0; vc < t.vcs; ++vc) {
        const u32 queue = queue_of(receiver, vc);
        const Queue& state = queue_at(v, node, queue);
        u32 pending = 0;  // packets on the link
        for (u32 slot = 0; slot < t.head_slots && !t.protocol; ++slot)
          pending += (node.at(t.node_fields.head, receiver * t.head_slots + slot) & 0xF) == vc + 1;
        const bool spoiled = is_spoiled(v, node, queue), ghost = is_ghost(v, node, queue);
        u32 sum = upstream.at(t.node_fields.tokens, peer.port * t.vcs + vc), held = 0;
        if (control.arriving & bit(queue)) to_software[reception_fifo(receiver, state.route)] += chunks_of(state.route);
        for (u32 i = 0; i < state.packets + pending; ++i) {
          const Packet& packet = packet_at(v, node, queue, (state.first + i) % t.ring[vc]);
          const bool head = i == 0 && !ghost;
          if (i < state.packets) held += packet.flits;
          if (!head || spoiled || !(control.bypassing & bit(queue))) sum += token_cost(t, vc, packet.flits);
          if (head && control.leaving & bit(queue) && !spoiled) continue;  // counted in its next queue
          flits += packet.tag & kNotValid ? 0 : packet.flits;
          packets += !(packet.tag & kNotValid);
        }
        if (t.protocol) {
          const LinkReceiver& r = receiver_at(v, node, receiver);
          const u8 end = sender_at(v, upstream, peer.port).next;
          for (u8 next = static_cast<u8>(r.expected + (r.coming != 0)); next != end; ++next) {
            const LinkEntry& entry = kept_at(v, upstream, peer.port, next);
            if ((entry.word & 0xF) != vc + 1) continue;
            sum += token_cost(t, vc, entry.packet.flits);
            flits += entry.packet.tag & kNotValid ? 0 : entry.packet.flits;
            packets += !(entry.packet.tag & kNotValid);
          }
        }
        for (u32 slot = 0; slot <= t.slot_mask; ++slot)
          sum += upstream.at(t.node_fields.tokens_back, slot * kDirections + peer.port) >> 4 * vc & 0xF;
        const u32 waiting = t.defer ? upstream.at(t.node_fields.returned, peer.port) >> 8 * vc & 0xFF : 0;
        const bool link_is_free = upstream.at(t.node_fields.control).links >> peer.port & 1;
        if (waiting && link_is_free) raise_fault(fault, kFaultBookkeeping, receiver);
        sum += waiting;
        if (t.acks) sum += node.at(t.node_fields.owed, receiver) >> 8 * vc & 0xFF;
        if (t.acks && t.protocol)  // tokens under way, or lost and recovered by the next token packet
          sum += static_cast<u8>(node.at(t.link_fields.given_back, receiver * t.vcs + vc) -
                                 upstream.at(t.link_fields.taken_back, peer.port * t.vcs + vc));
        if (sum != t.buffer[vc]) raise_fault(fault, kFaultCreditLost, receiver);
        if (held != state.held || held > t.buffer[vc]) raise_fault(fault, kFaultBufferOverflow, receiver);
        const bool active = (requesting | control.entering | moving) >> queue & 1;
        if (active != (ghost || state.packets > 0)) raise_fault(fault, kFaultBookkeeping, receiver);
      }
    }
    u32 in_hand[kInjectionFifos] = {};  // `[FIFO]`: chunks that processors are putting into the FIFO
    for (u32 p = 0; p < t.processors; ++p) {
      const Processor& processor = processor_at(v, terminal, p);
      if (processor.task == kPuts) in_hand[processor.fifo] += processor.packet.flits;
    }
    for (u32 f = 0; f < kInjectionFifos; ++f) {
      const Queue& state = queue_at(v, node, kInjectionQueue + f);
      if (control.arriving & bit(kInjectionQueue + f)) {  // a packet to its own node
        to_software[reception_fifo(kInjectionQueue >> 3, state.route)] += chunks_of(state.route);
        flits += chunks_of(state.route);
        ++packets;
      }
      u32 sum = terminal.at(t.software_fields.injection, f).room + state.held + in_hand[f], pending = 0;
      for (u32 slot = 0; slot <= t.software_mask; ++slot)
        pending += node.at(t.node_fields.from_software, slot).put >> f & 1;
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
      for (u32 slot = 0; slot <= t.software_mask; ++slot)
        sum += node.at(t.node_fields.from_software, slot).taken >> 4 * f & 0xF;
      for (u32 i = 0; i < fifo.packets + pending; ++i) {
        const Packet& packet =
            terminal.at(t.reception_fields.ring, f * t.reception_ring + (fifo.first + i) % t.reception_ring);
        sum += packet.flits;
        if (route_of(packet) & kHints) continue;  // a broadcast copy
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
