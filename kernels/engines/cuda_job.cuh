#pragma once
/// A job as kernel argument, and the small kernels that collect totals and faults after an epoch. Each of these kernels
/// processes all replicas in one launch, so that the number of launches does not grow with the replicas.
#include "kernels/common/counters.hpp"
#include "kernels/common/events.hpp"
#include "kernels/common/replica.hpp"
#include "kernels/engines/state_layout.hpp"

namespace flitlab {

/// All that a kernel needs to build the views of all replicas; passed by value.
template <class Model>
struct DeviceJob {
  typename Model::Table table;
  Placement placement;
  std::byte* arena;
  std::size_t replica_bytes;
  const ReplicaRow* rows;
  CounterShard* shards;  ///< one per replica; updated with atomics
  const u32* active;     ///< replicas that the launch processes
  u32 active_count;

  static constexpr int kWidth = 32;
  using View = typename Model::template View<kWidth, false>;

  FLITLAB_HD View view(u32 replica) const {
    return Model::template make_view<kWidth, false>(table, placement, arena + replica_bytes * replica, rows + replica,
                                                    shards + replica, EventLog{});
  }
};

/// Copies the first `used` totals of each active replica to `out`: [active replica][used].
template <class Model>
__global__ void totals_kernel(const __grid_constant__ DeviceJob<Model> job, u32 used, u64* out) {
  const u64 i = u64{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= u64{job.active_count} * used) return;
  out[i] = job.shards[job.active[i / used]].total[i % used];
}

/// Finds the first faulty item of a kind in each active replica. `found`: [active replica], the item's number in the
/// upper half and its fault word in the lower half.
template <class Model>
__global__ void fault_kernel(const __grid_constant__ DeviceJob<Model> job, u32 kind, unsigned long long* found) {
  const u64 i = u64{blockIdx.x} * blockDim.x + threadIdx.x;
  const u32 items = job.placement.count[kind];
  if (i >= u64{job.active_count} * items) return;
  const u32 r = static_cast<u32>(i / items), item = static_cast<u32>(i % items);
  const u32 word = Model::fault_of(job.view(job.active[r]), kind, item);
  if (word) atomicMin(found + r, static_cast<unsigned long long>(item) << 32 | word);
}

}  // namespace flitlab
