#pragma once
/// One clock of a T3E router. Timing of an uncontended flit that arrives at clock t (paper, Table 2):
///   straight by the short-circuit path: leaves at t, arrives at the next router at t + 3;
///   turn, or crossbar: requests from t + 3, leaves at t + 3 at the earliest, arrives at t + 6;
///   at its destination: requests from t + 3, leaves the router at t + 3, reaches the PE's control chip at t + 10;
///   from the PE: 7 clocks to the router's arbiter, 3 to the next router.
/// Body flits follow one clock apart.
#include "kernels/routers/t3e/step.hpp"

namespace flitlab::t3e {

struct RouterPhase {
  static constexpr const char* name = "router";

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }

  /// Prefetches the state that the visit of a router is sure to read. In bulk visits this excludes the router's VCs,
  /// because a visit reads few of them.
  template <class V>
  FLITLAB_INLINE static void prefetch(const V& v, u32 index) {
#if !defined(__CUDA_ARCH__)
    const auto& fields = v.t.router_fields;
    const u32 bytes = V::width == 1 ? fields.input.offset : fields.ring.offset;
    const std::byte* hot = v.routers[index].block;
    for (u32 line = 0; line < bytes; line += 64) __builtin_prefetch(hot + line, 1);
#endif
  }

  /// Returns whether an inbox of the router has an entry for this clock, or a buffered flit may move.
  template <class V>
  FLITLAB_INLINE static bool due(const V& v, u32 index, Cycle now) {
    const auto& t = v.t;
    const auto router = v.routers[index];
    const u64 arrivals = router.at(t.router_fields.credit_mail, now & t.slot_mask) |
                         router.at(t.router_fields.flit_mail, now & t.slot_mask) |
                         router.at(t.router_fields.flit_mail, (now - t.wait) & t.slot_mask);
    u64 barriers = 0;
    if (t.barrier_units)
      barriers = router.at(t.barrier_fields.mail, now & t.slot_mask) |
                 router.at(t.barrier_fields.mail, (now - t.barrier_wait) & t.slot_mask) |
                 router.at(t.barrier_fields.pending);
    return (arrivals | barriers | router.at(t.router_fields.control).ready) != 0;
  }

  template <class V>
  FLITLAB_INLINE static void work(const V& v, u32 index, Cycle now) {
    step<1>(v, &index, 1, now);
  }

  static constexpr u32 batch = kBulkRouters;

  /// Does the work of up to `batch` routers.
  template <class V>
    requires(V::Table::kSmall && !V::traced && V::width == 1)
  FLITLAB_INLINE static void work_in_bulk(const V& v, const u32* list, u32 n, Cycle now) {
    step<kBulkRouters>(v, list, n, now);
  }

  /// What a block of GPU threads shares.
  using InBlock = SharedLists;

  /// Does the work of the routers of `due`, on a GPU. All threads of the block call it.
  template <class Due>
  FLITLAB_INLINE static void work_in_block(const Due& due, InBlock& shared, Cycle now) {
    step_in_block(due, shared.routers, shared,
                  [&](const auto& items) __attribute__((always_inline)) { step_of_block(items, shared, now); });
  }

  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    if (due(v, index, now)) work(v, index, now);
  }
};

}  // namespace flitlab::t3e
