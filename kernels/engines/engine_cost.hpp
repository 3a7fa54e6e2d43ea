#pragma once
/// How long a cycle of a job takes, estimated for each way to run it: by this the engine of `backend = auto` is chosen,
/// and how the CUDA engine spreads a job over its device. Estimates need be right only to a factor where ways differ by
/// more; where each number comes from is said beside it. A test compares choices with what was measured on an H200.
#include <algorithm>

#include "kernels/common/types.hpp"

namespace flitlab {

/// A router-cycle of a model at about half of the load that its networks carry. A model's table has one.
struct EngineCost {
  double cpu_ns = 50;  ///< of one core: measured (flitlab bench)
  double loads = 150;  ///< of the device's memory by the thread that has most, one after the other: counted ("longest")
  double blocks = 12;  ///< basic blocks that warps go through: counted
  double bytes = 2500;  ///< that sectors of the device's memory move: counted
  u32 crew = 0;         ///< routers that a crew of warps works on in lanes (cuda_lane_engine.cuh); 0: a thread has one
  u32 crews = 0;        ///< that a multiprocessor runs at the same time
};

struct JobSize {
  u32 items;  ///< routers of a replica
  u32 replicas;
};

struct DeviceSize {
  u32 multiprocessors;
  u32 block_threads;  ///< of the largest block of a kernel; a multiprocessor runs at least as many
};

/// Assumed, but for kGridWaits. A load waits 20 ns for the first cache and 150 for the second (Hopper, 1.7 GHz); many
/// of a thread's loads do not wait for one another.
inline constexpr double kLoadNs = 50;
inline constexpr double kBlockBarrierNs = 50, kGridBarrierNs = 2000;
/// In a grid all multiprocessors wait for the slowest in each cycle, while blocks go on alone: measured on an H200, a
/// thousand networks of S-Connect were 1.06 to 1.17 times as fast in blocks of their own.
inline constexpr double kGridWaits = 1.1;
/// What a multiprocessor has of the second cache: 5.5 TB/s, divided among 132.
inline constexpr double kBytesPerNs = 42;
/// Basic blocks of warps that it goes through: it issues four instructions a clock, and a block of the host's compiler
/// becomes about 20 of them.
inline constexpr double kBlocksPerNs = 4 * 1.755 / 20;
/// What a warp takes for a basic block though it is alone: an instruction waits four clocks for the one before it.
inline constexpr double kBlockNs = 20 * 4 / 1.755;
/// Launches and copies of an epoch of 100 cycles (tests/kernels/engines/calls_gpu_test.cpp counts 9 and 5), 10
/// microseconds each, by cycle.
inline constexpr double kHostNs = 1400;
/// Threads of the largest block that kernels are compiled for (cuda_engine.cuh).
inline constexpr u32 kBlockThreads = 512;
/// Routers that are worth a thread of their own on a CPU (EngineChoice::grain).
inline constexpr u32 kGrain = 2048;

/// What a router keeps its multiprocessor busy with, however many threads wait.
constexpr double busy_ns(const EngineCost& cost) {
  return std::max(cost.blocks / kBlocksPerNs, cost.bytes / kBytesPerNs);
}

constexpr double ceil_of(double numerator, double denominator) {
  const double whole = static_cast<double>(static_cast<u64>(numerator / denominator));
  return whole * denominator < numerator ? whole + 1 : whole;
}

/// What a thread does while others do the same, however few they are.
constexpr double waiting_ns(const EngineCost& cost) {
  return std::max(cost.loads * kLoadNs, 32 * cost.blocks * kBlockNs);
}

/// By threads of a CPU: each has replicas of its own if there are enough, else they share one after the other.
constexpr double cpu_cycle_ns(const JobSize& job, u32 threads, const EngineCost& cost) {
  const double work = cost.cpu_ns * job.items * job.replicas;
  const u32 shared = std::clamp(job.items / kGrain, 1u, threads);
  if (job.replicas >= threads || shared == 1) return work / job.replicas * ceil_of(job.replicas, threads);
  return work / shared;
}

/// Warps of a multiprocessor that are worth having before several small replicas share one: those of a warp do not do
/// the same for long (docs/gpu.md).
inline constexpr u32 kWarpsFirst = 8;

/// Replicas that share a block, so that its warps are full.
constexpr u32 replicas_of_block(const JobSize& job, const DeviceSize& device) {
  const u32 room = 32 / std::max(1u, job.items), plenty = job.replicas / (kWarpsFirst * device.multiprocessors);
  return std::clamp(std::min(room, plenty), 1u, job.replicas);
}

constexpr u32 threads_of_block(const JobSize& job, const DeviceSize& device) {
  return std::min(device.block_threads, (job.items * replicas_of_block(job, device) + 31) / 32 * 32);
}

/// A block has a replica, or some: its threads take turns at their routers. Other blocks run beside it.
constexpr double resident_cycle_ns(const JobSize& job, const DeviceSize& device, const EngineCost& cost) {
  const u32 together = replicas_of_block(job, device), threads = threads_of_block(job, device);
  const double blocks = ceil_of(job.replicas, together);
  const u32 at_once = device.multiprocessors * std::max(1u, device.block_threads / threads);
  const double waves = ceil_of(blocks, at_once),
               of_one = ceil_of(std::min<double>(blocks, at_once), device.multiprocessors);
  const double items = static_cast<double>(job.items) * together;
  const double waiting = ceil_of(items, threads) * waiting_ns(cost);
  return waves * (std::max(waiting, of_one * items * busy_ns(cost)) + kBlockBarrierNs);
}

/// Threads of a block of the grid: small blocks, so that all multiprocessors have some.
constexpr u32 grid_threads(const JobSize& job, const DeviceSize& device) {
  const u32 each = static_cast<u32>(u64{job.items} * job.replicas / device.multiprocessors + 31) / 32 * 32;
  return std::clamp(each, std::min(32u, device.block_threads), std::min(256u, device.block_threads));
}

/// All replicas are spread over the whole device, with a barrier of all.
constexpr double grid_cycle_ns(const JobSize& job, const DeviceSize& device, const EngineCost& cost) {
  const double items = static_cast<double>(job.items) * job.replicas;
  const double threads = static_cast<double>(device.multiprocessors) * device.block_threads;
  const double waiting = ceil_of(items, threads) * waiting_ns(cost);
  const double busy = std::min<double>(device.multiprocessors, ceil_of(items, 32));
  return std::max(waiting, kGridWaits * items / busy * busy_ns(cost)) + kGridBarrierNs;
}

constexpr bool is_resident(const JobSize& job, const DeviceSize& device, const EngineCost& cost) {
  return resident_cycle_ns(job, device, cost) <= grid_cycle_ns(job, device, cost);
}

/// Cycles that crews go on without one another, by default: they have a barrier of the grid in each third.
inline constexpr double kLookahead = 3;

/// In lanes: a crew has two small networks, or a part of a large one. `cost.loads` is what it waits for if it is alone.
constexpr double lanes_cycle_ns(const JobSize& job, const DeviceSize& device, const EngineCost& cost) {
  const double of_network = ceil_of(job.items, cost.crew);
  const double crews = 2 * job.items <= cost.crew ? ceil_of(job.replicas, 2) : job.replicas * of_network;
  const double at_once = static_cast<double>(device.multiprocessors) * cost.crews;
  const double of_one = ceil_of(std::min(crews, at_once), device.multiprocessors);
  const double barrier = of_network > cost.crews ? kGridBarrierNs / kLookahead : kBlockBarrierNs;
  return ceil_of(crews, at_once) * (std::max(cost.loads * kLoadNs, of_one * cost.crew * busy_ns(cost)) + barrier);
}

constexpr double cuda_cycle_ns(const JobSize& job, const DeviceSize& device, const EngineCost& cost) {
  if (cost.crew) return kHostNs + lanes_cycle_ns(job, device, cost);
  return kHostNs + std::min(resident_cycle_ns(job, device, cost), grid_cycle_ns(job, device, cost));
}

}  // namespace flitlab
