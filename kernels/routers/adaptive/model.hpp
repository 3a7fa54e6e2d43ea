#pragma once
/// The adaptive router as a model: initial state, phases of a cycle, audit.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/adaptive/audit.hpp"
#include "kernels/routers/adaptive/router.hpp"
#include "kernels/routers/adaptive/start.hpp"
#include "kernels/routers/adaptive/totals.hpp"

namespace flitlab {

struct AdaptiveModel {
  using Table = adaptive::Table;
  static constexpr TotalTable totals = adaptive::kTotalTable;
  static constexpr bool all_in_bulk = true;
  template <int W, bool Traced>
  using View = adaptive::View<W, Traced>;

  using Start = StepList<Step<adaptive::StartRouter, adaptive::StartTerminal>>;
  using Cycle = StepList<Step<adaptive::RouterPhase>>;
  using Audit = StepList<Step<adaptive::AuditRouter>>;

  template <int W, bool Traced>
  FLITLAB_HD static View<W, Traced> make_view(const Table& table, const Placement& position, std::byte* state,
                                              const ReplicaRow* row, CounterShard* shard, const EventLog& log) {
    return {{table, row, shard, log}, position.items<W>(state, 0), position.items<W>(state, 1)};
  }

  template <class V>
  FLITLAB_HD static u32 fault_of(const V& v, u32 kind, u32 item) {
    return kind == 0 ? v.routers[item].at(v.t.router_fields.control).fault
                     : v.terminals[item].at(v.t.terminal_fields.control).fault;
  }
};

}  // namespace flitlab
