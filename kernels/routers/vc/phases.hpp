#pragma once
/// One cycle of a router. With the default delays, a head flit that arrives in cycle t passes: buffer write and route
/// computation in t, VC allocation in t+1, switch allocation in t+2, switch traversal in t+3, link in t+4, arrival at
/// the next router in t+5. Body flits skip route computation and VC allocation. A pipeline stage of delay 0 shares the
/// cycle of the next one. Dally & Towles section 16.1, Figure 16.2.
///
/// Routers exchange flits and credits only through inbox slots, with a delay of at least one cycle. So no router or
/// terminal reads data that another one writes in the same cycle. They run in any order and without barriers.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/vc/receive.hpp"
#include "kernels/routers/vc/vc_allocation.hpp"

namespace flitlab::vc {

struct RouterPhase {
  static constexpr const char* name = "router";

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }

  /// Prefetches the part of a router's state that every cycle uses. `index`: a router that will be visited soon.
  template <class V>
  FLITLAB_INLINE static void prefetch(const V& v, u32 index) {
#if !defined(__CUDA_ARCH__)
    const std::byte* hot = v.routers[index].block;
    const u32 bytes = v.t.router_fields.ring.offset;
    for (u32 line = 0; line < bytes; line += 64) __builtin_prefetch(hot + line, 1);
#endif
  }

  /// Returns whether a flit or credit arrives at a router or waits there for a channel, or one of its packets may
  /// advance.
  template <class V>
  FLITLAB_INLINE static bool due(const V& v, u32 index, Cycle now) {
    const auto& t = v.t;
    const auto router = v.routers[index];
    const u32 first_word = (now & t.slot_mask) * t.port_words;
    u64 any = 0;
    for (u32 w = 0; w < t.port_words; ++w)
      any |=
          router.at(t.router_fields.credit_mail, first_word + w) | router.at(t.router_fields.flit_mail, first_word + w);
    for (u32 w = 0; w < t.set_words; ++w) {
      const RouterControl& word = router.at(t.router_fields.control, w);
      any |= word.ready() | word.waiting | word.pending;
    }
    return any != 0 || (t.narrow && occupies_channels(t, router)) ||
           ((t.queue_flits || t.late_credits) && holds_back(t, router));
  }

  template <class V>
  FLITLAB_INLINE static void work(const V& v, u32 index, Cycle now) {
    const auto router = v.routers[index];
    step(v, router, router.at(v.t.router_fields.control), index, now);
  }

  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    if (due(v, index, now)) work(v, index, now);
  }

 private:
  template <class V, int W>
  FLITLAB_INLINE static void step(const V& v, const Item<W>& router, RouterControl& control, u32 index, Cycle now) {
    const auto& t = v.t;
    const u32 first_word = (now & t.slot_mask) * t.port_words;
    const u32 begin = rounds_before(t, now), end = rounds_before(t, now + 1);
    for (u32 w = 0; w < t.port_words; ++w) {
      u64& credits = router.at(t.router_fields.credit_mail, first_word + w);
      if (u64 arrivals = credits) {
        if (!t.early_vc_credits) credits = 0;
        do {
          const u32 shift = lowest_bit(arrivals) & 0x38u;
          receive_credit(v, router, control, w * 8 + shift / 8, static_cast<u32>((arrivals >> shift) & 0xFF) - 1);
          arrivals &= ~u64{0xFF} << shift;
        } while (arrivals);
      }
      u64& flits = router.at(t.router_fields.flit_mail, first_word + w);
      if (u64 arrivals = flits) {
        flits = 0;
        do {
          const u32 shift = lowest_bit(arrivals) & 0x38u;
          const u32 port = w * 8 + shift / 8, flit = static_cast<u32>((arrivals >> shift) & 0xFF);
          if (receive_flit(v, router, control, index, port, flit))
            start_arrived(v, router, control, port, flit, now, begin);
          arrivals &= ~u64{0xFF} << shift;
        } while (arrivals);
      }
    }
    const u32 late = t.queue_flits ? first_late_round(t, now, end) : end;
    PortSet leaving = 0;
    for (u32 round = begin; round != end; ++round) {
      if (round == late) leaving = queued_ports(t, router);
      allocate(v, router, control, index, now, round);
    }
    if (t.early_vc_credits) admit_credits(t, router, control, first_word);
    const Outbox<V> outbox(v, t.vcs * t.ring, now);
    if (t.queue_flits) send_queued(v, outbox, router, control, index, late == end ? queued_ports(t, router) : leaving);
    if (t.late_credits) return_owed(v, outbox, router, index);
    if (t.narrow) advance_channels(t, router, control, index);
  }

  /// One round of VC allocation and switch allocation.
  template <class V, int W>
  FLITLAB_INLINE static void allocate(const V& v, const Item<W>& router, RouterControl& control, u32 index, Cycle now,
                                      u32 round) {
    const auto& t = v.t;
    u64 ready = 0, waiting = 0, pending = 0;
    for (u32 w = 0; w < t.set_words; ++w) {
      const RouterControl& word = word_of(t, router, control, w << t.set_shift);
      waiting |= word.waiting;
      pending |= word.pending;
    }
    if (pending) release_pending(v, router, control, round);
    if (waiting) allocate_vcs(v, router, control, index, now, round);
    for (u32 w = 0; w < t.set_words; ++w) ready |= word_of(t, router, control, w << t.set_shift).ready();
    if (ready || (t.speculative && waiting)) allocate_switch(v, router, control, index, waiting != 0, now, round);
    for (u32 w = 0; waiting && w < t.set_words; ++w) word_of(t, router, control, w << t.set_shift).bids = 0;
  }
};

}  // namespace flitlab::vc
