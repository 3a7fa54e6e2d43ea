#pragma once
/// The CUDA engine: the only place that launches kernels. It runs the same phase functions as the CPU engine.
///
/// A replica that one block can handle stays with that block for a whole epoch: one launch advances all replicas by
/// many cycles, with a block barrier per stage. Larger networks run on a cooperative grid over all replicas, with a
/// grid barrier per stage. Either way nothing is allocated and nothing crosses to the host inside the cycle loop.
#include <cooperative_groups.h>

#include <algorithm>
#include <utility>

#include "kernels/engines/device_hash.cuh"
#include "kernels/engines/device_memory.cuh"
#include "kernels/engines/engine.hpp"
#include "kernels/engines/phases.hpp"

namespace flitlab {

/// Everything a kernel needs to build the views of all replicas; passed by value.
template <class Model>
struct DeviceJob {
  typename Model::Table table;
  Placement place;
  std::byte* arena;
  std::size_t replica_bytes;
  const ReplicaRow* rows;
  CounterShard* shards;  ///< one per replica, shared through atomics
  const u32* active;     ///< replicas to advance
  u32 active_count;

  static constexpr int kWidth = 32;
  using View = typename Model::template View<kWidth, false>;

  FLITLAB_HD View view(u32 replica) const {
    return Model::template make_view<kWidth, false>(table, place, arena + replica_bytes * replica, rows + replica,
                                                    shards + replica, EventLog{});
  }
};

/// Advances the active replicas by `cycles`. `resident`: a block for each replica, with a barrier of the block after
/// each stage; else the whole grid goes through all replicas, with a barrier of the grid. One block of 512 threads on a
/// multiprocessor is enough: the compiler, left to itself, makes room for two, and spills registers (docs/gpu.md).
template <class Model, class List>
__global__ void __launch_bounds__(512, 1)
    step_kernel(const __grid_constant__ DeviceJob<Model> job, Cycle from, u32 cycles, bool resident) {
  const u32 first = resident ? blockIdx.x : 0, last = resident ? first + 1 : job.active_count;
  const u32 me = resident ? threadIdx.x : blockIdx.x * blockDim.x + threadIdx.x;
  const u32 threads = resident ? blockDim.x : gridDim.x * blockDim.x;
  for (Cycle now = from; now != from + cycles; ++now)
    List::for_each([&]<class OneStage>() {
      if (!OneStage::has_items(job.view(job.active[first]))) return;  // the same in all replicas: they share the table
      for (u32 r = first; r < last; ++r) {
        const auto v = job.view(job.active[r]);
        OneStage::for_each([&]<class Phase>() {
          for (u32 item = me; item < Phase::items(v); item += threads) Phase::run(v, item, now);
        });
      }
      if (resident)
        __syncthreads();
      else
        cooperative_groups::this_grid().sync();
    });
}

/// Finds the first faulty item of a kind: its number in the upper half of `found`, its fault word in the lower one.
template <class Model>
__global__ void fault_kernel(const __grid_constant__ DeviceJob<Model> job, u32 replica, u32 kind,
                             unsigned long long* found) {
  const u32 item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item >= job.place.count[kind]) return;
  const u32 word = Model::fault_of(job.view(replica), kind, item);
  if (word) atomicMin(found, static_cast<unsigned long long>(item) << 32 | word);
}

template <class Model>
class CudaEngine : public Engine {
 public:
  static constexpr u32 kWidth = DeviceJob<Model>::kWidth;
  /// Up to this many routers for each of its threads a block is at least as good as the grid: the barrier is a
  /// block's, and other replicas fill the other multiprocessors.
  static constexpr u32 kResidentItems = 8;

  CudaEngine(const typename Model::Table& device_table, StateLayout layout, std::vector<ReplicaRow> rows)
      : layout_(std::move(layout)),
        rows_(std::move(rows)),
        replica_bytes_((layout_.bytes(kWidth) + 255) / 256 * 256),
        arena_(replica_bytes_ * rows_.size()),
        device_rows_(rows_.data(), rows_.size()),
        shards_(rows_.size()),
        found_(1),
        active_(rows_.size()) {
    arena_.zero();
    shards_.zero();
    job_ = {device_table,        place_items(layout_, kWidth),
            arena_.data(),       replica_bytes_,
            device_rows_.data(), shards_.data(),
            active_.data(),      0};
    for (const ItemKind& kind : layout_.kinds) {
      std::vector<uint2> bytes(kind.item_bytes, make_uint2(0, 0));
      for (const FieldInfo& f : kind.fields)
        for (u32 i = 0; i < f.count; ++i)
          for (u32 b = 0; b < f.element_bytes; ++b)
            bytes[f.offset + i * f.element_bytes + b] =
                make_uint2(f.offset * kWidth + i * kWidth * f.element_bytes + b, f.element_bytes);
      byte_places_.emplace_back(bytes.data(), bytes.size());
    }
    std::vector<u32> all(rows_.size());
    for (u32 r = 0; r < all.size(); ++r) all[r] = r;
    launch<typename Model::Start>(all, 1);
    FLITLAB_CUDA_CHECK(cudaDeviceSynchronize());
  }

  std::string backend() const override { return "cuda"; }
  std::string device() const override {
    cudaDeviceProp properties{};
    FLITLAB_CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
    return properties.name;
  }
  u32 threads() const override { return 1; }
  u32 replicas() const override { return static_cast<u32>(rows_.size()); }
  Cycle now() const override { return now_; }

  void advance(u32 cycles, std::span<const u32> active) override {
    launch<typename Model::Cycle>(active, cycles);
    FLITLAB_CUDA_CHECK(cudaDeviceSynchronize());
    now_ += cycles;
  }

  CounterShard counters(u32 replica) override {
    CounterShard shard;
    shards_.copy_to(&shard, 1, replica);
    return shard;
  }
  void set_counters(u32 replica, const CounterShard& counters) override { shards_.copy_from(&counters, 1, replica); }
  void set_row(u32 replica, const ReplicaRow& row) override {
    rows_[replica] = row;
    device_rows_.copy_from(&row, 1, replica);
  }
  const ReplicaRow& row(u32 replica) const override { return rows_[replica]; }
  void set_now(Cycle now) override { now_ = now; }

  FaultReport audit(u32 replica) override {
    const u32 only[] = {replica};
    launch<typename Model::Audit>(only, 1);
    for (u32 kind = 0; kind < job_.place.kinds; ++kind) {
      const unsigned long long none = ~0ull;
      found_.copy_from(&none, 1);
      if (const u32 items = job_.place.count[kind]) {
        const u32 threads = std::min(256u, most_threads(fault_kernel<Model>));
        launch_kernel(fault_kernel<Model>, (items + threads - 1) / threads, threads, false, job_, replica, kind,
                      found_.data());
      }
      unsigned long long found = none;
      found_.copy_to(&found, 1);
      if (found == none) continue;
      const u32 word = static_cast<u32>(found), item = static_cast<u32>(found >> 32);
      return {word & kFaultBits, fault_port(word), kind, item};
    }
    return {};
  }

  const StateLayout& layout() const override { return layout_; }
  std::vector<std::byte> state(u32 replica) const override {
    std::vector<std::byte> raw(layout_.bytes(kWidth)), canonical(layout_.bytes(1));
    arena_.copy_to(raw.data(), raw.size(), replica_bytes_ * replica);
    convert_state(layout_, raw.data(), kWidth, canonical.data(), 1);
    return canonical;
  }
  void set_state(u32 replica, const std::vector<std::byte>& canonical) override {
    std::vector<std::byte> raw(layout_.bytes(kWidth));
    convert_state(layout_, canonical.data(), 1, raw.data(), kWidth);
    arena_.copy_from(raw.data(), raw.size(), replica_bytes_ * replica);
  }

  /// A field of one block of items lies together; across blocks it is strided.
  void get_field(u32 replica, u32 kind, const FieldInfo& field, void* out) const override {
    const std::size_t row = std::size_t{field.count} * field.element_bytes * kWidth;
    const std::size_t pitch = std::size_t{layout_.kinds[kind].item_bytes} * kWidth;
    const std::size_t blocks = (layout_.kinds[kind].count + kWidth - 1) / kWidth;
    std::vector<std::byte> rows(row * blocks);
    FLITLAB_CUDA_CHECK(
        cudaMemcpy2D(rows.data(), row, field_start(replica, kind, field), pitch, row, blocks, cudaMemcpyDeviceToHost));
    read_field(alone(kind, field), FieldInfo{"", 0, field.count, field.element_bytes}, rows.data(), kWidth, out);
  }
  void set_field(u32 replica, u32 kind, const FieldInfo& field, const void* in) override {
    const std::size_t row = std::size_t{field.count} * field.element_bytes * kWidth;
    const std::size_t pitch = std::size_t{layout_.kinds[kind].item_bytes} * kWidth;
    const std::size_t blocks = (layout_.kinds[kind].count + kWidth - 1) / kWidth;
    std::vector<std::byte> rows(row * blocks);  // items that fill up the last block stay zero
    write_field(alone(kind, field), FieldInfo{"", 0, field.count, field.element_bytes}, rows.data(), kWidth, in);
    FLITLAB_CUDA_CHECK(
        cudaMemcpy2D(field_start(replica, kind, field), pitch, rows.data(), row, row, blocks, cudaMemcpyHostToDevice));
  }

  u64 state_hash(u32 replica) const override {
    u64 sum = 0, first_word = 0;
    for (u32 kind = 0; kind < job_.place.kinds; ++kind) {
      const std::byte* items = arena_.data() + replica_bytes_ * replica + job_.place.offset[kind];
      const u64 words = u64{job_.place.count[kind]} * job_.place.item_bytes[kind] / 8;
      sum += hash_.part({items, byte_places_[kind].data(), first_word, job_.place.item_bytes[kind]}, words);
      first_word += words;
    }
    return sum;
  }

  std::vector<std::vector<Event>> take_events(u32) override { return {}; }

 private:
  std::byte* field_start(u32 replica, u32 kind, const FieldInfo& field) const {
    return arena_.data() + replica_bytes_ * replica + job_.place.offset[kind] + std::size_t{field.offset} * kWidth;
  }

  /// A kind of item that consists of one field.
  ItemKind alone(u32 kind, const FieldInfo& field) const {
    return {"", layout_.kinds[kind].count, field.count * field.element_bytes, {}, {}};
  }

  template <class List>
  void launch(std::span<const u32> active, u32 cycles) {
    if (active.empty() || !cycles) return;
    active_.copy_from(active.data(), active.size());
    job_.active_count = static_cast<u32>(active.size());
    const auto kernel = step_kernel<Model, List>;
    const u32 items = job_.place.count[0], most = most_threads(kernel);
    if (items <= kResidentItems * most) {
      launch_kernel(kernel, job_.active_count, std::min(most, (items + 31) / 32 * 32), false, job_, now_, cycles, true);
      return;
    }
    int device = 0, processors = 0, per_processor = 0;
    const u32 threads = std::min(256u, most);
    FLITLAB_CUDA_CHECK(cudaGetDevice(&device));
    FLITLAB_CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    FLITLAB_CUDA_CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, kernel, static_cast<int>(threads), 0));
    const u32 needed = (items + threads - 1) / threads;
    const u32 blocks = std::max(1u, std::min<u32>(needed, static_cast<u32>(processors * per_processor)));
    launch_kernel(kernel, blocks, threads, true, job_, now_, cycles, false);
  }

  /// Threads of a block: what the kernel's registers allow, in whole warps.
  template <class Kernel>
  static u32 most_threads(Kernel* kernel) {
    cudaFuncAttributes attributes{};
    FLITLAB_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    return static_cast<u32>(attributes.maxThreadsPerBlock) / 32 * 32;
  }

  template <class... Parameters, class... Arguments>
  static void launch_kernel(void (*kernel)(Parameters...), u32 blocks, u32 threads, bool cooperative,
                            Arguments&&... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = cooperative;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.attrs = &attribute;
    config.numAttrs = 1;
    FLITLAB_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...));
  }

  StateLayout layout_;
  std::vector<ReplicaRow> rows_;
  std::size_t replica_bytes_;
  DeviceArray<std::byte> arena_;
  DeviceArray<ReplicaRow> device_rows_;
  DeviceArray<CounterShard> shards_;
  std::vector<DeviceArray<uint2>> byte_places_;
  DeviceArray<unsigned long long> found_;
  mutable DeviceHash hash_;

 protected:  // for engines with kernels of their own
  DeviceArray<u32> active_;
  DeviceJob<Model> job_{};
  Cycle now_ = 0;
};

}  // namespace flitlab
