#pragma once
/// Departure of a flit from a router, and promotion of a packet to the front of its input VC.
#include "kernels/common/outbox.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/common/shared_words.hpp"
#include "kernels/routers/t3e/route.hpp"
#include "kernels/routers/t3e/streams.hpp"
#include "kernels/routers/t3e/totals.hpp"

namespace flitlab::t3e {

template <class V, int W>
FLITLAB_INLINE InputVc& input_vc(const V& v, const Item<W>& router, u32 port, u32 vc) {
  return router.at(v.t.router_fields.input, port * v.t.link_vcs + vc);
}

template <class V, int W>
FLITLAB_INLINE OutputVc& output_vc(const V& v, const Item<W>& router, u32 port, u32 vc) {
  return router.at(v.t.router_fields.output, port * v.t.link_vcs + vc);
}

template <class V, int W>
FLITLAB_INLINE Packet& front_packet(const V& v, const Item<W>& router, u32 port, u32 vc, const InputVc& in) {
  return router.at(v.t.router_fields.ring, descriptor_start(v.t, port, vc) + in.first);
}

/// Returns whether a packet that arrived at `port` is stopped: its routing choice forbids it to continue, it arrived
/// over a broken link, or its route leads to a port without a link.
template <class V>
FLITLAB_INLINE bool is_stopped(const V& v, u32 index, u32 port, const Choice& choice, Cycle now) {
  return choice.stopped || v.t.peers[index * kPorts + choice.port].item == kNone || !link_works(v.t, index, port, now);
}

/// Stores the routing choice of a packet that has become the front packet.
FLITLAB_INLINE void set_front(InputVc& in, const Packet& packet, const Choice& choice, bool stopped) {
  in.stage = stopped ? FrontState::kStopped : FrontState::kRequesting;
  in.left = packet.flits;
  in.out_port = choice.port;
  in.out_vc = choice.vc;
  in.wish = choice.adaptive;
  in.adaptive_port = kNoVc;
}

/// Routes a packet that becomes the front packet. Its head need not be ready to move yet.
template <class V, int W>
FLITLAB_INLINE void start_front(const V& v, const Item<W>& router, u32 index, u32 port, u32 vc, InputVc& in,
                                Cycle now) {
  const Packet& packet = front_packet(v, router, port, vc, in);
  const Choice choice = choose(v, router.at(v.t.router_fields.registers), index, packet, port, vc);
  set_front(in, packet, choice, is_stopped(v, index, port, choice, now));
}

/// Removes the front packet. Returns whether another packet becomes the front packet.
template <class V>
FLITLAB_INLINE bool end_front(const V& v, u32 vc, InputVc& in) {
  in.first = next_position(in.first, most_packets_of(v.t, vc));
  in.stage = FrontState::kIdle;
  return --in.packets != 0;
}

/// Makes the outbox of a cycle, which writes into receivers' inboxes; `Out` is Outbox or BulkOutbox.
template <class Out, class V>
FLITLAB_INLINE Out outbox_of(const V& v, Cycle now) {
  return Out(v, descriptor_start(v.t, 1, 0), now);
}

/// Frees an output VC. If the VC has requesters, they compete for it again.
FLITLAB_INLINE void release(RouterControl& control, OutputVc& out, u32 port, u32 vc) {
  out.owner = kNoVc;
  set_bit(control.asked, bit_of(port, vc), out.asked_by != 0);
}

/// Returns whether flit number `flit` of a packet is corrupted on the link of the packet's hop number `hop`. The result
/// depends on the arguments alone, so that the destination's router can compute it again.
template <class V>
FLITLAB_INLINE bool is_spoiled(const V& v, const Packet& packet, u32 flit, u32 hop) {
  const u64 counter = u64{packet.id} << 16 | hop << 4 | flit;
  return philox(v.row->seed, t3e::stream::kChannelError, packet.src, counter).word[0] < v.t.error_threshold;
}

/// Counts the flits that the destination's router corrects. This router corrects all errors that routers on the way
/// have detected (paper, section 9), however many links corrupted a flit.
template <class V>
FLITLAB_INLINE void correct_errors(const V& v, const Packet& packet) {
  for (u32 flit = 0; flit < packet.flits; ++flit) {
    u32 hits = 0;
    for (u32 hop = 0; hop < packet.hops; ++hop) hits += is_spoiled(v, packet, flit, hop);
    if (hits) count(*v.shard, Count::kFlitsCorrected);
    if (hits > 1) count(*v.shard, Count::kFlitsHitAgain);
  }
}

/// Sends one flit of input VC (port, vc) by output VC (out_port, out_vc): the part that all flits have in common.
/// Returns the inbox byte, whose marks decide whether send_head and then send_tail must follow.
template <class V, class Out, int W>
FLITLAB_INLINE u32 send_flit(const V& v, const Out& outbox, const Item<W>& router, u32 index, u32 port, u32 vc,
                             InputVc& in, u32 out_port, u32 out_vc) {
  const auto& t = v.t;
  const Peer* peers = t.peers + std::size_t{index} * kPorts;
  const bool head = in.stage == FrontState::kRequesting;
  if constexpr (V::traced) {
    const Packet& packet = front_packet(v, router, port, vc, in);
    v.log.write(index, Event{packet.src, packet.id, EventKind::kSwitchGranted, u8(port), u8(vc), u8(out_port),
                             u8(out_vc), u8((head ? 1 : 0) | (in.left == 1 ? 2 : 0)), packet.flits});
  }
  if (t.error_threshold) {
    const Packet& packet = front_packet(v, router, port, vc, in);
    if (is_terminal_port(out_port) && in.left == 1) correct_errors(v, packet);
    if (!is_terminal_port(out_port) && is_spoiled(v, packet, packet.flits - in.left, packet.hops))
      count(*v.shard, Count::kChannelErrors);
  }
  const u32 left = in.left - 1u;
  in.left = static_cast<u16>(left);
  --output_vc(v, router, out_port, out_vc).credits;
  ++router.at(t.router_fields.port, out_port).flits_sent;
  const u32 flit_byte = out_vc + 1 + u32{head} * kHeadMark + ((left - 1) >> 25 & kTailMark);
  outbox.flit(out_port, peers[out_port], static_cast<u8>(flit_byte));
  outbox.credit(port, peers[port], vc);
  return flit_byte;
}

/// Sends the descriptor of a head's packet. The descriptor is written into the receiver's circular buffer at once,
/// because the receiver does not read that position before the head arrives.
template <class V, class Out, int W>
FLITLAB_INLINE void send_head(const V& v, const Out& outbox, const Item<W>& router, u32 index, u32 port, u32 vc,
                              InputVc& in, u32 out_port, u32 out_vc) {
  const auto& t = v.t;
  OutputVc& out = output_vc(v, router, out_port, out_vc);
  const Peer& peer = t.peers[index * kPorts + out_port];
  Packet& copy = outbox.descriptor(out_port, peer, descriptor_start(t, 0, out_vc) + out.tail);
  copy = front_packet(v, router, port, vc, in);
  if (!is_terminal_port(out_port)) {
    ++copy.hops;
    take_hop(copy, router.at(t.router_fields.registers).pwho, v.routers[peer.item].at(t.router_fields.registers).pwho);
  }
  out.tail = next_position(out.tail, most_packets_of(t, out_vc));
  in.stage = FrontState::kFlowing;
  in.out_port = static_cast<u8>(out_port);
  in.out_vc = static_cast<u8>(out_vc);
}

/// Frees the output VC after a tail. Returns whether another packet becomes the front packet.
template <class V, int W>
FLITLAB_INLINE bool send_tail(const V& v, const Item<W>& router, RouterControl& control, u32 vc, InputVc& in,
                              u32 out_port, u32 out_vc) {
  release(control, output_vc(v, router, out_port, out_vc), out_port, out_vc);
  return end_front(v, vc, in);
}

}  // namespace flitlab::t3e
