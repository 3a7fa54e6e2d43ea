#pragma once
/// S-Connect as a model: the phases that start its state, run a cycle and audit it.
#include "kernels/routers/sconnect/audit.hpp"
#include "kernels/routers/sconnect/phases.hpp"
#include "kernels/routers/sconnect/start.hpp"
#include "kernels/routers/sconnect/totals.hpp"

namespace flitlab {

template <class TableType>
struct SconnectModelOf {
  using Table = TableType;
  static constexpr TotalTable totals = sconnect::kTotalTable;
  template <class T>
  using With = SconnectModelOf<T>;
  using Fast = FastTables<sconnect::PlainTable>;
  /// The CPU engine uses bulk phases at any network size, because mispredicted branches cost more than cache misses.
  static constexpr bool all_in_bulk = true;
  template <int W, bool Traced>
  using View = sconnect::View<W, Traced, Table>;

  using Start = StepList<Step<sconnect::StartTic, sconnect::StartHost>>;
  using Cycle = StepList<Step<sconnect::TicPhase>>;
  using Audit = StepList<Step<sconnect::AuditTic>>;

  template <int W, bool Traced>
  FLITLAB_HD static View<W, Traced> make_view(const Table& table, const Placement& placement, std::byte* state,
                                              const ReplicaRow* row, CounterShard* shard, const EventLog& log) {
    return {{table, row, shard, log}, placement.items<W>(state, 0), placement.items<W>(state, 1)};
  }

  template <class V>
  FLITLAB_HD static u32 fault_of(const V& v, u32 kind, u32 item) {
    return kind == 0 ? v.tics[item].at(v.t.fields.control).fault
                     : v.terminals[item].at(v.t.terminal_fields.control).fault;
  }
};

using SconnectModel = SconnectModelOf<sconnect::Table>;

}  // namespace flitlab
