#pragma once
/// Lists of the work in a step (`step<kMost>`), which processes up to `kMost` items (routers, terminals or nodes) in
/// one call: each part of the work for all items, then the next part. A step is written once for all widths:
///
/// - `kMost` = 32 or 64, on a CPU: a list is an array, and appending to it needs no branch, because a processor cannot
///   predict which items have work. The loop over a list is long, so that its end is rarely mispredicted.
/// - `kMost` = 1, on a GPU, in traces and in tests: the item is always item 0, so a list is a flag or a bit set in a
///   register.
/// - `kMost` = kGpuBlock, on a GPU: a block of threads makes and visits the lists together (block_lists.hpp).
///
/// | list | entries |
/// |---|---|
/// | `ItemRange` | the items 0 to `count` - 1 |
/// | `ItemList` | items |
/// | `SetList` | items, each with a set of members (bits 0 to 63) that is not empty |
/// | `BitList` | members of items |
/// | `FlatBitList` | members of items, which any thread of a GPU's block visits (flat_lists.hpp) |
/// | `KindList` | members of items, sorted by kinds of work; not for a CPU's arrays |
/// | `MoveList` | members of items, each with a byte; at most one entry for each eight members |
/// | `PortList` | ports (0 to 7) of items |
/// | `ByteList` | ports of items, each with a byte that is not 0; `RareByteList`: if few items have such a byte |
/// | `Later` | actions that run when the prefetches of their data have completed; at once unless on a CPU's arrays |
///
/// A list's order is that of its appends if `kMost` > 1, and the order of the members if `kMost` is 1. So a step's
/// parts must not depend on the order of their entries.
#include <array>

#include "kernels/common/bits.hpp"
#include "kernels/common/inbox.hpp"

namespace flitlab {

template <u32 kMost>
struct ItemRange {
  struct Place {
    u32 item;
    FLITLAB_HD u32 operator*() const { return item; }
    FLITLAB_HD void operator++() { ++item; }
    FLITLAB_HD bool operator!=(const Place& other) const { return item != other.item; }
  };
  u32 count;

  FLITLAB_HD Place begin() const { return {0}; }
  FLITLAB_HD Place end() const { return {count}; }
};

template <u32 kMost>
struct ItemList {
  u32 items[kMost + 1];  ///< one more, because add() writes an entry even if it does not keep it
  u32 count = 0;

  FLITLAB_INLINE void add(u32 item, bool if_so) {
    items[count] = item;
    count += if_so;
  }
  FLITLAB_HD const u32* begin() const { return items; }
  FLITLAB_HD const u32* end() const { return items + count; }
};

template <>
struct ItemList<1> {
  struct Zero {
    u32 left;  ///< a compiler sees that ++ ends the loop, so it makes none
    FLITLAB_HD u32 operator*() const { return 0; }
    FLITLAB_HD void operator++() { left = 0; }
    FLITLAB_HD bool operator!=(const Zero& other) const { return left != other.left; }
  };
  u32 count = 0;

  FLITLAB_INLINE void add(u32, bool if_so) { count += if_so; }
  FLITLAB_HD Zero begin() const { return {count}; }
  FLITLAB_HD Zero end() const { return {0}; }
};

template <u32 kMost>
struct SetList {
  u64 set[kMost + 2];
  u32 item[kMost + 2];
  u32 count = 0;

  FLITLAB_INLINE void add(u32 its_item, u64 its_set) {
    set[count] = its_set;
    item[count] = its_item;
    count += its_set != 0;
  }
  /// Calls visit(entry, member) for all members of all sets. It is a single loop, because the end of an inner loop
  /// would be mispredicted for every set.
  template <class Visit>
  FLITLAB_INLINE void for_each_entry(Visit&& visit) {
    set[count] = set[count + 1] = 0;
    u64 left = set[0], next = set[1];
    for (u32 i = 0; i < count;) {
      visit(i, lowest_bit(left));
      left &= left - 1;
      i += left == 0;
      left = __builtin_expect_with_probability(left != 0, 1, 0.5) ? left : next;  // no branch
      next = set[i + 1];
    }
  }
  /// Calls visit(item, set) for all sets.
  template <class Visit>
  FLITLAB_INLINE void for_each_set(Visit&& visit) const {
    for (u32 i = 0; i < count; ++i) visit(item[i], set[i]);
  }
  /// Calls visit(item, member) for all members of all sets.
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) {
    for_each_entry([&](u32 i, u32 member) __attribute__((always_inline)) { visit(item[i], member); });
  }
};

template <>
struct SetList<1> {
  u64 set = 0;

  FLITLAB_INLINE void add(u32, u64 its_set) { set = its_set; }
  template <class Visit>
  FLITLAB_INLINE void for_each_set(Visit&& visit) const {
    if (set) visit(0u, set);
  }
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) {
    for (; set; set &= set - 1) visit(0u, lowest_bit(set));
  }
};

/// `kRoom`: most entries for each item.
template <u32 kMost, u32 kRoom>
struct BitList {
  u32 entry[kMost * kRoom + 1];  ///< item << 8 | member
  u32 count = 0;

  FLITLAB_INLINE void add(bool if_so, u32 item, u32 member) {
    entry[count] = item << 8 | member;
    count += if_so;
  }
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) const {
    for (u32 k = 0; k < count; ++k) visit(entry[k] >> 8, entry[k] & 0xFF);
  }
};

template <u32 kRoom>
struct BitList<1, kRoom> {
  u64 set = 0;

  /// `member`: may have any value unless `if_so`.
  FLITLAB_INLINE void add(bool if_so, u32, u32 member) { set |= if_so ? u64{1} << member : 0; }
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) const {
    for (u64 left = set; left; left &= left - 1) visit(0u, lowest_bit(left));
  }
};

/// `kRoom`: most entries for each item. A GPU visits the members of kind 0 first, then those of kind 1, and so on, so
/// that most warps have members of one kind.
template <u32 kMost, u32 kRoom, u32 kKinds>
struct KindList;

template <u32 kRoom, u32 kKinds>
struct KindList<1, kRoom, kKinds> : BitList<1, kRoom> {
  FLITLAB_INLINE void add(bool if_so, u32, u32, u32 member) { BitList<1, kRoom>::add(if_so, 0, member); }
};

/// `kRoom`: most entries for each item.
template <u32 kMost, u32 kRoom>
struct MoveList {
  u32 entry[kMost * kRoom + 1];  ///< item << 16 | member << 8 | byte
  u32 count = 0;

  FLITLAB_INLINE void add(bool if_so, u32 item, u32 member, u32 byte) {
    entry[count] = item << 16 | member << 8 | byte;
    count += if_so;
  }
  /// Calls visit(item, member, byte) for all entries.
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) const {
    for (u32 k = 0; k < count; ++k) visit(entry[k] >> 16, entry[k] >> 8 & 0xFF, entry[k] & 0xFF);
  }
};

template <u32 kRoom>
struct MoveList<1, kRoom> {
  u64 set = 0, bytes = 0;  ///< members; the byte of members 8 k to 8 k + 7 is byte k
  u32 count = 0;

  FLITLAB_INLINE void add(bool if_so, u32, u32 member, u32 byte) {
    set |= if_so ? u64{1} << member : 0;
    bytes |= if_so ? u64{byte} << (member & ~7u) : 0;
    count += if_so;
  }
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) const {
    for (u64 left = set; left; left &= left - 1) {
      const u32 member = lowest_bit(left);
      visit(0u, member, static_cast<u32>(bytes >> (member & ~7u)) & 0xFF);
    }
  }
};

/// Returns the word with bit 7 set in each byte that is not 0, and all other bits 0.
FLITLAB_INLINE u64 bytes_present(u64 word) {
  constexpr u64 kLow = 0x7F7F7F7F7F7F7F7Full;
  return (((word & kLow) + kLow) | word) & ~kLow;
}

/// Returns the number of bytes of `present` (bytes_present) that are not 0.
FLITLAB_INLINE u32 byte_count(u64 present) { return static_cast<u32>((present >> 7) * 0x0101010101010101ull >> 56); }

/// `kMembersOf[set]`: the members of a set of up to eight, lowest first, one byte each.
inline constexpr std::array<u64, 256> kMembersOf = [] {
  std::array<u64, 256> members{};
  for (u32 set = 0; set < 256; ++set)
    for (u32 bit = 0, n = 0; bit < 8; ++bit)
      if (set >> bit & 1) members[set] |= u64{bit} << (8 * n++);
  return members;
}();

/// `kSizeOf[set]`: the number of members of a set of up to eight.
inline constexpr std::array<u8, 256> kSizeOf = [] {
  std::array<u8, 256> sizes{};
  for (u32 set = 0; set < 256; ++set) sizes[set] = static_cast<u8>(sizes[set / 2] + set % 2);
  return sizes;
}();

template <u32 kMost>
struct PortList {
  static_assert(kMost <= 32);
  u8 entry[kMost * 8 + 8];  ///< 8 * item + port
  u32 count = 0;

  /// Appends the ports of a set. It has no branch.
  FLITLAB_INLINE void add(u32 item, u32 set) { add(item, set, kSizeOf[set]); }
  FLITLAB_INLINE void add(u32 item, u32 set, u32 size) {
    const u64 ports = kMembersOf[set] + item * 0x0808080808080808ull;
    __builtin_memcpy(entry + count, &ports, sizeof ports);
    count += size;
  }
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) const {
    for (u32 i = 0; i < count; ++i) visit(entry[i] / 8u, entry[i] % 8u);
  }
};

template <>
struct PortList<1> : BitList<1, 8> {
  FLITLAB_INLINE void add(u32, u32 its_set) { set = its_set; }
};

/// One byte for each of the eight ports of an item, and the list of the ports to visit.
template <u32 kMost>
struct ByteList : PortList<kMost> {
  u64 word[kMost];  ///< `[item]`

  /// Sets the bytes of an item, and appends the ports whose byte in `present` has bit 7 set (bytes_present).
  FLITLAB_INLINE void add(u32 item, u64 bytes, u64 present) {
    word[item] = bytes;
    const u64 low = present >> 7;
    PortList<kMost>::add(item, static_cast<u32>(low * 0x0102040810204080ull >> 56), byte_count(present));
  }
  FLITLAB_INLINE u32 byte(u32 item, u32 port) const { return byte_of_port(word[item], port); }
  /// Calls visit(item, port, byte) for each listed port.
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) const {
    for (u32 i = 0; i < this->count; ++i) {
      const u32 entry = this->entry[i];
      visit(entry / 8, entry % 8, u32{reinterpret_cast<const u8*>(word)[entry]});
    }
  }
};

template <>
struct ByteList<1> {
  u64 word = 0, present = 0;

  FLITLAB_INLINE void add(u32, u64 bytes, u64 its_present) { word = bytes, present = its_present; }
  FLITLAB_INLINE u32 byte(u32, u32 port) const { return static_cast<u32>(word >> 8 * port) & 0xFF; }
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) const {
    for (u64 left = present; left; left &= left - 1) {
      const u32 port = lowest_bit(left) / 8;
      visit(0u, port, byte(0, port));
    }
  }
};

template <u32 kMost>
struct RareByteList {
  SetList<kMost> ports;
  u64 word[kMost + 1];  ///< `[entry of ports]`

  FLITLAB_INLINE void add(u32 item, u64 bytes, u64 present) {
    word[ports.count] = bytes;
    ports.add(item, present);
  }
  FLITLAB_INLINE bool any() const { return ports.count != 0; }
  template <class Visit>
  FLITLAB_INLINE void for_each(Visit&& visit) {
    ports.for_each_entry([&](u32 i, u32 bit) __attribute__((always_inline)) {
      visit(ports.item[i], bit / 8, u32{byte_of_port(word[i], bit / 8)});
    });
  }
};

template <>
struct RareByteList<1> : ByteList<1> {
  FLITLAB_INLINE bool any() const { return present != 0; }
};

/// Most items of the step of a block of GPU threads (block_lists.hpp). The shared memory of Blue Gene/L's lists is
/// 26 KiB, of the T3E's lists 78 KiB.
inline constexpr u32 kGpuBlock = 256;

/// `kRoom`: most actions for each item.
template <u32 kMost, u32 kRoom, class Action, class Do>
class Later {
 public:
  static constexpr bool kAtOnce = kMost == 1 || kMost == kGpuBlock;

  FLITLAB_INLINE explicit Later(const Do& act) : do_(act) {
    if constexpr (kAtOnce) list_[0] = {};
  }

  FLITLAB_INLINE void add(bool if_so, const Action& action) {
    if constexpr (kAtOnce) {
      if (if_so) do_(action);
    } else {
      list_[count_] = action;
      count_ += if_so;
    }
  }
  FLITLAB_INLINE void run() {
    for (u32 k = 0; k < count_; ++k) do_(list_[k]);
  }

 private:
  const Do& do_;
  u32 count_ = 0;
  Action list_[kAtOnce ? 1 : kMost * kRoom + 1];
};
template <u32 kMost, u32 kRoom, class Action, class Do>
FLITLAB_INLINE Later<kMost, kRoom, Action, Do> later(const Do& act) {
  return Later<kMost, kRoom, Action, Do>(act);
}

/// Access to the item of a step with `kMost` = 1: its view and its number.
template <class V>
struct OneItem {
  const V& v;
  u32 number;

  FLITLAB_INLINE const V& view(u32) const { return v; }
  FLITLAB_INLINE u32 index(u32) const { return number; }
  FLITLAB_INLINE ItemRange<1> all() const { return {1}; }
  FLITLAB_INLINE const auto& table() const { return v.t; }
};

}  // namespace flitlab
