#pragma once
/// What engines with lanes share (kernels/engines/lane_engine.hpp, cuda_lane_engine.cuh): each replica's state has two
/// forms, lanes and the canonical one, of which one may be older than the other. Whoever looks at the canonical form
/// gets it as it is now; whoever changes it makes lanes old.
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "kernels/engines/engine.hpp"

namespace flitlab {

/// `Base`: the engine that works on the canonical form.
template <class Base>
class TwoForms : public Base {
 public:
  FaultReport audit(u32 replica) override {
    settle(replica);
    const FaultReport report = Base::audit(replica);
    if (report.bits) forms_[replica].lanes_are_old = true;
    return report;
  }
  std::vector<FaultReport> audits(std::span<const u32> replicas) override {
    settle(replicas);
    const std::vector<FaultReport> reports = Base::audits(replicas);
    for (std::size_t i = 0; i < replicas.size(); ++i)
      if (reports[i].bits) forms_[replicas[i]].lanes_are_old = true;
    return reports;
  }
  std::vector<std::byte> state(u32 replica) const override {
    settle(replica);
    return Base::state(replica);
  }
  void each_state(std::span<const u32> replicas, u32 threads, const Engine::Show& show) const override {
    settle(replicas);
    Base::each_state(replicas, threads, show);
  }
  void set_state(u32 replica, const std::vector<std::byte>& canonical) override {
    Base::set_state(replica, canonical);
    forms_[replica] = {};
  }
  void get_field(u32 replica, u32 kind, const FieldInfo& field, void* out) const override {
    settle(replica);
    Base::get_field(replica, kind, field, out);
  }
  void set_field(u32 replica, u32 kind, const FieldInfo& field, const void* in) override {
    settle(replica);
    Base::set_field(replica, kind, field, in);
    forms_[replica].lanes_are_old = true;
  }
  u64 state_hash(u32 replica) const override {
    settle(replica);
    return Base::state_hash(replica);
  }
  void set_now(Cycle now) override {
    for (u32 replica = 0; replica < forms_.size(); ++replica) {
      settle(replica);
      forms_[replica].lanes_are_old = true;
    }
    Base::set_now(now);
  }

 protected:
  struct Forms {
    bool lanes_are_old = true;
    bool canonical_is_old = false;  ///< never both
    Cycle stopped = 0;              ///< when it was last advanced to: others may go on without it
  };

  template <class... Arguments>
  explicit TwoForms(Arguments&&... arguments) : Base(std::forward<Arguments>(arguments)...), forms_(this->replicas()) {}

  /// Makes the canonical form of replicas, all of which stopped at the same cycle, from lanes.
  virtual void store(std::span<const u32> replicas, Cycle stopped) const = 0;

  /// Brings the canonical form of replicas up to date.
  void settle(std::span<const u32> which) const {
    std::map<Cycle, std::vector<u32>> old;  // by when they stopped
    for (u32 replica : which) {
      Forms& forms = forms_[replica];
      if (forms.canonical_is_old) old[forms.stopped].push_back(replica);
      forms.canonical_is_old = false;
    }
    for (const auto& [cycle, list] : old) store(list, cycle);
  }
  void settle(u32 replica) const {
    const u32 only[] = {replica};
    settle(only);
  }

  mutable std::vector<Forms> forms_;
};

}  // namespace flitlab
