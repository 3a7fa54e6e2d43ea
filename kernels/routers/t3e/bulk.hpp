#pragma once
/// One clock of many routers in bulk, for one CPU thread: each step runs for all routers before the next step begins.
/// A single router moves one or two flits a clock, so each of its short loops ends with a mispredicted branch, which
/// costs as much as the work on a flit. In bulk the loops are long, and lists are made without branches. The steps have
/// the same results as the steps of a single router (phases.hpp). Within a step, work on one port or packet does not
/// affect work on another, so the order does not change results.
#include <cstring>

#include "kernels/common/members.hpp"
#include "kernels/routers/t3e/arbitrate.hpp"
#include "kernels/routers/t3e/barrier.hpp"

namespace flitlab::t3e {

/// Largest number of routers that are visited together. The state that a clock touches in them should fit a first-level
/// cache.
inline constexpr u32 kBulkRouters = 32;

template <class V>
struct BulkStep {
  static constexpr int W = V::width;
  static constexpr u32 kList = kBulkRouters * kPorts + 1;  ///< one entry per port, and one that is written but not kept

  /// An input or output VC of a router: index of the router in `router` << 8 | bit_of(port, VC).
  using Channel = u32;
  /// A flit's move from an input VC to an output VC: index of the router in `router` << 16 | bit_of(input port, input
  /// VC) << 8 | bit_of(output port, output VC).
  using Move = u32;

  const V& v;
  const u32* index;  ///< `[n]`: numbers of the routers
  u32 n;
  Cycle now;
  BulkOutbox<V> outbox;
  Item<W> router[kBulkRouters];
  u64 busy[kBulkRouters];       ///< output ports taken in this clock: bit 7 of the port's byte
  u32 awake[kBulkRouters + 1];  ///< indices of the routers with flits that may move
  u32 awake_count = 0;
  Channel fronts[kList];
  u32 front_count = 0;

  FLITLAB_INLINE BulkStep(const V& view, const u32* list, u32 count, Cycle cycle)
      : v(view), index(list), n(count), now(cycle), outbox(outbox_of<BulkOutbox<V>>(view, cycle)) {
    for (u32 i = 0; i < n; ++i) router[i] = v.routers[list[i]], busy[i] = 0;
  }

  FLITLAB_INLINE RouterControl& control(u32 router_index) const {
    return router[router_index].at(v.t.router_fields.control);
  }
  FLITLAB_INLINE InputVc& input(u32 router_index, u32 port, u32 vc) const {
    return input_vc(v, router[router_index], port, vc);
  }
  FLITLAB_INLINE InputVc& input(Channel c) const { return input(c >> 8, c >> 3 & 7, c & 7); }

  using Bytes = PortBytes<kBulkRouters>;
  using Rare = RareBytes<kBulkRouters>;

  /// Appends input VC `c` to `fronts` if `if_so` is true: the VC has a new front packet, which is still to be routed.
  FLITLAB_INLINE void note_front(bool if_so, Channel c) {
    fronts[front_count] = c;
    __builtin_prefetch(&front_packet(v, router[c >> 8], c >> 3 & 7, c & 7, input(c)));
    front_count += if_so;
  }

  FLITLAB_INLINE void start_fronts() {
    for (u32 i = 0; i < front_count; ++i) {
      const Channel c = fronts[i];
      start_front(v, router[c >> 8], index[c >> 8], c >> 3 & 7, c & 7, input(c), now);
    }
    front_count = 0;
  }

  FLITLAB_INLINE void buffer(u32 router_index, u32 port, u32 flit) {
    const u32 vc = (flit & kVcBits) - 1u;
    note_front(buffer_flit(input(router_index, port, vc), flit), router_index << 8 | bit_of(port, vc));
  }

  FLITLAB_INLINE void receive() {
    const auto& t = v.t;
    constexpr u64 kHeads = 0x0101010101010101ull * kHeadMark;
    Bytes credits, waking;
    Rare heads, passing;
    if (has_priority_packets()) take_ports_of_priority_packets();
    for (u32 i = 0; i < n; ++i) {
      u64& credit = router[i].at(t.router_fields.credit_mail, now & t.slot_mask);
      u64& slot = router[i].at(t.router_fields.flit_mail, now & t.slot_mask);
      u64& waited = router[i].at(t.router_fields.flit_mail, (now - t.wait) & t.slot_mask);
      u32& buffered = control(i).buffered;
      const u64 closed = (u64{buffered == 0} & t.short_circuit) - 1;
      const u64 wake = (waited & ~kTerminalBytes) | (slot & kTerminalBytes),
                arriving = slot & (closed | kTerminalBytes);
      credits.add(i, credit, bytes_present(credit));
      passing.add(i, slot & ~arriving, bytes_present(slot & ~arriving));
      heads.add(i, arriving, arriving & kHeads);
      waking.add(i, wake, bytes_present(wake));
      buffered += bytes_in(bytes_present(arriving));
      credit = 0;
      slot &= ~kTerminalBytes;
      waited &= kTerminalBytes;
    }
    credits.for_each([&](u32 router_index, u32 port, u32 byte) __attribute__((always_inline)) {
      receive_credit(v, router[router_index], control(router_index), port, byte - 1);
    });
    if (passing.count) pass(passing);
    // On arrival only heads are recorded in their buffers. Body flits are counted into them when they may move
    // (`waking`).
    heads.for_each([&](u32 router_index, u32 port, u32 byte)
                       __attribute__((always_inline)) { buffer(router_index, port, byte); });
    waking.for_each([&](u32 router_index, u32 port, u32 byte) __attribute__((always_inline)) {
      make_flit_ready(v, router[router_index], control(router_index), port, byte);
    });
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
  FLITLAB_INLINE bool is_taken(u32 router_index, u32 out_port) const {
    return has_priority_packets() && (busy[router_index] >> (out_port * 8 + 7) & 1);
  }

  /// Returns the set of requested output ports: bit 7 of byte p is set if output port p is requested.
  FLITLAB_INLINE static u64 outputs_of(const Bids& bids) {
    u64 word;
    std::memcpy(&word, bids.output, sizeof word);
    return bytes_present(word);
  }

  /// Returns the number of bytes of `set` whose bit 7 is set; all other bits of `set` are 0.
  FLITLAB_INLINE static u32 bytes_in(u64 set) { return static_cast<u32>((set >> 7) * 0x0101010101010101ull >> 56); }

  /// Flits that arrive at routers with empty buffers: each takes the short-circuit path or enters its buffer.
  FLITLAB_INLINE void pass(Rare& passing) {
    Move moves[kList];
    u32 heads[kList], stay[kList];  // router << 16 | port << 8 | inbox byte
    u32 head_count = 0, move_count = 0, stay_count = 0;
    passing.for_each([&](u32 router_index, u32 port, u32 byte) __attribute__((always_inline)) {
      const u32 straight = opposite(port), vc = (byte & kVcBits) - 1u;
      const InputVc& in = input(router_index, port, vc);
      const bool open =
          is_path_open(v, router[router_index], index[router_index], straight) & !is_taken(router_index, straight);
      const bool head = (byte & kHeadMark) != 0;
      const bool passes = open & !head & body_passes(v, router[router_index], in, straight);
      heads[head_count] = router_index << 16 | port << 8 | byte;
      moves[move_count] = router_index << 16 | bit_of(port, vc) << 8 | bit_of(straight, in.out_vc % kMaxVcs);
      stay[stay_count] = router_index << 16 | port << 8 | byte;
      head_count += open & head;
      move_count += passes;
      stay_count += !(open & head) & !passes;
    });
    const u32 bodies = move_count;
    for (u32 i = 0; i < head_count; ++i) {
      const u32 head = heads[i], router_index = head >> 16, port = head >> 8 & 7, vc = (head & kVcBits) - 1u;
      const u32 straight = opposite(port);
      const u32 out_vc = head_passes(v, router[router_index], index[router_index], port, vc,
                                     input(router_index, port, vc), straight, now);
      moves[move_count] = router_index << 16 | bit_of(port, vc) << 8 | bit_of(straight, out_vc % kMaxVcs);
      stay[stay_count] = head;
      move_count += out_vc != kNoVc;
      stay_count += out_vc == kNoVc;
    }
    for (u32 i = 0; i < move_count; ++i) {
      const u32 router_index = moves[i] >> 16;
      router[router_index].at(v.t.router_fields.flit_mail, now & v.t.slot_mask) &=
          ~(u64{0xFF} << (moves[i] >> 8 & 0x38));
      busy[router_index] |= u64{0x80} << (moves[i] & 0x38);
    }
    send(moves, move_count, moves + bodies, move_count - bodies, [](Move, InputVc&, bool) {}, [](Move, InputVc&) {});
    for (u32 i = 0; i < stay_count; ++i) {
      ++control(stay[i] >> 16).buffered;
      buffer(stay[i] >> 16, stay[i] >> 8 & 7, stay[i] & 0xFF);
    }
  }

  /// Sends the flits of `moves`. `heads`: the moves of head flits. Calls `sent(move, in, tail)` after each flit and
  /// `starts(move, in)` before a head's descriptor is sent.
  template <class Sent, class Starts>
  FLITLAB_INLINE void send(const Move* moves, u32 move_count, const Move* heads, u32 head_count, Sent&& sent,
                           Starts&& starts) {
    Move tails[kList];
    u32 tail_count = 0;
    for (u32 i = 0; i < move_count; ++i) {
      const Move m = moves[i];
      const u32 router_index = m >> 16, port = m >> 11 & 7, vc = m >> 8 & 7;
      InputVc& in = input(router_index, port, vc);
      const u32 flit = send_flit(v, outbox, router[router_index], index[router_index], port, vc, in, m >> 3 & 7, m & 7);
      const u32 tail = flit / kTailMark & 1;
      sent(m, in, tail != 0);
      tails[tail_count] = m;
      tail_count += tail;
    }
    for (u32 i = 0; i < head_count; ++i) {
      const Move m = heads[i];
      const u32 router_index = m >> 16, port = m >> 11 & 7, vc = m >> 8 & 7;
      InputVc& in = input(router_index, port, vc);
      starts(m, in);
      send_head(v, outbox, router[router_index], index[router_index], port, vc, in, m >> 3 & 7, m & 7);
    }
    for (u32 i = 0; i < tail_count; ++i) {
      const Move m = tails[i];
      const u32 router_index = m >> 16, vc = m >> 8 & 7;
      note_front(send_tail(v, router[router_index], control(router_index), vc, input(m >> 8), m >> 3 & 7, m & 7),
                 m >> 8);
    }
    count(*v.shard, Total::kFlitMoves, move_count);
  }

  FLITLAB_INLINE void arbitrate() {
    const auto& t = v.t;
    Bids bids[kBulkRouters];
    Bytes ready;
    Channel bidders[kList], requesters[kList], starting[kList], adapting[kList], adaptive_requests[kList],
        stopped[kList];
    Move moves[kList];
    u32 bidder_count = 0, requester_count = 0, starting_count = 0, adapting_count = 0, adaptive_request_count = 0,
        stopped_count = 0, move_count = 0;
    awake_count = 0;
    for (u32 i = 0; i < n; ++i) {
      awake[awake_count] = i;
      awake_count += control(i).ready != 0;
    }
    for (u32 i = 0; i < awake_count; ++i) {
      const u64 vcs = control(awake[i]).ready;
      bids[awake[i]] = Bids{};
      ready.add(awake[i], vcs, bytes_present(vcs));
    }
    ready.for_each([&](u32 router_index, u32 port, u32) __attribute__((always_inline)) {
      const u32 requester = router[router_index].at(t.router_fields.port, port).asking, vc = requester % kMaxVcs;
      const InputVc& in = input(router_index, port, vc);  // an arbitrary VC if no VC has the right to request
      // A VC that holds its output port has no competitor.
      const bool holds =
          (requester != kNoVc) & holds_output(v, router[router_index], in) & !is_taken(router_index, in.out_port);
      moves[move_count] = router_index << 16 | bit_of(port, vc) << 8 | bit_of(in.out_port, in.out_vc);
      move_count += holds;
      busy[router_index] |= u64{holds} << (in.out_port * 8 + 7);
      bidders[bidder_count] = router_index * kPorts + port;
      bidder_count += !holds;
    });
    for (u32 i = 0; i < bidder_count; ++i) {
      const u32 router_index = bidders[i] / kPorts, port = bidders[i] % kPorts;
      const u32 vc = select_requester(router[router_index].at(t.router_fields.port, port), ready.byte(bidders[i]));
      const Channel c = router_index << 8 | bit_of(port, vc);
      const InputVc& in = input(c);
      bids[router_index].vc[port] = static_cast<u8>(vc);
      if (in.stage == FrontState::kStopped) {
        stopped[stopped_count++] = c;
        continue;
      }
      requesters[requester_count++] = c;
      starting[starting_count] = c;
      starting_count += in.stage == FrontState::kRequesting;
    }
    for (u32 i = 0; i < stopped_count; ++i) {
      const Channel c = stopped[i];
      drop_flit(v, router[c >> 8], control(c >> 8), index[c >> 8], c >> 3 & 7, c & 7, input(c), now);
    }
    for (u32 i = 0; i < starting_count; ++i) {
      const Channel c = starting[i];
      const InputVc& in = input(c);
      request_deterministic(v, router[c >> 8], control(c >> 8), c & 0xFF, in);
      adapting[adapting_count] = c;
      adapting_count += may_adapt(in);
    }
    for (u32 i = 0; i < adapting_count; ++i) {
      const Channel c = adapting[i];
      const u32 bit = request_adaptive(v, router[c >> 8], c >> 3 & 7, input(c), bids[c >> 8]);
      adaptive_requests[adaptive_request_count] = (c & ~0xFFu) | (bit & 0xFF);
      adaptive_request_count += bit != kNone;
    }
    Members<kBulkRouters> open_outputs;
    u32 open_count = 0;
    for (u32 i = 0; i < awake_count; ++i) {
      open_count = open_outputs.add(open_count, awake[i], control(awake[i]).asked);
      control(awake[i]).asked = 0;
    }
    for_each_member(open_outputs.set, open_count, [&](u32 i, u64 set) __attribute__((always_inline)) {
      grant(v, router[open_outputs.index[i]], lowest_bit(set));
      return set & (set - 1);
    });
    for (u32 i = 0; i < adaptive_request_count; ++i)
      grant_adaptive(v, router[adaptive_requests[i] >> 8], adaptive_requests[i] & 0xFF,
                     bids[adaptive_requests[i] >> 8]);
    for (u32 i = 0; i < requester_count; ++i) {
      const Channel c = requesters[i];
      compete(v, router[c >> 8], c >> 3 & 7, c & 7, 0, bids[c >> 8]);
    }
    cross(bids, moves, move_count);
  }

  /// Output ports choose the VCs that send, and the winners' flits cross. `moves`: flits whose VCs hold their output
  /// ports.
  FLITLAB_INLINE void cross(Bids* bids, Move* moves, u32 move_count) {
    Bytes outputs;
    u32 winner_count = 0, head_count = 0;
    Channel winners[kList];
    Move heads[kList];
    for (u32 i = 0; i < awake_count; ++i) {
      const u32 router_index = awake[i];
      outputs.add(router_index, 0, outputs_of(bids[router_index]) & ~busy[router_index]);
    }
    outputs.for_each([&](u32 router_index, u32 out_port, u32) __attribute__((always_inline)) {
      const u32 port = choose_sender(v, router[router_index], out_port, bids[router_index]);
      winners[winner_count] = router_index << 8 | bit_of(port, bids[router_index].vc[port]);
      // An input port that wins twice is listed at its first win.
      winner_count += !(bids[router_index].won[port] & (bids[router_index].won[port] - 1u));
    });
    for (u32 i = 0; i < winner_count; ++i) {
      const Channel c = winners[i];
      const Bids& b = bids[c >> 8];
      const InputVc& in = input(c);
      const u32 out_port = output_taken(in, b.won[c >> 3 & 7]);
      const Move m = c << 8 | bit_of(out_port, b.sender[out_port]);
      moves[move_count++] = m;
      heads[head_count] = m;
      head_count += in.stage == FrontState::kRequesting;
      // Prefetched because descriptors are far apart and most winners are heads.
      const Peer& peer = v.t.peers[index[c >> 8] * kPorts + out_port];
      const u32 position = descriptor_start(v.t, 0, m & 7) + output_vc(v, router[c >> 8], out_port, m & 7).tail;
      __builtin_prefetch(&front_packet(v, router[c >> 8], c >> 3 & 7, c & 7, in));
      __builtin_prefetch(&outbox.descriptor(out_port, peer, position), 1);
    }
    send(
        moves, move_count, heads, head_count,
        [&](Move m, InputVc& in, bool tail) __attribute__((always_inline)) {
          const u32 router_index = m >> 16;
          update_rights(v, router[router_index], control(router_index), m >> 11 & 7, m >> 8 & 7, in, m >> 3 & 7, m & 7,
                        tail, now);
        },
        [&](Move m, InputVc& in) __attribute__((always_inline)) {
          cancel_other_request(v, router[m >> 16], control(m >> 16), m >> 8 & 0xFF, in, m >> 3 & 7, m & 7);
        });
    start_fronts();
  }
};

template <class V>
FLITLAB_INLINE void step_in_bulk(const V& v, const u32* list, u32 n, Cycle now) {
  BulkStep<V> batch(v, list, n, now);
  batch.receive();
  batch.arbitrate();
}

}  // namespace flitlab::t3e
