#pragma once
/// One cycle of many small routers at once, for one CPU thread: a step of all of them before the next step of any. The
/// steps are those of a single router (phases.hpp); only the order of work differs, which nobody can see, since routers
/// talk through mail of later cycles. What it buys: a router has one or two flits to move, so that every loop over its
/// mail, ports or bids ends at a place that a processor cannot foresee, and a wrong guess costs as much as a flit's
/// work. Over a batch these loops run long, and what differs between flits (heads, tails) gets loops of its own.
#include "kernels/routers/vc/receive.hpp"
#include "kernels/routers/vc/vc_allocation.hpp"

namespace flitlab::vc {

inline constexpr u32 kBatch = 32;  ///< routers; their state should fit a first-level cache

/// The routers of a batch that have something, by their number in the batch, and what: a set of bits. Lists have room
/// for one entry that is written but not kept.
struct Members {
  u64 set[kBatch + 2];
  u32 who[kBatch + 2];

  /// Adds a router as the n-th if its set is not empty; returns how many there are now. No branch.
  FLITLAB_INLINE u32 add(u32 n, u32 router, u64 its_set) {
    set[n] = its_set;
    who[n] = router;
    return n + (its_set != 0);
  }
};

/// Visits the members of n sets, none of them empty, in one loop that ends only once: visit(i, member).
template <class Visit>
FLITLAB_INLINE void for_each_member(u64* sets, u32 n, Visit&& visit) {
  sets[n] = sets[n + 1] = 0;
  u64 set = sets[0], next = sets[1];
  for (u32 i = 0; i < n;) {
    visit(i, lowest_bit(set));
    set &= set - 1;
    i += set == 0;
    set = set ? set : next;
    next = sets[i + 1];
  }
}

/// The highest bit of each byte that is not 0.
FLITLAB_INLINE u64 bytes_present(u64 word) {
  constexpr u64 kLow = 0x7F7F7F7F7F7F7F7Full;
  return (((word & kLow) + kLow) | word) & ~kLow;
}

/// A virtual channel that bids for an output VC.
struct Bidder {
  u16 router;
  u16 flat;
  u16 out;
};

/// The routers of a batch.
template <class V>
struct Batch {
  static constexpr int W = V::width;

  const V& v;
  const u32* index;  ///< their numbers
  u32 n;
  Cycle now;
  Item<W> router[kBatch];

  FLITLAB_INLINE Batch(const V& view, const u32* list, u32 count, Cycle cycle)
      : v(view), index(list), n(count), now(cycle) {
    for (u32 i = 0; i < n; ++i) router[i] = v.routers[list[i]];
  }

  FLITLAB_INLINE RouterControl& control(u32 i) const { return router[i].at(v.t.router_fields.control); }

  FLITLAB_INLINE void receive() const {
    const auto& t = v.t;
    const u32 slot = now & t.slot_mask;
    Members credits, flits;
    u64 credit_mail[kBatch + 1], flit_mail[kBatch + 1];
    u32 with_credits = 0, with_flits = 0;
    for (u32 i = 0; i < n; ++i) {
      u64& credit = router[i].at(t.router_fields.credit_mail, slot);
      u64& flit = router[i].at(t.router_fields.flit_mail, slot);
      credit_mail[with_credits] = credit;
      flit_mail[with_flits] = flit;
      with_credits = credits.add(with_credits, i, bytes_present(credit));
      with_flits = flits.add(with_flits, i, bytes_present(flit));
      credit = 0;
      flit = 0;
    }
    for_each_member(credits.set, with_credits, [&](u32 i, u32 bit) __attribute__((always_inline)) {
      const u32 who = credits.who[i];
      receive_credit(v, router[who], control(who), bit / 8, static_cast<u32>((credit_mail[i] >> (bit - 7)) & 0xFF) - 1);
    });
    u32 fronts[kBatch * 8 + 1], front_count = 0;
    for_each_member(flits.set, with_flits, [&](u32 i, u32 bit) __attribute__((always_inline)) {
      const u32 who = flits.who[i], mail = static_cast<u32>((flit_mail[i] >> (bit - 7)) & 0xFF);
      fronts[front_count] = who << 16 | bit / 8 << 8 | mail;
      front_count += receive_flit(v, router[who], control(who), index[who], bit / 8, mail);
    });
    for (u32 i = 0; i < front_count; ++i) {
      const u32 who = fronts[i] >> 16;
      start_arrived(v, router[who], control(who), (fronts[i] >> 8) & 0xFF, fronts[i] & 0xFF, now);
    }
  }

  /// VC allocation, separable and input first: one bid each, and the claims on output VCs stay with the routers.
  FLITLAB_INLINE void allocate_vcs() const {
    const auto& t = v.t;
    Members waiting;
    u32 with_waiting = 0;
    for (u32 i = 0; i < n; ++i) {
      release_pending(v, router[i], control(i), now);
      with_waiting = waiting.add(with_waiting, i, control(i).waiting);
    }
    Bidder bidders[kBatch * 64 + 1];
    u32 due = 0, bids = 0;
    for_each_member(waiting.set, with_waiting, [&](u32 i, u32 flat) __attribute__((always_inline)) {
      const u32 who = waiting.who[i];
      bidders[due] = {static_cast<u16>(who), static_cast<u16>(flat), 0};
      due += static_cast<i32>(now - router[who].at(t.router_fields.input, flat).ready_at) >= 0;
    });
    for (u32 i = 0; i < due; ++i) {
      const Bidder b = bidders[i];
      const Item<W> item = router[b.router];
      const u32 port = b.flat / t.vcs;
      InputVc& in = item.at(t.router_fields.input, b.flat);
      RouterControl& sets = control(b.router);
      if (!route_due(v, item, sets, index[b.router], port, b.flat - port * t.vcs, in, now)) continue;
      const u32 free = free_vcs(t, item, sets, in.out_port, in.allowed, 0);
      if (!free) continue;
      const u32 out = in.out_port * t.vcs + first_at_or_after(free, in.pick);
      u16& claim = item.at(t.router_fields.claim, out);
      if (claim == kNoOwner || beats(t, item, item.at(t.router_fields.output, out), in.out_port, b.flat, claim, now))
        claim = b.flat;
      bidders[bids++] = {b.router, b.flat, static_cast<u16>(out)};
    }
    for (u32 i = 0; i < bids; ++i) {
      const Bidder b = bidders[i];
      const Item<W> item = router[b.router];
      u16& claim = item.at(t.router_fields.claim, b.out);
      if (claim != b.flat) continue;
      claim = kNoOwner;
      const u32 port = b.flat / t.vcs;
      InputVc& in = item.at(t.router_fields.input, b.flat);
      grant_vc(v, item, control(b.router), index[b.router], port, b.flat - port * t.vcs, in,
               b.out - in.out_port * t.vcs, now);
    }
  }

  /// Switch allocation, separable and input first, and switch traversal.
  FLITLAB_INLINE void allocate_switch() const {
    const auto& t = v.t;
    Members ready;
    u32 with_ready = 0;
    for (u32 i = 0; i < n; ++i) {
      const u64 set = control(i).ready();
      with_ready = ready.add(with_ready, i, set);
    }
    u64 contenders[kBatch + 2];  // a byte by output port: input ports
    u8 offered[kBatch][8];       // by input port: the VC it puts forward
    for (u32 i = 0; i < with_ready; ++i) contenders[i] = 0;
    const u64 all = (u64{1} << t.vcs) - 1;
    u64 rest = with_ready ? ready.set[0] : 0;
    ready.set[with_ready] = 0;
    for (u32 i = 0; i < with_ready;) {
      const Item<W> item = router[ready.who[i]];
      const u32 port = lowest_bit(rest) / t.vcs;
      const u32 vc = pick_vc(t, item, port, vcs_of(t, rest, port), now);
      offered[i][port] = static_cast<u8>(vc);
      contenders[i] |= u64{1} << (item.at(t.router_fields.input, port * t.vcs + vc).out_port * 8 + port);
      rest &= ~(all << bit_of(t, port, 0));
      i += rest == 0;
      rest = rest ? rest : ready.set[i];
    }
    const Outbox<V> outbox(v, now);
    u32 heads[kBatch * 8 + 1], tails[kBatch * 8 + 1];
    u32 head_count = 0, tail_count = 0, moves = 0;
    rest = with_ready ? contenders[0] : 0;
    contenders[with_ready] = 0;
    for (u32 i = 0; i < with_ready;) {
      const u32 who = ready.who[i];
      const u32 shift = lowest_bit(rest) & 0x38u, out = shift / 8;
      const u32 port = first_at_or_after(static_cast<u32>((rest >> shift) & 0xFF),
                                         router[who].at(t.router_fields.port, out).pick_input);
      const u32 vc = offered[i][port];
      arbiters_served(t, router[who], port, vc, out);
      const Crossed crossed = cross(v, outbox, router[who], control(who), index[who], port, vc, out);
      const u32 move = who << 24 | port << 16 | vc << 8 | out;
      heads[head_count] = move;
      head_count += crossed.head;
      tails[tail_count] = move;
      tail_count += crossed.tail;
      ++moves;
      rest &= ~(u64{0xFF} << shift);
      i += rest == 0;
      rest = rest ? rest : contenders[i];
    }
    for (u32 i = 0; i < head_count; ++i) {
      const u32 m = heads[i], who = m >> 24;
      take_descriptor(v, outbox, router[who], index[who], (m >> 16) & 0xFF, (m >> 8) & 0xFF, m & 0xFF);
    }
    for (u32 i = 0; i < tail_count; ++i) {
      const u32 m = tails[i], who = m >> 24;
      release_output(v, router[who], control(who), (m >> 16) & 0xFF, (m >> 8) & 0xFF, m & 0xFF, now);
    }
    count(*v.shard, Total::kFlitMoves, moves);
  }
};

template <class V>
FLITLAB_INLINE void step_many(const V& v, const u32* list, u32 n, Cycle now) {
  const Batch<V> batch(v, list, n, now);
  batch.receive();
  batch.allocate_vcs();
  batch.allocate_switch();
}

}  // namespace flitlab::vc
