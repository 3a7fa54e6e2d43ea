#pragma once
/// METRO model for the engines: start of the state, phases of a cycle, audit.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/metro/audit.hpp"
#include "kernels/routers/metro/endpoint.hpp"
#include "kernels/routers/metro/router_phase.hpp"
#include "kernels/routers/metro/start.hpp"
#include "kernels/routers/metro/totals.hpp"
#if !defined(__CUDACC__)
#include "kernels/routers/metro/lanes/lanes.hpp"
#endif

namespace flitlab {

template <class TableType>
struct MetroModelOf {
  using Table = TableType;
  static constexpr TotalTable totals = metro::kTotalTable;
  template <class T>
  using With = MetroModelOf<T>;
  using Fast = FastTables<metro::EightPortTable, metro::PlainTable>;
  template <int W, bool Traced>
  using View = metro::View<W, Traced, Table>;
#if !defined(__CUDACC__)
  using Lanes = metro::lanes::Lanes<Table>;
#endif

  using Start = StepList<Step<metro::StartRouter, metro::StartEndpoint>>;
  using Cycle = StepList<Step<metro::EndpointPhase, metro::RouterPhase>>;
  using Audit = StepList<Step<metro::AuditRouter, metro::AuditEndpoint>>;

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

using MetroModel = MetroModelOf<metro::Table>;

}  // namespace flitlab
