#pragma once
/// Lists of the items (routers or terminals) that have work in a bulk phase, which processes many items per call
/// (`work_in_bulk`), and lists of their ports or bits. Appending to a list needs no branch, because a processor cannot
/// predict which items have work.
#include <array>

#include "kernels/common/bits.hpp"
#include "kernels/common/inbox.hpp"

namespace flitlab {

/// The items of one bulk call whose bit set is not empty. `set[i]` is the bit set of item `index[i]`, which is numbered
/// within the call. The arrays have two spare entries, because add() also writes entries that it does not keep.
template <u32 kItems>
struct Members {
  u64 set[kItems + 2];
  u32 index[kItems + 2];

  /// Writes `item` as entry n, and keeps the entry if its set is not empty. Returns the number of entries. It has no
  /// branch.
  FLITLAB_INLINE u32 add(u32 n, u32 item, u64 its_set) {
    set[n] = its_set;
    index[n] = item;
    return n + (its_set != 0);
  }
};

/// Visits all members of n non-empty bit sets in one loop, so that only the loop's end is mispredicted. visit(i, set)
/// processes the lowest member of set i and returns the set without it.
template <class Visit>
FLITLAB_INLINE void for_each_member(u64* sets, u32 n, Visit&& visit) {
  sets[n] = sets[n + 1] = 0;
  u64 set = sets[0], next = sets[1];
  for (u32 i = 0; i < n;) {
    set = visit(i, set);
    i += set == 0;
    set = set ? set : next;  // no branch: the next set is already in a register
    next = sets[i + 1];
  }
}

/// Returns the word with bit 7 set in each byte that is not 0, and all other bits 0.
FLITLAB_INLINE u64 bytes_present(u64 word) {
  constexpr u64 kLow = 0x7F7F7F7F7F7F7F7Full;
  return (((word & kLow) + kLow) | word) & ~kLow;
}

/// `kMembersOf[set]`: the members of a set of up to eight, lowest first, one byte each.
inline constexpr std::array<u64, 256> kMembersOf = [] {
  std::array<u64, 256> members{};
  for (u32 set = 0; set < 256; ++set)
    for (u32 bit = 0, n = 0; bit < 8; ++bit)
      if (set >> bit & 1) members[set] |= u64{bit} << (8 * n++);
  return members;
}();

/// A list of ports of at most 32 items with up to eight ports each. Each entry is 8 * item + port.
template <u32 kItems>
struct PortList {
  static_assert(kItems <= 32);
  u8 entry[kItems * 8 + 8];
  u32 count = 0;

  /// Appends the ports of an item whose byte in `present` has bit 7 set (bytes_present). It has no branch.
  FLITLAB_INLINE void add(u32 item, u64 present) {
    const u64 low = present >> 7;
    const u64 ports = kMembersOf[low * 0x0102040810204080ull >> 56] + item * 0x0808080808080808ull;
    __builtin_memcpy(entry + count, &ports, sizeof ports);
    count += static_cast<u32>(low * 0x0101010101010101ull >> 56);
  }
};

/// One byte for each of the eight ports of an item (`word[item]`), and the list of the ports to visit.
template <u32 kItems>
struct PortBytes {
  u64 word[kItems];
  PortList<kItems> ports;

  FLITLAB_INLINE void add(u32 item, u64 bytes, u64 present) {
    word[item] = bytes;
    ports.add(item, present);
  }
  /// Returns the byte of an entry of the list.
  FLITLAB_INLINE u32 byte(u32 entry) const { return reinterpret_cast<const u8*>(word)[entry]; }
  /// Calls visit(item, port, byte) for each listed port.
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) const {
    for (u32 i = 0; i < ports.count; ++i) {
      const u32 entry = ports.entry[i];
      visit(entry / 8, entry % 8, byte(entry));
    }
  }
};

/// Like PortBytes, for the case that few items have any port to visit.
template <u32 kItems>
struct RareBytes {
  Members<kItems> bytes;
  u64 word[kItems + 1];
  u32 count = 0;

  FLITLAB_INLINE void add(u32 item, u64 its_word, u64 present) {
    word[count] = its_word;
    count = bytes.add(count, item, present);
  }
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) {
    for_each_member(bytes.set, count, [&](u32 i, u64 set) __attribute__((always_inline)) {
      const u32 port = lowest_bit(set) / 8;
      visit(bytes.index[i], port, byte_of_port(word[i], port));
      return set & (set - 1);
    });
  }
};

}  // namespace flitlab
