#pragma once
/// Loops in which a thread of the CPU engine visits the items (routers or terminals) in the steps of a cycle.
#include <algorithm>

#include "kernels/common/bits.hpp"
#include "kernels/engines/phases.hpp"
#include "kernels/engines/thread_group.hpp"

namespace flitlab {

/// Observations of a thread about the items that it visits, kept from cycle to cycle.
struct VisitHistory {
  u32 ahead;     ///< prefetch distance, items; 0: no prefetching
  u32 busy = 0;  ///< one bit per phase: 1 if most items were due when last checked
};

/// Runs a phase for the items from `begin` to before `end` that are due (have work in this cycle). It lists the due
/// items first, without branches, because a processor cannot predict which items are due, and a misprediction costs
/// more than checking several idle items. While most items are due, it processes all items and checks only in every
/// 16th cycle.
template <class Phase, bool Bulk, class View>
FLITLAB_INLINE void run_due(const View& v, u32 begin, u32 end, Cycle now, VisitHistory& history, u32 phase) {
  constexpr u32 kChunk = 256;
  u32 list[kChunk];
  const bool check = !((history.busy >> phase) & 1) || now % 16 == 0;
  u32 active = 0;
  for (u32 first = begin; first < end; first += kChunk) {
    const u32 last = std::min(first + kChunk, end);
    u32 n = 0;
    if (check) {
      for (u32 item = first; item < last; ++item) {
        list[n] = item;
        n += Phase::due(v, item, now);
      }
    } else {
      for (u32 item = first; item < last; ++item) list[n++] = item;
    }
    active += n;
    if constexpr (Bulk && requires { Phase::work_in_bulk(v, list, 0u, now); }) {
      for (u32 i = 0; i < n; i += Phase::batch) {
        if constexpr (requires { Phase::prefetch(v, 0u); })
          for (u32 k = i + Phase::batch; history.ahead && k < std::min(n, i + 2 * Phase::batch); ++k)
            Phase::prefetch(v, list[k]);
        Phase::work_in_bulk(v, list + i, std::min(Phase::batch, n - i), now);
      }
    } else {
      for (u32 i = 0; i < n; ++i) {
        if constexpr (requires { Phase::prefetch(v, 0u); }) {
          if (history.ahead && i + history.ahead < n) Phase::prefetch(v, list[i + history.ahead]);
        }
        Phase::work(v, list[i], now);
      }
    }
  }
  if (check) history.busy = (history.busy & ~(1u << phase)) | u32{4 * active >= 3 * (end - begin)} << phase;
}

/// Whether a phase has a function due_set(), which returns the set of due items among 64.
template <class Phase, class View>
constexpr bool kHasDueSet = requires(const View& v) { Phase::due_set(v, 0u, Cycle{}); };

/// Runs a phase that has due_set(): checks 64 items at a time and processes the due ones.
template <class Phase, class View>
FLITLAB_INLINE void run_due_groups(const View& v, u32 begin, u32 end, Cycle now, const VisitHistory& history) {
  if constexpr (requires { Phase::work_groups(v, 0u, 0u, now, true); }) {
    Phase::work_groups(v, begin / 64, (end + 63) / 64, now, history.ahead != 0);
  } else {
    constexpr u32 kGroups = 128;  // groups listed at a time: enough for prefetched memory to arrive before it is used
    u32 list[64 * kGroups];
    for (u32 first = begin / 64, groups = (end + 63) / 64; first < groups; first += kGroups) {
      u32 n = 0;
      for (u32 group = first; group < std::min(first + kGroups, groups); ++group) {
        u64 due = Phase::due_set(v, group, now);
        if (64 * group + 64 > end) due = due << (64 * group + 64 - end) >> (64 * group + 64 - end);
        for (; due; due &= due - 1) list[n++] = 64 * group + lowest_bit(due);
      }
      for (u32 i = 0; i < n; ++i) {
        if (history.ahead && i + history.ahead < n) Phase::prefetch(v, list[i + history.ahead]);
        Phase::work(v, list[i], now);
      }
    }
  }
}

/// Runs one phase for the items from `begin` to before `end`.
template <class Phase, bool Bulk, class View>
FLITLAB_INLINE void run_phase(const View& v, u32 begin, u32 end, Cycle now, VisitHistory& history, u32 phase) {
  constexpr bool kMany = Bulk && requires(const u32* list) { Phase::work_in_bulk(v, list, 0u, now); };
  if constexpr (kHasDueSet<Phase, View>) {
    run_due_groups<Phase>(v, begin, end, now, history);
  } else if constexpr (kMany || requires { Phase::work(v, 0u, now); }) {
    run_due<Phase, Bulk>(v, begin, end, now, history, phase);
  } else {
    for (u32 item = begin; item < end; ++item) Phase::run(v, item, now);
  }
}

template <class... Phases>
constexpr u32 phase_count(Step<Phases...>*) {
  return sizeof...(Phases);
}
template <class... Steps>
constexpr u32 phase_count(StepList<Steps...>*) {
  return (phase_count(static_cast<Steps*>(nullptr)) + ... + 0u);
}

/// Runs all steps of one cycle. A thread without a thread group processes all items; thread `part` of a thread group
/// processes the shares of the items that it takes. If `Bulk` is set, phases process many items per call where they
/// can. The code of each phase is inlined only once, because it is large.
template <class List, bool Bulk, class View>
FLITLAB_INLINE void run_steps(const View& v, u32 part, Cycle now, ThreadGroup* thread_group, VisitHistory& history) {
  static_assert(phase_count(static_cast<List*>(nullptr)) <= ThreadGroup::kMaxPhases);
  u32 phase = 0;
  if (thread_group) thread_group->start_cycle(part, now);
  List::for_each([&]<class OneStep>() __attribute__((always_inline)) {
    if (!OneStep::has_items(v)) return;
    OneStep::for_each([&]<class Phase>() __attribute__((always_inline)) {
      // A group of items that are checked together belongs to one thread, because processing an item changes its due
      // bit.
      constexpr u32 group = kHasDueSet<Phase, View> ? 64 : 1;
      ThreadGroup::Shares shares(thread_group, part, now, phase, Phase::items(v), group);
      for (u32 begin, end; shares.next(begin, end);) run_phase<Phase, Bulk>(v, begin, end, now, history, phase);
      ++phase;
    });
    if (thread_group) thread_group->wait();
  });
}

/// Whether any phase of a cycle has a bulk form.
template <class View, class... Phases>
constexpr bool has_bulk_phases(Step<Phases...>*) {
  return (requires(const View& v, const u32* list) { Phases::work_in_bulk(v, list, 0u, Cycle{}); } || ...);
}
template <class View, class... Steps>
constexpr bool has_bulk_phases(StepList<Steps...>*) {
  return (has_bulk_phases<View>(static_cast<Steps*>(nullptr)) || ...);
}

}  // namespace flitlab
