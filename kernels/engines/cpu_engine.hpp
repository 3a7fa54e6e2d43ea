#pragma once
/// The CPU engine. Its threads run the phases of a router model (the functions of a cycle) for all routers and
/// terminals. If there are many replicas (independent copies of the network), each thread advances whole replicas,
/// without barriers. If there are few and large replicas, several threads share the items of each replica, with a
/// barrier after each step of a cycle.
#include <algorithm>
#include <cstring>
#include <memory>

#include "kernels/engines/arena.hpp"
#include "kernels/engines/engine.hpp"
#include "kernels/engines/thread_group.hpp"
#include "kernels/engines/visit.hpp"

namespace flitlab {

template <class Model, int W, bool Traced>
class CpuEngine : public Engine {
 public:
  using View = typename Model::template View<W, Traced>;

  CpuEngine(const typename Model::Table& table, StateLayout layout, std::vector<ReplicaRow> rows, u32 threads,
            u32 grain)
      : table_(table),
        layout_(std::move(layout)),
        place_(place_items(layout_, W)),
        rows_(std::move(rows)),
        threads_(std::max(1u, threads)),
        parts_(std::clamp(layout_.kinds[0].count / std::max(1u, grain), 1u, threads_)),
        replica_bytes_((layout_.bytes(W) + 63) / 64 * 64),
        prefetch_(replica_bytes_ > kCacheBytes),
        arena_(replica_bytes_ * rows_.size()),
        shards_(rows_.size() * threads_) {
    std::memset(static_cast<void*>(shards_.data()), 0, shards_.size() * sizeof(CounterShard));
    if constexpr (Traced) {
      items_ = 0;
      for (const ItemKind& kind : layout_.kinds) items_ += kind.count;
      events_.resize(rows_.size() * items_ * kEventsPerItem);
      event_counts_.resize(rows_.size() * items_);
    }
    VisitHistory history{0};
    for (u32 r = 0; r < rows_.size(); ++r) run_steps<typename Model::Start, false>(view(r, 0), 0, 0, nullptr, history);
  }

  std::string backend() const override { return "cpu"; }
  std::string device() const override { return std::to_string(threads_) + (threads_ == 1 ? " thread" : " threads"); }
  u32 threads() const override { return threads_; }
  u32 replicas() const override { return static_cast<u32>(rows_.size()); }
  Cycle now() const override { return now_; }

  void advance(u32 cycles, std::span<const u32> active) override {
    divide(active, [&](u32 replica, u32 thread, ThreadGroup* thread_group) {
      run_cycles(replica, thread, cycles, thread_group);
    });
    now_ += cycles;
  }

  CounterShard counters(u32 replica) override {
    CounterShard sum = shards_[std::size_t{replica} * threads_];
    const Totals totals = totals_of_one(replica);
    std::copy(totals.begin(), totals.end(), sum.total);
    for (u32 thread = 1; thread < threads_; ++thread) {
      const CounterShard& shard = shards_[std::size_t{replica} * threads_ + thread];
      for (u32 i = 0; i < kHistogramBins; ++i) {
        sum.latency[i] += shard.latency[i];
        sum.network_latency[i] += shard.network_latency[i];
      }
    }
    return sum;
  }

  std::vector<Totals> totals(std::span<const u32> replicas) override {
    std::vector<Totals> all;
    for (u32 replica : replicas) all.push_back(totals_of_one(replica));
    return all;
  }

  void set_counters(u32 replica, const CounterShard& counters) override {
    CounterShard* shards = &shards_[std::size_t{replica} * threads_];
    std::memset(static_cast<void*>(shards), 0, threads_ * sizeof(CounterShard));
    shards[0] = counters;
  }

  void set_row(u32 replica, const ReplicaRow& row) override { rows_[replica] = row; }
  const ReplicaRow& row(u32 replica) const override { return rows_[replica]; }
  void set_now(Cycle now) override { now_ = now; }

  FaultReport audit(u32 replica) override {
    const View v = view(replica, 0);
    VisitHistory history{0};
    run_steps<typename Model::Audit, false>(v, 0, now_, nullptr, history);
    for (u32 kind = 0; kind < place_.kinds; ++kind)
      for (u32 item = 0; item < place_.count[kind]; ++item)
        if (const u32 word = Model::fault_of(v, kind, item)) return {word & kFaultBits, fault_port(word), kind, item};
    return {};
  }

  const StateLayout& layout() const override { return layout_; }

  std::vector<std::byte> state(u32 replica) const override {
    std::vector<std::byte> canonical(layout_.bytes(1));
    convert_state(layout_, replica_state(replica), W, canonical.data(), 1);
    return canonical;
  }
  void set_state(u32 replica, const std::vector<std::byte>& canonical) override {
    convert_state(layout_, canonical.data(), 1, replica_state(replica), W);
  }
  void get_field(u32 replica, u32 kind, const FieldInfo& field, void* out) const override {
    read_field(layout_.kinds[kind], field, replica_state(replica) + place_.offset[kind], W, out);
  }
  void set_field(u32 replica, u32 kind, const FieldInfo& field, const void* in) override {
    write_field(layout_.kinds[kind], field, replica_state(replica) + place_.offset[kind], W, in);
  }
  std::byte* in_place(u32 replica, u32 kind, const FieldInfo& field) override {
    return W == 1 ? replica_state(replica) + place_.offset[kind] + field.offset : nullptr;
  }
  void get_item(u32 replica, u32 kind, u32 item, const FieldInfo& field, void* out) const override {
    read_item(layout_.kinds[kind], field, replica_state(replica) + place_.offset[kind], W, item, out);
  }
  void set_item(u32 replica, u32 kind, u32 item, const FieldInfo& field, const void* in) override {
    write_item(layout_.kinds[kind], field, replica_state(replica) + place_.offset[kind], W, item, in);
  }
  u64 state_hash(u32 replica) const override { return hash_state(layout_, replica_state(replica), W); }

  std::vector<std::vector<Event>> take_events(u32 replica) override {
    std::vector<std::vector<Event>> taken(items_);
    for (std::size_t i = 0; i < items_; ++i) {
      u32& n = event_counts_[replica * items_ + i];
      const Event* first = &events_[(replica * items_ + i) * kEventsPerItem];
      taken[i].assign(first, first + std::min(n, kEventsPerItem));
      n = 0;
    }
    return taken;
  }

 protected:
  /// Calls work(replica, thread, thread_group) for all active replicas. If there are enough active replicas, each
  /// thread processes whole replicas alone (`thread_group` is null). Otherwise a thread group shares each replica.
  template <class Work>
  void divide(std::span<const u32> active, Work&& work) {
    if (threads_ == 1 || active.empty()) {
      for (u32 replica : active) work(replica, 0u, nullptr);
    } else if (active.size() >= threads_ || parts_ == 1) {
      share_out(active.size(), threads_, [&](std::size_t i, u32 thread) { work(active[i], thread, nullptr); });
    } else {
      for (u32 replica : active) {
        ThreadGroup thread_group(parts_);
        run_on_threads(threads_, [&](u32 thread) {
          if (thread < parts_) work(replica, thread, &thread_group);
        });
      }
    }
  }

  std::byte* replica_state(u32 replica) const { return arena_.get() + replica_bytes_ * replica; }
  /// Returns a total of a replica, summed over threads; not for totals that are maxima.
  u64 total(u32 replica, TotalIndex what) const {
    u64 sum = 0;
    for (u32 thread = 0; thread < threads_; ++thread)
      sum += shards_[std::size_t{replica} * threads_ + thread].total[what.value];
    return sum;
  }
  CounterShard& shard(u32 replica, u32 thread) { return shards_[std::size_t{replica} * threads_ + thread]; }

  /// Advances a replica by `cycles`, on this thread alone or as a member of a thread group.
  void run_cycles(u32 replica, u32 thread, u32 cycles, ThreadGroup* thread_group) {
    if constexpr (has_bulk_phases<View>(static_cast<typename Model::Cycle*>(nullptr))) {
      if (kAllInBulk || replica_bytes_ / (thread_group ? thread_group->parts() : 1) <= kBulkBytes)
        return run_cycles_as<true>(replica, thread, cycles, thread_group);
    }
    run_cycles_as<false>(replica, thread, cycles, thread_group);
  }

  typename Model::Table table_;
  StateLayout layout_;
  Placement place_;
  std::vector<ReplicaRow> rows_;
  u32 threads_;
  u32 parts_;  ///< threads that share a replica if there are few replicas
  Cycle now_ = 0;

 private:
  Totals totals_of_one(u32 replica) const {
    Totals sum{};
    for (u32 thread = 0; thread < threads_; ++thread)
      for (u32 i = 0; i < kUsed; ++i) {
        const u64 part = shards_[std::size_t{replica} * threads_ + thread].total[i];
        sum[i] = kMaxima[i] ? std::max(sum[i], part) : sum[i] + part;
      }
    return sum;
  }

  static constexpr u32 kUsed = totals_in_use(totals_of<Model>());
  static constexpr u32 kEventsPerItem = Traced ? 512 : 0;

  static constexpr std::array<bool, kTotals> kMaxima = maxima(totals_of<Model>());
  static constexpr std::size_t kCacheBytes = std::size_t{1} << 18;  ///< half of a second-level cache; larger replicas
                                                                    ///< are prefetched

  /// A replica of at most `kBulkBytes` uses bulk phases, which process many items per call. A larger replica waits for
  /// memory, and processing items one by one hides that latency better. A model can request bulk phases for replicas of
  /// any size (`all_in_bulk`, kernels/engines/phases.hpp).
  static constexpr bool kAllInBulk = requires { Model::all_in_bulk; };
  static constexpr std::size_t kBulkBytes = std::size_t{1} << 23;

  View view(u32 replica, u32 thread) {
    EventLog log;
    if constexpr (Traced)
      log = EventLog{&events_[replica * items_ * kEventsPerItem], &event_counts_[replica * items_], kEventsPerItem};
    return Model::template make_view<W, Traced>(table_, place_, replica_state(replica), &rows_[replica],
                                                &shard(replica, thread), log);
  }

  template <bool Bulk>
  void run_cycles_as(u32 replica, u32 thread, u32 cycles, ThreadGroup* thread_group) {
    VisitHistory history{prefetch_ ? 2u : 0u};
    const View v = view(replica, thread);  // the address of `v` is never taken, so that its members stay in registers
    for (Cycle cycle = now_, end = now_ + cycles; cycle != end; ++cycle)
      run_steps<typename Model::Cycle, Bulk>(v, thread, cycle, thread_group, history);
  }

  std::size_t replica_bytes_;
  bool prefetch_;
  Arena arena_;
  std::vector<CounterShard> shards_;
  std::size_t items_ = 0;
  std::vector<Event> events_;
  std::vector<u32> event_counts_;
};

}  // namespace flitlab
