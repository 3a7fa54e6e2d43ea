#pragma once
/// Lists of members of items (ports or virtual channels of routers) for a block of GPU threads, in which any thread
/// visits a member: entry k of a list belongs to thread k. So the threads of a warp have equally many entries, even if
/// items have different numbers of members. Entries of one item are visited at the same time, so a part of a step must
/// change words that entries of an item share by the functions in shared_words.hpp, and must not read such words.
///
/// As in block_lists.hpp, for_each() begins with a barrier, for_each_beside() does not. lists.hpp has the
/// lists for other values of `kMost`.
#include "kernels/common/block_lists.hpp"

namespace flitlab {

/// for_each() of a list for a part of a step that needs no barrier after the part before: the list was complete at the
/// last barrier, and neither part uses words that the other one changes.
template <class List, class Visit>
FLITLAB_INLINE void for_each_beside(List& list, Visit&& visit) {
  if constexpr (requires { list.for_each_beside(visit); })
    list.for_each_beside(visit);
  else
    list.for_each(visit);
}

/// Entries of a list. Threads append them in any order.
template <class Entry, u32 kSize>
struct FlatEntries {
  Entry entry[kSize];
  u32 threads, count;

  FLITLAB_INLINE void clear(u32 its_threads) { threads = its_threads, count = 0; }
  FLITLAB_INLINE void append(bool if_so, u32 its_entry) {
    if (if_so) entry[next_entry(count)] = static_cast<Entry>(its_entry);
  }
  /// Calls visit(entry) for the thread's entries, without a barrier.
  template <class Visit>
  FLITLAB_INLINE void for_each_entry(Visit&& visit) const {
    const u32 n = count;
    FLITLAB_ROLLED for (u32 k = thread_of_block(); k < n; k += threads) visit(u32{entry[k]});
  }
  /// The same, with the first entry for the last thread: if a part of a step visits two lists, different warps have
  /// their entries.
  template <class Visit>
  FLITLAB_INLINE void for_each_entry_from_last_thread(Visit&& visit) const {
    const u32 n = count;
    FLITLAB_ROLLED for (u32 k = threads - 1 - thread_of_block(); k < n; k += threads) visit(u32{entry[k]});
  }
};

/// A member of an item as an entry of 16 bits. Members are numbers below 64.
FLITLAB_HD constexpr u32 member_entry(u32 item, u32 member) { return item << 6 | member; }
static_assert(member_entry(kGpuBlock, 0) <= 1u << 16);

/// `kRoom`: most members of each item.
template <u32 kMost, u32 kRoom>
struct FlatBitList : BitList<kMost, kRoom> {};

template <u32 kRoom>
struct FlatBitList<kGpuBlock, kRoom> : FlatEntries<u16, kGpuBlock * kRoom> {
  FLITLAB_INLINE void add(bool if_so, u32 item, u32 member) { this->append(if_so, member_entry(item, member)); }
  /// Appends the members of a set.
  FLITLAB_INLINE void add_set(u32 item, u64 set) {
    if (!set) return;
    u16* next = this->entry + next_entries(this->count, bit_count64(set));
    FLITLAB_ROLLED for (u64 left = set; left; left &= left - 1) {
      *next++ = static_cast<u16>(member_entry(item, lowest_bit(left)));
    }
  }
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) const {
    wait_for_threads(this->threads);
    for_each_beside(visit);
  }
  template <class Visit>
  FLITLAB_INLINE void for_each_beside(Visit&& visit) const {
    this->for_each_entry([&](u32 at) __attribute__((always_inline)) { visit(at >> 6, at & 63); });
  }
};

template <u32 kRoom, u32 kKinds>
struct KindList<kGpuBlock, kRoom, kKinds> {
  u16 entry[kKinds][kGpuBlock * kRoom];  ///< member_entry()
  u32 count[kKinds];
  u32 threads;

  FLITLAB_INLINE void clear(u32 its_threads) {
    threads = its_threads;
    for (u32& of_kind : count) of_kind = 0;
  }
  FLITLAB_INLINE void add(bool if_so, u32 kind, u32 item, u32 member) {
    if (if_so) entry[kind][next_entry(count[kind])] = static_cast<u16>(member_entry(item, member));
  }
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) const {
    wait_for_threads(threads);
    u32 kind = 0, k = thread_of_block();
    FLITLAB_ROLLED while (true) {
      while (kind < kKinds && k >= count[kind]) k -= count[kind++];
      if (kind == kKinds) return;
      const u32 at = entry[kind][k];
      visit(at >> 6, at & 63);
      k += threads;
    }
  }
};

template <u32 kRoom>
struct MoveList<kGpuBlock, kRoom> : FlatEntries<u32, kGpuBlock * kRoom> {
  FLITLAB_INLINE void add(bool if_so, u32 item, u32 member, u32 byte) {
    this->append(if_so, item << 16 | member << 8 | byte);
  }
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) const {
    wait_for_threads(this->threads);
    for_each_beside(visit);
  }
  template <class Visit>
  FLITLAB_INLINE void for_each_beside(Visit&& visit) const {
    this->for_each_entry([&](u32 at) __attribute__((always_inline)) { visit(at >> 16, at >> 8 & 0xFF, at & 0xFF); });
  }
};

template <>
struct ByteList<kGpuBlock> {
  u64 word[kGpuBlock];  ///< `[item]`
  FlatBitList<kGpuBlock, 8> ports;

  FLITLAB_INLINE void clear(u32 threads) { ports.clear(threads); }
  FLITLAB_INLINE void add(u32 item, u64 bytes, u64 present) {
    word[item] = bytes;
    ports.add_set(item, present);
  }
  FLITLAB_INLINE u32 byte(u32 item, u32 port) const { return byte_of_port(word[item], port); }
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) const {
    wait_for_threads(ports.threads);
    for_each_beside(visit);
  }
  template <class Visit>
  FLITLAB_INLINE void for_each_beside(Visit&& visit) const {
    ports.for_each_beside([&](u32 item, u32 bit)
                              __attribute__((always_inline)) { visit(item, bit / 8, byte(item, bit / 8)); });
  }
};

template <>
struct RareByteList<kGpuBlock> : ByteList<kGpuBlock> {
  /// A barrier must lie between the last add() and this function.
  FLITLAB_INLINE bool any() const { return ports.count != 0; }
};

}  // namespace flitlab
