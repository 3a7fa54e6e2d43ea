#pragma once
/// A CUDA engine that keeps replicas in lanes (kernels/engines/lane_engine.hpp) from the first cycle on: a team of
/// threads works on a block of items, a byte each, instead of a thread on an item. The form that everybody else sees is
/// made when somebody looks. Nobody can tell but by the clock on the wall.
///
/// A model that has such lanes names types, each of which is made from its table, on the host and on the device, and
/// from the number of replicas. It offers
///   `static bool fits(table)`   whether there are lanes for a table
///   `static bytes(table)`       memory of a replica
///   `team`                      threads of a team
///   `desk_bytes`, `held_bytes`  shared memory that a team needs, and what it takes to hold the state of its block
///   `job`                       what kernels are given:
///     `blocks()`                blocks of items, each a team's work: one, or as many as fill warps
///     `memory`, `replica_bytes` of replicas, one after the other; zeros before `load`
///     `spare`                   one of which nothing is alive: a team without work steps it beside one that has
///     `load(view, replica, item, cycle)`, `store(...)`  an item, from the state that everybody sees, and back
///     `home(replica, block)`    where the state of a block lies that no other block sees
///     `step(replica, block, state, row, tally, cycle)`  a cycle of a block, whose state is at home, or held
///     `lookahead`               cycles that blocks may go on without one another: what they send arrives later
#include <algorithm>

#include "kernels/engines/cuda_engine.cuh"
#include "kernels/engines/shared_memory.cuh"
#include "kernels/engines/tally.cuh"
#include "kernels/engines/two_forms.hpp"

namespace flitlab {

/// What lanes need of a job, but for their memory.
struct LaneWork {
  const ReplicaRow* rows;
  CounterShard* shards;
  const u32* active;
  u32 active_count;
};

/// Which threads wait for one another after the cycles of a lookahead: those that share a network.
enum class Meeting { kTeam, kBlock, kGrid };

/// A team copies what is held.
template <class Lanes>
__device__ void copy_held(const std::byte* from, std::byte* to) {
  static_assert(Lanes::held_bytes % sizeof(uint4) == 0);
  for (u32 i = threadIdx.x % Lanes::team; i < Lanes::held_bytes / sizeof(uint4); i += Lanes::team)
    reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
  Lanes::meet();
}

/// Advances the active replicas. A block of threads has as many teams as it has room for; a grid shares the work out.
/// `kHold`: each has one block of items at most, and holds its state in shared memory from the first cycle to the last;
/// the compiler knows that it is there. Teams of a warp go together: one without work steps what is spare.
template <class Lanes, bool kHold>
__global__ void __launch_bounds__(256, 1)
    lane_kernel(const __grid_constant__ typename Lanes::Job job, const __grid_constant__ LaneWork work, Cycle from,
                u32 cycles, Meeting meeting) {
  const u32 blocks = job.blocks(), all = work.active_count * blocks;
  const u32 teams = blockDim.x / Lanes::team, team = threadIdx.x / Lanes::team, before_me = team % (32 / Lanes::team);
  const u32 first = blockIdx.x * teams + team;
  const auto replica_of = [&](u32 i) { return i < all ? work.active[i / blocks] : job.spare; };
  const auto home = [&](u32 i) { return job.home(replica_of(i), i % blocks); };
  std::byte* const held = shared_memory() + teams * Lanes::desk_bytes + std::size_t{team} * Lanes::held_bytes;
  if (kHold && first - before_me < all) copy_held<Lanes>(home(first), held);
  Tally tally;
  for (u32 done = 0, together; done != cycles; done += together) {
    together = cycles - done < job.lookahead ? cycles - done : job.lookahead;
    for (u32 i = first; i - before_me < all; i += gridDim.x * teams) {
      const u32 counted = work.active[i < all ? i / blocks : 0];  // what is spare counts nothing
      tally.turn_to(work.shards + counted);
      for (u32 c = 0; c != together; ++c) {
        if (c) Lanes::meet();
        job.step(replica_of(i), i % blocks, kHold ? held : home(i), work.rows + counted, tally, from + done + c);
      }
      if (kHold) break;
    }
    if (meeting == Meeting::kTeam)
      Lanes::meet();
    else if (meeting == Meeting::kBlock)
      __syncthreads();
    else
      cooperative_groups::this_grid().sync();
  }
  tally.turn_to(nullptr);
  if (kHold && first - before_me < all) copy_held<Lanes>(held, home(first));
}

/// Brings replicas into lanes, or out of them.
template <class Lanes, class Model>
__global__ void lane_form_kernel(const __grid_constant__ typename Lanes::Job job,
                                 const __grid_constant__ DeviceJob<Model> canonical, Cycle now, bool into_lanes) {
  const u32 items = job.items(), i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= canonical.active_count * items) return;
  const u32 replica = canonical.active[i / items];
  if (into_lanes)
    job.load(canonical.view(replica), replica, i % items, now);
  else
    job.store(canonical.view(replica), replica, i % items, now);
}

template <class Model, class Lanes>
class CudaLaneEngine final : public TwoForms<CudaEngine<Model>> {
  using Base = TwoForms<CudaEngine<Model>>;

 public:
  CudaLaneEngine(const typename Model::Table& table, const typename Model::Table& device_table, StateLayout layout,
                 std::vector<ReplicaRow> rows)
      : Base(device_table, std::move(layout), std::move(rows)), lanes_(table, device_table, this->replicas()) {
    shared_limit_ = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    for (const auto kernel : {lane_kernel<Lanes, false>, lane_kernel<Lanes, true>})
      FLITLAB_CUDA_CHECK(
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_limit_)));
  }

  void advance(u32 cycles, std::span<const u32> active) override {
    if (active.empty() || !cycles) return;
    std::vector<u32> old;
    for (u32 replica : active) {
      if (!this->forms_[replica].lanes_are_old) continue;
      const auto& job = lanes_.job;
      FLITLAB_CUDA_CHECK(cudaMemset(job.memory + job.replica_bytes * replica, 0, job.replica_bytes));
      old.push_back(replica);
    }
    change_form(old, true, this->now_);
    step(cycles, active);
    FLITLAB_CUDA_CHECK(cudaDeviceSynchronize());
    this->now_ += cycles;
    for (u32 replica : active) this->forms_[replica] = {false, true, this->now_};
  }

 private:
  static constexpr u32 kMostThreads = 256;  ///< of a block: so many have the registers that they want
  static constexpr u32 kWarpTeams = 32 / Lanes::team;

  void store(std::span<const u32> which, Cycle stopped) const override { change_form(which, false, stopped); }

  void change_form(std::span<const u32> which, bool into_lanes, Cycle now) const {
    if (which.empty()) return;
    DeviceJob<Model> canonical = this->job_;
    const DeviceArray<u32> list(which.data(), which.size());
    canonical.active = list.data();
    canonical.active_count = static_cast<u32>(which.size());
    launch_for_each(lane_form_kernel<Lanes, Model>, u64{canonical.active_count} * lanes_.job.items(), lanes_.job,
                    canonical, now, into_lanes);
    FLITLAB_CUDA_CHECK(cudaDeviceSynchronize());
  }

  /// A network that one team works on needs no block; one that a block can hold, no grid.
  void step(u32 cycles, std::span<const u32> active) {
    this->choose(active);
    const u32 count = this->job_.active_count, blocks = lanes_.job.blocks();
    const LaneWork work{this->job_.rows, this->job_.shards, this->job_.active, count};
    const auto kernel = lane_kernel<Lanes, false>, holding = lane_kernel<Lanes, true>;
    const u32 threads = (blocks + kWarpTeams - 1) / kWarpTeams * 32;
    const auto run = [&](u32 grid, u32 block, Meeting meeting) {
      // Not if blocks would have to wait for shared memory that others hold.
      const bool hold = u64{grid} * block / Lanes::team >= u64{count} * blocks &&
                        shared_bytes(block, true) <= shared_limit_ &&
                        grid <= blocks_at_once(holding, block, shared_bytes(block, true));
      launch_kernel(hold ? holding : kernel, grid, block, shared_bytes(block, hold), meeting == Meeting::kGrid,
                    lanes_.job, work, this->now_, cycles, meeting);
    };
    if (blocks == 1) return run((count + kWarpTeams - 1) / kWarpTeams, 32, Meeting::kTeam);
    if (threads <= std::min({kMostThreads, most_threads(kernel), most_threads(holding)}) &&
        shared_bytes(threads, false) <= shared_limit_)
      return run(count, threads, Meeting::kBlock);
    const u32 needed = (count * blocks + kWarpTeams - 1) / kWarpTeams;
    run(std::max(1u, std::min(needed, blocks_at_once(kernel, 32, shared_bytes(32, false)))), 32, Meeting::kGrid);
  }

  static u32 shared_bytes(u32 threads, bool hold) {
    return threads / Lanes::team * (Lanes::desk_bytes + (hold ? Lanes::held_bytes : 0));
  }

  const Lanes lanes_;
  u32 shared_limit_ = 0;  ///< of a block, bytes
};

}  // namespace flitlab
