#pragma once
/// Common code of engines with lane state (kernels/engines/lane_engine.hpp, cuda_lane_engine.cuh). Each replica's state
/// has two forms, lane state and the canonical state, and one of them may be out of date. Reading the canonical state
/// brings it up to date first; changing the canonical state makes the lane state out of date.
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "kernels/engines/engine.hpp"

namespace flitlab {

/// `Base`: the engine that works on the canonical state.
template <class Base>
class TwoForms : public Base {
 public:
  FaultReport audit(u32 replica) override {
    update_canonical(replica);
    const FaultReport report = Base::audit(replica);
    if (report.bits) forms_[replica].lanes_outdated = true;
    return report;
  }
  std::vector<FaultReport> audits(std::span<const u32> replicas) override {
    update_canonical(replicas);
    const std::vector<FaultReport> reports = Base::audits(replicas);
    for (std::size_t i = 0; i < replicas.size(); ++i)
      if (reports[i].bits) forms_[replicas[i]].lanes_outdated = true;
    return reports;
  }
  std::vector<std::byte> state(u32 replica) const override {
    update_canonical(replica);
    return Base::state(replica);
  }
  void each_state(std::span<const u32> replicas, u32 threads, const Engine::Show& show) const override {
    update_canonical(replicas);
    Base::each_state(replicas, threads, show);
  }
  void set_state(u32 replica, const std::vector<std::byte>& canonical) override {
    Base::set_state(replica, canonical);
    forms_[replica] = {};
  }
  void get_field(u32 replica, u32 kind, const FieldInfo& field, void* out) const override {
    if (!is_shared(kind, field)) update_canonical(replica);
    Base::get_field(replica, kind, field, out);
  }
  void set_field(u32 replica, u32 kind, const FieldInfo& field, const void* in) override {
    update_canonical(replica);
    Base::set_field(replica, kind, field, in);
    forms_[replica].lanes_outdated = true;
  }
  std::byte* in_place(u32 replica, u32 kind, const FieldInfo& field) override {
    return is_shared(kind, field) ? Base::in_place(replica, kind, field) : nullptr;
  }
  void get_item(u32 replica, u32 kind, u32 item, const FieldInfo& field, void* out) const override {
    update_canonical(replica);
    Base::get_item(replica, kind, item, field, out);
  }
  void set_item(u32 replica, u32 kind, u32 item, const FieldInfo& field, const void* in) override {
    update_canonical(replica);
    Base::set_item(replica, kind, item, field, in);
    forms_[replica].lanes_outdated = true;
  }
  u64 state_hash(u32 replica) const override {
    update_canonical(replica);
    return Base::state_hash(replica);
  }
  void set_now(Cycle now) override {
    for (u32 replica = 0; replica < forms_.size(); ++replica) {
      update_canonical(replica);
      forms_[replica].lanes_outdated = true;
    }
    Base::set_now(now);
  }

 protected:
  struct Forms {
    bool lanes_outdated = true;
    bool canonical_outdated = false;  ///< lane state and canonical state are never both out of date
    Cycle stopped = 0;                ///< cycle up to which the replica was advanced; other replicas may be further
  };

  template <class... Arguments>
  explicit TwoForms(Arguments&&... arguments) : Base(std::forward<Arguments>(arguments)...), forms_(this->replicas()) {}

  /// Returns whether lane state has no copy of a field, so that the canonical state's is always up to date.
  virtual bool is_shared(u32, const FieldInfo&) const { return false; }

  /// Converts lane state to the canonical state for replicas that all stopped at the same cycle.
  virtual void store(std::span<const u32> replicas, Cycle stopped) const = 0;

  /// Brings the canonical state of replicas up to date.
  void update_canonical(std::span<const u32> which) const {
    std::map<Cycle, std::vector<u32>> old;  // replicas by the cycle at which they stopped
    for (u32 replica : which) {
      Forms& forms = forms_[replica];
      if (forms.canonical_outdated) old[forms.stopped].push_back(replica);
      forms.canonical_outdated = false;
    }
    for (const auto& [cycle, list] : old) store(list, cycle);
  }
  void update_canonical(u32 replica) const {
    const u32 only[] = {replica};
    update_canonical(only);
  }

  mutable std::vector<Forms> forms_;
};

}  // namespace flitlab
