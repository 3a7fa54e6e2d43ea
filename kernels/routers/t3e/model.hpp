#pragma once
/// The Cray T3E as a model: the phases of its start, its cycle and its audit.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/t3e/audit.hpp"
#include "kernels/routers/t3e/phases.hpp"
#include "kernels/routers/t3e/special.hpp"
#include "kernels/routers/t3e/start.hpp"
#include "kernels/routers/t3e/terminal_link.hpp"
#include "kernels/routers/t3e/totals.hpp"
#include "kernels/traffic/terminal.hpp"

namespace flitlab {

template <class TableType>
struct T3eModelOf {
  using Table = TableType;
  static constexpr TotalTable totals = t3e::kTotalTable;
  template <class T>
  using With = T3eModelOf<T>;
  using Fast = FastTables<t3e::PublishedTable>;
  /// The CPU engine uses bulk phases at any network size, because a router does much work per cache line.
  static constexpr bool all_in_bulk = true;
  template <int W, bool Traced>
  using View = t3e::View<W, Traced, Table>;

  using Start = StepList<Step<t3e::StartRouter, StartTerminal, t3e::StartBarriers>>;
  using Cycle = StepList<Step<t3e::SpecialPhase>, Step<TerminalPhase, t3e::BarrierPhase, t3e::RouterPhase>>;
  using Audit = StepList<Step<t3e::AuditRouter>>;

  template <int W, bool Traced>
  FLITLAB_HD static View<W, Traced> make_view(const Table& table, const Placement& position, std::byte* state,
                                              const ReplicaRow* row, CounterShard* shard, const EventLog& log) {
    return {{table, row, shard, log},
            position.items<W>(state, 0),
            position.items<W>(state, 1),
            position.items<W>(state, 2)};
  }

  template <class V>
  FLITLAB_HD static u32 fault_of(const V& v, u32 kind, u32 item) {
    if (kind == 0) return v.routers[item].at(v.t.router_fields.control).fault;
    return kind == 1 ? v.terminals[item].at(v.t.terminal_fields.control).fault : 0;
  }
};

using T3eModel = T3eModelOf<t3e::Table>;

}  // namespace flitlab
