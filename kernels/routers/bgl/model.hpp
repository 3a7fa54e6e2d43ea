#pragma once
/// Blue Gene/L's torus as a model: start state, cycle and audit.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/bgl/audit.hpp"
#include "kernels/routers/bgl/phases.hpp"
#include "kernels/routers/bgl/software.hpp"
#include "kernels/routers/bgl/start.hpp"
#include "kernels/routers/bgl/totals.hpp"

namespace flitlab {

template <class TableType>
struct BglModelOf {
  using Table = TableType;
  static constexpr TotalTable totals = bgl::kTotalTable;
  template <class T>
  using With = BglModelOf<T>;
  using Fast = FastTables<bgl::PublishedTable>;
  template <int W, bool Traced>
  using View = bgl::View<W, Traced, Table>;

  using Start = StepList<Step<bgl::StartNode, bgl::StartSoftware>>;
  using Cycle = StepList<Step<bgl::SoftwarePhase, bgl::NodePhase>>;
  using Audit = StepList<Step<bgl::AuditNode>>;

  template <int W, bool Traced>
  FLITLAB_HD static View<W, Traced> make_view(const Table& table, const Placement& placement, std::byte* state,
                                              const ReplicaRow* row, CounterShard* shard, const EventLog& log) {
    return {{table, row, shard, log},
            placement.items<W>(state, 0),
            placement.items<W>(state, 1),
            placement.items<W>(state, 2)};
  }

  template <class V>
  FLITLAB_HD static u32 fault_of(const V& v, u32 kind, u32 item) {
    if (kind == 0) return v.nodes[item].at(v.t.node_fields.control).fault;
    return kind == 1 ? v.terminals[item].at(v.t.terminal_fields.control).fault : 0;
  }
};

using BglModel = BglModelOf<bgl::Table>;

}  // namespace flitlab
