#pragma once
/// The CUDA engine for lane state (kernels/engines/lane_engine.hpp): state in blocks of items (routers and their
/// terminals), one element per item. A warp group (several warps) processes two blocks; CudaEngine instead has one
/// thread per item. A replica has lane state from the first cycle on; the engine converts it to the canonical state
/// when the host reads it. Both engines give the same results.
///
/// A model with lane state on GPUs has types `Lanes`. They are constructed from the model's table (host and device),
/// the number of replicas, and the job of the engine for the canonical state, and offer
///   `static bool fits(table)`   whether the lane code supports a table
///   `warp_group`, `half_warp`   threads of a warp group; threads of a half-warp, which share a block
///   `most_threads`, `most_threads_resident`  largest block of threads, without and with resident state; it determines
///                               how many registers a thread may have
///   `scratch_bytes`, `resident_bytes`  shared memory per block of items: scratch, and resident state (state that stays
///                               in shared memory during a launch)
///   `may_be_resident`           whether state can be resident, so that a kernel for it is compiled
///   `is_shared(kind, field)`    whether a field lies in the canonical state's memory all the time
///   `group_barrier()`           barrier of a warp group
///   `neighbours(table)`         neighbours of the network's tiles, on the host; a tile is two blocks of items
///   `by_part(work)`             calls work(tally) with the tally for this warp's part of the work
///   `job`                       kernel argument:
///     `blocks()`                blocks of items per network: one, or an even number
///     `memory`, `replica_bytes` memory of the replicas, one after the other; zero before `load`
///     `idle_replica`            a spare replica, which half-warps without work process in lockstep with the others
///     `load(view, replica, item, cycle)`, `store(...)`  convert an item from the canonical state, and back
///     `home(replica, block)`    address in global memory of the part of a block's state that no other block accesses
///     `step(tally, replica, block, state, row, cycle)`  this warp's part of one cycle of a block; `state`: the block's
///                               state, at home or resident
///     `lookahead`               cycles between barriers of blocks; flits and credits take at least as long to arrive
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kernels/common/error.hpp"
#include "kernels/common/shared_memory.cuh"
#include "kernels/engines/cuda_engine.cuh"
#include "kernels/engines/device_tables.cuh"
#include "kernels/engines/tally.cuh"
#include "kernels/engines/tile_flags.cuh"
#include "kernels/engines/tiles.hpp"
#include "kernels/engines/two_forms.hpp"

namespace flitlab {

/// Kernel arguments in addition to the model's `job`.
struct LaneWork {
  const ReplicaRow* rows;
  CounterShard* shards;
  const u32* active;
  u32 active_count;
  TileFlags tile_flags;
};

/// How the threads that process one network synchronise every `lookahead` cycles: not at all beyond a warp group; at
/// the barrier of a block of threads; or, if the grid processes the network, by flags of neighbouring tiles or at the
/// grid's barrier.
enum class BarrierScope { kWarpGroup, kBlock, kNeighbours, kGrid };

// Separate functions, so that their registers are not live in the callers' loops. In a grid, a block of threads is one
// warp group. A tile is two blocks of items; `item_block` is one of them, `cycles` counts from the start of the launch.
__device__ inline __attribute__((noinline)) void grid_barrier() { cooperative_groups::this_grid().sync(); }
__device__ inline __attribute__((noinline)) void wait_for_neighbours(const TileFlags& flags, u32 item_block,
                                                                     u32 cycles) {
  if (cycles && threadIdx.x < 32) flags.wait(item_block / 2, cycles);
}
__device__ inline __attribute__((noinline)) void announce_to_neighbours(const TileFlags& flags, u32 item_block,
                                                                        u32 cycles) {
  if (threadIdx.x == 32) flags.announce(item_block / 2, cycles);  // not in the warp that waits next
}

/// Does both, for a warp group with one tile, outside of the loop over tiles: there, the kernel for resident state has
/// no registers left.
__device__ inline __attribute__((noinline)) void meet_neighbours(const TileFlags& flags, u32 item_block, u32 cycles) {
  announce_to_neighbours(flags, item_block, cycles);
  wait_for_neighbours(flags, item_block, cycles);
}

/// Copies the resident state of a block of items. The half-warps that share the block copy it together.
template <class Lanes>
__device__ void copy_resident(const std::byte* from, std::byte* to) {
  static_assert(Lanes::resident_bytes % sizeof(uint4) == 0);
  constexpr u32 kThreads = Lanes::warp_group / 32 * Lanes::half_warp;
  const u32 me = threadIdx.x % Lanes::warp_group / 32 * Lanes::half_warp + threadIdx.x % Lanes::half_warp;
  for (u32 i = me; i < Lanes::resident_bytes / sizeof(uint4); i += kThreads)
    reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
  Lanes::group_barrier();
}

/// Advances the active replicas. A block of threads has one warp group, or one warp group for every two blocks of items
/// of a network; the blocks of the grid divide the work. `kResident`: each warp group has at most two blocks of items,
/// whose state stays in shared memory from the first cycle of the launch to the last. It is a template parameter, so
/// that the compiler knows the memory space. A warp's half-warps run in lockstep; a half-warp without work processes
/// the idle replica.
template <class Lanes, bool kResident>
__global__ void __launch_bounds__(kResident ? Lanes::most_threads_resident : Lanes::most_threads, 1)
    lane_kernel(const __grid_constant__ typename Lanes::Job job, const __grid_constant__ LaneWork work, Cycle from,
                u32 cycles, BarrierScope barrier_scope) {
  const u32 blocks = job.blocks(), all = work.active_count * blocks;
  const u32 warp_groups = blockDim.x / Lanes::warp_group, half_of_warp = threadIdx.x % 32 / Lanes::half_warp;
  // Return the index of this half-warp's first block of items: block_of_half_warp() within the block of threads,
  // first() within the grid.
  const auto block_of_half_warp = [&] { return 2 * (opaque(threadIdx.x) / Lanes::warp_group) + half_of_warp; };
  const auto first = [&] { return 2 * warp_groups * blockIdx.x + block_of_half_warp(); };
  const auto replica_of = [&](u32 i) { return i < all ? work.active[i / blocks] : job.idle_replica; };
  const auto home = [&](u32 i) { return job.home(replica_of(i), i % blocks); };
  const auto resident = [&] {
    return shared_memory() + 2 * warp_groups * Lanes::scratch_bytes + block_of_half_warp() * Lanes::resident_bytes;
  };
  if (kResident && first() - half_of_warp < all) copy_resident<Lanes>(home(first()), resident());
  u32 counted = kNone;  // replica whose totals the tally counts; the idle replica is not counted
  for (Cycle now = from, next_barrier; now != from + cycles; now = next_barrier) {
    next_barrier = now + std::min(from + cycles - now, job.lookahead);
    Lanes::by_part([&](auto tally) __attribute__((always_inline)) {
      for (u32 i = first(); i - half_of_warp < all; i += gridDim.x * 2 * warp_groups) {
        if (const u32 active_replica = work.active[i < all ? i / blocks : 0]; counted != active_replica) {
          if (counted != kNone) tally.end(work.shards + counted);
          tally.begin(work.shards + active_replica);
          counted = active_replica;
        }
        if (!kResident && barrier_scope == BarrierScope::kNeighbours)
          wait_for_neighbours(work.tile_flags, i, now - from);
        Lanes::group_barrier();
        FLITLAB_ROLLED for (Cycle cycle = now; cycle != next_barrier; ++cycle) {
          job.step(tally, replica_of(i), i % blocks, kResident ? resident() : home(i), work.rows + counted, cycle);
          Lanes::group_barrier();
        }
        if (!kResident && barrier_scope == BarrierScope::kNeighbours)
          announce_to_neighbours(work.tile_flags, i, next_barrier - from);
        tally.collect();
        if (kResident) break;
      }
    });
    if (barrier_scope == BarrierScope::kBlock)
      __syncthreads();
    else if (barrier_scope == BarrierScope::kGrid)
      grid_barrier();
    else if (kResident && barrier_scope == BarrierScope::kNeighbours)
      meet_neighbours(work.tile_flags, first(), next_barrier - from);
  }
  if (counted != kNone) Lanes::by_part([&](auto tally) { tally.end(work.shards + counted); });
  if (kResident && first() - half_of_warp < all) copy_resident<Lanes>(resident(), home(first()));
}

/// Converts items of replicas to lane state, or back.
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
      : Base(device_table, std::move(layout), std::move(rows)),
        lanes_(table, device_table, this->replicas(), this->job_),
        converted_(this->replicas()) {
    shared_limit_ = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    for (const auto kernel : {kKernel, kResidentKernel}) allow_shared_bytes(kernel, shared_limit_);
    if (scope() == BarrierScope::kGrid) choose_scope_of_grid(Lanes::neighbours(table));
  }

  /// Returns whether a block of threads on the device has room for a warp group.
  static bool has_room() {
    return std::min(most_threads(kKernel), most_threads(kResidentKernel)) >= Lanes::warp_group &&
           shared_bytes(Lanes::warp_group, false) <= device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  }

  void advance(u32 cycles, std::span<const u32> active) override {
    if (active.empty() || !cycles) return;
    std::vector<u32> old;
    for (u32 replica : active) {
      if (!this->forms_[replica].lanes_outdated) continue;
      const auto& job = lanes_.job;
      FLITLAB_CUDA_CHECK(cudaMemset(job.memory + job.replica_bytes * replica, 0, job.replica_bytes));
      old.push_back(replica);
    }
    change_form(old, true, this->now_);
    step(cycles, active);
    wait_for_own_stream();
    this->now_ += cycles;
    for (u32 replica : active) this->forms_[replica] = {false, true, this->now_};
  }

 private:
  static constexpr auto kKernel = lane_kernel<Lanes, false>,
                        kResidentKernel = lane_kernel<Lanes, Lanes::may_be_resident>;

  bool is_shared(u32 kind, const FieldInfo& field) const override { return lanes_.is_shared(kind, field); }

  void store(std::span<const u32> which, Cycle stopped) const override { change_form(which, false, stopped); }

  void change_form(std::span<const u32> which, bool into_lanes, Cycle now) const {
    if (which.empty()) return;
    DeviceJob<Model> canonical = this->job_;
    converted_.copy_from(which.data(), which.size());
    canonical.active = converted_.data();
    canonical.active_count = static_cast<u32>(which.size());
    launch_for_each(lane_form_kernel<Lanes, Model>, u64{canonical.active_count} * lanes_.job.items(), lanes_.job,
                    canonical, now, into_lanes);
    wait_for_own_stream();
  }

  /// Launches the kernel for `cycles` cycles. If a network is one block of items, a block of threads processes two
  /// networks. If a network has more blocks of items and its warp groups fit into one block of threads, it has that
  /// block of threads to itself. Otherwise the whole grid processes it.
  void step(u32 cycles, std::span<const u32> active) {
    this->choose(active);
    const u32 count = this->job_.active_count, blocks = lanes_.job.blocks();
    const LaneWork work{this->job_.rows, this->job_.shards, this->job_.active, count, tile_flags_};
    const BarrierScope of_network = scope(),
                       barrier_scope = of_network == BarrierScope::kGrid ? scope_of_grid_ : of_network;
    const auto run = [&](u32 grid, u32 block) {
      const bool resident_launch = Lanes::may_be_resident && grid * (block / Lanes::warp_group) * 2 >= count * blocks &&
                                   shared_bytes(block, true) <= shared_limit_ &&
                                   (of_network != BarrierScope::kGrid ||
                                    grid <= blocks_at_once(kResidentKernel, block, shared_bytes(block, true)));
      launch_kernel(resident_launch ? kResidentKernel : kKernel, grid, block, shared_bytes(block, resident_launch),
                    of_network == BarrierScope::kGrid, lanes_.job, work, this->now_, cycles, barrier_scope);
    };
    if (of_network == BarrierScope::kWarpGroup) return run((count + 1) / 2, Lanes::warp_group);
    if (of_network == BarrierScope::kBlock) return run(count, tiles() * Lanes::warp_group);
    if (barrier_scope == BarrierScope::kNeighbours && cycles > lanes_.job.lookahead)
      FLITLAB_CUDA_CHECK(cudaMemset(flags_.data(), 0, flags_.size() * sizeof(u32)));
    const u32 at_once = blocks_at_once(kKernel, Lanes::warp_group, shared_bytes(Lanes::warp_group, false));
    run(std::min(count * tiles(), at_once), Lanes::warp_group);
  }

  /// Returns the number of tiles of a network: each has two blocks of items, for one warp group.
  u32 tiles() const { return (lanes_.job.blocks() + 1) / 2; }

  /// Returns which threads process a network.
  BarrierScope scope() const {
    if (lanes_.job.blocks() == 1) return BarrierScope::kWarpGroup;
    const u32 threads = tiles() * Lanes::warp_group;
    const bool fits_block = threads <= std::min(most_threads(kKernel), most_threads(kResidentKernel)) &&
                            shared_bytes(threads, false) <= shared_limit_;
    return fits_block ? BarrierScope::kBlock : BarrierScope::kGrid;
  }

  /// Chooses between flags and the grid's barrier, and prepares the flags. FLITLAB_GPU_SYNC overrides the choice, for
  /// tests and measurements.
  void choose_scope_of_grid(const TileNeighbours& neighbours) {
    const char* const text = std::getenv("FLITLAB_GPU_SYNC");
    const std::string_view wanted = text ? text : "";
    if (!wanted.empty() && wanted != "flags" && wanted != "barrier")
      throw ConfigError("the environment variable FLITLAB_GPU_SYNC is \"" + std::string(wanted) +
                        "\"; it may be \"flags\" or \"barrier\", or not be set.");
    if (wanted.empty() ? neighbours.most > kMostNeighbours : wanted == "barrier") return;
    scope_of_grid_ = BarrierScope::kNeighbours;
    flags_ = DeviceArray<u32>(std::size_t{this->replicas()} * tiles() * TileFlags::kStride);
    tile_flags_ = {flags_.data(), neighbours.first.data(), neighbours.list.data(), tiles()};
    neighbours_.move(tile_flags_.first, neighbours.first.size());
    neighbours_.move(tile_flags_.neighbours, neighbours.list.size());
  }

  /// Returns the shared memory of a block of threads, bytes.
  static u32 shared_bytes(u32 threads, bool resident_launch) {
    return threads / Lanes::warp_group * 2 * (Lanes::scratch_bytes + (resident_launch ? Lanes::resident_bytes : 0));
  }

  const Lanes lanes_;
  mutable DeviceArray<u32> converted_;  ///< list of the replicas that a launch converts
  u32 shared_limit_ = 0;                ///< bytes, per block of threads
  BarrierScope scope_of_grid_ = BarrierScope::kGrid;
  DeviceArray<u32> flags_;  ///< of tiles, if they synchronise by flags
  DeviceTables neighbours_;
  TileFlags tile_flags_{};
};

}  // namespace flitlab
