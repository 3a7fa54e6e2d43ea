#pragma once
/// Estimated time per cycle of a job, for each way to run it. The estimates choose the engine of `backend = auto`, and
/// how the CUDA engine distributes a job on its device. An estimate may be wrong by a factor if the faster way is
/// faster by a larger factor. Each constant's source is given beside it. A test compares the choices with measurements
/// on an H200.
#include <algorithm>

#include "kernels/common/types.hpp"

namespace flitlab {

/// Cost of a router-cycle (one router advanced by one cycle) of a model, at about half of the load that its networks
/// carry. Each model's table has an EngineCost. `cpu_ns` is measured (flitlab bench). The other values were counted in
/// the kernels that were last measured on a GPU (November 2026), in which no model had lists of a block; for lane state
/// they are fitted to measurements. For a new model, begin with the values of a similar model, and correct them until
/// the estimates agree with rates measured on a GPU (tests/perf/gpu_report.cpp).
struct EngineCost {
  double cpu_ns = 50;   ///< time on one CPU core, ns
  double loads = 150;   ///< loads from device memory that the slowest thread makes one after another
  double blocks = 12;   ///< basic blocks (code without branches) that warps execute, per router
  double bytes = 2500;  ///< bytes that loads and stores transfer, counted in whole memory sectors
  u32 block_items = 0;  ///< most routers of a block of threads that processes several small replicas, if its phases
                        ///< have work_in_block (phases.hpp)
  u32 warp_group = 0;   ///< routers per warp group with lane state (cuda_lane_engine.cuh); 0: one thread per router
  u32 warp_groups = 0;  ///< warp groups that run on a multiprocessor at the same time
};

/// Size of a job: replicas that share a network plan.
struct JobSize {
  u32 items;  ///< routers of a replica
  u32 replicas;
};

struct DeviceSize {
  u32 multiprocessors;
  u32 block_threads;  ///< threads of a kernel's largest block; a multiprocessor runs at least as many
};

/// Average time that a thread waits for a load; an assumption. A load takes 20 ns from the first-level cache and 150 ns
/// from the second (Hopper, 1.7 GHz), but many loads of a thread overlap.
inline constexpr double kLoadNs = 50;
inline constexpr double kBlockBarrierNs = 50, kGridBarrierNs = 2000;
/// Factor by which a grid is slower than separate blocks of threads, because in a grid all multiprocessors wait for the
/// slowest one in each cycle. Measured on an H200: a thousand S-Connect networks ran 1.06 to 1.17 times as fast in
/// separate blocks as in a grid.
inline constexpr double kGridWaits = 1.1;
/// Bandwidth of the second-level cache per multiprocessor: 5.5 TB/s, divided by 132 multiprocessors.
inline constexpr double kBytesPerNs = 42;
/// Basic blocks that the warps of a multiprocessor execute per nanosecond. A multiprocessor issues four instructions
/// per clock of 1.755 GHz, and a basic block of the host's compiler has about 20 GPU instructions.
inline constexpr double kBlocksPerNs = 4 * 1.755 / 20;
/// Time of a basic block in a warp that runs alone on a multiprocessor: each instruction waits four clocks for the
/// previous one.
inline constexpr double kBlockNs = 20 * 4 / 1.755;
/// Host time per cycle. An epoch of 100 cycles has 9 launches and 5 copies (counted by
/// tests/kernels/engines/calls_gpu_test.cpp) of about 10 microseconds each: 140 microseconds per epoch, 1400 ns per
/// cycle.
inline constexpr double kHostNs = 1400;
/// Largest number of threads per block for which kernels are compiled (cuda_engine.cuh).
inline constexpr u32 kBlockThreads = 512;
/// Routers per CPU thread from which on another thread pays off (EngineChoice::grain).
inline constexpr u32 kGrain = 2048;

/// Returns the time, ns, that a router-cycle occupies a multiprocessor when enough threads run to hide all waiting.
constexpr double busy_ns(const EngineCost& cost) {
  return std::max(cost.blocks / kBlocksPerNs, cost.bytes / kBytesPerNs);
}

constexpr double ceil_of(double numerator, double denominator) {
  const double whole = static_cast<double>(static_cast<u64>(numerator / denominator));
  return whole * denominator < numerator ? whole + 1 : whole;
}

/// Returns the time, ns, that one thread takes for a router-cycle, even if no other thread runs.
constexpr double waiting_ns(const EngineCost& cost) {
  return std::max(cost.loads * kLoadNs, 32 * cost.blocks * kBlockNs);
}

/// Returns the time per cycle on CPU threads, ns. If there are enough replicas, each thread advances its own replicas;
/// otherwise the threads share each replica, one replica after the other.
constexpr double cpu_cycle_ns(const JobSize& job, u32 threads, const EngineCost& cost) {
  const double work = cost.cpu_ns * job.items * job.replicas;
  const u32 shared = std::clamp(job.items / kGrain, 1u, threads);
  if (job.replicas >= threads || shared == 1) return work / job.replicas * ceil_of(job.replicas, threads);
  return work / shared;
}

/// Least warps per multiprocessor before several small replicas share a warp. Sharing costs time, because the threads
/// of such a warp soon diverge (docs/gpu.md).
inline constexpr u32 kWarpsFirst = 8;

/// Returns how many replicas share a block of threads, so that its warps are full. With `cost.block_items`, the block
/// lists the work of all its replicas; longer lists fill warps better, so there is one block for each multiprocessor.
constexpr u32 replicas_of_block(const JobSize& job, const DeviceSize& device, const EngineCost& cost) {
  if (cost.block_items) {
    const u32 each = (job.replicas + device.multiprocessors - 1) / device.multiprocessors;
    return std::clamp(cost.block_items / std::max(1u, job.items), 1u, std::max(1u, each));
  }
  const u32 room = 32 / std::max(1u, job.items), plenty = job.replicas / (kWarpsFirst * device.multiprocessors);
  return std::clamp(std::min(room, plenty), 1u, job.replicas);
}

constexpr u32 threads_of_block(const JobSize& job, const DeviceSize& device, const EngineCost& cost) {
  return std::min(device.block_threads, (job.items * replicas_of_block(job, device, cost) + 31) / 32 * 32);
}

/// Returns the time per cycle, ns, if each block of threads has one or several whole replicas. Each thread of a block
/// processes one router after another, and several blocks run at the same time.
constexpr double block_cycle_ns(const JobSize& job, const DeviceSize& device, const EngineCost& cost) {
  const u32 together = replicas_of_block(job, device, cost), threads = threads_of_block(job, device, cost);
  const double blocks = ceil_of(job.replicas, together);
  const u32 at_once = device.multiprocessors * std::max(1u, device.block_threads / threads);
  const double waves = ceil_of(blocks, at_once),
               of_one = ceil_of(std::min<double>(blocks, at_once), device.multiprocessors);
  const double items = static_cast<double>(job.items) * together;
  const double waiting = ceil_of(items, threads) * waiting_ns(cost);
  return waves * (std::max(waiting, of_one * items * busy_ns(cost)) + kBlockBarrierNs);
}

/// Returns the number of threads per block of the grid: few, so that all multiprocessors have blocks.
constexpr u32 grid_threads(const JobSize& job, const DeviceSize& device) {
  const u32 each = static_cast<u32>(u64{job.items} * job.replicas / device.multiprocessors + 31) / 32 * 32;
  return std::clamp(each, std::min(32u, device.block_threads), std::min(256u, device.block_threads));
}

/// Returns the time per cycle, ns, if all replicas are distributed over the whole device, with grid barriers.
constexpr double grid_cycle_ns(const JobSize& job, const DeviceSize& device, const EngineCost& cost) {
  const double items = static_cast<double>(job.items) * job.replicas;
  const double threads = static_cast<double>(device.multiprocessors) * device.block_threads;
  const double waiting = ceil_of(items, threads) * waiting_ns(cost);
  const double busy = std::min<double>(device.multiprocessors, ceil_of(items, 32));
  return std::max(waiting, kGridWaits * items / busy * busy_ns(cost)) + kGridBarrierNs;
}

constexpr bool runs_in_blocks(const JobSize& job, const DeviceSize& device, const EngineCost& cost) {
  return block_cycle_ns(job, device, cost) <= grid_cycle_ns(job, device, cost);
}

/// Cycles between two barriers of warp groups with default delays. A grid barrier then costs a third of its time per
/// cycle.
inline constexpr double kLookahead = 3;

/// Returns the time per cycle with lane state, ns. A warp group processes two small networks, or a part of a large one.
/// `cost.loads` is the count for a warp group that runs alone on a multiprocessor.
constexpr double lanes_cycle_ns(const JobSize& job, const DeviceSize& device, const EngineCost& cost) {
  const double of_network = ceil_of(job.items, cost.warp_group);
  const double warp_groups = 2 * job.items <= cost.warp_group ? ceil_of(job.replicas, 2) : job.replicas * of_network;
  const double at_once = static_cast<double>(device.multiprocessors) * cost.warp_groups;
  const double of_one = ceil_of(std::min(warp_groups, at_once), device.multiprocessors);
  const double barrier = of_network > cost.warp_groups ? kGridBarrierNs / kLookahead : kBlockBarrierNs;
  return ceil_of(warp_groups, at_once) *
         (std::max(cost.loads * kLoadNs, of_one * cost.warp_group * busy_ns(cost)) + barrier);
}

/// Returns how many times as long as one grid of `blocks` blocks `jobs` such grids take. They run at the same time
/// while they have at most as many blocks as the device has multiprocessors (kernels/engines/grid_queue.hpp).
constexpr double rounds_of_grids(u32 jobs, double blocks, const DeviceSize& device) {
  return ceil_of(jobs, std::max(1u, static_cast<u32>(device.multiprocessors / blocks)));
}

/// Returns the time in which each of `jobs` jobs of this size advances by a cycle, ns, if they run at the same time.
/// Blocks of all jobs share the device like the replicas of one job. The host's work for the jobs is assumed to be done
/// for one after the other, which is an upper bound.
constexpr double cuda_cycle_ns(const JobSize& job, const DeviceSize& device, const EngineCost& cost, u32 jobs = 1) {
  const JobSize all{job.items, job.replicas * jobs};
  const double host = jobs * kHostNs;
  if (cost.warp_group) {
    const double of_network = ceil_of(job.items, cost.warp_group);
    if (of_network <= cost.warp_groups) return host + lanes_cycle_ns(all, device, cost);
    return host + rounds_of_grids(jobs, of_network * job.replicas, device) * lanes_cycle_ns(job, device, cost);
  }
  if (runs_in_blocks(job, device, cost)) return host + block_cycle_ns(all, device, cost);
  const double blocks = ceil_of(static_cast<double>(job.items) * job.replicas, grid_threads(job, device));
  return host + rounds_of_grids(jobs, blocks, device) * grid_cycle_ns(job, device, cost);
}

}  // namespace flitlab
