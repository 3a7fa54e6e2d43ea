#pragma once
/// One clock of up to `kMost` routers: arrivals, requests, grants, and the flits that move. Each part runs for all
/// routers before the next part (kernels/common/lists.hpp gives the reason). Within a part, work on one port or packet
/// does not affect work on another, so the order does not change results.
#include "kernels/routers/t3e/barrier.hpp"
#include "kernels/routers/t3e/group.hpp"

namespace flitlab::t3e {

/// Largest number of routers that are visited together. The state that a clock touches in them should fit a first-level
/// cache.
inline constexpr u32 kBulkRouters = 32;

/// All deterministic output VCs of a router (set of bit_of).
inline constexpr u64 kDeterministicOutputs = 0x0F0F0F0F0F0F0F0Full;

/// One clock of the routers of `group` (RouterGroup or BlockGroup).
template <u32 kMost, class Group>
struct RouterStep {
  Group& group;
  Cycle now;

  /// Whether a block of GPU threads shares the lists.
  static constexpr bool kInBlock = kMost == kGpuBlock;

  FLITLAB_INLINE void start(u32 i, u32 bit) {
    const auto at = group[i];
    start_front(at.v, at.router, at.index, bit / kMaxVcs, bit % kMaxVcs, at.input(bit), now);
  }

  FLITLAB_INLINE void note_front(Fronts<kMost>& fronts, bool if_so, u32 i, u32 bit) {
    if constexpr (kInBlock) {
      if (if_so) start(i, bit);
    } else {
      fronts.add(if_so, i, bit);
      const auto at = group[i];
#if !defined(__CUDA_ARCH__)
      __builtin_prefetch(&front_packet(at.v, at.router, bit / kMaxVcs, bit % kMaxVcs, at.input(bit)));
#endif
    }
  }

  FLITLAB_INLINE void start_fronts(Fronts<kMost>& fronts) {
    if constexpr (!kInBlock) fronts.for_each([&](u32 i, u32 bit) __attribute__((always_inline)) { start(i, bit); });
  }

  FLITLAB_INLINE void buffer(Fronts<kMost>& fronts, u32 i, u32 port, u32 flit) {
    const u32 bit = bit_of(port, (flit & kVcBits) - 1u);
    note_front(fronts, buffer_flit(group[i].input(bit), flit), i, bit);
  }

  FLITLAB_INLINE void receive(const ArrivalLists<kMost>& lists) {
    const auto& t = group.table();
    constexpr u64 kHeads = 0x0101010101010101ull * kHeadMark;
    auto &credits = lists.credits, &waking = lists.waking;
    auto &heads = lists.heads, &passing = lists.passing;
    if (has_priority_packets()) take_ports_of_priority_packets();
    for (u32 i : group.all()) {
      const auto at = group[i];
      u64& credit = at.router.at(t.router_fields.credit_mail, now & t.slot_mask);
      u64& slot = at.router.at(t.router_fields.flit_mail, now & t.slot_mask);
      u64& waited = at.router.at(t.router_fields.flit_mail, (now - t.wait) & t.slot_mask);
      u32& buffered = at.control().buffered;
      const u64 closed = (u64{buffered == 0} & t.short_circuit) - 1;
      const u64 wake = (waited & ~kTerminalBytes) | (slot & kTerminalBytes),
                arriving = slot & (closed | kTerminalBytes);
      if constexpr (Group::traced) log_arrivals(at.v, at.router, at.index, slot);
      credits.add(i, credit, bytes_present(credit));
      passing.add(i, slot & ~arriving, bytes_present(slot & ~arriving));
      heads.add(i, arriving, arriving & kHeads);
      waking.add(i, wake, bytes_present(wake));
      buffered += byte_count(bytes_present(arriving));
      credit = 0;
      slot &= ~kTerminalBytes;
      waited &= kTerminalBytes;
    }
    credits.for_each([&](u32 i, u32 port, u32 byte) __attribute__((always_inline)) {
      const auto at = group[i];
      receive_credit(at.v, at.router, at.control(), port, byte - 1);
    });
    if (passing.any()) pass(lists);
    // On arrival only heads are recorded in their buffers. Body flits are counted into them when they may move
    // (`waking`).
    for_each_beside(
        heads, [&](u32 i, u32 port, u32 byte) __attribute__((always_inline)) { buffer(lists.fronts, i, port, byte); });
    for_each_beside(waking, [&](u32 i, u32 port, u32 byte) __attribute__((always_inline)) {
      const auto at = group[i];
      make_flit_ready(at.v, at.router, at.control(), port, byte);
    });
    start_fronts(lists.fronts);
  }

  /// Passes barrier packets and marks the output ports that special and barrier packets take, because these packets go
  /// before normal ones.
  FLITLAB_INLINE void take_ports_of_priority_packets() {
    const auto& t = group.table();
    for (u32 i : group.all()) {
      const auto at = group[i];
      u32 taken = t.special ? at.router.at(t.special_fields.busy) : 0;
      if (t.barrier_units) taken = pass_barriers(at.v, at.router, at.index, taken, now);
      group.set_taken(i, bytes_present(taken * 0x0101010101010101ull & 0x8040201008040201ull));
    }
  }

  FLITLAB_INLINE bool has_priority_packets() const { return group.table().special || group.table().barrier_units; }
  /// Returns whether a special or barrier packet has taken an output port.
  FLITLAB_INLINE bool is_taken(u32 i, u32 out_port) const {
    return has_priority_packets() && group.is_taken(i, out_port);
  }

  /// Returns the set of requested output ports: bit 7 of byte p is set if output port p is requested.
  FLITLAB_INLINE static u64 outputs_of(const Bids& bids) {
    u64 word;
    __builtin_memcpy(&word, bids.output, sizeof word);
    return bytes_present(word);
  }

  /// Flits that arrive at routers with empty buffers: each takes the short-circuit path or enters its buffer.
  FLITLAB_INLINE void pass(const ArrivalLists<kMost>& lists) {
    auto &moves = lists.moves, &heads = lists.moving_heads, &arriving_heads = lists.arriving_heads, &stay = lists.stay;
    lists.passing.for_each([&](u32 i, u32 port, u32 byte) __attribute__((always_inline)) {
      const auto at = group[i];
      const u32 straight = opposite(port), bit = bit_of(port, (byte & kVcBits) - 1u);
      const InputVc& in = at.input(bit);
      const bool open = is_path_open(at.v, at.router, at.index, straight) & !is_taken(i, straight);
      const bool head = (byte & kHeadMark) != 0;
      const bool passes = open & !head & body_passes(at.v, at.router, in, straight);
      arriving_heads.add(open & head, i, bit, byte);
      moves.add(passes, i, bit, bit_of(straight, in.out_vc % kMaxVcs));
      stay.add(!(open & head) & !passes, i, bit, byte);
    });
    arriving_heads.for_each([&](u32 i, u32 bit, u32 byte) __attribute__((always_inline)) {
      const auto at = group[i];
      const u32 port = bit / kMaxVcs, vc = bit % kMaxVcs, straight = opposite(port);
      const u32 out_vc = head_passes(at.v, at.router, at.index, port, vc, at.input(bit), straight, now);
      moves.add(out_vc != kNoVc, i, bit, bit_of(straight, out_vc % kMaxVcs));
      heads.add(out_vc != kNoVc, i, bit, bit_of(straight, out_vc % kMaxVcs));
      stay.add(out_vc == kNoVc, i, bit, byte);
    });
    send(
        moves, heads, lists.tails, lists.fronts,
        [&](u32 i, u32 from, u32 to, InputVc&, bool) __attribute__((always_inline)) {
          const auto& t = group.table();
          put_byte(group[i].router.at(t.router_fields.flit_mail, now & t.slot_mask), from / kMaxVcs, 0);
          group.take(i, to / kMaxVcs, true);
        },
        [&](u32 i, u32 from, u32 to, InputVc&) __attribute__((always_inline)) {
          const auto at = group[i];
          output_vc(at.v, at.router, to / kMaxVcs, to % kMaxVcs).owner = static_cast<u8>(from);
        },
        [] {});
    stay.for_each([&](u32 i, u32 bit, u32 byte) __attribute__((always_inline)) {
      add_to(group[i].control().buffered, 1);
      buffer(lists.fronts, i, bit / kMaxVcs, byte);
    });
  }

  /// Sends the flits of `moves`. `heads`: the moves of head flits; `tails`: an empty list. Calls `sent(router, from,
  /// to, in, tail)` after each flit, `starts(router, from, to, in)` before a head's descriptor is sent, and `started()`
  /// after all heads.
  template <class Sent, class Starts, class Started>
  FLITLAB_INLINE void send(const Moves<kMost>& moves, const Moves<kMost>& heads, Moves<kMost>& tails,
                           Fronts<kMost>& fronts, Sent&& sent, Starts&& starts, Started&& started) {
    moves.for_each([&](u32 i, u32 from, u32 to) __attribute__((always_inline)) {
      const auto at = group[i];
      InputVc& in = at.input(from);
      const u32 flit = send_flit(at.v, group.outbox(at.v), at.router, at.index, from / kMaxVcs, from % kMaxVcs, in,
                                 to / kMaxVcs, to % kMaxVcs);
      const bool tail = flit & kTailMark;
      sent(i, from, to, in, tail);
      tails.add(tail, i, from, to);
      group.count_flit(at.v);
    });
    heads.for_each([&](u32 i, u32 from, u32 to) __attribute__((always_inline)) {
      const auto at = group[i];
      InputVc& in = at.input(from);
      starts(i, from, to, in);
      send_head(at.v, group.outbox(at.v), at.router, at.index, from / kMaxVcs, from % kMaxVcs, in, to / kMaxVcs,
                to % kMaxVcs);
    });
    started();
    tails.for_each([&](u32 i, u32 from, u32 to) __attribute__((always_inline)) {
      const auto at = group[i];
      note_front(fronts,
                 send_tail(at.v, at.router, at.control(), from % kMaxVcs, at.input(from), to / kMaxVcs, to % kMaxVcs),
                 i, from);
    });
    group.count_flits(moves);
  }

  /// Returns the ports that neither accept nor send a flit in this clock, as bits: a slow I/O port is open in one of
  /// `io_interval` clocks.
  FLITLAB_INLINE u32 closed_ports() const {
    const u32 interval = group.table().io_interval;
    return interval > 1 && now % interval ? 1u << kIoPort : 0;
  }

  /// Flits that may move request output VCs, except those that hold their output port, and the VCs choose.
  FLITLAB_INLINE void request(const ArbitrationLists<kMost>& lists) {
    const auto& t = group.table();
    const u32 closed = closed_ports();
    const u64 open_vcs = closed ? ~(u64{0xFF} << 8 * kIoPort) : ~u64{0};
    Bids* const bids = lists.bids;
    auto& ready = lists.ready;
    auto& open_outputs = lists.open_outputs;
    const auto begin = [&](u32 i, const RouterControl& control) __attribute__((always_inline)) {
      const u64 vcs = control.ready & open_vcs;
      bids[i] = Bids{};
      ready.add(i, vcs, bytes_present(vcs));
    };
    if constexpr (kInBlock) {
      for (u32 i : group.all()) {
        const RouterControl& control = group[i].control();
        if (!control.ready) continue;
        begin(i, control);
        open_outputs.add_set(i, control.asked & kDeterministicOutputs);
      }
    } else {
      for (u32 i : group.all()) lists.awake.add(i, group[i].control().ready != 0);
      for (u32 i : lists.awake) begin(i, group[i].control());
    }
    ready.for_each([&](u32 i, u32 port, u32) __attribute__((always_inline)) {
      const auto at = group[i];
      const u32 requester = at.port(port).asking, bit = bit_of(port, requester % kMaxVcs);
      const InputVc& in = at.input(bit);  // an arbitrary VC if no VC has the right to request
      // A VC that holds its output port has no competitor. So no other entry reads or changes whether the port is
      // taken.
      bool holds = (requester != kNoVc) & holds_output(at.v, at.router, in);
      if (has_priority_packets()) holds = holds && !group.is_taken(i, in.out_port);
      lists.moves.add(holds, i, bit, bit_of(in.out_port, in.out_vc));
      group.take(i, in.out_port, holds);
      lists.bidders.add(!holds, i, port);
    });
    lists.bidders.for_each([&](u32 i, u32 port) __attribute__((always_inline)) {
      const auto at = group[i];
      PortState& state = at.port(port);
      u32 set = ready.byte(i, port);
      if (t.io_interval > 1 && state.asking == kNoVc) {
        set = eligible_beside_slow_io(at.v, at.router, port, set, closed);
        if (!set) return;
      }
      const u32 bit = bit_of(port, select_requester(state, set));
      const InputVc& in = at.input(bit);
      bids[i].vc[port] = static_cast<u8>(bit % kMaxVcs);
      const bool drops = in.stage == FrontState::kStopped;
      lists.stopped.add(drops, i, bit);
      lists.requesters.add(!drops, i, bit);
      lists.starting.add(in.stage == FrontState::kRequesting, i, bit);
    });
    lists.starting.for_each([&](u32 i, u32 bit) __attribute__((always_inline)) {
      const auto at = group[i];
      const InputVc& in = at.input(bit);
      const bool first = request_deterministic(at.v, at.router, at.control(), bit, in);
      if constexpr (kInBlock) open_outputs.add(first, i, bit_of(in.out_port, in.out_vc));
      lists.adapting.add(may_adapt(in), i, bit);
    });
    for_each_beside(lists.stopped, [&](u32 i, u32 bit) __attribute__((always_inline)) {
      const auto at = group[i];
      drop_flit(at.v, at.router, at.control(), at.index, bit / kMaxVcs, bit % kMaxVcs, at.input(bit), now);
    });
    lists.adapting.for_each([&](u32 i, u32 bit) __attribute__((always_inline)) {
      const auto at = group[i];
      const u32 requested = request_adaptive(at.v, at.router, bit / kMaxVcs, at.input(bit), bids[i]);
      lists.adaptive_requests.add(requested != kNone, i, requested & 0xFF);
    });
    if constexpr (!kInBlock)
      for (u32 i : lists.awake) {
        u64& asked = group[i].control().asked;
        open_outputs.add(i, asked & kDeterministicOutputs);
        asked = 0;
      }
    open_outputs.for_each([&](u32 i, u32 bit) __attribute__((always_inline)) {
      const auto at = group[i];
      grant(at.v, at.router, bit);
      if constexpr (kInBlock) clear_bit(at.control().asked, bit);
    });
    for_each_beside(lists.adaptive_requests, [&](u32 i, u32 bit) __attribute__((always_inline)) {
      const auto at = group[i];
      grant_adaptive(at.v, at.router, bit, bids[i]);
    });
  }

  /// Output ports choose the VCs that send, and the winners' flits cross. `lists.moves`: flits whose VCs hold their
  /// output ports.
  FLITLAB_INLINE void cross(const ArbitrationLists<kMost>& lists) {
    const u32 closed = closed_ports();
    Bids* const bids = lists.bids;
    auto& heads = lists.heads;
    lists.requesters.for_each([&](u32 i, u32 bit) __attribute__((always_inline)) {
      const auto at = group[i];
      compete(at.v, at.router, bit / kMaxVcs, bit % kMaxVcs, closed, bids[i],
              [&](bool first, u32 out_port) __attribute__((always_inline)) {
                if constexpr (kInBlock) lists.outputs.add(first && !group.is_taken(i, out_port), i, out_port);
              });
    });
    if constexpr (!kInBlock)
      for (u32 i : lists.awake) lists.outputs.add(i, 0, outputs_of(bids[i]) & ~group.taken(i));
    lists.outputs.for_each([&](u32 i, u32 out_port, auto...) __attribute__((always_inline)) {
      const auto at = group[i];
      const u32 port = choose_sender(at.v, at.router, out_port, bids[i]);
      // An input port that wins twice is listed at its first win.
      const bool first = set_bit_of_byte(bids[i].won, port, out_port);
      lists.winners.add(first, i, bit_of(port, bids[i].vc[port]));
    });
    lists.winners.for_each([&](u32 i, u32 from) __attribute__((always_inline)) {
      const auto at = group[i];
      const InputVc& in = at.input(from);
      const u32 out_port = output_taken(in, bids[i].won[from / kMaxVcs]), out_vc = bids[i].sender[out_port];
      lists.moves.add(true, i, from, bit_of(out_port, out_vc));
      heads.add(in.stage == FrontState::kRequesting, i, from, bit_of(out_port, out_vc));
#if !defined(__CUDA_ARCH__)
      // Prefetched because descriptors are far apart and most winners are heads.
      const auto& t = group.table();
      const Peer& peer = t.peers[at.index * kPorts + out_port];
      const u32 position = descriptor_start(t, 0, out_vc) + output_vc(at.v, at.router, out_port, out_vc).tail;
      __builtin_prefetch(&front_packet(at.v, at.router, from / kMaxVcs, from % kMaxVcs, in));
      __builtin_prefetch(&group.outbox(at.v).descriptor(out_port, peer, position), 1);
#endif
    });
    send(
        lists.moves, heads, lists.tails, lists.fronts,
        [&](u32 i, u32 from, u32 to, InputVc& in, bool tail) __attribute__((always_inline)) {
          const auto at = group[i];
          update_rights(at.v, at.router, at.control(), from / kMaxVcs, from % kMaxVcs, in, to / kMaxVcs, to % kMaxVcs,
                        tail, now);
        },
        [&](u32 i, u32 from, u32 to, InputVc& in) __attribute__((always_inline)) {
          const auto at = group[i];
          const bool owns = cancel_other_request(at.v, at.router, from, in, to / kMaxVcs, to % kMaxVcs);
          lists.released.add(owns, i, bit_of(in.out_port, in.out_vc));
        },
        [&]() __attribute__((always_inline)) {
          lists.released.for_each([&](u32 i, u32 bit) __attribute__((always_inline)) {
            const auto at = group[i];
            const u32 port = bit / kMaxVcs, vc = bit % kMaxVcs;
            release(at.control(), output_vc(at.v, at.router, port, vc), port, vc);
          });
        });
    start_fronts(lists.fronts);
  }
};

template <u32 kMost, class V>
FLITLAB_INLINE void step(const V& v, const u32* list, u32 n, Cycle now) {
  RouterGroup<kMost, V> group(v, list, n, now);
  RouterStep<kMost, RouterGroup<kMost, V>> routers{group, now};
  {
    Bytes<kMost> credits, waking;
    RareBytes<kMost> heads, passing;
    Fronts<kMost> fronts;
    Moves<kMost> moves, moving_heads, tails, arriving_heads, stay;
    routers.receive({credits, waking, heads, passing, fronts, moves, moving_heads, tails, arriving_heads, stay});
  }
  Bids bids[kMost];
  Awake<kMost> awake;
  Bytes<kMost> ready;
  Channels<kMost> bidders, starting, adapting, stopped, requesters, adaptive_requests, winners, released;
  OpenOutputs<kMost> open_outputs;
  Outputs<kMost> outputs;
  Moves<kMost> moves, heads, tails;
  Fronts<kMost> fronts;
  const ArbitrationLists<kMost> lists{
      bids,         awake,   ready, bidders, starting, adapting, stopped,  requesters, adaptive_requests,
      open_outputs, outputs, moves, heads,   tails,    winners,  released, fronts};
  routers.request(lists);
  routers.cross(lists);
}

/// The same for the routers of ItemsOfBlock, on a GPU. All threads of the step call it.
template <class Items>
FLITLAB_INLINE void step_of_block(const Items& items, SharedLists& shared, Cycle now) {
  const bool clears = thread_of_block() == 0;
  BlockGroup<Items> group(items, shared.taken, now);
  RouterStep<kGpuBlock, BlockGroup<Items>> routers{group, now};
  routers.receive(shared.arrivals());
  wait_for_threads(items.all().threads);
  if (clears) shared.begin_requests(items.all());
  routers.request(shared.arbitration());
  // Since the barrier before the grants, no thread uses the lists of requests.
  if (clears) shared.begin_cross(items.all());
  routers.cross(shared.arbitration());
}

}  // namespace flitlab::t3e
