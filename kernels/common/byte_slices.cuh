#pragma once
/// The GPU's implementation of the interface in kernels/common/byte_vectors.hpp, for warp groups. A warp group has one
/// warp for each port and one for the terminals, so the ports of a block of 64 items (routers) are processed in
/// parallel, and a multiprocessor has other warps to run while one waits. Each half-warp (16 threads) processes one
/// block, four items per thread. A warp's two half-warps process two blocks in lockstep: synchronising operations
/// involve all 32 threads, even if one half-warp has nothing to do. If these operations had masks of half a warp, the
/// compiler would insert a check for diverged threads at each of them. Lists and exchanges lie in shared memory.
#include "kernels/common/byte_counts.hpp"
#include "kernels/common/byte_slices.hpp"
#include "kernels/common/fault.hpp"
#include "kernels/common/shared_memory.cuh"

namespace flitlab::lanes {

/// A row in memory: one byte from each of a block's 64 items. Its conversion to a Slice gives the calling thread's four
/// items.
struct SliceRow {
  static constexpr u32 threads = 16;
  u32 words[threads];

  SliceRow() = default;
  SliceRow(const SliceRow&) = delete;  // a value is a Slice, not a copy of the row

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

/// The operations for routers of `kPorts` ports. A block of items has this shared memory: `kCommonBytes` bytes that all
/// warps of the group access, then `kScratchBytes` bytes of scratch for each warp, then `kMoreBytes` bytes for the
/// caller.
template <u32 kPorts, u32 kCommonBytes, u32 kScratchBytes, u32 kMoreBytes>
struct Slices {
  static constexpr u32 threads = SliceRow::threads, lanes = 4 * threads, row_bytes = lanes, warps = kPorts + 1;
  static constexpr u32 bytes = kCommonBytes + warps * kScratchBytes + kMoreBytes;
  static constexpr bool draws_ahead = false, side_by_side = false;
  static constexpr u32 kMargin = 0;
  using Element = u8;
  using Value = Slice;
  using Row = SliceRow;
  using Set = Slice;
  using Position = u16;

  static __device__ __forceinline__ u32 thread_in_half_warp() { return SliceRow::thread_in_half_warp(); }
  static constexpr u32 kWarp = ~0u;
  /// Returns the mask of this half-warp's threads in its warp.
  static __device__ __forceinline__ u32 half_warp_mask() {
    return ((1u << threads) - 1) << (threadIdx.x % 32 / threads * threads);
  }

  /// Returns the port that this warp processes, or kPorts if it processes the terminals.
  static __device__ __forceinline__ u32 warp_port() { return threadIdx.x / 32 % warps; }
  static __device__ __forceinline__ bool has_terminals() { return warp_port() == kPorts; }
  /// Returns the index of this warp group in its block of threads.
  static __device__ __forceinline__ u32 warp_group_index() { return threadIdx.x / (32 * warps); }

  static __device__ __forceinline__ u8 only(u32 member) { return static_cast<u8>(1u << member); }
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
  static constexpr u32 ports_of(u32) { return 1; }
  static __device__ __forceinline__ u32 first_port() { return warp_port(); }
  template <class T, u32>
  struct ByPort {
    T value;
    __device__ __forceinline__ T& operator[](u32) { return value; }
    __device__ __forceinline__ const T& operator[](u32) const { return value; }
  };
  template <u32 P>
  static __device__ __forceinline__ u8& element_of(ByPort<Row, P>& rows, u32 position) {
    return reinterpret_cast<u8*>(rows.value.words)[position % lanes];
  }
  template <u32 P>
  struct Exchange {
    Row of[P];

    __device__ __forceinline__ void put(u32 port, Value value) { of[port] = value; }
    __device__ __forceinline__ Value get(u32 port) const { return of[port]; }
    __device__ __forceinline__ u8 element(u32 position) const { return reinterpret_cast<const u8*>(of)[position]; }
  };
  template <u32 P>
  struct Union {
    Exchange<P> each;

    __device__ __forceinline__ void put(u32 port, Value value) { each.put(port, value); }
    __device__ __forceinline__ Value all() const {
      Value any = each.get(0);
      for (u32 port = 1; port < P; ++port) any |= each.get(port);
      return any;
    }
  };
  template <u32 P>
  static __device__ __forceinline__ void transpose_ports(const Exchange<P>& exchange, u32, ByPort<Value, P>& sets) {
    u32 set = 0;
    for (u32 other = 0; other < P; ++other)
      set |= (Value(exchange.of[other]).word >> warp_port() & 0x01010101u) << other;
    sets.value = Slice::of(set);
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
  struct Bytes {
    const u8* of_port;
    __device__ __forceinline__ u8 operator[](u32 position) const { return of_port[position % lanes]; }
  };
  template <u32 P>
  static __device__ __forceinline__ Bytes share_rows(SharedRows<P>& rows, const ByPort<Value, P>& values) {
    rows.value = values.value;
    return {reinterpret_cast<const u8*>(rows.value.words)};
  }

  static __device__ __forceinline__ void sync() { __syncwarp(); }
  /// The barrier of the ports' warps. The terminals' warp does not take part, because until barrier_with_terminals()
  /// neither side reads what the other writes.
  static __device__ __forceinline__ void group_barrier() {
    __barrier_sync_count(2 * warp_group_index() + 1, 32 * kPorts);
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
    for (u32 i = 0; i < 4; ++i) set |= numbers[4 * thread_in_half_warp() + i] <= limit ? 0xFFu << (8 * i) : 0u;
    return Slice::of(set);
  }
  /// Loads the calling thread's four bytes, which may straddle two aligned words. Rows have unused bytes at both ends
  /// (kMargin in routers/vc/lanes/state.hpp), so the second word is readable.
  static __device__ __forceinline__ Value load_unaligned(const u8* bytes) {
    const std::size_t at = reinterpret_cast<std::size_t>(bytes) + 4 * thread_in_half_warp();
    const u32* words = reinterpret_cast<const u32*>(at & ~std::size_t{3});
    return Slice::of(__funnelshift_r(words[0], words[1], static_cast<u32>(at % 4) * 8));
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
  /// Writes to `positions` the set bits of each thread's word: bit b of a byte as first + b * lanes + lane of that
  /// byte. Returns the number of entries that the half-warp wrote.
  static __device__ __forceinline__ u32 list_bits(u32 word, u32 first, Position* positions) {
    u32 all;
    Position* next = positions + sum_before(bit_count(word), all);
    for (u32 set = word; set; set &= set - 1) {
      const u32 bit = lowest_bit(set);
      *next++ = static_cast<Position>(first + bit % 8 * lanes + 4 * thread_in_half_warp() + bit / 8);
    }
    sync();
    return all;
  }
  template <u32 P>
  static __device__ __forceinline__ u32 list(const ByPort<Value, P>& values, u32, Position* positions) {
    return list_bits(nonzero(values.value).word & 0x01010101u, warp_port() * lanes, positions);
  }
  template <u32 kBits, u32 P, class Work>
  static __device__ __forceinline__ u32 list_members(const ByPort<Value, P>& sets, u32, Position* positions,
                                                     Work&& work) {
    const u32 n = list_bits(sets.value.word, warp_port() * kBits * lanes, positions);
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
    const u32 n = list_bits(nonzero(set).word & 0x01010101u, 0, scratch->list);
    each(n, [&](u32 i) { work(u32{scratch->list[i]}); });
  }
  template <class Work>
  static __device__ __forceinline__ void for_each_of_thread(Set set, Work&& work) {
    for (u32 bits = set.word & 0x01010101u; bits; bits &= bits - 1)
      work(4 * thread_in_half_warp() + lowest_bit(bits) / 8);
  }
  template <class Work>
  static __device__ __forceinline__ void for_each_of_thread(Work&& work) {
    for (u32 i = 0; i < 4; ++i) work(4 * thread_in_half_warp() + i);
  }

  /// The aligned word that holds a byte, and the byte's bit position in it.
  struct Holder {
    u32* word;
    u32 shift;
    __device__ __forceinline__ explicit Holder(u8& byte) {
      const std::size_t at = reinterpret_cast<std::size_t>(&byte);
      word = reinterpret_cast<u32*>(at & ~std::size_t{3});
      shift = static_cast<u32>(at % 4) * 8;
    }
  };
  template <bool kToWrite = false>
  static __device__ __forceinline__ void prefetch(const void*) {}
  static __device__ __forceinline__ void or_bits(u8& byte, u32 bits) {
    const Holder h(byte);
    atomicOr(h.word, (bits & 0xFF) << h.shift);
  }
  static __device__ __forceinline__ void and_bits(u8& byte, u32 bits) {
    const Holder h(byte);
    atomicAnd(h.word, ~((~bits & 0xFF) << h.shift));
  }
  static __device__ __forceinline__ void put_bits(u8& byte, u8 mask, u8 bits) {
    if (bits)
      or_bits(byte, mask);
    else
      and_bits(byte, ~u32{mask});
  }
  template <class Change>
  static __device__ __forceinline__ void update(u8& byte, Change&& change) {
    const Holder h(byte);
    for (u32 seen = *static_cast<volatile u32*>(h.word);;) {
      const u8 before = static_cast<u8>(seen >> h.shift), after = change(before);
      if (after == before) return;
      const u32 found = atomicCAS(h.word, seen, (seen & ~(0xFFu << h.shift)) | u32{after} << h.shift);
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
  static __device__ __forceinline__ u8 peek(const u8& byte) { return *static_cast<const volatile u8*>(&byte); }
  static __device__ __forceinline__ void poke(u8& byte, u8 value) { *static_cast<volatile u8*>(&byte) = value; }
};

/// Returns a reference to the byte of item `lane` in a row.
__device__ __forceinline__ u8& lane_of(SliceRow& x, u32 lane) { return reinterpret_cast<u8*>(x.words)[lane]; }
__device__ __forceinline__ u32 lane_of(const SliceRow& x, u32 lane) {
  return reinterpret_cast<const u8*>(x.words)[lane];
}
__device__ __forceinline__ Slice nonzero(const SliceRow& x) { return nonzero(Slice(x)); }

}  // namespace flitlab::lanes
