#pragma once
/// Arrivals: credits, flits on the short-circuit path and flits that are buffered (paper, section 7).
#include "kernels/routers/t3e/move.hpp"

namespace flitlab::t3e {

template <class V, int W>
FLITLAB_INLINE void receive_credit(const V& v, const Item<W>& router, RouterControl& control, u32 port, u32 vc) {
  const u32 capacity = buffer_of(v.t, vc);  // ports of terminals have no adaptive VCs
  if (++output_vc(v, router, port, vc).credits > capacity)
    raise_shared_fault(control.fault, kFaultCreditOverflow, port);
}

/// Returns a free adaptive VC of an output port with room for a whole packet, or kNoVc.
template <class V, int W>
FLITLAB_INLINE u32 free_adaptive_vc(const V& v, const Item<W>& router, u32 port, u32 flits) {
  u32 free = kNoVc;
  for (u32 vc = v.t.link_vcs; vc-- > kDeterministicVcs;) {
    const OutputVc& out = output_vc(v, router, port, vc);
    free = select((out.owner == kNoVc) & (out.credits >= flits), vc, free);
  }
  return free;
}

/// Returns whether output port `straight` allows the short-circuit path, on which a flit that goes straight leaves in
/// the cycle in which it arrives. The path is open while no interface of the router buffers a flit that could enter the
/// crossbar, and no packet from the PE holds the output. Such a packet arrives flit by flit, so it can hold an output
/// while nothing is buffered. A flit on the path therefore has no competitor and need not hold the output.
template <class V, int W>
FLITLAB_INLINE bool is_path_open(const V& v, const Item<W>& router, u32 index, u32 straight) {
  const Registers& registers = router.at(v.t.router_fields.registers);
  const bool wired = v.t.peers[index * kPorts + straight].item != kNone;
  const bool fast = !(registers.chan[oriented(registers.turned, straight)] & kNoFast);
  return wired & fast & (router.at(v.t.router_fields.port, straight).sending == kNoVc);
}

/// Returns whether a body or tail flit follows its head on the short-circuit path.
template <class V, int W>
FLITLAB_INLINE bool body_passes(const V& v, const Item<W>& router, const InputVc& in, u32 straight) {
  const bool room = output_vc(v, router, straight, in.out_vc % kMaxVcs).credits != 0;
  return (in.stage == FrontState::kFlowing) & (in.out_port == straight) & room;
}

/// Returns the output VC on which a head takes the short-circuit path, or kNoVc. If there is such a VC, the head's
/// packet becomes the front packet.
template <class V, int W>
FLITLAB_INLINE u32 head_passes(const V& v, const Item<W>& router, u32 index, u32 port, u32 vc, InputVc& in,
                               u32 straight, Cycle now) {
  const Packet& packet = front_packet(v, router, port, vc, in);
  const Choice choice = choose(v, router.at(v.t.router_fields.registers), index, packet, port, vc);
  if (is_stopped(v, index, port, choice, now)) return kNoVc;
  u32 out_vc = kNoVc;
  if (choice.port == straight) {
    const OutputVc& out = output_vc(v, router, straight, choice.vc);
    if (out.owner == kNoVc && out.credits) out_vc = choice.vc;
  }
  if (out_vc == kNoVc && (choice.adaptive >> straight & 1))
    out_vc = free_adaptive_vc(v, router, straight, packet.flits);
  if (out_vc == kNoVc) return kNoVc;
  in.packets = 1;
  set_front(in, packet, choice, false);
  return out_vc;
}

/// Counts a flit into the buffer of its VC. Returns whether the packet of the flit becomes the front packet.
FLITLAB_INLINE bool buffer_flit(InputVc& in, u32 flit) {
  const u32 head = flit / kHeadMark;
  const u32 packets = in.packets + head;
  in.packets = static_cast<u8>(packets);
  return head & u32{packets == 1};
}

/// Marks a buffered flit as ready to move.
template <class V, int W>
FLITLAB_INLINE void make_flit_ready(const V& v, const Item<W>& router, RouterControl& control, u32 port, u32 flit) {
  const u32 vc = (flit & kVcBits) - 1u;
  const u32 capacity = buffer_of(v.t, vc);
  if (++input_vc(v, router, port, vc).flits > capacity) raise_shared_fault(control.fault, kFaultBufferOverflow, port);
  set_bit(control.ready, bit_of(port, vc));
}

/// Writes the events of the heads that arrive in a slot.
template <class V, int W>
FLITLAB_INLINE void log_arrivals(const V& v, const Item<W>& router, u32 index, u64 slot) {
  for (u32 port = 0; port < kPorts; ++port) {
    const u32 flit = byte_of_port(slot, port), vc = (flit & kVcBits) - 1u;
    if (!(flit & kHeadMark)) continue;
    const InputVc& in = input_vc(v, router, port, vc);
    const u32 position = (in.first + in.packets) % most_packets_of(v.t, vc);
    const Packet& packet = router.at(v.t.router_fields.ring, descriptor_start(v.t, port, vc) + position);
    v.log.write(index, Event{packet.src, packet.id, EventKind::kArrived, u8(port), u8(vc), 0, 0,
                             u8(flit & kTailMark ? 3 : 1), packet.flits});
  }
}

/// Bytes of a slot that belong to the ports of PE and I/O device.
inline constexpr u64 kTerminalBytes = ~u64{0} << (8 * kNodePort);

}  // namespace flitlab::t3e
