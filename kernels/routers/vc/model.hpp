#pragma once
/// The canonical virtual-channel router as a model: its state's start, its cycle, its audit.
#include "kernels/common/fault.hpp"
#include "kernels/engines/engine.hpp"
#include "kernels/engines/phases.hpp"
#include "kernels/routers/vc/audit.hpp"
#include "kernels/routers/vc/phases.hpp"
#include "kernels/routers/vc/start.hpp"
#include "kernels/routers/vc/terminal.hpp"

namespace flitlab {

struct VcModel {
  using Table = vc::VcTable;
  template <int W, bool Traced>
  using View = vc::View<W, Traced>;

  using Start = StageList<Stage<vc::StartRouter, vc::StartTerminal>>;
  using Cycle = StageList<Stage<vc::TerminalPhase, vc::RouterPhase>>;
  using Audit = StageList<Stage<vc::AuditRouter>>;

  template <int W, bool Traced>
  static View<W, Traced> make_view(const Table& table, const StateLayout& layout, std::byte* state,
                                   const ReplicaRow* row, CounterShard* shard, const EventLog& log) {
    return {table,
            Items<W>{state, layout.kinds[0].item_bytes},
            Items<W>{state + layout.kind_offset(1, W), layout.kinds[1].item_bytes},
            row,
            shard,
            log};
  }

  template <int W, bool Traced>
  static FaultReport first_fault(const View<W, Traced>& v) {
    for (u32 r = 0; r < v.t.routers; ++r)
      if (const u32 bits = v.routers[r].at(v.t.router_fields.control).fault) return {bits, 0, r};
    for (u32 i = 0; i < v.t.terminals; ++i)
      if (const u32 bits = v.terminals[i].at(v.t.terminal_fields.control).fault) return {bits, 1, i};
    return {};
  }
};

}  // namespace flitlab
