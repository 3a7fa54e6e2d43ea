#pragma once
/// Lane state of canonical routers on a GPU, with the interface that kernels/engines/cuda_lane_engine.cuh requires. The
/// code for a block is the same as on a CPU; a warp group (kernels/common/byte_slices.cuh) executes it.
#include "kernels/common/byte_slices.cuh"
#include "kernels/engines/cuda_lane_engine.cuh"
#include "kernels/routers/vc/lanes/canonical.hpp"
#include "kernels/routers/vc/lanes/closed_loop.hpp"
#include "kernels/routers/vc/lanes/lanes.hpp"
#include "kernels/routers/vc/lanes/routers.hpp"

namespace flitlab::vc::lanes {

/// A thread's view of the plan and of a replica.
template <class T, class Counts>
struct ThreadView {
  using Table = T;
  static constexpr int width = 32;
  static constexpr bool traced = false;
  const T& t;
  const ReplicaRow* row;
  Counts* shard;
};

/// Returns the shared memory that holds the largest of the types, bytes.
template <class... T>
constexpr u32 largest_of() {
  return static_cast<u32>((std::max({sizeof(T)...}) + 15) / 16 * 16);
}

/// Warp group for routers of sizes `S`, with shared memory for its scratch and exchanges.
template <class S>
struct WarpGroupOf {
  using Unsized = Slices<S::ports, 0, 0, 0>;
  using WarpGroup = Slices<S::ports, largest_of<SwitchExchange<Unsized, S>, SharedArrivals<Unsized, S>>(),
                           largest_of<AllocationScratch<Unsized, S>, CreditScratch<Unsized, S>,
                                      CrossingScratch<Unsized, S>, typename Unsized::LaneScratch>(),
                           largest_of<SharedTally<Unsized::threads>>()>;
};

/// `T`: plan of plain routers whose terminals have lane state, too. `S`: compile-time sizes (Sizes) that are large
/// enough for the plan.
template <class T, class S>
struct DeviceLanes {
  using C = typename WarpGroupOf<S>::WarpGroup;
  static constexpr u32 warp_group = 32 * C::warps, half_warp = C::threads, width = C::lanes;
  /// A thread has 80 registers if four warp groups of six warps share a multiprocessor, 96 if three share it, and 128
  /// if two warp groups of eight warps share it, or two of six warps whose plan is not fixed. With resident state,
  /// shared memory has room for four warp groups.
  static constexpr u32 most_threads = (C::warps > 6 || !kIsFixed<T> ? 2 : 3) * warp_group;
  static constexpr u32 most_threads_resident = (C::warps > 6 ? 2 : 4) * warp_group;
  static constexpr u32 scratch_bytes = C::bytes, resident_bytes = sizeof(Block<C, S>);

  using Tally = SharedTally<half_warp>;
  using OfTerminals = TallyOf<DeviceLanes, true>;
  static __device__ __forceinline__ Tally* tally() {
    return reinterpret_cast<Tally*>(C::memory() + scratch_bytes - largest_of<Tally>());
  }

  static bool fits(const VcTable& t) {
    return T::fits(t) && fits_device_lanes(t) && t.ports == S::ports && t.vcs <= S::vcs && room_of(t) <= S::room;
  }

  /// Returns the number of lane blocks of a network: one, or an even number, because a warp has two half-warps. The
  /// last block may be empty.
  static FLITLAB_HD u32 blocks(u32 routers) { return routers > width ? 2 * blocks_of(routers, 2 * width) : 1; }

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

    FLITLAB_HD u32 items() const { return table.routers; }
    FLITLAB_HD u32 blocks() const { return DeviceLanes::blocks(table.routers); }
    __device__ __forceinline__ State<C, S> state(u32 replica) const { return first.moved(replica * replica_bytes); }

    __device__ std::byte* home(u32 replica, u32 b) const {
      return reinterpret_cast<std::byte*>(state(replica).block + b);
    }
    template <class Counts>
    __device__ __forceinline__ void step(Counts& tally, u32 replica, u32 b, std::byte* block, const ReplicaRow* row,
                                         Cycle now) const {
      const ThreadView<T, Counts> v{table, row, &tally};
      State<C, S> s = state(replica);
      s.block = reinterpret_cast<Block<C, S>*>(block) - b;
      if constexpr (!std::is_same_v<Counts, OfTerminals>)
        Routers<C, S, ThreadView<T, Counts>>(v, s, wiring, b, now).step();
      else
        step_terminals(v, s, b, now);
    }
    template <class V>
    __device__ void load(const V& canonical, u32 replica, u32 router, Cycle now) const {
      const auto v = with_table(canonical);
      const State<C, S> s = state(replica);
      Conversion<C, S, View<V::width, false, T>, true>{v, s, router, now}.convert();
    }
    template <class V>
    __device__ void store(const V& canonical, u32 replica, u32 router, Cycle now) const {
      const auto v = with_table(canonical);
      const State<C, S> s = state(replica);
      Conversion<C, S, View<V::width, false, T>, false>{v, s, router, now}.convert();
    }
    template <class V>
    __device__ View<V::width, false, T> with_table(const V& v) const {
      return {{table, v.row, v.shard, v.log}, v.routers, v.terminals};
    }
  };

  static __device__ __forceinline__ void group_barrier() { C::barrier_with_terminals(); }
  template <class Work>
  static __device__ __forceinline__ void by_part(Work&& work) {
    if (C::has_terminals())
      work(OfTerminals());
    else
      work(TallyOf<DeviceLanes, false>());
  }

  DeviceLanes(const VcTable& host, const VcTable& device, u32 replicas) {
    const Wires w = wire(host, width, sizeof(u8), S::vcs, blocks(host.routers));
    const auto copy = [this]<class E>(const E*& there, const E* here, std::size_t n) {
      there = here;
      arrays.move(there, n);
    };
    job.table = T(device);
    copy(job.wiring.to, w.to.data(), w.to.size());
    copy(job.wiring.first, w.first.data(), w.first.size());
    copy(job.wiring.sender_rows, w.sender_rows.data(), w.sender_rows.size());
    copy(job.wiring.masks, w.mask_base, w.masks.size() - static_cast<std::size_t>(w.mask_base - w.masks.data()));
    job.replica_bytes = replica_bytes(host);
    job.idle_replica = replicas;
    job.lookahead = lookahead_of(host).cycles;
    memory = DeviceArray<std::byte>(job.replica_bytes * (replicas + 1));
    memory.zero();
    job.memory = memory.data();
    State<C, S>::lay_out(job.first, job.memory, host, blocks(host.routers) * width, lookahead_of(host).slots);
  }

  Job job;
  DeviceArray<std::byte> memory;
  DeviceTables arrays;
};

}  // namespace flitlab::vc::lanes
