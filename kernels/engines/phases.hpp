#pragma once
/// The interface of a router model to the engines.
///
/// A model is a type with
///   `Table`                  trivially copyable plan: sizes, parameters, pointers to tables, field handles
///   `View<W, Traced>`        a phase's access to one replica; built by `make_view`
///   `fault_of(view, kind, item)`  fault word of an item
///   `all_in_bulk`            optional constant: replicas of any size use bulk phases (`work_in_bulk`) on a CPU
///   `Start`, `Cycle`, `Audit`  lists of steps: run once before cycle 0, in every cycle, and between cycles
/// A step is a list of phases. A phase is a function that the engine calls for every item (router or terminal): a type
/// with
///   `static u32 items(const View&)`                   number of items
///   `static void run(const View&, u32 item, Cycle)`   the work of one item, on host and device
/// A phase whose items are often idle also has
///   `static bool due(const View&, u32 item, Cycle)`   whether an item has work; the work of other items in the
///                                                     same step must not change it
///   `static void work(const View&, u32 item, Cycle)`  `run` for an item that is due
/// While few items are due, the engine lists the due items and processes only the list (visit.hpp, work_list.cuh).
/// Optional:
///   `static constexpr bool listed = true`, or `false`  a GPU always, or never, lists the items that are due; true pays
///                                                     off if `due` is cheap and full warps are faster at any load
///   `static u64 due_set(const View&, u32 group, Cycle)`
///                                                     the items that are due among the 64 from 64 `group` on, as bits;
///                                                     for phases in which few items are due
///   `static void work_groups(const View&, u32 first, u32 last, Cycle, bool prefetch)`
///                                                     selects the items that are due in groups `first` to before
///                                                     `last`, and processes them in bulk
///   `static constexpr u32 batch`                      most items of one call of work_in_bulk
///   `static void work_in_bulk(const View&, const u32* list, u32 n, Cycle)`
///                                                     `run` for n items that are due; on a CPU, for the views for
///                                                     which this is faster; needs `due`
///   `kInlinesCollected`                              whether work_in_block() is inlined for collected items
///   `struct InBlock`, `static void work_in_block(const Due&, InBlock&, Cycle)`
///                                                     `run` for the items of `Due` (DueItems, work_list.cuh), on a
///                                                     GPU; all threads of a block call it and share the lists in
///                                                     InBlock (kernels/common/block_lists.hpp); without `due`, for
///                                                     all items
/// Phases of one step run concurrently and in any order, over all items; a barrier separates steps and cycles.
#include <tuple>

#include "kernels/common/types.hpp"

namespace flitlab {

/// A list of special types of a model's table, which fix some of its members at compile time; the most special type
/// comes first. A model with such types names the list `Fast`, and the model for each type `With<Table>`. Each type has
/// a function `fits(table)`.
template <class... Tables>
struct FastTables {};

/// Most items of a call of `work_in_bulk`; their state should fit a first-level cache.
inline constexpr u32 kMostBulkItems = 64;

/// A step: phases that need no barrier between them.
template <class... Phases>
struct Step {
  template <class F>
  FLITLAB_INLINE static void for_each(F&& f) {
    (f.template operator()<Phases>(), ...);
  }

  /// Returns whether any phase has items. The engine skips a step without items, and its barrier.
  template <class V>
  FLITLAB_HD static bool has_items(const V& v) {
    return ((Phases::items(v) > 0) || ...);
  }
};

/// The steps of a cycle, in order.
template <class... Steps>
struct StepList {
  static constexpr u32 size = sizeof...(Steps);

  template <class F>
  FLITLAB_INLINE static void for_each(F&& f) {
    (f.template operator()<Steps>(), ...);
  }
};

}  // namespace flitlab
