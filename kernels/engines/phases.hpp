#pragma once
/// How a router model tells an engine what a cycle is.
///
/// A model is a type with
///   `Table`                  trivially copyable plan: sizes, parameters, pointers to tables, field handles
///   `View<W, Traced>`        what a phase sees of one replica; built by `make_view`
///   `fault_of(view, kind, item)`  fault word of an item
///   `all_in_batches`         optional, a constant: the CPU engine visits items in batches (`work_many`) whatever the
///                            size of a replica
///   `Start`, `Cycle`, `Audit`  lists of stages: run once before cycle 0, every cycle, and between cycles
/// and a phase is a type with
///   `static u32 items(const View&)`                   how many items it runs over
///   `static void run(const View&, u32 item, Cycle)`   the work of one item, host and device
/// and, if most items are often idle,
///   `static bool due(const View&, u32 item, Cycle)`   whether there is anything to do; nobody else's work of the same
///                                                     stage may change it
///   `static void work(const View&, u32 item, Cycle)`  `run` for an item that is due
/// While few items are due, a worker lists those, and works on the list (visit.hpp, work_list.cuh);
/// and, if looking at all of them is cheap and packs warps of a device better at every load (docs/gpu.md), or if it
/// never pays there,
///   `static constexpr bool listed = true`, or `false`  a device lists them however many they are, or does not
/// and, if hardly any item is ever due,
///   `static u64 due_set(const View&, u32 group, Cycle)`  which of the 64 items from 64 `group` on are due, as bits
/// and, for views for which it rather finds out itself who is due, and works on many of them at once,
///   `static void work_groups(const View&, u32 first, u32 last, Cycle, bool prefetch)`  the work of those that are due
///   of
///                                                     the groups of 64 items from `first` to before `last`
/// and, for views for which visiting many items at once is faster on a CPU (with `due`),
///   `static constexpr u32 batch`                      how many at most
///   `static void work_many(const View&, const u32* list, u32 n, Cycle)`  the same as `run` for n items that are due
/// Phases of one stage run in any order, concurrently, over all items; a barrier separates stages and cycles.
#include <tuple>

#include "kernels/common/types.hpp"

namespace flitlab {

/// Tables of which more is known at compile time, the most special first. A model that has some says so (`Fast`), and
/// which model works on one (`With<Table>`); each says whether it `fits(table)`.
template <class... Tables>
struct FastTables {};

/// Items that `work_many` visits at once, at most; their state should fit a first-level cache.
inline constexpr u32 kBatch = 64;

/// Phases that need no barrier between them.
template <class... Phases>
struct Stage {
  template <class F>
  FLITLAB_INLINE static void for_each(F&& f) {
    (f.template operator()<Phases>(), ...);
  }

  /// Whether any phase has items. A stage without any is passed over, and so is its barrier.
  template <class V>
  FLITLAB_HD static bool has_items(const V& v) {
    return ((Phases::items(v) > 0) || ...);
  }
};

/// The step list of a cycle.
template <class... Stages>
struct StageList {
  static constexpr u32 size = sizeof...(Stages);

  template <class F>
  FLITLAB_INLINE static void for_each(F&& f) {
    (f.template operator()<Stages>(), ...);
  }
};

}  // namespace flitlab
