#pragma once
/// The canonical virtual-channel router as a model: initial state, phases of a cycle, audit.
#include "kernels/common/fault.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/engines/phases.hpp"
#include "kernels/routers/vc/audit.hpp"
#include "kernels/routers/vc/lanes/lanes.hpp"
#include "kernels/routers/vc/phases.hpp"
#include "kernels/routers/vc/start.hpp"
#include "kernels/routers/vc/terminal_link.hpp"
#include "kernels/traffic/class_totals.hpp"
#include "kernels/traffic/terminal.hpp"

namespace flitlab {

template <class T>
struct VcModelOf;

template <class TableType>
struct VcModelBase {
  using Table = TableType;
  static constexpr TotalTable totals = kClassTotalTable;
  template <class T>
  using With = VcModelOf<T>;
  /// Plan types with compile-time constants. Plain routers with 4 VCs in two and three dimensions are the most common.
  using Fast = FastTables<vc::FixedVcTable<5, 4>, vc::FixedVcTable<7, 4>>;
  template <int W, bool Traced>
  using View = vc::View<W, Traced, Table>;

  using Start = StepList<Step<vc::StartRouter, StartTerminal>>;
  using Cycle = StepList<Step<TerminalPhase, vc::RouterPhase>>;
  using Audit = StepList<Step<vc::AuditRouter>>;

  template <int W, bool Traced>
  FLITLAB_HD static View<W, Traced> make_view(const Table& table, const Placement& placement, std::byte* state,
                                              const ReplicaRow* row, CounterShard* shard, const EventLog& log) {
    return {{table, row, shard, log}, placement.items<W>(state, 0), placement.items<W>(state, 1)};
  }

  /// Returns the fault bits of an item. `kind`: 0 router, 1 terminal.
  template <class V>
  FLITLAB_HD static u32 fault_of(const V& v, u32 kind, u32 item) {
    return kind == 0 ? v.routers[item].at(v.t.router_fields.control).fault
                     : v.terminals[item].at(v.t.terminal_fields.control).fault;
  }
};

/// Model with lane state (kernels/engines/lane_engine.hpp).
template <class T>
struct VcModelOf : VcModelBase<T> {
  using Lanes = vc::lanes::Lanes<T>;
};

using VcModel = VcModelOf<vc::VcTable>;

}  // namespace flitlab
