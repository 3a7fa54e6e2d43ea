#pragma once
/// The single switch as a model: initial state, phases of a cycle, audit.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/switch/audit.hpp"
#include "kernels/routers/switch/phases.hpp"
#include "kernels/routers/switch/start.hpp"

namespace flitlab {

struct SwitchModel {
  using Table = sw::Table;
  template <int W, bool Traced>
  using View = sw::View<W, Traced>;

  using Start = StepList<Step<sw::StartSwitch>>;
  using Cycle = StepList<Step<sw::SwitchPhase>>;
  using Audit = StepList<Step<sw::AuditSwitch>>;

  template <int W, bool Traced>
  FLITLAB_HD static View<W, Traced> make_view(const Table& table, const Placement& placement, std::byte* state,
                                              const ReplicaRow* row, CounterShard* shard, const EventLog& log) {
    return {{table, row, shard, log}, placement.items<W>(state, 0), placement.items<W>(state, 1)};
  }

  template <class V>
  FLITLAB_HD static u32 fault_of(const V& v, u32 kind, u32 item) {
    return kind == 0 ? v.routers[item].at(v.t.fields.control).fault
                     : v.terminals[item].at(v.t.terminal_fields.control).fault;
  }
};

}  // namespace flitlab
