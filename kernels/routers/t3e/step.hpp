#pragma once
/// One clock of up to `kMost` routers: arrivals, requests, grants, and the flits that move. Each part runs for all
/// routers before the next part (kernels/common/lists.hpp gives the reason). Within a part, work on one port or packet
/// does not affect work on another, so the order does not change results.
#include <type_traits>

#include "kernels/common/lists.hpp"
#include "kernels/routers/t3e/arbitrate.hpp"
#include "kernels/routers/t3e/barrier.hpp"

namespace flitlab::t3e {

/// Largest number of routers that are visited together. The state that a clock touches in them should fit a first-level
/// cache.
inline constexpr u32 kBulkRouters = 32;

template <u32 kMost, class V>
struct RouterStep {
  static constexpr int W = V::width;
  using Out = std::conditional_t<kMost == 1, Outbox<V>, BulkOutbox<V>>;
  /// Ports of routers, each with a byte of an inbox.
  using Bytes = ByteList<kMost>;
  using RareBytes = RareByteList<kMost>;
  /// Input VCs; a member is bit_of(port, VC).
  using Channels = BitList<kMost, kPorts>;
  /// Input VCs with an inbox byte, or with bit_of() of the output VC to which a flit moves.
  using Moves = MoveList<kMost, kPorts>;

  const V& v;
  const u32* index;  ///< `[n]`: numbers of the routers
  u32 n;
  Cycle now;
  Out outbox;
  Item<W> router[kMost];
  u64 busy[kMost];  ///< output ports taken in this clock: bit 7 of the port's byte
  Channels fronts;  ///< input VCs with a new front packet, which is still to be routed

  FLITLAB_INLINE RouterStep(const V& view, const u32* list, u32 count, Cycle cycle)
      : v(view), index(list), n(kMost == 1 ? 1 : count), now(cycle), outbox(outbox_of<Out>(view, cycle)) {
    for (u32 i = 0; i < n; ++i) router[i] = v.routers[list[i]], busy[i] = 0;
  }

  FLITLAB_INLINE RouterControl& control(u32 i) const { return router[i].at(v.t.router_fields.control); }
  FLITLAB_INLINE InputVc& input(u32 i, u32 bit) const { return input_vc(v, router[i], bit / kMaxVcs, bit % kMaxVcs); }

  FLITLAB_INLINE void note_front(bool if_so, u32 i, u32 bit) {
    fronts.add(if_so, i, bit);
#if !defined(__CUDA_ARCH__)
    __builtin_prefetch(&front_packet(v, router[i], bit / kMaxVcs, bit % kMaxVcs, input(i, bit)));
#endif
  }

  FLITLAB_INLINE void start_fronts() {
    fronts.for_each([&](u32 i, u32 bit) __attribute__((always_inline)) {
      start_front(v, router[i], index[i], bit / kMaxVcs, bit % kMaxVcs, input(i, bit), now);
    });
    fronts = {};
  }

  FLITLAB_INLINE void buffer(u32 i, u32 port, u32 flit) {
    const u32 bit = bit_of(port, (flit & kVcBits) - 1u);
    note_front(buffer_flit(input(i, bit), flit), i, bit);
  }

  FLITLAB_INLINE void receive() {
    const auto& t = v.t;
    constexpr u64 kHeads = 0x0101010101010101ull * kHeadMark;
    Bytes credits, waking;
    RareBytes heads, passing;
    if (has_priority_packets()) take_ports_of_priority_packets();
    for (u32 i = 0; i < n; ++i) {
      u64& credit = router[i].at(t.router_fields.credit_mail, now & t.slot_mask);
      u64& slot = router[i].at(t.router_fields.flit_mail, now & t.slot_mask);
      u64& waited = router[i].at(t.router_fields.flit_mail, (now - t.wait) & t.slot_mask);
      u32& buffered = control(i).buffered;
      const u64 closed = (u64{buffered == 0} & t.short_circuit) - 1;
      const u64 wake = (waited & ~kTerminalBytes) | (slot & kTerminalBytes),
                arriving = slot & (closed | kTerminalBytes);
      if constexpr (V::traced) log_arrivals(v, router[i], index[i], slot);
      credits.add(i, credit, bytes_present(credit));
      passing.add(i, slot & ~arriving, bytes_present(slot & ~arriving));
      heads.add(i, arriving, arriving & kHeads);
      waking.add(i, wake, bytes_present(wake));
      buffered += byte_count(bytes_present(arriving));
      credit = 0;
      slot &= ~kTerminalBytes;
      waited &= kTerminalBytes;
    }
    credits.for_each([&](u32 i, u32 port, u32 byte)
                         __attribute__((always_inline)) { receive_credit(v, router[i], control(i), port, byte - 1); });
    if (passing.any()) pass(passing);
    // On arrival only heads are recorded in their buffers. Body flits are counted into them when they may move
    // (`waking`).
    heads.for_each([&](u32 i, u32 port, u32 byte) __attribute__((always_inline)) { buffer(i, port, byte); });
    waking.for_each([&](u32 i, u32 port, u32 byte)
                        __attribute__((always_inline)) { make_flit_ready(v, router[i], control(i), port, byte); });
    start_fronts();
  }

  /// Passes barrier packets and marks the output ports that special and barrier packets take, because these packets go
  /// before normal ones.
  FLITLAB_INLINE void take_ports_of_priority_packets() {
    for (u32 i = 0; i < n; ++i) {
      u32 taken = v.t.special ? router[i].at(v.t.special_fields.busy) : 0;
      if (v.t.barrier_units) taken = pass_barriers(v, router[i], index[i], taken, now);
      busy[i] = bytes_present(taken * 0x0101010101010101ull & 0x8040201008040201ull);
    }
  }

  FLITLAB_INLINE bool has_priority_packets() const { return v.t.special || v.t.barrier_units; }
  /// Returns whether a special or barrier packet has taken an output port.
  FLITLAB_INLINE bool is_taken(u32 i, u32 out_port) const {
    return has_priority_packets() && (busy[i] >> (out_port * 8 + 7) & 1);
  }

  /// Returns the set of requested output ports: bit 7 of byte p is set if output port p is requested.
  FLITLAB_INLINE static u64 outputs_of(const Bids& bids) {
    u64 word;
    __builtin_memcpy(&word, bids.output, sizeof word);
    return bytes_present(word);
  }

  /// Flits that arrive at routers with empty buffers: each takes the short-circuit path or enters its buffer.
  FLITLAB_INLINE void pass(RareBytes& passing) {
    Moves moves, heads, passing_heads, stay;  // in `passing_heads` and `stay` with inbox bytes
    passing.for_each([&](u32 i, u32 port, u32 byte) __attribute__((always_inline)) {
      const u32 straight = opposite(port), bit = bit_of(port, (byte & kVcBits) - 1u);
      const InputVc& in = input(i, bit);
      const bool open = is_path_open(v, router[i], index[i], straight) & !is_taken(i, straight);
      const bool head = (byte & kHeadMark) != 0;
      const bool passes = open & !head & body_passes(v, router[i], in, straight);
      passing_heads.add(open & head, i, bit, byte);
      moves.add(passes, i, bit, bit_of(straight, in.out_vc % kMaxVcs));
      stay.add(!(open & head) & !passes, i, bit, byte);
    });
    passing_heads.for_each([&](u32 i, u32 bit, u32 byte) __attribute__((always_inline)) {
      const u32 port = bit / kMaxVcs, vc = bit % kMaxVcs, straight = opposite(port);
      const u32 out_vc = head_passes(v, router[i], index[i], port, vc, input(i, bit), straight, now);
      moves.add(out_vc != kNoVc, i, bit, bit_of(straight, out_vc % kMaxVcs));
      heads.add(out_vc != kNoVc, i, bit, bit_of(straight, out_vc % kMaxVcs));
      stay.add(out_vc == kNoVc, i, bit, byte);
    });
    moves.for_each([&](u32 i, u32 from, u32 to) __attribute__((always_inline)) {
      router[i].at(v.t.router_fields.flit_mail, now & v.t.slot_mask) &= ~(u64{0xFF} << (from & 0x38));
      busy[i] |= u64{0x80} << (to & 0x38);
    });
    send(moves, heads, [](u32, u32, u32, InputVc&, bool) {}, [](u32, u32, u32, InputVc&) {});
    stay.for_each([&](u32 i, u32 bit, u32 byte) __attribute__((always_inline)) {
      ++control(i).buffered;
      buffer(i, bit / kMaxVcs, byte);
    });
  }

  /// Sends the flits of `moves`. `heads`: the moves of head flits. Calls `sent(router, from, to, in, tail)` after each
  /// flit and `starts(router, from, to, in)` before a head's descriptor is sent.
  template <class Sent, class Starts>
  FLITLAB_INLINE void send(const Moves& moves, const Moves& heads, Sent&& sent, Starts&& starts) {
    Moves tails;
    moves.for_each([&](u32 i, u32 from, u32 to) __attribute__((always_inline)) {
      InputVc& in = input(i, from);
      const u32 flit =
          send_flit(v, outbox, router[i], index[i], from / kMaxVcs, from % kMaxVcs, in, to / kMaxVcs, to % kMaxVcs);
      const bool tail = flit & kTailMark;
      sent(i, from, to, in, tail);
      tails.add(tail, i, from, to);
    });
    heads.for_each([&](u32 i, u32 from, u32 to) __attribute__((always_inline)) {
      InputVc& in = input(i, from);
      starts(i, from, to, in);
      send_head(v, outbox, router[i], index[i], from / kMaxVcs, from % kMaxVcs, in, to / kMaxVcs, to % kMaxVcs);
    });
    tails.for_each([&](u32 i, u32 from, u32 to) __attribute__((always_inline)) {
      note_front(send_tail(v, router[i], control(i), from % kMaxVcs, input(i, from), to / kMaxVcs, to % kMaxVcs), i,
                 from);
    });
    count(*v.shard, Total::kFlitMoves, moves.count);
  }

  /// Returns the ports that neither accept nor send a flit in this clock, as bits: a slow I/O port is open in one of
  /// `io_interval` clocks.
  FLITLAB_INLINE u32 closed_ports() const { return v.t.io_interval > 1 && now % v.t.io_interval ? 1u << kIoPort : 0; }

  FLITLAB_INLINE void arbitrate() {
    const auto& t = v.t;
    const u32 closed = closed_ports();
    const u64 open_vcs = closed ? ~(u64{0xFF} << 8 * kIoPort) : ~u64{0};
    Bids bids[kMost];
    ItemList<kMost> awake;  // routers with flits that may move
    Bytes ready;
    Channels bidders, requesters, starting, adapting, adaptive_requests, stopped;
    Moves moves;
    for (u32 i = 0; i < n; ++i) awake.add(i, control(i).ready != 0);
    for (u32 i : awake) {
      const u64 vcs = control(i).ready & open_vcs;
      bids[i] = Bids{};
      ready.add(i, vcs, bytes_present(vcs));
    }
    ready.for_each([&](u32 i, u32 port, u32) __attribute__((always_inline)) {
      const u32 requester = router[i].at(t.router_fields.port, port).asking, bit = bit_of(port, requester % kMaxVcs);
      const InputVc& in = input(i, bit);  // an arbitrary VC if no VC has the right to request
      // A VC that holds its output port has no competitor.
      const bool holds = (requester != kNoVc) & holds_output(v, router[i], in) & !is_taken(i, in.out_port);
      moves.add(holds, i, bit, bit_of(in.out_port, in.out_vc));
      busy[i] |= u64{holds} << (in.out_port * 8 + 7);
      bidders.add(!holds, i, port);
    });
    bidders.for_each([&](u32 i, u32 port) __attribute__((always_inline)) {
      PortState& state = router[i].at(t.router_fields.port, port);
      u32 set = ready.byte(i, port);
      if (t.io_interval > 1 && state.asking == kNoVc) {
        set = eligible_beside_slow_io(v, router[i], port, set, closed);
        if (!set) return;
      }
      const u32 bit = bit_of(port, select_requester(state, set));
      const InputVc& in = input(i, bit);
      bids[i].vc[port] = static_cast<u8>(bit % kMaxVcs);
      const bool drops = in.stage == FrontState::kStopped;
      stopped.add(drops, i, bit);
      requesters.add(!drops, i, bit);
      starting.add(in.stage == FrontState::kRequesting, i, bit);
    });
    stopped.for_each([&](u32 i, u32 bit) __attribute__((always_inline)) {
      drop_flit(v, router[i], control(i), index[i], bit / kMaxVcs, bit % kMaxVcs, input(i, bit), now);
    });
    starting.for_each([&](u32 i, u32 bit) __attribute__((always_inline)) {
      const InputVc& in = input(i, bit);
      request_deterministic(v, router[i], control(i), bit, in);
      adapting.add(may_adapt(in), i, bit);
    });
    adapting.for_each([&](u32 i, u32 bit) __attribute__((always_inline)) {
      const u32 requested = request_adaptive(v, router[i], bit / kMaxVcs, input(i, bit), bids[i]);
      adaptive_requests.add(requested != kNone, i, requested & 0xFF);
    });
    SetList<kMost> open_outputs;
    for (u32 i : awake) {
      open_outputs.add(i, control(i).asked);
      control(i).asked = 0;
    }
    open_outputs.for_each([&](u32 i, u32 bit) __attribute__((always_inline)) { grant(v, router[i], bit); });
    adaptive_requests.for_each([&](u32 i, u32 bit)
                                   __attribute__((always_inline)) { grant_adaptive(v, router[i], bit, bids[i]); });
    requesters.for_each([&](u32 i, u32 bit) __attribute__((always_inline)) {
      compete(v, router[i], bit / kMaxVcs, bit % kMaxVcs, closed, bids[i]);
    });
    cross(bids, awake, moves);
  }

  /// Output ports choose the VCs that send, and the winners' flits cross. `moves`: flits whose VCs hold their output
  /// ports.
  FLITLAB_INLINE void cross(Bids* bids, const ItemList<kMost>& awake, Moves& moves) {
    Bytes outputs;
    Channels winners;
    Moves heads;
    for (u32 i : awake) outputs.add(i, 0, outputs_of(bids[i]) & ~busy[i]);
    outputs.for_each([&](u32 i, u32 out_port, u32) __attribute__((always_inline)) {
      const u32 port = choose_sender(v, router[i], out_port, bids[i]);
      // An input port that wins twice is listed at its first win.
      winners.add(!(bids[i].won[port] & (bids[i].won[port] - 1u)), i, bit_of(port, bids[i].vc[port]));
    });
    winners.for_each([&](u32 i, u32 from) __attribute__((always_inline)) {
      const InputVc& in = input(i, from);
      const u32 out_port = output_taken(in, bids[i].won[from / kMaxVcs]), out_vc = bids[i].sender[out_port];
      moves.add(true, i, from, bit_of(out_port, out_vc));
      heads.add(in.stage == FrontState::kRequesting, i, from, bit_of(out_port, out_vc));
#if !defined(__CUDA_ARCH__)
      // Prefetched because descriptors are far apart and most winners are heads.
      const Peer& peer = v.t.peers[index[i] * kPorts + out_port];
      const u32 position = descriptor_start(v.t, 0, out_vc) + output_vc(v, router[i], out_port, out_vc).tail;
      __builtin_prefetch(&front_packet(v, router[i], from / kMaxVcs, from % kMaxVcs, in));
      __builtin_prefetch(&outbox.descriptor(out_port, peer, position), 1);
#endif
    });
    send(
        moves, heads,
        [&](u32 i, u32 from, u32 to, InputVc& in, bool tail) __attribute__((always_inline)) {
          update_rights(v, router[i], control(i), from / kMaxVcs, from % kMaxVcs, in, to / kMaxVcs, to % kMaxVcs, tail,
                        now);
        },
        [&](u32 i, u32 from, u32 to, InputVc& in) __attribute__((always_inline)) {
          cancel_other_request(v, router[i], control(i), from, in, to / kMaxVcs, to % kMaxVcs);
        });
    start_fronts();
  }
};

template <u32 kMost, class V>
FLITLAB_INLINE void step(const V& v, const u32* list, u32 n, Cycle now) {
  RouterStep<kMost, V> routers(v, list, n, now);
  routers.receive();
  routers.arbitrate();
}

}  // namespace flitlab::t3e
