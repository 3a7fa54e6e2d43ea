#pragma once
/// The CUDA engine: the only code that launches kernels. It runs the same phase functions as the CPU engine.
///
/// A job (replicas that share a network plan) runs in one of two ways. Either each block of threads processes one or
/// several whole replicas, with a block barrier after each step of a cycle. Or all replicas are distributed over a
/// cooperative grid, with a grid barrier after each step. engine_cost.hpp estimates which way is faster. In both ways
/// one launch advances replicas by many cycles, and the cycle loop neither allocates memory nor transfers data to the
/// host.
#include <cooperative_groups.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/common/shared_memory.cuh"
#include "kernels/engines/cuda_job.cuh"
#include "kernels/engines/cuda_launch.cuh"
#include "kernels/engines/device_hash.cuh"
#include "kernels/engines/device_memory.cuh"
#include "kernels/engines/engine.hpp"
#include "kernels/engines/engine_cost.hpp"
#include "kernels/engines/phases.hpp"
#include "kernels/engines/work_list.cuh"

namespace flitlab {

/// Advances the active replicas by `cycles`. `together`: number of replicas that a block of threads processes, with a
/// block barrier after each step; 0: the grid processes all replicas, with grid barriers. Consecutive threads take the
/// routers of one replica, then the routers of the next, so that warps are full even if replicas are small. In phases
/// with a test `due` (whether an item has work), threads process only the due items while these are few
/// (work_list.cuh). The launch bound asks for one block of kBlockThreads per multiprocessor, which is enough. Without
/// it the compiler reserves registers for two blocks and spills some.
template <class Model, class List>
__global__ void __launch_bounds__(kBlockThreads, 1)
    step_kernel(const __grid_constant__ DeviceJob<Model> job, Cycle from, u32 cycles, u32 together) {
  const u32 first = together ? blockIdx.x * together : 0;
  const u32 replicas = together ? std::min(together, job.active_count - first) : job.active_count;
  const u32 me = together ? threadIdx.x : blockIdx.x * blockDim.x + threadIdx.x;
  const u32 threads = together ? blockDim.x : gridDim.x * blockDim.x;
  WorkList list(shared_memory());
  u32 mostly_due = 0;  // one bit per phase: 1 if most items were due when last checked
  for (Cycle now = from; now != from + cycles; ++now) {
    [[maybe_unused]] u32 phase = 0;
    List::for_each([&]<class OneStep>() __attribute__((always_inline)) {
      const auto any = job.view(job.active[first]);  // the number of items is the same in all replicas
      if (!OneStep::has_items(any)) return;
      OneStep::for_each([&]<class Phase>() __attribute__((always_inline)) {
        const u32 items = Phase::items(any), all = items * replicas;
        const auto view = [&](u32 i) __attribute__((always_inline)) { return job.view(job.active[first + i / items]); };
        if constexpr (kInBlock<Phase>) {
          auto& shared = *reinterpret_cast<typename Phase::InBlock*>(shared_memory() + WorkList::bytes(blockDim.x));
          const auto work = [&](const u32* due, u32 begin, u32 n) __attribute__((always_inline)) {
            Phase::work_in_block(DueItems<DeviceJob<Model>>{job, first, items, due, begin, n}, shared, now);
          };
          if constexpr (requires { Phase::due(any, 0u, now); }) {
            const auto due = [&](u32 i) __attribute__((always_inline)) { return Phase::due(view(i), i % items, now); };
            // Registers spill in one model without inlining, and in another one with it.
            if constexpr (requires { Phase::kInlinesCollected; })
              list.collect(me - threadIdx.x, all, threads, due,
                           [&](const u32* its, u32 n) __attribute__((always_inline)) { work(its, 0, n); });
            else
              list.collect(me - threadIdx.x, all, threads, due, [&](const u32* its, u32 n) { work(its, 0, n); });
          } else {
            for (u32 begin = me - threadIdx.x; begin < all; begin += threads) {
              work(nullptr, begin, all - begin < blockDim.x ? all - begin : blockDim.x);
              __syncthreads();  // before the lists of the next items or phase
            }
          }
        } else if constexpr (kMayBeListed<Phase, typename DeviceJob<Model>::View>) {
          const auto due = [&](u32 i) __attribute__((always_inline)) { return Phase::due(view(i), i % items, now); };
          const auto work = [&](u32 i) __attribute__((always_inline)) { work_on<Phase>(view(i), i % items, now); };
          const bool packs = kListed<Phase> || !(mostly_due >> phase & 1) || now % 16 == 0;
          const bool most = list.visit(me - threadIdx.x, all, threads, packs, due, work);
          if (!kListed<Phase> && packs) mostly_due = (mostly_due & ~(1u << phase)) | u32{most} << phase;
          ++phase;
        } else {
          for (u32 i = me; i < all; i += threads) Phase::run(view(i), i % items, now);
        }
      });
      if (together)
        __syncthreads();
      else
        cooperative_groups::this_grid().sync();
    });
  }
}

/// Returns the shared memory, bytes, that the phases of a cycle need for `work_in_block`.
template <class Phase>
constexpr u32 bytes_of_phase() {
  if constexpr (kInBlock<Phase>) return sizeof(typename Phase::InBlock);
  return 0;
}
template <class... Phases>
constexpr u32 bytes_in_block(Step<Phases...>*) {
  return std::max({0u, bytes_of_phase<Phases>()...});
}
template <class... Steps>
constexpr u32 bytes_in_block(StepList<Steps...>*) {
  return std::max({0u, bytes_in_block(static_cast<Steps*>(nullptr))...});
}

template <class Model>
class CudaEngine : public Engine {
 public:
  static constexpr u32 kWidth = DeviceJob<Model>::kWidth;
  static constexpr u32 kUsed = totals_in_use(totals_of<Model>());
  static constexpr std::size_t kCopyBytes = std::size_t{64} << 20;  ///< most bytes of states copied to the host at a
                                                                    ///< time

  CudaEngine(const typename Model::Table& device_table, StateLayout layout, std::vector<ReplicaRow> rows)
      : layout_(std::move(layout)),
        rows_(std::move(rows)),
        replica_bytes_((layout_.bytes(kWidth) + 255) / 256 * 256),
        arena_(replica_bytes_ * rows_.size()),
        device_rows_(rows_.data(), rows_.size()),
        shards_(rows_.size()),
        active_(rows_.size()),
        totals_(rows_.size() * kUsed),
        found_(rows_.size() * layout_.kinds.size()) {
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
    wait_for_own_stream();
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
    wait_for_own_stream();
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
    return audits(only).front();
  }

  std::vector<Totals> totals(std::span<const u32> replicas) override {
    choose(replicas);
    const u64 cells = u64{job_.active_count} * kUsed;
    launch_for_each(totals_kernel<Model>, cells, job_, kUsed, totals_.data());
    std::vector<u64> used(cells);
    totals_.copy_to(used.data(), used.size());
    std::vector<Totals> all(replicas.size());
    for (std::size_t i = 0; i < all.size(); ++i) std::copy_n(&used[i * kUsed], kUsed, all[i].begin());
    return all;
  }

  std::vector<FaultReport> audits(std::span<const u32> replicas) override {
    std::vector<FaultReport> reports(replicas.size());
    if (replicas.empty()) return reports;
    launch<typename Model::Audit>(replicas, 1);
    FLITLAB_CUDA_CHECK(cudaMemset(found_.data(), 0xFF, found_.size() * sizeof(unsigned long long)));
    for (u32 kind = 0; kind < job_.placement.kinds; ++kind)
      launch_for_each(fault_kernel<Model>, u64{job_.active_count} * job_.placement.count[kind], job_, kind,
                      found_.data() + kind * rows_.size());
    std::vector<unsigned long long> found(found_.size());
    found_.copy_to(found.data(), found.size());
    for (u32 kind = job_.placement.kinds; kind-- > 0;)  // in reverse, so that the fault of the lowest-numbered kind is
                                                        // the one reported
      for (std::size_t i = 0; i < replicas.size(); ++i) {
        const unsigned long long first = found[kind * rows_.size() + i];
        const u32 word = static_cast<u32>(first), item = static_cast<u32>(first >> 32);
        if (first != ~0ull) reports[i] = {word & kFaultBits, fault_port(word), kind, item};
      }
    return reports;
  }

  const StateLayout& layout() const override { return layout_; }
  std::vector<std::byte> state(u32 replica) const override {
    std::vector<std::byte> raw(layout_.bytes(kWidth)), canonical(layout_.bytes(1));
    arena_.copy_to(raw.data(), raw.size(), replica_bytes_ * replica);
    convert_state(layout_, raw.data(), kWidth, canonical.data(), 1);
    return canonical;
  }
  /// Calls show() for the states of several replicas. Replicas that are close together in memory are copied in one
  /// transfer.
  void each_state(std::span<const u32> replicas, u32 threads, const Show& show) const override {
    const std::size_t most = std::max<std::size_t>(1, kCopyBytes / replica_bytes_);
    std::vector<std::byte> raw;
    std::vector<std::vector<std::byte>> canonical(std::min<std::size_t>(threads, replicas.size()),
                                                  std::vector<std::byte>(layout_.bytes(1)));
    for (std::size_t i = 0, end; i < replicas.size(); i = end) {
      const u32 first = replicas[i];
      for (end = i + 1; end < replicas.size() && replicas[end] > first && replicas[end] - first < most;) ++end;
      raw.resize(replica_bytes_ * (*std::max_element(&replicas[i], &replicas[i] + (end - i)) - first + 1));
      arena_.copy_to(raw.data(), raw.size(), replica_bytes_ * first);
      share_out(end - i, threads, [&](std::size_t k, u32 thread) {
        const std::byte* state = raw.data() + replica_bytes_ * (replicas[i + k] - first);
        convert_state(layout_, state, kWidth, canonical[thread].data(), 1);
        show(i + k, canonical[thread]);
      });
    }
  }
  void set_state(u32 replica, const std::vector<std::byte>& canonical) override {
    std::vector<std::byte> raw(layout_.bytes(kWidth));
    convert_state(layout_, canonical.data(), 1, raw.data(), kWidth);
    arena_.copy_from(raw.data(), raw.size(), replica_bytes_ * replica);
  }

  /// The elements of a field are contiguous within a block of items; across blocks they are strided.
  void get_field(u32 replica, u32 kind, const FieldInfo& field, void* out) const override {
    const std::size_t row = std::size_t{field.count} * field.element_bytes * kWidth;
    const std::size_t pitch = std::size_t{layout_.kinds[kind].item_bytes} * kWidth;
    const std::size_t blocks = (layout_.kinds[kind].count + kWidth - 1) / kWidth;
    std::vector<std::byte> rows(row * blocks);
    FLITLAB_CUDA_CHECK(cudaMemcpy2D(rows.data(), row, item_start(replica, kind, 0, field), pitch, row, blocks,
                                    cudaMemcpyDeviceToHost));
    read_field(alone(kind, field), FieldInfo{"", 0, field.count, field.element_bytes}, rows.data(), kWidth, out);
  }
  void set_field(u32 replica, u32 kind, const FieldInfo& field, const void* in) override {
    const std::size_t row = std::size_t{field.count} * field.element_bytes * kWidth;
    const std::size_t pitch = std::size_t{layout_.kinds[kind].item_bytes} * kWidth;
    const std::size_t blocks = (layout_.kinds[kind].count + kWidth - 1) / kWidth;
    std::vector<std::byte> rows(row * blocks);  // padding items of the last block stay zero
    write_field(alone(kind, field), FieldInfo{"", 0, field.count, field.element_bytes}, rows.data(), kWidth, in);
    FLITLAB_CUDA_CHECK(cudaMemcpy2D(item_start(replica, kind, 0, field), pitch, rows.data(), row, row, blocks,
                                    cudaMemcpyHostToDevice));
    wait_for_own_stream();
  }

  /// The elements of an item lie kWidth elements apart.
  void get_item(u32 replica, u32 kind, u32 item, const FieldInfo& field, void* out) const override {
    const std::size_t bytes = field.element_bytes;
    FLITLAB_CUDA_CHECK(cudaMemcpy2D(out, bytes, item_start(replica, kind, item, field), kWidth * bytes, bytes,
                                    field.count, cudaMemcpyDeviceToHost));
  }
  void set_item(u32 replica, u32 kind, u32 item, const FieldInfo& field, const void* in) override {
    const std::size_t bytes = field.element_bytes;
    FLITLAB_CUDA_CHECK(cudaMemcpy2D(item_start(replica, kind, item, field), kWidth * bytes, in, bytes, bytes,
                                    field.count, cudaMemcpyHostToDevice));
    wait_for_own_stream();
  }

  u64 state_hash(u32 replica) const override {
    u64 sum = 0, first_word = 0;
    for (u32 kind = 0; kind < job_.placement.kinds; ++kind) {
      const std::byte* items = arena_.data() + replica_bytes_ * replica + job_.placement.offset[kind];
      const u64 words = u64{job_.placement.count[kind]} * job_.placement.item_bytes[kind] / 8;
      sum += hash_.part({items, byte_places_[kind].data(), first_word, job_.placement.item_bytes[kind]}, words);
      first_word += words;
    }
    return sum;
  }

  std::vector<std::vector<Event>> take_events(u32) override { return {}; }

 private:
  /// Returns the shared memory of a block of the step kernel.
  template <class List>
  static u32 shared_bytes(u32 threads) {
    return WorkList::bytes(threads) + bytes_in_block(static_cast<List*>(nullptr));
  }

  /// Returns the address of the first element of a field of an item.
  std::byte* item_start(u32 replica, u32 kind, u32 item, const FieldInfo& field) const {
    return arena_.data() + replica_bytes_ * replica + job_.placement.offset[kind] +
           element_offset(layout_.kinds[kind], field, item, 0, kWidth);
  }

  /// Returns an item kind whose only field is `field`, to convert this field alone.
  ItemKind alone(u32 kind, const FieldInfo& field) const {
    return {"", layout_.kinds[kind].count, field.count * field.element_bytes, {}, {}};
  }

  template <class List>
  void launch(std::span<const u32> active, u32 cycles) {
    if (active.empty() || !cycles) return;
    choose(active);
    const auto kernel = step_kernel<Model, List>;
    allow_shared_bytes(kernel, shared_bytes<List>(kBlockThreads));
    const JobSize size{job_.placement.count[0], job_.active_count};
    const DeviceSize device{multiprocessors(), most_threads(kernel)};
    if (runs_in_blocks(size, device, Model::Table::cost)) {
      const u32 together = replicas_of_block(size, device, Model::Table::cost);
      const u32 threads = threads_of_block(size, device, Model::Table::cost);
      launch_kernel(kernel, (size.replicas + together - 1) / together, threads, shared_bytes<List>(threads), false,
                    job_, now_, cycles, together);
      return;
    }
    const u32 threads = grid_threads(size, device), needed = (size.items * size.replicas + threads - 1) / threads;
    const u32 blocks = std::min(needed, blocks_at_once(kernel, threads, shared_bytes<List>(threads)));
    launch_kernel(kernel, blocks, threads, shared_bytes<List>(threads), true, job_, now_, cycles, 0u);
  }

  StateLayout layout_;
  std::vector<ReplicaRow> rows_;
  std::size_t replica_bytes_;
  DeviceArray<std::byte> arena_;
  DeviceArray<ReplicaRow> device_rows_;
  DeviceArray<CounterShard> shards_;
  DeviceArray<u32> active_;
  std::vector<u32> chosen_;  ///< replicas listed in `active_`
  DeviceArray<u64> totals_;  ///< [replica][kUsed]
  std::vector<DeviceArray<uint2>> byte_places_;
  DeviceArray<unsigned long long> found_;  ///< [kind][replica]
  mutable DeviceHash hash_;

 protected:  // for engines with other kernels
  /// Sets the replicas that the next launches process. The list is copied to the device only if it differs from the
  /// last one.
  void choose(std::span<const u32> active) {
    if (std::ranges::equal(active, chosen_)) return;
    chosen_.assign(active.begin(), active.end());
    active_.copy_from(chosen_.data(), chosen_.size());
    job_.active_count = static_cast<u32>(chosen_.size());
  }

  DeviceJob<Model> job_{};
  Cycle now_ = 0;
};

}  // namespace flitlab
