#pragma once
/// Who works on a block of items, a byte each (a crew), and what all of its members do together. A model's lanes are
/// written for any crew. This one is a processor with vectors of L bytes: one worker, who does everything one after the
/// other. A GPU's is kernels/common/byte_slices.cuh.
///
/// A crew has
///   `lanes`              items to a block
///   `Value`, `Row`       a byte of each item: in work, and in memory
///   `Set`, `members(x)`  the items whose byte is not 0
///   `any(x)`             whether there are any, or another crew has some, which goes the same way: what follows must
///                        do for none; of a list, by how long it is
///   `count(x)`           how many a member has: the sum over members counts
///   `at_most(n, limit)`  the items whose number is at most that
///   `ports<P>()`         of P ports, those that a member works on: all, or one, where others work on the others
///   `ByPort<T, P>`       a T for each of these; `byte_of(rows, place)` is a byte of such rows
///   `Board<P>`           a value for each of P ports, that all members see after `meet()`
///   `Union<P>`           the same, where only all of their members are asked for
///   `turn(board, port)`  sets of ports on a board the other way round: of those whose set has the port, one set
///   `Desk<T>`            room for a T that all members see who work on the same ports; `Common<T>`, that all see
///   `Place`              the number of a byte in an array of rows; `list()` lists those that are not 0, in any order
///   `each`, `filter`, `for_each`, `in_two_steps`  work on a list, whose entries are shared out
///   `or_bits`, `and_bits`, `put_bits`, `update`  changes of a byte that others may be changing
///   `raise`              a fault of an item
///   `peek`, `poke`       a byte that others may be writing or reading meanwhile
/// Each of these that works on lists ends when all who work on the same ports are done and see what was written.
/// `sync()` does that alone: for rows, of which every member writes a part, before others' parts of them are read.
/// `meet()` does it for all members, who must all come to it.
#include "kernels/common/byte_counts.hpp"
#include "kernels/common/byte_lanes.hpp"
#include "kernels/common/fault.hpp"
/// A function of its own on a CPU, where one that grows too large spills registers; a GPU has no stack worth using.
#if defined(__CUDACC__)
#define FLITLAB_APART FLITLAB_INLINE
#else
#define FLITLAB_APART [[gnu::noinline]]
#endif

namespace flitlab::lanes {

/// The numbers from `first` to before `end`, to go through.
template <u32 first, u32 last>
struct Numbers {
  struct At {
    u32 number;
    FLITLAB_INLINE u32 operator*() const { return number; }
    FLITLAB_INLINE At& operator++() { return ++number, *this; }
    FLITLAB_INLINE bool operator!=(At other) const { return number != other.number; }
  };
  FLITLAB_INLINE At begin() const { return {first}; }
  FLITLAB_INLINE At end() const { return {last}; }
};

template <int L>
struct Vectors {
  static constexpr u32 lanes = L;
  static constexpr bool draws_ahead = true;  ///< of random numbers, several at a time
  using Value = Bytes<L>;
  using Row = Bytes<L>;
  using Set = u64;
  using Place = u32;
  static constexpr u32 kMargin = kListMargin;  ///< what lists need beyond their entries

  template <u32 P>
  static FLITLAB_INLINE Numbers<0, P> ports() {
    return {};
  }
  static constexpr u32 ports_of(u32 all) { return all; }  ///< that a member works on
  static constexpr u32 first_port() { return 0; }
  template <class T, u32 P>
  using ByPort = T[P];
  template <u32 P>
  static FLITLAB_INLINE u8& byte_of(Value (&rows)[P], u32 place) {
    return reinterpret_cast<u8*>(rows)[place];
  }
  template <u32 P>
  struct Board {
    Value of[P];

    FLITLAB_INLINE void put(u32 port, Value value) { of[port] = value; }
    FLITLAB_INLINE Value get(u32 port) const { return of[port]; }
    FLITLAB_INLINE u8 byte(u32 place) const { return reinterpret_cast<const u8*>(of)[place]; }
  };
  template <u32 P>
  struct Union {
    Value any{};

    FLITLAB_INLINE void put(u32, Value value) { any |= value; }
    FLITLAB_INLINE Value all() const { return any; }
  };
  template <u32 P>
  static FLITLAB_INLINE void turn(const Board<P>& board, Value (&sets)[P]) {
    Value rows[8];
    for (u32 port = 0; port < 8; ++port) rows[port] = port < P ? board.of[port] : Value{};
    flitlab::lanes::transpose8<L>(rows);
    for (u32 port = 0; port < P; ++port) sets[port] = rows[port];
  }

  template <class T>
  struct Desk {
    T all;
    FLITLAB_INLINE T* operator->() { return &all; }
  };
  template <class T>
  using Common = Desk<T>;
  /// Values to show as bytes to all who work on the same ports; here they are.
  template <u32 P>
  struct Shown {};
  template <u32 P>
  static FLITLAB_INLINE const u8* show(Shown<P>&, const Value (&values)[P]) {
    return reinterpret_cast<const u8*>(values);
  }

  static FLITLAB_INLINE void sync() {}
  static FLITLAB_INLINE void meet() {}
  static FLITLAB_INLINE Set members(Value x) { return flitlab::lanes::members(x); }
  static FLITLAB_INLINE bool any(Set set) { return set != 0; }
  static FLITLAB_INLINE bool any(Value x) { return flitlab::lanes::members(x) != 0; }
  static FLITLAB_INLINE u32 count(Set set) { return bit_count64(set); }
  static FLITLAB_INLINE u32 count(Value x) { return count_members(x); }
  /// The lanes whose number is at most `limit`.
  static FLITLAB_INLINE Set at_most(const u32* numbers, u32 limit) {
    u64 set = 0;
#if defined(__AVX512F__)
    for (int i = 0; i < L / 16; ++i)
      set |=
          u64{_mm512_cmple_epu32_mask(_mm512_load_si512(numbers + 16 * i), _mm512_set1_epi32(static_cast<int>(limit)))}
          << (16 * i);
#elif defined(__AVX2__)
    for (int i = 0; i < L / 8; ++i) {
      const __m256i number = _mm256_load_si256(reinterpret_cast<const __m256i*>(numbers + 8 * i));
      const __m256i least = _mm256_min_epu32(number, _mm256_set1_epi32(static_cast<int>(limit)));
      set |= u64{static_cast<u8>(_mm256_movemask_ps((__m256)_mm256_cmpeq_epi32(number, least)))} << (8 * i);
    }
#else
    for (int i = 0; i < L; ++i) set |= u64{numbers[i] <= limit} << i;
#endif
    return set;
  }
  /// Bytes from anywhere in memory.
  static FLITLAB_INLINE Value loose(const u8* bytes) {
    return (Value) * reinterpret_cast<const typename Types<L>::Loose*>(bytes);
  }

  template <std::size_t n>
  static FLITLAB_INLINE u32 list(const Value (&values)[n], Place* places) {
    return list_lanes(values, places);
  }
  /// Lists the members of sets of `kBits`: of member m of lane l of sets[i], (i * kBits + m) * L + l.
  template <u32 kBits, std::size_t n>
  static FLITLAB_INLINE u32 list_members(const Value (&sets)[n], Place* places) {
    constexpr u32 kSets = 8 / kBits, kBytes = (n + kSets - 1) / kSets;  // that share a byte
    Value bytes[kBytes];
    for (u32 i = 0; i < n; ++i) {
      if (i % kSets)
        bytes[i / kSets] |= sets[i] << (i % kSets * kBits);
      else
        bytes[i / kSets] = sets[i];
    }
    u32 count = list_lanes(bytes, places);
    for (u32 i = 0; i < count; ++i) {
      const u32 at = places[i], set = reinterpret_cast<u8*>(bytes)[at], rest = set & (set - 1);
      reinterpret_cast<u8*>(bytes)[at] = static_cast<u8>(rest);
      places[count] = at;  // once more for the others
      count += rest != 0;
      places[i] = at + at / L * (7 * L) + lowest_bit(set) * L;
    }
    return count;
  }

  template <class Work>
  static FLITLAB_INLINE void each(u32 n, Work&& work) {
    for (u32 i = 0; i < n; ++i) work(i);
  }
  /// Keeps of a list what `work(entry, result)` says, as its results. They may take the place of the entries.
  template <class Entry, class Result, class Work>
  static FLITLAB_INLINE u32 filter(const Entry* entries, u32 n, Result* results, Work&& work) {
    u32 kept = 0;
    for (u32 i = 0; i < n; ++i) kept += work(entries[i], results[kept]);
    return kept;
  }
  /// Does `second(first(i))` for all of n, at most `kMost`: so that a processor works on several of them at once, the
  /// one of all before the other of any.
  template <u32 kMost, class First, class Second>
  static FLITLAB_INLINE void in_two_steps(u32 n, First&& first, Second&& second) {
    decltype(first(0u)) between[kMost];
    for (u32 i = 0; i < n; ++i) between[i] = first(i);
    for (u32 i = 0; i < n; ++i) second(between[i]);
  }
  template <class Work>
  static FLITLAB_INLINE void for_each(Set set, Work&& work) {
    for_each_lane(set, work);
  }
  /// The same where a member does those that it has a value of, so that it may change its bytes.
  template <class Work>
  static FLITLAB_INLINE void for_each_own(Set set, Work&& work) {
    for_each_lane(set, work);
  }
  template <class Work>
  static FLITLAB_INLINE void for_each_own(Work&& work) {
    for (u32 lane = 0; lane < lanes; ++lane) work(lane);
  }

  template <bool kToWrite = false>
  static FLITLAB_INLINE void prefetch(const void* there) {
    __builtin_prefetch(there, kToWrite);
  }
  static FLITLAB_INLINE void or_bits(u8& byte, u32 bits) { byte |= static_cast<u8>(bits); }
  static FLITLAB_INLINE void and_bits(u8& byte, u32 bits) { byte &= static_cast<u8>(bits); }
  /// Makes the bits of a mask those of `bits`: all of them or none.
  static FLITLAB_INLINE void put_bits(u8& byte, u8 mask, u8 bits) { byte = static_cast<u8>((byte & ~mask) | bits); }
  template <class Change>
  static FLITLAB_INLINE void update(u8& byte, Change&& change) {
    byte = change(byte);
  }
  static FLITLAB_INLINE void raise(u32& fault, u32 bits, u32 port) { raise_fault(fault, bits, port); }
  static FLITLAB_INLINE u8 peek(const u8& byte) { return byte; }
  static FLITLAB_INLINE void poke(u8& byte, u8 value) { byte = value; }
};

}  // namespace flitlab::lanes
