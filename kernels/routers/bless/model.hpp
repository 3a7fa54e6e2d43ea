#pragma once
/// The bufferless deflection router as a model: start state, cycle and audit.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/bless/audit.hpp"
#include "kernels/routers/bless/router.hpp"
#include "kernels/routers/bless/start.hpp"

namespace flitlab {

template <class TableType>
struct BlessModelOf {
  using Table = TableType;
  static constexpr TotalTable totals = bless::kTotalTable;
  static constexpr bool all_in_bulk = true;
  template <class T>
  using With = BlessModelOf<T>;
  using Fast = FastTables<bless::PlaneTable<0>, bless::PlaneTable<1>>;
  template <int W, bool Traced>
  using View = bless::View<W, Traced, Table>;

  using Start = StepList<Step<bless::StartTerminal>>;
  using Cycle = StepList<Step<bless::RouterPhase>>;
  using Audit = StepList<Step<bless::AuditRouter, bless::AuditTerminal>>;

  template <int W, bool Traced>
  FLITLAB_HD static View<W, Traced> make_view(const Table& table, const Placement& placement, std::byte* state,
                                              const ReplicaRow* row, CounterShard* shard, const EventLog& log) {
    return {{table, row, shard, log}, placement.items<W>(state, 0), placement.items<W>(state, 1)};
  }

  template <class V>
  FLITLAB_HD static u32 fault_of(const V& v, u32 kind, u32 item) {
    return kind == 0 ? v.routers[item].at(v.t.router_fields.control).fault
                     : v.terminals[item].at(v.t.terminal_fields.control).fault;
  }
};

using BlessModel = BlessModelOf<bless::Table>;

}  // namespace flitlab
