#pragma once
/// Lists of members of items (ports or virtual channels of routers) for a block of GPU threads, in which any thread
/// visits a member: entry k of a list belongs to thread k. So the threads of a warp have equally many entries, even if
/// items have different numbers of members. Entries of one item are visited at the same time, so a part of a step must
/// change words that entries of an item share by the functions in shared_words.hpp, and must not read such words.
///
/// As in block_lists.hpp, for_each() begins with a barrier, for_each_beside() does not. For other `kMost` the lists are
/// those of lists.hpp.
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

/// `kRoom`: most members of each item. Members are numbers below 64.
template <u32 kMost, u32 kRoom>
struct FlatBitList : BitList<kMost, kRoom> {};

template <u32 kRoom>
struct FlatBitList<kGpuBlock, kRoom> {
  static_assert(kGpuBlock * 64 <= 1u << 16);
  u16 entry[kGpuBlock * kRoom];  ///< item << 6 | member
  u32 threads, count;

  FLITLAB_INLINE void clear(u32 its_threads) { threads = its_threads, count = 0; }
  FLITLAB_INLINE void add(bool if_so, u32 item, u32 member) {
    if (if_so) entry[next_entry(count)] = static_cast<u16>(item << 6 | member);
  }
  /// Appends the members of a set.
  FLITLAB_INLINE void add_set(u32 item, u64 set) {
    if (!set) return;
    u16* next = entry + next_entries(count, bit_count64(set));
    FLITLAB_ROLLED for (u64 left = set; left; left &= left - 1)* next++ =
        static_cast<u16>(item << 6 | lowest_bit(left));
  }
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) const {
    wait_for_threads(threads);
    for_each_beside(visit);
  }
  template <class Visit>
  FLITLAB_INLINE void for_each_beside(Visit&& visit) const {
    const u32 n = count;
    FLITLAB_ROLLED for (u32 k = thread_of_block(); k < n; k += threads) {
      const u32 at = entry[k];
      visit(at >> 6, at & 63);
    }
  }
};

template <u32 kRoom>
struct MoveList<kGpuBlock, kRoom> {
  u32 entry[kGpuBlock * kRoom];  ///< item << 16 | member << 8 | byte
  u32 threads, count;

  FLITLAB_INLINE void clear(u32 its_threads) { threads = its_threads, count = 0; }
  FLITLAB_INLINE void add(bool if_so, u32 item, u32 member, u32 byte) {
    if (if_so) entry[next_entry(count)] = item << 16 | member << 8 | byte;
  }
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) const {
    wait_for_threads(threads);
    for_each_beside(visit);
  }
  template <class Visit>
  FLITLAB_INLINE void for_each_beside(Visit&& visit) const {
    const u32 n = count;
    FLITLAB_ROLLED for (u32 k = thread_of_block(); k < n; k += threads) {
      const u32 at = entry[k];
      visit(at >> 16, at >> 8 & 0xFF, at & 0xFF);
    }
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
