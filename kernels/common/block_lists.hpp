#pragma once
/// The lists of kernels/common/lists.hpp for `kMost` = kGpuBlock: a block of GPU threads makes and visits them
/// together. The lists lie in shared memory, and entry k of a list belongs to thread k of the block. So the threads of
/// a warp do work of the same kind, whichever items have it, and all warps of the block run the same short piece of
/// code; a warp whose threads process one item each runs the code of all kinds of work, one after the other
/// (docs/gpu.md).
///
/// A step needs only as many warps as its list of items is long; the others wait for the end of the phase, and issue no
/// instructions. All threads of these warps must call the functions for_each() and begin(). Each begins with a barrier,
/// so that all earlier parts of the step have ended. A list is cleared by one thread, between two barriers. An item has
/// at most one entry in a list, so one thread processes it.
#include <cstddef>
#include <type_traits>
#include <utility>

#include "kernels/common/lists.hpp"
#include "kernels/common/shared_words.hpp"

namespace flitlab {

#if defined(__CUDA_ARCH__)
FLITLAB_INLINE u32 thread_of_block() { return threadIdx.x; }
/// Waits for the first `threads` threads of the block, which are whole warps. (Barrier 0 is that of the whole block.)
FLITLAB_INLINE void wait_for_threads(u32 threads) { __barrier_sync_count(1, threads); }
FLITLAB_INLINE u32 next_entry(u32& count) { return atomicAdd(&count, 1u); }
/// Reserves n entries of a list and returns the first.
FLITLAB_INLINE u32 next_entries(u32& count, u32 n) { return atomicAdd(&count, n); }
#else  // never called; nvcc also compiles steps for the host
FLITLAB_INLINE u32 thread_of_block() { return 0; }
FLITLAB_INLINE void wait_for_threads(u32) {}
FLITLAB_INLINE u32 next_entry(u32& count) { return count++; }
FLITLAB_INLINE u32 next_entries(u32& count, u32 n) { return std::exchange(count, count + n); }
#endif

/// Entries of a list that belong to a thread of a step. `Entry`: a number or a pointer.
template <class Entry>
struct EntriesOfThread {
  Entry at, last;
  u32 threads;

  FLITLAB_INLINE void operator++() { at += threads; }
  FLITLAB_INLINE bool operator!=(std::nullptr_t) const { return at < last; }
  FLITLAB_INLINE u32 operator*() const {
    if constexpr (std::is_pointer_v<Entry>)
      return *at;
    else
      return at;
  }
};

/// `threads`: number of threads of the step, here and in the lists.
template <>
struct ItemRange<kGpuBlock> {
  u32 count, threads;

  FLITLAB_INLINE EntriesOfThread<u32> begin() const {
    wait_for_threads(threads);
    return {thread_of_block(), count, threads};
  }
  FLITLAB_INLINE std::nullptr_t end() const { return nullptr; }
};

template <>
struct ItemList<kGpuBlock> {
  u32 threads, count;
  u16 items[kGpuBlock];

  FLITLAB_INLINE void clear(u32 its_threads) { threads = its_threads, count = 0; }
  FLITLAB_INLINE void add(u32 item, bool if_so) {
    if (if_so) items[next_entry(count)] = static_cast<u16>(item);
  }
  FLITLAB_INLINE EntriesOfThread<const u16*> begin() const {
    wait_for_threads(threads);
    return {items + thread_of_block(), items + count, threads};
  }
  FLITLAB_INLINE std::nullptr_t end() const { return nullptr; }
};

template <>
struct SetList<kGpuBlock> {
  u64 set[kGpuBlock];
  u16 item[kGpuBlock];
  u32 threads, count;

  FLITLAB_INLINE void clear(u32 its_threads) { threads = its_threads, count = 0; }
  FLITLAB_INLINE void add(u32 its_item, u64 its_set) {
    if (!its_set) return;
    const u32 entry = next_entry(count);
    set[entry] = its_set;
    item[entry] = static_cast<u16>(its_item);
  }
  /// A thread visits all members of a set, because work for two members of an item may write the same words.
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) const {
    wait_for_threads(threads);
    for (u32 k = thread_of_block(); k < count; k += threads)
      for (u64 left = set[k]; left; left &= left - 1) visit(u32{item[k]}, lowest_bit(left));
  }
};

/// Has a set for each item, because parts of a step add members one by one. `kRoom`: at most 64.
template <u32 kRoom>
struct BitList<kGpuBlock, kRoom> {
  u64 set[kGpuBlock];
  ItemRange<kGpuBlock> items;

  FLITLAB_INLINE void clear(const ItemRange<kGpuBlock>& all) { items = all; }
  FLITLAB_INLINE void clear_item(u32 item) { set[item] = 0; }
  FLITLAB_INLINE void add(bool if_so, u32 item, u32 member) {
    if (if_so) set[item] |= u64{1} << member;
  }
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) const {
    for (u32 item : items)
      for (u64 left = set[item]; left; left &= left - 1) visit(item, lowest_bit(left));
  }
};

/// The items that a block's step processes.
struct BlockItems {
  u32 index[kGpuBlock];    ///< number of the item in its replica
  u32 replica[kGpuBlock];  ///< items may belong to several replicas
  ItemRange<kGpuBlock> all;
};

/// Access to the items of a block's step, as OneItem is for one item. `Due`: kernels/engines/work_list.cuh.
template <class Due>
struct ItemsOfBlock {
  const Due& due;
  const BlockItems& items;

  FLITLAB_INLINE auto view(u32 i) const { return due.view(items.replica[i]); }
  FLITLAB_INLINE u32 index(u32 i) const { return items.index[i]; }
  FLITLAB_INLINE const ItemRange<kGpuBlock>& all() const { return items.all; }
  FLITLAB_INLINE const auto& table() const { return due.table(); }
};

/// Calls step(ItemsOfBlock) for groups of at most kGpuBlock items that are due. All threads of the block call this
/// function, and wait for each other before the next call. `lists`: in shared memory; one thread calls its function
/// clear(all).
template <class Due, class Lists, class Step>
FLITLAB_INLINE void step_in_block(const Due& due, BlockItems& items, Lists& lists, Step&& step) {
  for (u32 first = 0, threads = 0; first < due.count; first += kGpuBlock) {
    if (first) wait_for_threads(threads);  // before the lists of the last group are cleared
    const ItemRange<kGpuBlock> all = due.range(first);
    threads = all.threads;
    if (thread_of_block() >= threads) return;
    if (thread_of_block() == 0) {
      items.all = all;
      lists.clear(all);
    }
    for (u32 i : all) {
      items.index[i] = due.index(first + i);
      items.replica[i] = due.replica(first + i);
    }
    step(ItemsOfBlock<Due>{due, items});
  }
}

/// Base of a phase whose step is written for one item and for a block of GPU threads: `Phase::step(items, lists, now)`,
/// where `items` is OneItem or ItemsOfBlock, and `Lists<kMost>` are all lists that the step uses.
template <class Phase, template <u32> class Lists>
struct PhaseOfLists {
  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    Lists<1> lists{};
    Phase::step(OneItem<V>{v, index}, lists, now);
  }

  struct InBlock {
    BlockItems items;
    Lists<kGpuBlock> lists;
  };
  template <class Due>
  FLITLAB_INLINE static void work_in_block(const Due& due, InBlock& shared, Cycle now) {
    step_in_block(due, shared.items, shared.lists,
                  [&](const auto& items) __attribute__((always_inline)) { Phase::step(items, shared.lists, now); });
  }
};

}  // namespace flitlab
