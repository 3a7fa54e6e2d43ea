#pragma once
/// Vector operations on a lane block (up to 64 routers or terminals, called items, with one byte per item), and the
/// interface of such operations. The models' lane code is written for any class `C` with this interface. The class in
/// this file runs on one CPU thread with vectors of L bytes. The class in kernels/common/byte_slices.cuh runs on a warp
/// group (several warps) of a GPU.
///
/// The interface:
///   `lanes`              items per block
///   `Value`, `Row`       one byte of each item: in registers, and in memory
///   `Set`, `members(x)`  a set of items; the items whose byte in x is not 0
///   `any(x)`             whether any byte, or a list's length, is not 0. On a GPU it is also true if any byte of the
///                        other block of the warp is not 0, so the code that follows must accept an empty set
///   `count(x)`           number of members among this thread's items; the sum over all threads is the total
///   `at_most(n, limit)`  the set of the items i for which n[i] <= `limit`
///   `ports<P>()`         the ports, out of P, that this thread processes: all on a CPU, one on a GPU
///   `ByPort<T, P>`       a T for each port of this thread; `byte_of(rows, position)` is a byte of rows `ByPort<Row,
///   P>` `Exchange<P>`        a value for each of P ports that all threads see after the barrier `group_barrier()`
///   `Union<P>`           an exchange of which threads read only the union of all ports' values
///   `transpose_ports(exchange, sets)`  sets[p] becomes the set of the ports whose value in the exchange contains p
///   `Scratch<T>`         scratch memory shared by the threads of the same ports
///   `GroupScratch<T>`    scratch memory shared by all threads
///   `Position`           index of a byte in an array of rows; `list()` lists the non-zero bytes, in any order
///   `each`, `filter`, `for_each`, `in_two_steps`  process a list; its entries are divided among the threads
///   `or_bits`, `and_bits`, `put_bits`, `update`  change a byte that other threads may change at the same time
///   `raise`              records a fault of an item
///   `peek`, `poke`       read or write a byte that other threads may write or read at the same time
/// An operation on a list ends with a barrier of the threads that process the same ports; their writes are then
/// visible. `sync()` is this barrier alone; call it before a thread reads parts of rows that other threads wrote.
/// `group_barrier()` is the barrier of all threads that process ports of the block; all of them must call it.
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
  static constexpr bool draws_ahead = true;  ///< random numbers are drawn in advance, several at a time
  using Value = Bytes<L>;
  using Row = Bytes<L>;
  using Set = u64;
  using Position = u32;
  static constexpr u32 kMargin = kListMargin;  ///< spare entries at a list's end, which list() overwrites

  template <u32 P>
  static FLITLAB_INLINE Numbers<0, P> ports() {
    return {};
  }
  static constexpr u32 ports_of(u32 all) { return all; }  ///< number of ports, out of `all`, that one thread processes
  static constexpr u32 first_port() { return 0; }
  template <class T, u32 P>
  using ByPort = T[P];
  template <u32 P>
  static FLITLAB_INLINE u8& byte_of(Value (&rows)[P], u32 position) {
    return reinterpret_cast<u8*>(rows)[position];
  }
  template <u32 P>
  struct Exchange {
    Value of[P];

    FLITLAB_INLINE void put(u32 port, Value value) { of[port] = value; }
    FLITLAB_INLINE Value get(u32 port) const { return of[port]; }
    FLITLAB_INLINE u8 byte(u32 position) const { return reinterpret_cast<const u8*>(of)[position]; }
  };
  template <u32 P>
  struct Union {
    Value any{};

    FLITLAB_INLINE void put(u32, Value value) { any |= value; }
    FLITLAB_INLINE Value all() const { return any; }
  };
  template <u32 P>
  static FLITLAB_INLINE void transpose_ports(const Exchange<P>& exchange, Value (&sets)[P]) {
    Value rows[8];
    for (u32 port = 0; port < 8; ++port) rows[port] = port < P ? exchange.of[port] : Value{};
    flitlab::lanes::transpose8<L>(rows);
    for (u32 port = 0; port < P; ++port) sets[port] = rows[port];
  }

  template <class T>
  struct Scratch {
    T all;
    FLITLAB_INLINE T* operator->() { return &all; }
  };
  template <class T>
  using GroupScratch = Scratch<T>;
  /// Storage in which share_rows() makes values readable byte by byte for the threads of the same ports. On a CPU one
  /// thread processes all ports, so no storage is needed.
  template <u32 P>
  struct SharedRows {};
  template <u32 P>
  static FLITLAB_INLINE const u8* share_rows(SharedRows<P>&, const Value (&values)[P]) {
    return reinterpret_cast<const u8*>(values);
  }

  static FLITLAB_INLINE void sync() {}
  static FLITLAB_INLINE void group_barrier() {}
  static FLITLAB_INLINE Set members(Value x) { return flitlab::lanes::members(x); }
  static FLITLAB_INLINE bool any(Set set) { return set != 0; }
  static FLITLAB_INLINE bool any(Value x) { return flitlab::lanes::members(x) != 0; }
  static FLITLAB_INLINE u32 count(Set set) { return bit_count64(set); }
  static FLITLAB_INLINE u32 count(Value x) { return count_members(x); }
  /// Returns the set of the lanes l for which numbers[l] <= `limit`.
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
  /// Loads one byte per item from an unaligned address.
  static FLITLAB_INLINE Value load_unaligned(const u8* bytes) {
    return (Value) * reinterpret_cast<const typename Types<L>::Unaligned*>(bytes);
  }

  template <std::size_t n>
  static FLITLAB_INLINE u32 list(const Value (&values)[n], Position* positions) {
    return list_lanes(values, positions);
  }
  /// Writes to `positions` the members of n sets of `kBits` bits per lane: member m of lane l in sets[i] as (i * kBits
  /// + m) * L + l. Returns their number.
  template <u32 kBits, std::size_t n>
  static FLITLAB_INLINE u32 list_members(const Value (&sets)[n], Position* positions) {
    constexpr u32 kSets = 8 / kBits, kBytes = (n + kSets - 1) / kSets;  // kSets: sets that share a byte
    Value bytes[kBytes];
    for (u32 i = 0; i < n; ++i) {
      if (i % kSets)
        bytes[i / kSets] |= sets[i] << (i % kSets * kBits);
      else
        bytes[i / kSets] = sets[i];
    }
    u32 count = list_lanes(bytes, positions);
    for (u32 i = 0; i < count; ++i) {
      const u32 at = positions[i], set = reinterpret_cast<u8*>(bytes)[at], rest = set & (set - 1);
      reinterpret_cast<u8*>(bytes)[at] = static_cast<u8>(rest);
      positions[count] = at;  // appends the byte again if its set has more members
      count += rest != 0;
      positions[i] = at + at / L * (7 * L) + lowest_bit(set) * L;
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

  template <bool kToWrite = false>
  static FLITLAB_INLINE void prefetch(const void* there) {
    __builtin_prefetch(there, kToWrite);
  }
  static FLITLAB_INLINE void or_bits(u8& byte, u32 bits) { byte |= static_cast<u8>(bits); }
  static FLITLAB_INLINE void and_bits(u8& byte, u32 bits) { byte &= static_cast<u8>(bits); }
  /// Sets the bits of `byte` that are in `mask` if `bits` equals `mask`, and clears them if `bits` is 0.
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
