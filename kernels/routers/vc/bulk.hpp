#pragma once
/// Bulk router phase: one cycle of many small routers on one CPU thread, each step for all routers before the next
/// step. The steps are the same as for one router (phases.hpp). Their order does not change results, because routers
/// exchange flits and credits only through inbox slots of later cycles. A single router moves one or two flits a cycle,
/// so each of its short loops ends with a mispredicted branch, which costs as much as the work on a flit. In bulk the
/// loops are long, and head and tail flits have separate loops.
#include <cstring>

#include "kernels/common/members.hpp"
#include "kernels/engines/phases.hpp"
#include "kernels/routers/vc/receive.hpp"
#include "kernels/routers/vc/vc_allocation.hpp"

namespace flitlab::vc {

/// One cycle of up to kMostBulkItems routers, which are processed together.
template <class V>
struct BulkCycle {
  static constexpr int W = V::width;

  const V& v;
  const u32* index;  ///< `index[i]`: router number, i < n
  u32 n;
  Cycle now;
  Item<W> router[kMostBulkItems];

  FLITLAB_INLINE BulkCycle(const V& view, const u32* list, u32 count, Cycle cycle)
      : v(view), index(list), n(count), now(cycle) {
    for (u32 i = 0; i < n; ++i) router[i] = v.routers[list[i]];
  }

  FLITLAB_INLINE RouterControl& control(u32 i) const { return router[i].at(v.t.router_fields.control); }

  FLITLAB_INLINE void receive() const {
    const auto& t = v.t;
    const u32 slot = now & t.slot_mask;
    Members<kMostBulkItems> credits, flits;
    u64 credit_mail[kMostBulkItems + 1], flit_mail[kMostBulkItems + 1];
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
    for_each_member(credits.set, with_credits, [&](u32 i, u64 set) __attribute__((always_inline)) {
      const u32 router_index = credits.index[i], bit = lowest_bit(set);
      receive_credit(v, router[router_index], control(router_index), bit / 8,
                     static_cast<u32>((credit_mail[i] >> (bit - 7)) & 0xFF) - 1);
      return set & (set - 1);
    });
    u32 fronts[kMostBulkItems * 8 + 1], front_count = 0;
    for_each_member(flits.set, with_flits, [&](u32 i, u64 set) __attribute__((always_inline)) {
      const u32 router_index = flits.index[i], bit = lowest_bit(set);
      const u32 flit_byte = static_cast<u32>((flit_mail[i] >> (bit - 7)) & 0xFF);
      fronts[front_count] = i << 8 | bit;
      front_count +=
          receive_flit(v, router[router_index], control(router_index), index[router_index], bit / 8, flit_byte);
      return set & (set - 1);
    });
    for (u32 i = 0; i < front_count; ++i) {
      const u32 f = fronts[i] >> 8, bit = fronts[i] & 0xFF, router_index = flits.index[f];
      start_arrived(v, router[router_index], control(router_index), bit / 8,
                    static_cast<u32>((flit_mail[f] >> (bit - 7)) & 0xFF), now);
    }
  }

  /// VC allocation, separable and input-first: each input VC bids once, and `claim` keeps an output VC's best bidder.
  FLITLAB_INLINE void allocate_vcs() const {
    const auto& t = v.t;
    Members<kMostBulkItems> waiting;
    u32 with_waiting = 0;
    for (u32 i = 0; i < n; ++i) {
      release_pending(v, router[i], control(i), now);
      with_waiting = waiting.add(with_waiting, i, control(i).waiting);
    }
    u32 bidders[kMostBulkItems * 64 + 1];  // router << 16 | input VC << 8 | output VC
    u32 due = 0, bids = 0;
    for_each_member(waiting.set, with_waiting, [&](u32 i, u64 set) __attribute__((always_inline)) {
      const u32 router_index = waiting.index[i], flat = lowest_bit(set);
      bidders[due] = router_index << 16 | flat << 8;
      due += static_cast<i32>(now - router[router_index].at(t.router_fields.input, flat).ready_at) >= 0;
      return set & (set - 1);
    });
    for (u32 i = 0; i < due; ++i) {
      const u32 router_index = bidders[i] >> 16, flat = (bidders[i] >> 8) & 0xFF, port = flat / t.vcs;
      const Item<W> item = router[router_index];
      InputVc& in = item.at(t.router_fields.input, flat);
      if (!route_due(v, item, control(router_index), index[router_index], port, flat - port * t.vcs, in, now)) continue;
      const u32 free = free_vcs(t, item, control(router_index), in.out_port, in.allowed, 0);
      if (!free) continue;
      const u32 out = in.out_port * t.vcs + first_at_or_after(free, in.pick);
      u16& claim = item.at(t.router_fields.claim, out);
      if (claim == kNoOwner || beats(t, item, item.at(t.router_fields.output, out), in.out_port, flat, claim, now))
        claim = static_cast<u16>(flat);
      bidders[bids++] = router_index << 16 | flat << 8 | out;
    }
    for (u32 i = 0; i < bids; ++i) {
      const u32 router_index = bidders[i] >> 16, flat = (bidders[i] >> 8) & 0xFF, port = flat / t.vcs;
      const u32 out = bidders[i] & 0xFF;
      const Item<W> item = router[router_index];
      u16& claim = item.at(t.router_fields.claim, out);
      if (claim != flat) continue;
      claim = kNoOwner;
      InputVc& in = item.at(t.router_fields.input, flat);
      grant_vc(v, item, control(router_index), index[router_index], port, flat - port * t.vcs, in,
               out - in.out_port * t.vcs, now);
    }
  }

  /// Switch allocation, separable and input-first, and switch traversal.
  FLITLAB_INLINE void allocate_switch() const {
    const auto& t = v.t;
    Members<kMostBulkItems> ready;
    u32 with_ready = 0;
    alignas(8) u8 contenders[kMostBulkItems * 8];  // [router][output port] set of requesting inputs
    for (u32 i = 0; i < n; ++i) {
      with_ready = ready.add(with_ready, i, control(i).ready());
      std::memset(contenders + i * 8, 0, 8);
    }
    // Requests and moves: (8 * router + output port) << 8 | input VC.
    u32 moves[kMostBulkItems * 8 + 1], heads[kMostBulkItems * 8 + 1], tails[kMostBulkItems * 8 + 1];
    u32 requests = 0, move_count = 0, head_count = 0, tail_count = 0;
    for_each_member(ready.set, with_ready, [&](u32 i, u64 set) __attribute__((always_inline)) {
      const u32 router_index = ready.index[i], port = lowest_bit(set) / t.vcs;
      const u32 vc = pick_vc(t, router[router_index], port, vcs_of(t, set, port), now), flat = port * t.vcs + vc;
      const u32 out = router_index * 8 + router[router_index].at(t.router_fields.input, flat).out_port;
      contenders[out] = static_cast<u8>(contenders[out] | 1u << port);
      moves[requests++] = out << 8 | flat;
      return set & (~u64{0} << t.vcs << bit_of(t, port, 0));  // one request per input port
    });
    for (u32 i = 0; i < requests; ++i) {
      const u32 m = moves[i], out = m >> 8;
      const u32 port = first_at_or_after(contenders[out], router[out / 8].at(t.router_fields.port, out & 7).pick_input);
      moves[move_count] = m;
      move_count += port == (m & 0xFF) / t.vcs;
    }
    const BulkOutbox<V> outbox(v, t.vcs * t.ring, now);
    for (u32 i = 0; i < move_count; ++i) {
      const u32 m = moves[i];
      const Crossing c = crossing(m);
      update_arbiters(t, router[c.router_index], c.port, c.vc, c.out);
      const u32 flit_byte =
          cross(v, outbox, router[c.router_index], control(c.router_index), index[c.router_index], c.port, c.vc, c.out);
      heads[head_count] = m;
      head_count += flit_byte / kHeadMark;
      tails[tail_count] = m;
      tail_count += (flit_byte / kTailMark) & 1;
    }
    for (u32 i = 0; i < head_count; ++i) {
      const Crossing c = crossing(heads[i]);
      take_descriptor(v, outbox, router[c.router_index], index[c.router_index], c.port, c.vc, c.out);
    }
    for (u32 i = 0; i < tail_count; ++i) {
      const Crossing c = crossing(tails[i]);
      release_output(v, router[c.router_index], control(c.router_index), c.port, c.vc, c.out, now);
    }
    count(*v.shard, Total::kFlitMoves, move_count);
  }

 private:
  struct Crossing {
    u32 router_index, port, vc, out;
  };

  FLITLAB_INLINE Crossing crossing(u32 m) const {
    const u32 flat = m & 0xFF, port = flat / v.t.vcs;
    return {m >> 11, port, flat - port * v.t.vcs, (m >> 8) & 7};
  }
};

template <class V>
FLITLAB_INLINE void step_many(const V& v, const u32* list, u32 n, Cycle now) {
  const BulkCycle<V> bulk(v, list, n, now);
  bulk.receive();
  bulk.allocate_vcs();
  bulk.allocate_switch();
}

}  // namespace flitlab::vc
