#pragma once
/// Vector operations on a lane block (up to 64 routers or terminals, called items, with one element per item), and the
/// interface of such operations. The models' lane code is written for any class `C` with this interface. The class in
/// this file runs on one CPU thread with vectors of L bytes and elements of type E. The class in
/// kernels/common/byte_slices.cuh runs on a warp group (several warps) of a GPU.
///
/// The interface:
///   `lanes`, `Element`   items per block; the type of an element, mostly a set of ports or virtual channels
///   `row_bytes`          bytes of a row
///   `side_by_side`       whether a thread has vectors of any type, also for work on a list's entries
///   `only(m)`            the set, as an element, whose only member is m
///   `Value`, `Row`       one element of each item: in registers, and in memory
///   `Set`, `members(x)`  a set of items; the items whose element in x is not 0
///   `any(x)`             whether any element, or a list's length, is not 0. On a GPU it is also true if any element of
///                        the other block of the warp is not 0, so the code that follows must accept an empty set
///   `count(x)`           number of members among this thread's items; the sum over all threads is the total
///   `at_most(n, limit)`  the set of the items i for which n[i] <= `limit`
///   `ports<S>(n)`        the ports, out of n, that this thread processes: all on a CPU, one on a GPU. If
///                        S::exact is true, n is S::ports. `has_port(p)`: whether p is one of them
///   `has_all_ports`      whether a thread processes all ports
///   `ByPort<T, P>`       a T for each port of this thread; `element_of(rows, position)` is an element of rows
///                        `ByPort<Row, P>`
///   `Exchange<P>`        a value for each of P ports that all threads see after the barrier `group_barrier(n)`
///   `Union<P>`           an exchange of which threads read only the union of the first n ports' values
///   `transpose_ports(exchange, sets)`  sets[p] becomes the set of the ports whose value in the exchange contains p
///   `any_in_group(votes, turn, n, x)`  whether x is not 0 for any of n ports; a barrier of the threads that process
///                        them. start_votes(votes) comes before the first turn, and a barrier before each turn
///   `Scratch<T>`         scratch memory shared by the threads of the same ports
///   `GroupScratch<T>`    scratch memory shared by all threads
///   `Position`           index of an element in an array of rows; `list()` lists the elements that are not 0, in any
///                        order
///   `each`, `filter`, `for_each`, `in_two_steps`  process a list; its entries are divided among the threads
///   `for_each_own(values, n, work)`  calls work(port, lane) for the elements of n ports' values that are not 0; each
///                        thread processes its own
///   `or_bits`, `and_bits`, `put_bits`, `update`  change an element that other threads may change at the same time
///   `raise`              records a fault of an item
///   `peek`, `poke`       read or write an element that other threads may write or read at the same time
/// An operation on a list ends with a barrier of the threads that process the same ports; their writes are then
/// visible. `sync()` is this barrier alone; call it before a thread reads parts of rows that other threads wrote.
/// `group_barrier(n)` is the barrier of all threads that process the n ports of a block; all of them must call it.
#include "kernels/common/byte_counts.hpp"
#include "kernels/common/byte_lanes.hpp"
#include "kernels/common/fault.hpp"
/// For large functions. On a CPU they are not inlined, because a larger caller would spill registers. On a GPU they are
/// inlined, because a call would use the stack.
#if defined(__CUDACC__)
#define FLITLAB_APART FLITLAB_INLINE
#else
#define FLITLAB_APART [[gnu::noinline]]
#endif

namespace flitlab::lanes {

/// An iterable range of the numbers `first` to `last` - 1.
struct Numbers {
  struct At {
    u32 number;
    FLITLAB_INLINE u32 operator*() const { return number; }
    FLITLAB_INLINE At& operator++() { return ++number, *this; }
    FLITLAB_INLINE bool operator!=(At other) const { return number != other.number; }
  };
  u32 first, last;
  FLITLAB_INLINE At begin() const { return {first}; }
  FLITLAB_INLINE At end() const { return {last}; }
};

template <int L, class E = u8>
struct Vectors {
  static constexpr u32 lanes = L / sizeof(E), row_bytes = L;
  static constexpr bool draws_ahead = true;  ///< random numbers are drawn in advance, several at a time
  static constexpr bool side_by_side = true, has_all_ports = true;
  using Element = E;
  using Value = typename VectorOf<L, E>::Type;
  using Row = Value;
  using Set = u64;
  using Position = u32;
  static constexpr u32 kMargin = kListMargin;  ///< spare entries at a list's end, which list() overwrites

  static FLITLAB_INLINE E only(u32 member) { return only_member<E>(member); }
  template <class S>
  static FLITLAB_INLINE Numbers ports(u32 n) {
    return {0, S::exact ? S::ports : n};
  }
  static constexpr u32 ports_of(u32 all) { return all; }  ///< number of ports, out of `all`, that one thread processes
  static constexpr u32 first_port() { return 0; }
  static constexpr bool has_port(u32) { return true; }
  template <class T, u32 P>
  using ByPort = T[P];
  template <u32 P>
  static FLITLAB_INLINE E& element_of(Value (&rows)[P], u32 position) {
    return reinterpret_cast<E*>(rows)[position];
  }
  template <u32 P>
  struct Exchange {
    Value of[P];

    FLITLAB_INLINE void put(u32 port, Value value) { of[port] = value; }
    FLITLAB_INLINE Value get(u32 port) const { return of[port]; }
    FLITLAB_INLINE E element(u32 position) const { return reinterpret_cast<const E*>(of)[position]; }
  };
  template <u32 P>
  struct Union {
    Value any{};

    FLITLAB_INLINE void put(u32, Value value) { any |= value; }
    FLITLAB_INLINE Value all(u32) const { return any; }
  };
  /// Reads the values of the first n ports.
  template <u32 P>
  static FLITLAB_INLINE void transpose_ports(const Exchange<P>& exchange, u32 n, Value (&sets)[P]) {
    transpose_sets(exchange.of, n, sets);
  }

  template <class T>
  struct Scratch {
    T all;
    FLITLAB_INLINE T* operator->() { return &all; }
  };
  template <class T>
  using GroupScratch = Scratch<T>;
  /// Storage in which share_rows() makes values readable element by element for the threads of the same ports. On a CPU
  /// one thread processes all ports, so no storage is needed.
  template <u32 P>
  struct SharedRows {};
  template <u32 P>
  static FLITLAB_INLINE const E* share_rows(SharedRows<P>&, const Value (&values)[P]) {
    return reinterpret_cast<const E*>(values);
  }

  static FLITLAB_INLINE void sync() {}
  static FLITLAB_INLINE void group_barrier(u32) {}
  struct Votes {};
  static FLITLAB_INLINE void start_votes(Votes) {}
  static FLITLAB_INLINE bool any_in_group(Votes, u32, u32, u32 n) { return n != 0; }
  static FLITLAB_INLINE Set members(Value x) { return flitlab::lanes::members(x); }
  static FLITLAB_INLINE bool any(Set set) { return set != 0; }
  static FLITLAB_INLINE bool any(Value x) { return flitlab::lanes::members(x) != 0; }
  static FLITLAB_INLINE u32 count(Set set) { return bit_count64(set); }
  static FLITLAB_INLINE u32 count(Value x) { return count_members(x); }
  /// Returns the set of the lanes l for which numbers[l] <= `limit`.
  static FLITLAB_INLINE Set at_most(const u32* numbers, u32 limit) {
    u64 set = 0;
#if defined(__AVX512F__)
    if constexpr (lanes >= 16) {
      for (u32 i = 0; i < lanes / 16; ++i)
        set |= u64{_mm512_cmple_epu32_mask(_mm512_load_si512(numbers + 16 * i),
                                           _mm512_set1_epi32(static_cast<int>(limit)))}
               << (16 * i);
      return set;
    }
#endif
#if defined(__AVX2__)
    if constexpr (lanes >= 8) {
      for (u32 i = 0; i < lanes / 8; ++i) {
        const __m256i number = _mm256_load_si256(reinterpret_cast<const __m256i*>(numbers + 8 * i));
        const __m256i least = _mm256_min_epu32(number, _mm256_set1_epi32(static_cast<int>(limit)));
        set |= u64{static_cast<u8>(_mm256_movemask_ps((__m256)_mm256_cmpeq_epi32(number, least)))} << (8 * i);
      }
      return set;
    }
#endif
    for (u32 i = 0; i < lanes; ++i) set |= u64{numbers[i] <= limit} << i;
    return set;
  }
  /// Loads one element per item from an unaligned address.
  static FLITLAB_INLINE Value load_unaligned(const E* elements) {
    return (Value) * reinterpret_cast<const typename VectorOf<L, E>::Unaligned*>(elements);
  }

  static FLITLAB_INLINE u32 list(const Value* values, u32 n, Position* positions) {
    return list_lanes(values, n, positions);
  }
  /// Writes to `positions` the members of n sets of at most `kBits` bits per lane: member m of lane l in sets[i] as
  /// (i * kBits + m) * lanes + l. Calls work(entry) for each of them. Returns their number. `kMost`: at least n.
  template <u32 kBits, u32 kMost, class Work>
  static FLITLAB_INLINE u32 list_members(const Value* sets, u32 n, Position* positions, Work&& work) {
    constexpr u32 kSets = 8 * sizeof(E) / kBits;  // sets that share an element
    Value elements[(kMost + kSets - 1) / kSets];
    for (u32 i = 0; i < n; ++i) {
      if (i % kSets)
        elements[i / kSets] |= sets[i] << (i % kSets * kBits);
      else
        elements[i / kSets] = sets[i];
    }
    u32 count = list_lanes(elements, (n + kSets - 1) / kSets, positions);
    E* const set_of = reinterpret_cast<E*>(elements);
    for (u32 i = 0; i < count; ++i) {
      const u32 at = positions[i], set = set_of[at], rest = set & (set - 1);
      set_of[at] = static_cast<E>(rest);
      positions[count] = at;  // appends the element again if its set has more members
      count += rest != 0;
      const u32 position = at + at / lanes * ((kSets * kBits - 1) * lanes) + lowest_bit(set) * lanes;
      positions[i] = position;
      work(position);
    }
    return count;
  }

  template <class Work>
  static FLITLAB_INLINE void each(u32 n, Work&& work) {
    for (u32 i = 0; i < n; ++i) work(i);
  }
  /// Calls work(entry, result) for each entry of a list, and keeps the result if the call returns true. Returns the
  /// number of results. `results` may be the same array as `entries`.
  template <class Entry, class Result, class Work>
  static FLITLAB_INLINE u32 filter(const Entry* entries, u32 n, Result* results, Work&& work) {
    u32 kept = 0;
    for (u32 i = 0; i < n; ++i) kept += work(entries[i], results[kept]);
    return kept;
  }
  /// Calls second(first(i)) for each i below n, where n <= `kMost`. All calls of first() come before the calls of
  /// second(), so that the memory accesses of different i overlap.
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
  /// for_each() in which each thread processes only the items whose bytes it holds, so that it may change these bytes.
  template <class Work>
  static FLITLAB_INLINE void for_each_of_thread(Set set, Work&& work) {
    for_each_lane(set, work);
  }
  template <class Work>
  static FLITLAB_INLINE void for_each_of_thread(Work&& work) {
    for (u32 lane = 0; lane < lanes; ++lane) work(lane);
  }

  template <u32 P, class Work>
  static FLITLAB_INLINE void for_each_own(const Value (&values)[P], u32 n, Work&& work) {
    Position positions[P * lanes + kMargin];
    const u32 count = list_lanes(values, n, positions);
    for (u32 i = 0; i < count; ++i) work(positions[i] / lanes, positions[i] % lanes);
  }

  template <bool kToWrite = false>
  static FLITLAB_INLINE void prefetch(const void* there) {
    __builtin_prefetch(there, kToWrite);
  }
  static FLITLAB_INLINE void or_bits(E& element, u32 bits) { element |= static_cast<E>(bits); }
  static FLITLAB_INLINE void and_bits(E& element, u32 bits) { element &= static_cast<E>(bits); }
  /// Sets the bits of `element` that are in `mask` if `bits` equals `mask`, and clears them if `bits` is 0.
  static FLITLAB_INLINE void put_bits(E& element, E mask, E bits) {
    element = static_cast<E>((element & ~mask) | bits);
  }
  template <class Change>
  static FLITLAB_INLINE void update(E& element, Change&& change) {
    element = change(element);
  }
  static FLITLAB_INLINE void raise(u32& fault, u32 bits, u32 port) { raise_fault(fault, bits, port); }
  static FLITLAB_INLINE E peek(const E& element) { return element; }
  static FLITLAB_INLINE void poke(E& element, E value) { element = value; }
};

}  // namespace flitlab::lanes
