#pragma once
/// Estimated time per cycle of a job, for each way to run it. The estimates choose the engine of `backend = auto`, and
/// how the CUDA engine distributes a job on its device. An error of some factor is harmless where the ways differ by a
/// larger one. Each constant's source is given beside it. A test compares the choices with measurements on an H200.
#include <algorithm>

#include "kernels/common/types.hpp"

namespace flitlab {

/// Cost of a router-cycle of a model at about half of the load that its networks carry. A model's table has one.
/// `cpu_ns` is measured (flitlab bench). The others are counts of the kernels of November 2026; for lane state they
/// are fitted to measurements. For a new model, begin with those of a similar model, and correct them until the
/// estimates agree with rates measured on a GPU (tests/perf/gpu_report.cpp).
struct EngineCost {
  double cpu_ns = 50;   ///< on one CPU core
  double loads = 150;   ///< consecutive loads from device memory by the thread that has most
  double blocks = 12;   ///< basic blocks that warps execute
  double bytes = 2500;  ///< bytes moved by sectors of device memory
  u32 warp_group = 0;   ///< routers per warp group in lanes (cuda_lane_engine.cuh); 0: one thread per router
  u32 warp_groups = 0;  ///< warp groups that run on a multiprocessor at the same time
};

/// The size of a job.
struct JobSize {
  u32 items;  ///< routers of a replica
  u32 replicas;
};

struct DeviceSize {
  u32 multiprocessors;
  u32 block_threads;  ///< threads of a kernel's largest block; a multiprocessor runs at least as many
};

/// Assumed. A load takes 20 ns from the first-level cache and 150 ns from the second (Hopper, 1.7 GHz); many of a
/// thread's loads overlap.
inline constexpr double kLoadNs = 50;
inline constexpr double kBlockBarrierNs = 50, kGridBarrierNs = 2000;
/// In a grid all multiprocessors wait for the slowest in each cycle; separate blocks do not. Measured on an H200: a
/// thousand S-Connect networks were 1.06 to 1.17 times as fast in separate blocks.
inline constexpr double kGridWaits = 1.1;
/// A multiprocessor's share of the second-level cache's bandwidth: 5.5 TB/s, divided by 132.
inline constexpr double kBytesPerNs = 42;
/// Basic blocks of warps that a multiprocessor executes. It issues four instructions per clock, and a basic block of
/// the host's compiler is about 20 of them.
inline constexpr double kBlocksPerNs = 4 * 1.755 / 20;
/// Time of a basic block for a warp that runs alone: an instruction waits four clocks for the previous one.
inline constexpr double kBlockNs = 20 * 4 / 1.755;
/// Launches and copies of an epoch of 100 cycles (tests/kernels/engines/calls_gpu_test.cpp counts 9 and 5), 10
/// microseconds each, per cycle.
inline constexpr double kHostNs = 1400;
/// Threads of the largest block that kernels are compiled for (cuda_engine.cuh).
inline constexpr u32 kBlockThreads = 512;
/// Routers per CPU thread that make another thread worthwhile (EngineChoice::grain).
inline constexpr u32 kGrain = 2048;

/// Returns the multiprocessor time that a router-cycle takes, however many threads wait.
constexpr double busy_ns(const EngineCost& cost) {
  return std::max(cost.blocks / kBlocksPerNs, cost.bytes / kBytesPerNs);
}

constexpr double ceil_of(double numerator, double denominator) {
  const double whole = static_cast<double>(static_cast<u64>(numerator / denominator));
  return whole * denominator < numerator ? whole + 1 : whole;
}

/// Returns the time that one thread takes for a router-cycle, however few threads run.
constexpr double waiting_ns(const EngineCost& cost) {
  return std::max(cost.loads * kLoadNs, 32 * cost.blocks * kBlockNs);
}

/// Returns the cycle time on CPU threads. Each thread has its own replicas if there are enough of them; else the
/// threads process one replica after the other together.
constexpr double cpu_cycle_ns(const JobSize& job, u32 threads, const EngineCost& cost) {
  const double work = cost.cpu_ns * job.items * job.replicas;
  const u32 shared = std::clamp(job.items / kGrain, 1u, threads);
  if (job.replicas >= threads || shared == 1) return work / job.replicas * ceil_of(job.replicas, threads);
  return work / shared;
}

/// Warps that a multiprocessor should have before several small replicas share one: the threads of a warp soon diverge
/// (docs/gpu.md).
inline constexpr u32 kWarpsFirst = 8;

/// Returns how many replicas share a block of threads, so that its warps are full.
constexpr u32 replicas_of_block(const JobSize& job, const DeviceSize& device) {
  const u32 room = 32 / std::max(1u, job.items), plenty = job.replicas / (kWarpsFirst * device.multiprocessors);
  return std::clamp(std::min(room, plenty), 1u, job.replicas);
}

constexpr u32 threads_of_block(const JobSize& job, const DeviceSize& device) {
  return std::min(device.block_threads, (job.items * replicas_of_block(job, device) + 31) / 32 * 32);
}

/// Returns the cycle time if each block of threads has one or several replicas: its threads process their routers in
/// turns, and other blocks run at the same time.
constexpr double block_cycle_ns(const JobSize& job, const DeviceSize& device, const EngineCost& cost) {
  const u32 together = replicas_of_block(job, device), threads = threads_of_block(job, device);
  const double blocks = ceil_of(job.replicas, together);
  const u32 at_once = device.multiprocessors * std::max(1u, device.block_threads / threads);
  const double waves = ceil_of(blocks, at_once),
               of_one = ceil_of(std::min<double>(blocks, at_once), device.multiprocessors);
  const double items = static_cast<double>(job.items) * together;
  const double waiting = ceil_of(items, threads) * waiting_ns(cost);
  return waves * (std::max(waiting, of_one * items * busy_ns(cost)) + kBlockBarrierNs);
}

/// Returns the threads of a block of the grid: few, so that all multiprocessors have blocks.
constexpr u32 grid_threads(const JobSize& job, const DeviceSize& device) {
  const u32 each = static_cast<u32>(u64{job.items} * job.replicas / device.multiprocessors + 31) / 32 * 32;
  return std::clamp(each, std::min(32u, device.block_threads), std::min(256u, device.block_threads));
}

/// Returns the cycle time if all replicas are distributed over the whole device, with grid barriers.
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

/// Default cycles between two barriers of warp groups; a grid barrier then costs a third of its time per cycle.
inline constexpr double kLookahead = 3;

/// Returns the cycle time in lanes. A warp group has two small networks, or a part of a large one. `cost.loads` applies
/// to a warp group that runs alone.
constexpr double lanes_cycle_ns(const JobSize& job, const DeviceSize& device, const EngineCost& cost) {
  const double of_network = ceil_of(job.items, cost.warp_group);
  const double warp_groups = 2 * job.items <= cost.warp_group ? ceil_of(job.replicas, 2) : job.replicas * of_network;
  const double at_once = static_cast<double>(device.multiprocessors) * cost.warp_groups;
  const double of_one = ceil_of(std::min(warp_groups, at_once), device.multiprocessors);
  const double barrier = of_network > cost.warp_groups ? kGridBarrierNs / kLookahead : kBlockBarrierNs;
  return ceil_of(warp_groups, at_once) *
         (std::max(cost.loads * kLoadNs, of_one * cost.warp_group * busy_ns(cost)) + barrier);
}

constexpr double cuda_cycle_ns(const JobSize& job, const DeviceSize& device, const EngineCost& cost) {
  if (cost.warp_group) return kHostNs + lanes_cycle_ns(job, device, cost);
  return kHostNs + std::min(block_cycle_ns(job, device, cost), grid_cycle_ns(job, device, cost));
}

}  // namespace flitlab
