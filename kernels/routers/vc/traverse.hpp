#pragma once
/// Switch traversal: moves a flit from its input VC to its output VC, and sends the flit downstream and a credit
/// upstream (Dally & Towles sections 16.1 and 17.2).
#include "kernels/routers/vc/arbitrate.hpp"

namespace flitlab::vc {

/// Starts route computation of the packet at the front of an input VC, in a round of cycle `now`. `word`: control word
/// with the port's sets.
template <class T>
FLITLAB_INLINE void start_front(const T& t, RouterControl& word, u32 port, u32 vc, InputVc& in, Cycle now, u32 round) {
  in.stage = VcState::kRouting;
  in.ready_at = round_after(t, now, round, t.routing_delay);
  word.waiting |= u64{1} << bit_of(t, port, vc);
}

/// Moves one flit of input VC (port, vc) to the VC of output port `out_port` that its packet owns: the work common to
/// all flits. Returns the flit as sent. If it has the head mark, the caller calls take_descriptor() next; if it has the
/// tail mark, release_output() after that.
template <class V, class Out, int W>
FLITLAB_INLINE u32 cross(const V& v, const Out& outbox, const Item<W>& router, RouterControl& control, u32 index,
                         u32 port, u32 vc, u32 out_port) {
  const auto& t = v.t;
  const u32 flat = port * t.vcs + vc, bit = bit_of(t, port, vc);
  InputVc& in = router.at(t.router_fields.input, flat);
  const u32 out_vc = in.out_vc;
  OutputVc& out = router.at(t.router_fields.output, out_port * t.vcs + out_vc);
  const bool head = in.stage == VcState::kHead;
  const u32 left = in.left - 1u, flits = in.flits - 1u, credits = out.credits - 1u;
  in.left = static_cast<u16>(left);
  in.flits = static_cast<u16>(flits);
  out.credits = static_cast<u16>(credits);
  RouterControl& word = word_of(t, router, control, port);
  word.flits ^= u64{flits == 0} << bit;  // a flit moves only if both bits are set
  word.credits ^= u64{credits == 0} << bit;
  const u32 flit_byte = out_vc + 1 + u32{head} * kHeadMark + (((left - 1) >> 25) & kTailMark);
  if constexpr (V::traced) {
    const Packet& packet = router.at(t.router_fields.ring, flat * t.ring + in.first);
    v.log.write(index, Event{packet.src, packet.id, EventKind::kSwitchGranted, u8(port), u8(vc), u8(out_port),
                             u8(out_vc), u8(flit_byte >> 6 & 1 ? (head ? 3 : 2) : (head ? 1 : 0)), packet.flits});
  }
  if (t.queue_flits)
    enqueue(t, router, out_port, flit_byte);
  else
    depart(v, outbox, router, index, out_port, flit_byte);
  if (t.late_credits)
    owe_credit(t, router, port, vc);
  else
    return_credit(v, outbox, index, port, vc);
  return flit_byte;
}

/// Copies the descriptor of a head's packet to the packet queue of the downstream VC. Credits guarantee a free
/// position, and the receiver does not read it before the head flit arrives.
template <class V, class Out, int W>
FLITLAB_INLINE void take_descriptor(const V& v, const Out& outbox, const Item<W>& router, u32 index, u32 port, u32 vc,
                                    u32 out_port) {
  const auto& t = v.t;
  const u32 flat = port * t.vcs + vc;
  InputVc& in = router.at(t.router_fields.input, flat);
  OutputVc& out = router.at(t.router_fields.output, out_port * t.vcs + in.out_vc);
  const Peer& peer = t.peers[std::size_t{index} * t.ports + out_port];
  Packet& copy = outbox.descriptor(out_port, peer, in.out_vc * t.ring + out.tail);
  copy = router.at(t.router_fields.ring, flat * t.ring + in.first);
  copy.hops = static_cast<u16>(copy.hops + (out_port < t.network_ports));
  out.tail = next_position(out.tail, t.ring);
  in.stage = VcState::kBody;
}

/// After a tail, releases the output VC and moves the next packet of the input VC to the front: its route computation
/// starts in the next round.
template <class V, int W>
FLITLAB_INLINE void release_output(const V& v, const Item<W>& router, RouterControl& control, u32 port, u32 vc,
                                   u32 out_port, Cycle now, u32 round) {
  const auto& t = v.t;
  InputVc& in = router.at(t.router_fields.input, port * t.vcs + vc);
  RouterControl& word = word_of(t, router, control, port);
  router.at(t.router_fields.output, out_port * t.vcs + in.out_vc).owner = kNoOwner;
  word_of(t, router, control, out_port).taken &= ~(u64{1} << bit_of(t, out_port, in.out_vc));
  word.granted &= ~(u64{1} << bit_of(t, port, vc));
  in.first = next_position(in.first, t.ring);
  in.stage = VcState::kIdle;
  if (--in.packets) start_front(t, word, port, vc, in, now + (round + 1 == rounds_before(t, now + 1)), round + 1);
}

/// Moves one flit of input VC (port, vc) to output port `out_port`, with the extra work for heads and tails. `round`:
/// as for turn_of().
template <class V, int W>
FLITLAB_INLINE void send_flit(const V& v, const Item<W>& router, RouterControl& control, u32 index, u32 port, u32 vc,
                              u32 out_port, Cycle now, u32 round) {
  const Outbox<V> outbox(v, v.t.vcs * v.t.ring, now);
  const u32 flit_byte = cross(v, outbox, router, control, index, port, vc, out_port);
  if (flit_byte & kHeadMark) take_descriptor(v, outbox, router, index, port, vc, out_port);
  if (flit_byte & kTailMark) release_output(v, router, control, port, vc, out_port, now, round);
  if (v.t.hold_switch)
    router.at(v.t.router_fields.connection, crossbar_input(v.t, port, vc)) =
        flit_byte & kTailMark ? Connection{} : Connection{round, vc + 1};
}

}  // namespace flitlab::vc
