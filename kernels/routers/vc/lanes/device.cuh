#pragma once
/// Plain routers in lanes on a GPU, as kernels/engines/cuda_lane_engine.cuh wants them: what is done for a block of
/// routers is that of CPUs, with another crew.
#include "kernels/common/byte_slices.cuh"
#include "kernels/engines/cuda_lane_engine.cuh"
#include "kernels/routers/vc/lanes/canonical.hpp"
#include "kernels/routers/vc/lanes/lanes.hpp"
#include "kernels/routers/vc/lanes/routers.hpp"
#include "kernels/routers/vc/lanes/terminals.hpp"

namespace flitlab::vc::lanes {

/// What a thread sees of the plan and of a replica.
template <class T>
struct TeamView {
  using Table = T;
  static constexpr int width = 32;
  static constexpr bool traced = false;
  const T& t;
  const ReplicaRow* row;
  Tally* shard;
};

/// Shared memory of a team: its largest desk.
template <class S>
constexpr u32 largest_desk() {
  using C = Slices<0>;
  const std::size_t most = std::max({sizeof(AllocationDesk<C, S>), sizeof(CreditDesk<C, S>), sizeof(CrossingDesk<C, S>),
                                     sizeof(typename C::LaneDesk)});
  return static_cast<u32>((most + 15) / 16 * 16);
}

/// `T`: a table of plain routers whose terminals are in lanes too; S: Sizes that it has room in.
template <class T, class S>
struct DeviceLanes {
  using C = Slices<largest_desk<S>()>;
  static constexpr u32 team = C::threads, width = C::lanes;
  static constexpr u32 desk_bytes = C::desk_bytes, held_bytes = sizeof(Block<C, S>);

  static bool fits(const VcTable& t) {
    return T::fits(t) && fits_lanes(t) && t.ports == S::ports && t.vcs <= S::vcs && (S::roomy || !is_roomy(t));
  }

  /// Blocks of a network: one, or an even number, since a warp has two teams. The last may have no routers.
  static FLITLAB_HD u32 blocks(u32 routers) { return routers > width ? 2 * blocks_of(routers, 2 * width) : 1; }

  /// Memory of a replica.
  static std::size_t bytes(const VcTable& t) {
    State<C, S> s;
    return State<C, S>::place(s, nullptr, blocks(t.routers) * width, lookahead_of(t).slots, t.ring);
  }

  /// What kernels are given.
  struct Job {
    T table;
    Wiring wiring;
    std::byte* memory;
    std::size_t replica_bytes;
    u32 spare;
    u32 lookahead;  ///< cycles
    u32 slots;      ///< of mail

    FLITLAB_HD u32 items() const { return table.routers; }
    FLITLAB_HD u32 blocks() const { return DeviceLanes::blocks(table.routers); }
    __device__ State<C, S> state(u32 replica) const {
      State<C, S> s;
      State<C, S>::place(s, memory + replica * replica_bytes, blocks() * width, slots, table.ring);
      return s;
    }

    __device__ std::byte* home(u32 replica, u32 b) const {
      return reinterpret_cast<std::byte*>(state(replica).block + b);
    }
    __device__ __forceinline__ void step(u32 replica, u32 b, std::byte* block, const ReplicaRow* row, Tally& tally,
                                         Cycle now) const {
      const TeamView<T> v{table, row, &tally};
      State<C, S> s = state(replica);
      s.block = reinterpret_cast<Block<C, S>*>(block) - b;
      step_terminals(v, s, b, now);
      Routers<C, S, TeamView<T>>(v, s, wiring, b, now).step();
    }
    template <class V>
    __device__ void load(const V& canonical, u32 replica, u32 router, Cycle now) const {
      const auto v = with_table(canonical);
      const State<C, S> s = state(replica);
      Pair<C, S, View<V::width, false, T>>{v, s, router, now}.load();
    }
    template <class V>
    __device__ void store(const V& canonical, u32 replica, u32 router, Cycle now) const {
      const auto v = with_table(canonical);
      const State<C, S> s = state(replica);
      Pair<C, S, View<V::width, false, T>>{v, s, router, now}.store();
    }
    template <class V>
    __device__ View<V::width, false, T> with_table(const V& v) const {
      return {{table, v.row, v.shard, v.log}, v.routers, v.terminals};
    }
  };

  static __device__ __forceinline__ void meet() { C::sync(); }

  DeviceLanes(const VcTable& host, const VcTable& device, u32 replicas) {
    const Wires w = wire(host, width, S::vcs, blocks(host.routers));
    const auto copy = [this]<class E>(const E*& there, const E* here, std::size_t n) {
      there = here;
      arrays.move(there, n);
    };
    job.table = T(device);
    copy(job.wiring.to, w.to.data(), w.to.size());
    copy(job.wiring.first, w.first.data(), w.first.size());
    copy(job.wiring.pull, w.pull.data(), w.pull.size());
    copy(job.wiring.masks, w.mask_base, w.masks.size() - static_cast<std::size_t>(w.mask_base - w.masks.data()));
    job.replica_bytes = bytes(host);
    job.spare = replicas;
    job.lookahead = lookahead_of(host).cycles;
    job.slots = lookahead_of(host).slots;
    memory = DeviceArray<std::byte>(job.replica_bytes * (replicas + 1));
    memory.zero();
    job.memory = memory.data();
  }

  Job job;
  DeviceArray<std::byte> memory;
  DeviceTables arrays;
};

}  // namespace flitlab::vc::lanes
