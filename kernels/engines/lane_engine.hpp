#pragma once
/// A CPU engine with two forms of a replica's state: lane state, in which one instruction processes many items (routers
/// or terminals), and the canonical state, which other engines use. It uses lane state while a replica is busy, and the
/// canonical state while the replica is mostly idle or the host reads it. Both forms give the same results.
///
/// A model with lane state has a type `Lanes`, which is constructed from the model's table and offers
///   `static bool fits(table)`               whether the lane code supports a table on this processor
///   `u32 width() const`                     items per block
///   `std::size_t bytes() const`             memory of a replica
///   `load(memory, canonical, placement, row, cycle) const`  converts the canonical state to lane state
///   `store(...) const`                      converts it back
///   `run(memory, canonical, placement, row, shard, begin, end, cycle, cycles) const`  advances blocks `begin` to
///                                           before `end`; `cycles` may exceed 1 only if these are all blocks. Part
///                                           of the lane state may lie in the canonical state's memory until `store`
///   `bool audit(memory, canonical, placement, row, shard, cycle) const`  optional: runs the model's audit on lane
///                                           state. If it finds a fault, it returns false and counts nothing
///   `bool is_shared(kind, field) const`     optional: whether a field lies in the canonical state's memory all the
///                                           time
///   `wake(memory, row, terminal) const`     optional: lets a terminal run in the next cycle (Engine::wake)
///   `double busy() const`                   flit moves per item and cycle above which lane state pays; < 0: always
#include "kernels/engines/cpu_engine.hpp"
#include "kernels/engines/two_forms.hpp"

namespace flitlab {

template <class Model>
class LaneEngine final : public TwoForms<CpuEngine<Model, 1, false>> {
  using Base = TwoForms<CpuEngine<Model, 1, false>>;

 public:
  LaneEngine(const typename Model::Table& table, StateLayout layout, std::vector<ReplicaRow> rows,
             const EngineChoice& choice)
      : Base(table, std::move(layout), std::move(rows), choice.threads, choice.grain),
        lanes_(this->table_),
        always_(choice.lanes == LaneUse::kAlways),
        room_(Arena::taken(lanes_.bytes()) * this->rows_.size() <= choice.lane_bytes),
        items_(this->layout_.kinds[0].count),
        replicas_(this->rows_.size()) {}

  void advance(u32 cycles, std::span<const u32> active) override {
    const bool thread_groups = this->threads_ > 1 && active.size() < this->threads_ && this->parts_ > 1;
    if (thread_groups)
      for (u32 replica : active) prepare(replica);
    this->divide(active, [&](u32 replica, u32 thread, ThreadGroup* thread_group) {
      if (!thread_groups) prepare(replica);
      if (!replicas_[replica].in_lanes)
        this->run_cycles(replica, thread, cycles, thread_group);
      else
        run_lanes(replica, thread, cycles, thread_group);
    });
    for (u32 replica : active) {
      auto& forms = this->forms_[replica];
      (replicas_[replica].in_lanes ? forms.canonical_outdated : forms.lanes_outdated) = true;
      forms.stopped = this->now_ + cycles;
    }
    this->now_ += cycles;
  }

  void set_row(u32 replica, const ReplicaRow& row) override {
    this->update_canonical(replica);
    this->forms_[replica].lanes_outdated = true;  // lane state may contain random numbers drawn in advance
    Base::set_row(replica, row);
  }

  void wake(u32 replica, u32 terminal) override {
    if constexpr (requires { &Model::Lanes::wake; })
      if (!this->forms_[replica].lanes_outdated)
        lanes_.wake(replicas_[replica].memory.get(), this->rows_[replica], terminal);
  }

  FaultReport audit(u32 replica) override { return passes_in_lanes(replica) ? FaultReport{} : Base::audit(replica); }
  std::vector<FaultReport> audits(std::span<const u32> replicas) override { return Engine::audits(replicas); }

 private:
  struct Replica {
    Arena memory;
    bool in_lanes = false;
    Cycle form_chosen = 0;  ///< cycle in which the form was last chosen
    u64 moves = 0;          ///< flit moves up to that cycle
  };
  static constexpr Cycle kChoicePeriod = 64;  ///< cycles

  /// Chooses the form of a replica for the next cycles, and converts its state.
  void prepare(u32 replica) {
    Replica& r = replicas_[replica];
    const Cycle passed = this->now_ - r.form_chosen;
    if (!room_) return;
    if (always_ || lanes_.busy() < 0) {
      r.in_lanes = true;
    } else if (passed >= kChoicePeriod) {
      const u64 moves = this->total(replica, Total::kFlitMoves);
      const double activity = static_cast<double>(moves - r.moves) / passed / items_;
      r.in_lanes = activity > (r.in_lanes ? lanes_.busy() / 2 : lanes_.busy());
      r.form_chosen = this->now_;
      r.moves = moves;
    }
    bool& lanes_outdated = this->forms_[replica].lanes_outdated;
    if (!r.in_lanes) {
      this->update_canonical(replica);
    } else if (lanes_outdated) {
      if (!r.memory.get()) r.memory = Arena(lanes_.bytes());
      lanes_.load(r.memory.get(), this->replica_state(replica), this->place_, this->rows_[replica], this->now_);
      lanes_outdated = false;
    }
  }

  bool is_shared(u32 kind, const FieldInfo& field) const override {
    if constexpr (requires { lanes_.is_shared(kind, field); }) return lanes_.is_shared(kind, field);
    return false;
  }

  /// Returns whether the lane state of a replica passes the audit; false if the canonical state is to be audited.
  bool passes_in_lanes(u32 replica) {
    if constexpr (requires { &Model::Lanes::audit; }) {
      const auto& forms = this->forms_[replica];
      return forms.canonical_outdated &&
             lanes_.audit(replicas_[replica].memory.get(), this->replica_state(replica), this->place_,
                          this->rows_[replica], this->shard(replica, 0), forms.stopped);
    }
    return false;
  }

  void store(std::span<const u32> which, Cycle stopped) const override {
    for (u32 replica : which)
      lanes_.store(replicas_[replica].memory.get(), this->replica_state(replica), this->place_, this->rows_[replica],
                   stopped);
  }

  void run_lanes(u32 replica, u32 thread, u32 cycles, ThreadGroup* thread_group) {
    const u32 width = lanes_.width(), blocks = (items_ + width - 1) / width;
    std::byte* memory = replicas_[replica].memory.get();
    const ReplicaRow& row = this->rows_[replica];
    CounterShard& shard = this->shard(replica, thread);
    std::byte* canonical = this->replica_state(replica);
    if (!thread_group) return lanes_.run(memory, canonical, this->place_, row, shard, 0, blocks, this->now_, cycles);
    for (Cycle now = this->now_, last = now + cycles; now != last; ++now) {
      thread_group->start_cycle(thread, now);
      ThreadGroup::Shares shares(thread_group, thread, now, 0, blocks * width, width);
      for (u32 begin, end; shares.next(begin, end);)
        lanes_.run(memory, canonical, this->place_, row, shard, begin / width, end / width, now, 1);
      thread_group->wait();
    }
  }

  const typename Model::Lanes lanes_;
  const bool always_, room_;
  const u32 items_;
  std::vector<Replica> replicas_;
};

}  // namespace flitlab
