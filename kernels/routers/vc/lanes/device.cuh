#pragma once
/// Lane state of canonical routers on a GPU, with the interface that kernels/engines/cuda_lane_engine.cuh requires. The
/// code for a block is the same as on a CPU; a warp group (kernels/common/byte_slices.cuh) executes it.
#include "kernels/common/byte_slices.cuh"
#include "kernels/engines/cuda_lane_engine.cuh"
#include "kernels/routers/vc/lanes/canonical.hpp"
#include "kernels/routers/vc/lanes/closed_loop.hpp"
#include "kernels/routers/vc/lanes/lanes.hpp"
#include "kernels/routers/vc/lanes/routers.hpp"
#include "kernels/routers/vc/lanes/scalar_terminals.hpp"

namespace flitlab::vc::lanes {

/// The canonical state of all replicas, where terminals without lane state are.
struct CanonicalState {
  std::byte* memory = nullptr;
  std::size_t replica_bytes = 0;
  Placement placement{};

  FLITLAB_HD Items<32> terminals(u32 replica) const { return placement.items<32>(memory + replica * replica_bytes, 1); }
};
struct NoCanonicalState {
  struct NoTerminals {};
  FLITLAB_HD NoTerminals terminals(u32) const { return {}; }
};

/// A thread's view of the plan and of a replica.
template <class T, class Counts>
struct ThreadView {
  using Table = T;
  using Canonical = std::conditional_t<kLaneTerminals<T>, NoCanonicalState, CanonicalState>;
  static constexpr int width = 32;
  static constexpr bool traced = false;
  const T& t;
  const ReplicaRow* row;
  Counts* shard;
  [[no_unique_address]] decltype(Canonical().terminals(0)) terminals;
};

/// Returns the shared memory that holds the largest of the types, bytes.
template <class... T>
constexpr u32 largest_of() {
  return static_cast<u32>((std::max({sizeof(T)...}) + 15) / 16 * 16);
}

/// Warp group for routers of sizes `S` with elements of type E, with shared memory for its scratch and exchanges.
template <class S, class E>
struct WarpGroupOf {
  using Index = std::conditional_t<S::exact, u16, u32>;  // 32 bits hold the requests of any allocator
  /// With many ports, one warp processes the last port and the terminals: 13 warps would have no more registers than
  /// 16, and 17 fewer than 128 per thread.
  static constexpr u32 kWarps = S::ports > 8 ? S::ports : S::ports + 1;
  using Unsized = Slices<E, Index, kWarps, 0, 0, 0>;
  using WarpGroup =
      Slices<E, Index, kWarps, largest_of<SwitchExchange<Unsized, S>, SharedArrivals<Unsized, S>>(),
             largest_of<AllocationScratch<Unsized, S>, CreditScratch<Unsized, S>, CrossingScratch<Unsized, S>,
                        RankScratch<Unsized, S>, typename Unsized::LaneScratch>(),
             largest_of<SharedTally<Unsized::threads>>()>;
};

/// Shared memory of a block of threads on GPUs since compute capability 9.0, bytes.
inline constexpr u32 kMostSharedMemory = 227 << 10;

/// `T`: type of the plan; OpenVcTable, or a type derived from it, if terminals have lane state, too, otherwise VcTable.
/// `S`: compile-time sizes (Sizes) that are large enough for the plan. `E`: element.
template <class T, class S, class E = u8>
struct DeviceLanes {
  using C = typename WarpGroupOf<S, E>::WarpGroup;
  static constexpr u32 warp_group = 32 * C::warps, half_warp = C::threads, width = C::lanes;
  /// A thread has 80 registers if four warp groups of six warps share a multiprocessor, 96 if three share it, and 128
  /// if two warp groups of eight warps share it, or two of six warps whose plan is not fixed. With resident state,
  /// shared memory has room for four warp groups. Code for any options has one warp group per multiprocessor.
  static constexpr u32 most_threads = (!S::exact ? 1 : C::warps > 6 || !kIsFixed<T> ? 2 : 3) * warp_group;
  static constexpr u32 most_threads_resident = (!S::exact ? 1 : C::warps > 6 ? 2 : 4) * warp_group;
  static constexpr u32 scratch_bytes = C::bytes, resident_bytes = sizeof(Block<C, S>);
  static constexpr bool may_be_resident = 2 * (scratch_bytes + resident_bytes) <= kMostSharedMemory;

  // Tallies of the warps. The warp of the terminals keeps the sums; with sizes that are not exact, it may have a port,
  // too.

  using Tally = SharedTally<half_warp>;
  using OfTerminals = TallyOf<DeviceLanes, true>;
  using OfPorts = TallyOf<DeviceLanes, false>;
  struct OfWarp {
    __device__ __forceinline__ void begin(CounterShard* shard) {
      if (C::has_terminals()) OfTerminals().begin(shard);
    }
    __device__ __forceinline__ void collect() {
      if (C::has_terminals()) OfTerminals().collect();
    }
    __device__ __forceinline__ void end(CounterShard* shard) {
      if (C::has_terminals()) OfTerminals().end(shard);
    }
  };
  static __device__ __forceinline__ Tally* tally() {
    return reinterpret_cast<Tally*>(C::memory() + scratch_bytes - largest_of<Tally>());
  }

  static bool fits(const VcTable& t) {
    // Open traffic takes terminals with lane state, except with long routes in kernels that have too few registers.
    if (t.mode != TrafficMode::kOpen ? kLaneTerminals<T> : !kLaneTerminals<T> && !has_long_routes(t)) return false;
    if (!kLongRoutes<C, S> && has_long_routes(t)) return false;
    if constexpr (kLaneTerminals<T>)
      if (!T::fits(t)) return false;
    const bool has_ports = S::exact ? has_exact_sizes(t) && t.ports == S::ports : t.ports <= S::ports;
    return fits_device_lanes(t) && has_ports && t.vcs <= S::vcs && element_bits(t) <= 8 * sizeof(E) &&
           room_of(t) <= S::room;
  }

  /// Returns the number of lane blocks of a network: one, or an even number, because a warp has two half-warps. The
  /// last block may be empty.
  static FLITLAB_HD u32 blocks(u32 routers) { return routers > width ? 2 * blocks_of(routers, 2 * width) : 1; }

  static TileNeighbours neighbours(const VcTable& t) {
    return neighbours_of_tiles(t, width, blocks(t.routers), kMayWriteRows<C, S> && has_many_rows(t, width));
  }

  /// Returns the bytes of a replica's lane state.
  static std::size_t replica_bytes(const VcTable& t) {
    State<C, S> s;
    return State<C, S>::lay_out(s, nullptr, t, blocks(t.routers) * width, lookahead_of(t).slots);
  }

  /// Arguments of kernels.
  struct Job {
    T table;
    Wiring wiring;
    State<C, S> first;  ///< state of replica 0, so that threads need not compute where arrays lie
    std::byte* memory;
    std::size_t replica_bytes;
    u32 idle_replica;
    u32 lookahead;  ///< cycles
    [[no_unique_address]] typename ThreadView<T, OfTerminals>::Canonical canonical;

    FLITLAB_HD u32 items() const { return table.routers; }
    FLITLAB_HD u32 blocks() const { return DeviceLanes::blocks(table.routers); }
    __device__ __forceinline__ State<C, S> state(u32 replica) const { return first.moved(replica * replica_bytes); }

    __device__ std::byte* home(u32 replica, u32 b) const {
      return reinterpret_cast<std::byte*>(state(replica).block + b);
    }
    template <class Counts>
    __device__ __forceinline__ void step(Counts& tally, u32 replica, u32 b, std::byte* block, const ReplicaRow* row,
                                         Cycle now) const {
      if constexpr (std::is_same_v<Counts, OfWarp>) {
        OfTerminals of_terminals;
        OfPorts of_ports;
        // Opaque, so that addresses from one part are not kept in registers during the other.
        if (C::has_terminals()) step(of_terminals, opaque(replica), opaque(b), block, row, now);
        if (C::warp_port() < table.ports) step(of_ports, opaque(replica), opaque(b), block, row, now);
      } else {
        const ThreadView<T, Counts> v{table, row, &tally, canonical.terminals(replica)};
        State<C, S> s = state(replica);
        if constexpr (may_be_resident) s.block = reinterpret_cast<Block<C, S>*>(block) - b;
        if constexpr (std::is_same_v<Counts, OfPorts>)
          Routers<C, S, ThreadView<T, Counts>>(v, s, wiring, b, now).step();
        else if constexpr (kLaneTerminals<T>)
          step_terminals(v, s, b, now);
        else
          step_scalar_terminals(v, s, b, now);
      }
    }
    template <class V>
    __device__ void load(const V& canonical, u32 replica, u32 router, Cycle now) const {
      const auto v = with_table(canonical);
      const State<C, S> s = state(replica);
      Conversion<C, S, View<V::width, false, T>, true>{v, s, wiring, router, now}.convert();
    }
    template <class V>
    __device__ void store(const V& canonical, u32 replica, u32 router, Cycle now) const {
      const auto v = with_table(canonical);
      const State<C, S> s = state(replica);
      Conversion<C, S, View<V::width, false, T>, false>{v, s, wiring, router, now}.convert();
    }
    template <class V>
    __device__ View<V::width, false, T> with_table(const V& v) const {
      return {{table, v.row, v.shard, v.log}, v.routers, v.terminals};
    }
  };

  static __device__ __forceinline__ void group_barrier() { C::barrier_with_terminals(); }
  template <class Work>
  static __device__ __forceinline__ void by_part(Work&& work) {
    if constexpr (!S::exact)
      work(OfWarp());
    else if (C::has_terminals())
      work(OfTerminals());
    else
      work(OfPorts());
  }

  /// `engine`: job of the engine for the canonical state.
  template <class EngineJob>
  DeviceLanes(const VcTable& host, const VcTable& device, u32 replicas, const EngineJob& engine) {
    const Wires w = wire(host, width, sizeof(E), S::vcs, blocks(host.routers), kMayWriteRows<C, S>);
    const auto copy = [this]<class X>(const X*& there, const X* here, std::size_t n) {
      there = here;
      arrays.move(there, n);
    };
    static_cast<VcTable&>(job.table) = device;
    copy(job.wiring.to, w.to.data(), w.to.size());
    copy(job.wiring.first, w.first.data(), w.first.size());
    copy(job.wiring.sender_rows, w.sender_rows.data(), w.sender_rows.size());
    copy(job.wiring.masks, w.mask_base, w.masks.size() - static_cast<std::size_t>(w.mask_base - w.masks.data()));
    job.wiring.other_end = nullptr;
    if (!w.other_end.empty()) copy(job.wiring.other_end, w.other_end.data(), w.other_end.size());
    if (w.width_base) job.wiring.widths = job.wiring.masks + (w.width_base - w.mask_base);
    if constexpr (!kLaneTerminals<T>) job.canonical = {engine.arena, engine.replica_bytes, engine.placement};
    job.replica_bytes = replica_bytes(host);
    job.idle_replica = replicas;
    job.lookahead = lookahead_of(host).cycles;
    memory = DeviceArray<std::byte>(job.replica_bytes * (replicas + 1));
    memory.zero();
    job.memory = memory.data();
    State<C, S>::lay_out(job.first, job.memory, host, blocks(host.routers) * width, lookahead_of(host).slots);
  }

  bool is_shared(u32 kind, const FieldInfo& field) const {
    return !kLaneTerminals<T> && is_shared_with_lanes(job.table, kind, field);
  }

  Job job;
  DeviceArray<std::byte> memory;
  DeviceTables arrays;
};

}  // namespace flitlab::vc::lanes
