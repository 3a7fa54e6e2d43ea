#pragma once
/// How a thread of the CPU engine visits the items of a cycle's steps.
#include <algorithm>

#include "kernels/common/bits.hpp"
#include "kernels/engines/phases.hpp"
#include "kernels/engines/team.hpp"

namespace flitlab {

/// What a thread remembers from cycle to cycle about the items it visits.
struct Pace {
  u32 ahead;     ///< items to prefetch ahead; 0: no prefetching
  u32 busy = 0;  ///< one bit per phase: most items were due when last checked
};

/// Lists the items that are due, without branches, before it processes them. Which items are due cannot be predicted,
/// and a misprediction costs more than checking several idle items. While nearly all items are due, it checks only in
/// every 16th cycle.
template <class Phase, bool Batches, class View>
FLITLAB_INLINE void run_due(const View& v, u32 begin, u32 end, Cycle now, Pace& pace, u32 phase) {
  constexpr u32 kChunk = 256;
  u32 list[kChunk];
  const bool look = !((pace.busy >> phase) & 1) || now % 16 == 0;
  u32 active = 0;
  for (u32 first = begin; first < end; first += kChunk) {
    const u32 last = std::min(first + kChunk, end);
    u32 n = 0;
    if (look) {
      for (u32 item = first; item < last; ++item) {
        list[n] = item;
        n += Phase::due(v, item, now);
      }
    } else {
      for (u32 item = first; item < last; ++item) list[n++] = item;
    }
    active += n;
    if constexpr (Batches && requires { Phase::work_many(v, list, 0u, now); }) {
      for (u32 i = 0; i < n; i += Phase::batch) {
        if constexpr (requires { Phase::prefetch(v, 0u); })
          for (u32 k = i + Phase::batch; pace.ahead && k < std::min(n, i + 2 * Phase::batch); ++k)
            Phase::prefetch(v, list[k]);
        Phase::work_many(v, list + i, std::min(Phase::batch, n - i), now);
      }
    } else {
      for (u32 i = 0; i < n; ++i) {
        if constexpr (requires { Phase::prefetch(v, 0u); }) {
          if (pace.ahead && i + pace.ahead < n) Phase::prefetch(v, list[i + pace.ahead]);
        }
        Phase::work(v, list[i], now);
      }
    }
  }
  if (look) pace.busy = (pace.busy & ~(1u << phase)) | u32{4 * active >= 3 * (end - begin)} << phase;
}

/// Whether a phase returns for 64 items at once which are due (due_set).
template <class Phase, class View>
constexpr bool kNoted = requires(const View& v) { Phase::due_set(v, 0u, Cycle{}); };

/// Visits the items of such a phase: they are checked 64 at a time.
template <class Phase, class View>
FLITLAB_INLINE void run_noted(const View& v, u32 begin, u32 end, Cycle now, const Pace& pace) {
  if constexpr (requires { Phase::work_groups(v, 0u, 0u, now, true); }) {
    Phase::work_groups(v, begin / 64, (end + 63) / 64, now, pace.ahead != 0);
  } else {
    constexpr u32 kGroups = 128;  // enough for prefetched memory to arrive
    u32 list[64 * kGroups];
    for (u32 first = begin / 64, groups = (end + 63) / 64; first < groups; first += kGroups) {
      u32 n = 0;
      for (u32 group = first; group < std::min(first + kGroups, groups); ++group) {
        u64 due = Phase::due_set(v, group, now);
        if (64 * group + 64 > end) due = due << (64 * group + 64 - end) >> (64 * group + 64 - end);
        for (; due; due &= due - 1) list[n++] = 64 * group + lowest_bit(due);
      }
      for (u32 i = 0; i < n; ++i) {
        if (pace.ahead && i + pace.ahead < n) Phase::prefetch(v, list[i + pace.ahead]);
        Phase::work(v, list[i], now);
      }
    }
  }
}

/// Visits items `begin` to `end` of one phase.
template <class Phase, bool Batches, class View>
FLITLAB_INLINE void run_phase(const View& v, u32 begin, u32 end, Cycle now, Pace& pace, u32 phase) {
  constexpr bool kMany = Batches && requires(const u32* list) { Phase::work_many(v, list, 0u, now); };
  if constexpr (kNoted<Phase, View>) {
    run_noted<Phase>(v, begin, end, now, pace);
  } else if constexpr (kMany || requires { Phase::work(v, 0u, now); }) {
    run_due<Phase, Batches>(v, begin, end, now, pace, phase);
  } else {
    for (u32 item = begin; item < end; ++item) Phase::run(v, item, now);
  }
}

template <class... Phases>
constexpr u32 phases_of(Stage<Phases...>*) {
  return sizeof...(Phases);
}
template <class... Stages>
constexpr u32 phases_of(StageList<Stages...>*) {
  return (phases_of(static_cast<Stages*>(nullptr)) + ... + 0u);
}

/// Runs all steps of one cycle, over all items, or over the shares of them that thread `part` of a thread group takes.
/// It uses bulk phases if `Batches` is set. Each phase's code occurs only once, because it is large.
template <class List, bool Batches, class View>
FLITLAB_INLINE void run_stages(const View& v, u32 part, Cycle now, Team* team, Pace& pace) {
  static_assert(phases_of(static_cast<List*>(nullptr)) <= Team::kMaxPhases);
  u32 phase = 0;
  if (team) team->start_cycle(part, now);
  List::for_each([&]<class OneStage>() __attribute__((always_inline)) {
    if (!OneStage::has_items(v)) return;
    OneStage::for_each([&]<class Phase>() __attribute__((always_inline)) {
      // A group of items that are checked together belongs to one thread, because processing an item changes its due
      // bit.
      constexpr u32 group = kNoted<Phase, View> ? 64 : 1;
      Team::Shares shares(team, part, now, phase, Phase::items(v), group);
      for (u32 begin, end; shares.next(begin, end);) run_phase<Phase, Batches>(v, begin, end, now, pace, phase);
      ++phase;
    });
    if (team) team->wait();
  });
}

/// Whether any phase of a cycle has a bulk form.
template <class View, class... Phases>
constexpr bool offers_batches(Stage<Phases...>*) {
  return (requires(const View& v, const u32* list) { Phases::work_many(v, list, 0u, Cycle{}); } || ...);
}
template <class View, class... Stages>
constexpr bool offers_batches(StageList<Stages...>*) {
  return (offers_batches<View>(static_cast<Stages*>(nullptr)) || ...);
}

}  // namespace flitlab
