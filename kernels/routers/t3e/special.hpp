#pragma once
/// The special network: packets routed by six deltas (signed hop counts), with which software sets up a machine or
/// examines a faulty one (paper, section 8; manual, Special Routing). The network has no flow control: special packets
/// go before all other packets, and if two of them need the same port in one clock, one is lost. Special packets write
/// registers that other items read, so they are processed before the rest of the cycle, and a barrier of the engine
/// separates the two parts.
#include "kernels/common/counters.hpp"
#include "kernels/common/inbox.hpp"
#include "kernels/routers/t3e/registers.hpp"
#include "kernels/routers/t3e/totals.hpp"

namespace flitlab::t3e {

/// Returns the direction of a packet's next hop and subtracts the hop from its deltas; kNodePort if no hop is left.
FLITLAB_HD inline u32 next_direction(std::int8_t (&delta)[kDeltas]) {
  for (u32 i = 0; i < kDeltas; ++i) {
    if (delta[i] == 0) continue;
    const bool minus = delta[i] < 0;
    delta[i] = static_cast<std::int8_t>(delta[i] + (minus ? 1 : -1));
    return i % 3 + (minus ? 3 : 0);
  }
  return kNodePort;
}

/// Unpacks R_SGET_RTRN: delta i is in bits 8 i + 7 to 8 i.
FLITLAB_HD inline void unpack_deltas(u64 bits, std::int8_t (&delta)[kDeltas]) {
  for (u32 i = 0; i < kDeltas; ++i) delta[i] = static_cast<std::int8_t>(bits >> 8 * i);
}

struct SpecialPhase {
  static constexpr const char* name = "special";

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.special ? v.t.routers : 0;
  }

  /// Processes a node: its PE sends and receives, its router forwards the packets that have arrived.
  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    const auto& t = v.t;
    const auto router = v.routers[index], pe = v.terminals[index];
    const u32 slot = now & t.slot_mask;
    work_at_pe(v, pe, index, now);
    u32& busy = router.at(t.special_fields.busy);
    busy = 0;
    if (u64& propagated_values = router.at(t.special_fields.orientation, slot); propagated_values) {
      receive_orientation(v, router, index, propagated_values, now);
      propagated_values = 0;
    }
    u64& arrivals = router.at(t.special_fields.mail, slot);
    for (u64 left = arrivals; left; left &= left - 1) {
      const u32 port = lowest_bit(left) / 8;
      pass(v, router, index, port, router.at(t.special_fields.packet, slot * kPorts + port), busy, now);
    }
    arrivals = 0;
  }

 private:
  template <class V, int W>
  FLITLAB_INLINE static void work_at_pe(const V& v, const Item<W>& pe, u32 index, Cycle now) {
    const auto& t = v.t;
    SpecialControl& control = pe.at(t.special_pe_fields.control);
    if (u8& arrival = pe.at(t.special_pe_fields.mail, now & t.slot_mask); arrival) {
      const SpecialPacket& packet = pe.at(t.special_pe_fields.packet, now & t.slot_mask);
      pe.at(t.special_pe_fields.answers, control.answered++ % kSpecialQueue) = {packet.data, packet.ticket, now};
      count(*v.shard, Count::kSpecialArrived);
      arrival = 0;
    }
    if (control.sent == control.queued) return;
    const u32 slot = (now + t.inject_delay) & t.slot_mask;
    const auto router = v.routers[index];
    router.at(t.special_fields.packet, slot * kPorts + kNodePort) =
        pe.at(t.special_pe_fields.queue, control.sent++ % kSpecialQueue);
    put_byte(router.at(t.special_fields.mail, slot), kNodePort, 1);
    count(*v.shard, Count::kSpecialSent);
  }

  /// Stores R_ORIENT in a node and propagates it to the neighbours: hardware sets R_ORIENT of all nodes after software
  /// has written it in one node. Writes are numbered, so that each write passes a node once, even if it does not change
  /// the node's value.
  template <class V, int W>
  FLITLAB_INLINE static void set_orientation(const V& v, const Item<W>& router, u32 index, u32 orient, u32 wave,
                                             Cycle now) {
    const auto& t = v.t;
    router.at(t.special_fields.wave) = wave % kWriteNumbers;
    router.at(t.router_fields.registers).turned = static_cast<u8>(orient ^ t.wired[index]);
    for (u32 port = 0; port < kDirections; ++port) {
      if (!link_works(t, index, port, now)) continue;
      const Peer& peer = t.peers[index * kPorts + port];
      const u32 propagated =
          propagated_orientation(orient, dimension_of(port), t.wired[index], t.wired[peer.item], t.orient_inverts);
      put_byte(v.routers[peer.item].at(t.special_fields.orientation, (now + t.special_delay) & t.slot_mask), peer.port,
               orientation_byte(wave, propagated));
    }
  }

  /// Receives propagated values of R_ORIENT, one byte per port, from the lowest port on. The node accepts a value if
  /// the value's write is newer than the last write that has reached the node.
  template <class V, int W>
  FLITLAB_INLINE static void receive_orientation(const V& v, const Item<W>& router, u32 index, u64 propagated_values,
                                                 Cycle now) {
    while (propagated_values) {
      const u32 shift = lowest_bit(propagated_values) & 0x38u,
                byte = static_cast<u32>(propagated_values >> shift) & 0xFF, wave = byte >> 3;
      propagated_values &= ~(u64{0xFF} << shift);
      const u32 ahead = (wave - router.at(v.t.special_fields.wave)) % kWriteNumbers;
      if (ahead && ahead < kWriteNumbers / 2) set_orientation(v, router, index, byte & 7, wave, now);
    }
  }

  /// Reads or writes the register that a packet names, at the node where its deltas end.
  template <class V, int W>
  FLITLAB_INLINE static void reach_register(const V& v, const Item<W>& router, u32 index, SpecialPacket& packet,
                                            Cycle now) {
    const auto& t = v.t;
    const auto tables = v.tables[index];
    Registers& registers = router.at(t.router_fields.registers);
    SoftwareRegisters& software = tables.at(t.table_fields.software);
    Tag& lut = tables.at(t.table_fields.lut, packet.number >= kLut ? packet.number - kLut : 0);
    count(*v.shard, Count::kSpecialArrived);
    if (packet.kind == SpecialKind::kGet)
      packet.data = read_register(registers, software, lut, t.wired[index], packet.number);
    else if (packet.number == kOrient)
      set_orientation(v, router, index, packet.data & 7, router.at(t.special_fields.wave) + 1, now);
    else
      write_register(registers, software, lut, t.wired[index], packet.number, packet.data);
  }

  /// Handles a packet in a router: accesses the register, delivers the packet to the PE, or sends it by the port of its
  /// next hop.
  template <class V, int W>
  FLITLAB_INLINE static void pass(const V& v, const Item<W>& router, u32 index, u32 port, SpecialPacket packet,
                                  u32& busy, Cycle now) {
    const auto& t = v.t;
    const Registers& registers = router.at(t.router_fields.registers);
    u32 direction = next_direction(packet.delta);
    if (direction == kNodePort && packet.kind != SpecialKind::kAnswer) {
      reach_register(v, router, index, packet, now);
      if (packet.kind == SpecialKind::kPut) return;
      packet.kind = SpecialKind::kAnswer;
      unpack_deltas(v.tables[index].at(t.table_fields.software).sget_return, packet.delta);
      direction = next_direction(packet.delta);
      count(*v.shard, Count::kSpecialSent);
    } else if (direction != kNodePort && (registers.chan[oriented(registers.turned, port)] & kIgnoreSpecial)) {
      count(*v.shard, Count::kSpecialLost);
      return;
    }
    const u32 out = oriented(registers.turned, direction);
    const Peer& peer = t.peers[index * kPorts + out];
    if (!link_works(t, index, out, now) || (busy >> out & 1)) {
      count(*v.shard, Count::kSpecialLost);
      return;
    }
    busy |= 1u << out;
    if constexpr (V::traced)
      v.log.write(index, Event{packet.src, packet.ticket, EventKind::kOwn, u8(port), 0, u8(out), 0, 3, 1});
    if (out == kNodePort) {
      const u32 slot = (now + t.special_eject) & t.slot_mask;
      v.terminals[peer.item].at(t.special_pe_fields.packet, slot) = packet;
      v.terminals[peer.item].at(t.special_pe_fields.mail, slot) = 1;
      return;
    }
    const u32 slot = (now + t.special_delay) & t.slot_mask;
    v.routers[peer.item].at(t.special_fields.packet, slot * kPorts + peer.port) = packet;
    put_byte(v.routers[peer.item].at(t.special_fields.mail, slot), peer.port, 1);
  }
};

/// Returns the special packets in transit to a node and its PE, for the audit.
template <class V>
FLITLAB_HD inline u32 special_packets(const V& v, u32 index) {
  const auto& t = v.t;
  u32 packets = 0;
  for (u32 slot = 0; slot <= t.slot_mask; ++slot) {
    for (u64 left = v.routers[index].at(t.special_fields.mail, slot); left; left &= left - 1) ++packets;
    packets += v.terminals[index].at(t.special_pe_fields.mail, slot);
  }
  return packets;
}

}  // namespace flitlab::t3e
