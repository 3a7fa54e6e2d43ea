#pragma once
/// METRO as a model: its state's start, its cycle, its audit.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/metro/audit.hpp"
#include "kernels/routers/metro/endpoint.hpp"
#include "kernels/routers/metro/router.hpp"
#include "kernels/routers/metro/start.hpp"
#include "kernels/routers/metro/totals.hpp"

namespace flitlab {

struct MetroModel {
  using Table = metro::Table;
  static constexpr TotalTable totals = metro::kTotalTable;
  template <int W, bool Traced>
  using View = metro::View<W, Traced>;

  using Start = StageList<Stage<metro::StartRouter, metro::StartEndpoint>>;
  using Cycle = StageList<Stage<metro::EndpointPhase, metro::RouterPhase>>;
  using Audit = StageList<Stage<metro::AuditRouter, metro::AuditEndpoint>>;

  template <int W, bool Traced>
  FLITLAB_HD static View<W, Traced> make_view(const Table& table, const Placement& place, std::byte* state,
                                              const ReplicaRow* row, CounterShard* shard, const EventLog& log) {
    return {{table, row, shard, log}, place.items<W>(state, 0), place.items<W>(state, 1)};
  }

  template <class V>
  FLITLAB_HD static u32 fault_of(const V& v, u32 kind, u32 item) {
    return kind == 0 ? v.routers[item].at(v.t.router_fields.control).fault
                     : v.terminals[item].at(v.t.terminal_fields.control).fault;
  }
};

}  // namespace flitlab
