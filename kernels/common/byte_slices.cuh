#pragma once
/// The GPU's implementation of the interface in kernels/common/byte_vectors.hpp, for warp groups. A warp group has one
/// warp for each port and one for the terminals, which may also have a port, so the ports of a block of items (routers)
/// are processed in parallel, and a multiprocessor has other warps to run while one waits. Each half-warp (16 threads)
/// processes one block: 64 items with elements of 8 bits, four per thread, 32 with elements of 16 bits, or 16 with
/// elements of 32 bits. A warp's two half-warps process two blocks in lockstep: synchronising operations involve all 32
/// threads, even if one half-warp has nothing to do. If these operations had masks of half a warp, the compiler would
/// insert a check for diverged threads at each of them. Lists and exchanges lie in shared memory. Routers may have
/// fewer ports than the warp group has warps for.
#include "kernels/common/byte_counts.hpp"
#include "kernels/common/byte_slices.hpp"
#include "kernels/common/fault.hpp"
#include "kernels/common/shared_memory.cuh"

namespace flitlab::lanes {

/// A row in memory: one element from each of a block's items. Its conversion to a Slice gives the calling thread's
/// items.
template <class E>
struct SliceRow : SliceOperations<E> {
  using Slice = lanes::Slice<E>;
  static constexpr u32 threads = 16;
  u32 words[threads];

  SliceRow() = default;
  SliceRow(const SliceRow&) = delete;  // a value is a Slice, not a copy of the row

  __device__ __forceinline__ E* elements() { return reinterpret_cast<E*>(words); }
  __device__ __forceinline__ const E* elements() const { return reinterpret_cast<const E*>(words); }

  static __device__ __forceinline__ u32 thread_in_half_warp() { return threadIdx.x % threads; }
  __device__ __forceinline__ operator Slice() const { return Slice::of(words[thread_in_half_warp()]); }
  __device__ __forceinline__ SliceRow& operator=(Slice x) { return words[thread_in_half_warp()] = x.word, *this; }
  __device__ __forceinline__ SliceRow& operator=(const SliceRow& x) { return *this = Slice(x); }
  __device__ __forceinline__ SliceRow& operator&=(Slice x) { return *this = Slice(*this) & x; }
  __device__ __forceinline__ SliceRow& operator|=(Slice x) { return *this = Slice(*this) | x; }
  __device__ __forceinline__ SliceRow& operator^=(Slice x) { return *this = Slice(*this) ^ x; }
  __device__ __forceinline__ SliceRow& operator+=(Slice x) { return *this = Slice(*this) + x; }
  __device__ __forceinline__ SliceRow& operator-=(Slice x) { return *this = Slice(*this) - x; }
};

/// The operations for a warp group of `kWarps` warps with elements of type E. Warp p processes port p; the last warp
/// processes the terminals, and perhaps also a port. `Index`: type of the entries of lists. A block of items has this
/// shared memory: `kCommonBytes` bytes that all warps of the group access, then `kScratchBytes` bytes of scratch for
/// each warp, then `kMoreBytes` bytes for the caller.
template <class E, class Index, u32 kWarps, u32 kCommonBytes, u32 kScratchBytes, u32 kMoreBytes>
struct Slices {
  static constexpr u32 threads = SliceRow<E>::threads, items = Slice<E>::items, lanes = items * threads;
  static constexpr u32 row_bytes = lanes * sizeof(E), warps = kWarps;
  static constexpr u32 bytes = kCommonBytes + warps * kScratchBytes + kMoreBytes;
  static constexpr bool draws_ahead = false, side_by_side = false, has_all_ports = false;
  static constexpr u32 kMargin = 0, kBits = 8 * sizeof(E), kLow = kLowBits<E>;
  static constexpr u32 kElement = static_cast<E>(~E{0});  ///< all bits of an element
  using Element = E;
  using Value = Slice<E>;
  using Row = SliceRow<E>;
  using Set = Slice<E>;
  using Position = Index;

  static __device__ __forceinline__ u32 thread_in_half_warp() { return Row::thread_in_half_warp(); }
  static constexpr u32 kWarp = ~0u;
  /// Returns the mask of this half-warp's threads in its warp.
  static __device__ __forceinline__ u32 half_warp_mask() {
    return ((1u << threads) - 1) << (threadIdx.x % 32 / threads * threads);
  }

  /// Returns the port that this warp processes, if routers have as many.
  static __device__ __forceinline__ u32 warp_port() { return threadIdx.x / 32 % warps; }
  static __device__ __forceinline__ bool has_terminals() { return warp_port() == warps - 1; }
  /// Returns the index of this warp group in its block of threads.
  static __device__ __forceinline__ u32 warp_group_index() { return threadIdx.x / (32 * warps); }

  static __device__ __forceinline__ E only(u32 member) { return static_cast<E>(1u << member); }
  struct OwnPort {
    struct At {
      u32 number;
      __device__ __forceinline__ u32 operator*() const { return number; }
      __device__ __forceinline__ At& operator++() { return ++number, *this; }
      __device__ __forceinline__ bool operator!=(At other) const { return number != other.number; }
    };
    u32 port = warp_port();
    __device__ __forceinline__ At begin() const { return {port}; }
    __device__ __forceinline__ At end() const { return {port + 1}; }
  };
  template <class S>
  static __device__ __forceinline__ OwnPort ports(u32) {
    return {};
  }
  static __device__ __forceinline__ bool has_port(u32 port) { return port == warp_port(); }
  static constexpr u32 ports_of(u32) { return 1; }
  static __device__ __forceinline__ u32 first_port() { return warp_port(); }
  template <class T, u32>
  struct ByPort {
    T value;
    __device__ __forceinline__ T& operator[](u32) { return value; }
    __device__ __forceinline__ const T& operator[](u32) const { return value; }
  };
  template <u32 P>
  static __device__ __forceinline__ E& element_of(ByPort<Row, P>& rows, u32 position) {
    return rows.value.elements()[position % lanes];
  }
  template <u32 P>
  struct Exchange {
    Row of[P];

    __device__ __forceinline__ void put(u32 port, Value value) { of[port] = value; }
    __device__ __forceinline__ Value get(u32 port) const { return of[port]; }
    __device__ __forceinline__ E element(u32 position) const { return of[0].elements()[position]; }
  };
  template <u32 P>
  struct Union {
    Exchange<P> each;

    __device__ __forceinline__ void put(u32 port, Value value) { each.put(port, value); }
    __device__ __forceinline__ Value all(u32 n) const {
      Value any = each.get(0);
      for (u32 port = 1; port < n; ++port) any |= each.get(port);
      return any;
    }
  };
  template <u32 P>
  static __device__ __forceinline__ void transpose_ports(const Exchange<P>& exchange, u32 n, ByPort<Value, P>& sets) {
    u32 set = 0;
    for (u32 other = 0; other < n; ++other) set |= (Value(exchange.of[other]).word >> warp_port() & kLow) << other;
    sets.value = Value::of(set);
  }

  /// Returns the shared memory of the block of items that this half-warp processes.
  static __device__ __forceinline__ std::byte* memory() {
    const u32 thread = opaque(threadIdx.x);
    return shared_memory() + (2 * (thread / (32 * warps)) + thread % 32 / threads) * bytes;
  }
  template <class T>
  struct GroupScratch {
    T* all = reinterpret_cast<T*>(memory());
    __device__ __forceinline__ T* operator->() { return all; }
  };
  /// Scratch memory of this half-warp. Two uses of it never overlap in time, because every operation on a
  /// list ends with a barrier of the warp.
  template <class T>
  struct Scratch {
    T* all = reinterpret_cast<T*>(memory() + kCommonBytes + opaque(threadIdx.x) / 32 % warps * kScratchBytes);
    __device__ __forceinline__ T* operator->() { return all; }
  };
  template <u32 P>
  using SharedRows = ByPort<Row, P>;
  struct Elements {
    const E* of_port;
    __device__ __forceinline__ E operator[](u32 position) const { return of_port[position % lanes]; }
  };
  template <u32 P>
  static __device__ __forceinline__ Elements share_rows(SharedRows<P>& rows, const ByPort<Value, P>& values) {
    rows.value = values.value;
    return {rows.value.elements()};
  }

  static __device__ __forceinline__ void sync() { __syncwarp(); }
  /// The barrier of the warps of n ports. A warp of terminals alone does not take part, because until
  /// barrier_with_terminals() neither side reads what the other writes.
  static __device__ __forceinline__ void group_barrier(u32 n) {
    __barrier_sync_count(2 * warp_group_index() + 1, 32 * n);
  }
  /// Results of the last two votes: while some warps read one, others may write the other.
  struct Votes {
    u32 any[2];
  };
  static __device__ __forceinline__ void start_votes(Votes& votes) {
    if (warp_port() == 0 && thread_in_half_warp() == 0) votes.any[0] = 0;
  }
  static __device__ __forceinline__ bool any_in_group(Votes& votes, u32 turn, u32 ports, u32 n) {
    if (n && thread_in_half_warp() == 0) atomicOr(&votes.any[turn % 2], 1u);
    if (warp_port() == 0 && thread_in_half_warp() == 0) votes.any[(turn + 1) % 2] = 0;
    group_barrier(ports);
    return any(votes.any[turn % 2]);
  }
  static __device__ __forceinline__ void barrier_with_terminals() {
    __barrier_sync_count(2 * warp_group_index() + 2, 32 * warps);
  }
  static __device__ __forceinline__ Set members(Value x) { return nonzero(x); }
  static __device__ __forceinline__ bool any(u32 n) { return __any_sync(kWarp, n != 0); }
  static __device__ __forceinline__ bool any(Value x) { return any(x.word); }
  static __device__ __forceinline__ u32 count(Value x) { return count_members(x); }
  static __device__ __forceinline__ Set at_most(const u32* numbers, u32 limit) {
    u32 set = 0;
    for (u32 i = 0; i < items; ++i)
      set |= numbers[items * thread_in_half_warp() + i] <= limit ? kElement << (kBits * i) : 0u;
    return Value::of(set);
  }
  /// Loads the calling thread's elements, which may straddle two aligned words. Rows have unused elements at both ends
  /// (kMargin in routers/vc/lanes/state.hpp), so the second word is readable.
  static __device__ __forceinline__ Value load_unaligned(const E* elements) {
    const std::size_t at = reinterpret_cast<std::size_t>(elements) + 4 * thread_in_half_warp();
    const u32* words = reinterpret_cast<const u32*>(at & ~std::size_t{3});
    return Value::of(__funnelshift_r(words[0], words[1], static_cast<u32>(at % 4) * 8));
  }

  /// Returns the sum of `value` over the lower-numbered threads of this half-warp. Sets `all` to the sum over the
  /// whole half-warp.
  static __device__ __forceinline__ u32 sum_before(u32 value, u32& all) {
    u32 sum = value;
    for (u32 distance = 1; distance < threads; distance *= 2) {
      const u32 other = __shfl_up_sync(kWarp, sum, distance, threads);
      if (thread_in_half_warp() >= distance) sum += other;
    }
    all = __shfl_sync(kWarp, sum, threads - 1, threads);
    return sum - value;
  }
  /// Writes to `positions` the set bits of each thread's word: bit b of an element as first + b * lanes + lane of that
  /// element. Returns the number of entries that the half-warp wrote.
  static __device__ __forceinline__ u32 list_bits(u32 word, u32 first, Position* positions) {
    u32 all;
    Position* next = positions + sum_before(bit_count(word), all);
    for (u32 set = word; set; set &= set - 1) {
      const u32 bit = lowest_bit(set);
      *next++ = static_cast<Position>(first + bit % kBits * lanes + items * thread_in_half_warp() + bit / kBits);
    }
    sync();
    return all;
  }
  template <u32 P>
  static __device__ __forceinline__ u32 list(const ByPort<Value, P>& values, u32, Position* positions) {
    return list_bits(nonzero(values.value).word & kLow, warp_port() * lanes, positions);
  }
  template <u32 kMembers, u32 P, class Work>
  static __device__ __forceinline__ u32 list_members(const ByPort<Value, P>& sets, u32, Position* positions,
                                                     Work&& work) {
    const u32 n = list_bits(sets.value.word, warp_port() * kMembers * lanes, positions);
    each(n, [&](u32 i) { work(u32{positions[i]}); });
    return n;
  }

  template <class Work>
  static __device__ __forceinline__ void each(u32 n, Work&& work) {
    for (u32 i = thread_in_half_warp(); i < n; i += threads) work(i);
    sync();
  }
  template <class Entry, class Result, class Work>
  static __device__ __forceinline__ u32 filter(const Entry* entries, u32 n, Result* results, Work&& work) {
    u32 kept = 0;
    for (u32 first = 0; __any_sync(kWarp, first < n); first += threads) {
      Result result;
      const bool keep = first + thread_in_half_warp() < n && work(entries[first + thread_in_half_warp()], result);
      const u32 keeps = __ballot_sync(kWarp, keep) & half_warp_mask();
      sync();  // every thread has read its entry of this iteration, so results may overwrite entries
      if (keep) results[kept + bit_count(keeps & ((1u << threadIdx.x % 32) - 1))] = result;
      kept += bit_count(keeps);
    }
    sync();
    return kept;
  }
  template <u32 kMost, class First, class Second>
  static __device__ __forceinline__ void in_two_steps(u32 n, First&& first, Second&& second) {
    each(n, [&](u32 i) { second(first(i)); });
  }
  struct LaneScratch {
    Position list[lanes];
  };
  template <class Work>
  static __device__ __forceinline__ void for_each(Set set, Work&& work) {
    Scratch<LaneScratch> scratch;
    const u32 n = list_bits(nonzero(set).word & kLow, 0, scratch->list);
    each(n, [&](u32 i) { work(u32{scratch->list[i]}); });
  }
  template <class Work>
  static __device__ __forceinline__ void for_each_of_thread(Set set, Work&& work) {
    for (u32 bits = set.word & kLow; bits; bits &= bits - 1)
      work(items * thread_in_half_warp() + lowest_bit(bits) / kBits);
  }
  template <class Work>
  static __device__ __forceinline__ void for_each_of_thread(Work&& work) {
    for (u32 i = 0; i < items; ++i) work(items * thread_in_half_warp() + i);
  }

  template <u32 P, class Work>
  static __device__ __forceinline__ void for_each_own(const ByPort<Value, P>& values, u32, Work&& work) {
    for_each_of_thread(nonzero(values.value), [&](u32 lane) { work(warp_port(), lane); });
  }

  /// The aligned word that holds an element, and the element's bit position in it.
  struct Holder {
    u32* word;
    u32 shift;
    __device__ __forceinline__ explicit Holder(E& element) {
      const std::size_t at = reinterpret_cast<std::size_t>(&element);
      word = reinterpret_cast<u32*>(at & ~std::size_t{3});
      shift = static_cast<u32>(at % 4) * 8;
    }
  };
  template <bool kToWrite = false>
  static __device__ __forceinline__ void prefetch(const void*) {}
  static __device__ __forceinline__ void or_bits(E& element, u32 bits) {
    const Holder h(element);
    atomicOr(h.word, (bits & kElement) << h.shift);
  }
  static __device__ __forceinline__ void and_bits(E& element, u32 bits) {
    const Holder h(element);
    atomicAnd(h.word, ~((~bits & kElement) << h.shift));
  }
  static __device__ __forceinline__ void put_bits(E& element, E mask, E bits) {
    if (bits)
      or_bits(element, mask);
    else
      and_bits(element, ~u32{mask});
  }
  template <class Change>
  static __device__ __forceinline__ void update(E& element, Change&& change) {
    const Holder h(element);
    for (u32 seen = *static_cast<volatile u32*>(h.word);;) {
      const E before = static_cast<E>(seen >> h.shift), after = change(before);
      if (after == before) return;
      const u32 found = atomicCAS(h.word, seen, (seen & ~(kElement << h.shift)) | u32{after} << h.shift);
      if (found == seen) return;
      seen = found;
    }
  }
  /// Records a fault of an item. The fault word keeps the port of the item's first fault. If several threads record
  /// faults in the same cycle, it keeps the port of an arbitrary one.
  static __device__ __forceinline__ void raise(u32& fault, u32 bits, u32 port) {
    u32 word = 0;
    raise_fault(word, bits, port);
    if (atomicCAS(&fault, 0u, word)) atomicOr(&fault, bits & kFaultBits);
  }
  static __device__ __forceinline__ E peek(const E& element) { return *static_cast<const volatile E*>(&element); }
  static __device__ __forceinline__ void poke(E& element, E value) { *static_cast<volatile E*>(&element) = value; }
};

/// Returns a reference to the element of item `lane` in a row.
template <class E>
__device__ __forceinline__ E& lane_of(SliceRow<E>& x, u32 lane) {
  return x.elements()[lane];
}
template <class E>
__device__ __forceinline__ u32 lane_of(const SliceRow<E>& x, u32 lane) {
  return x.elements()[lane];
}

}  // namespace flitlab::lanes
