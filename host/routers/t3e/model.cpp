/// The Cray T3E's entry in the model registry.
#include "host/config/registry.hpp"
#include "host/routers/t3e/checks.hpp"
#include "host/routers/t3e/plan.hpp"
#include "host/routers/t3e/tools.hpp"
#include "kernels/routers/t3e/params.hpp"
#include "kernels/routers/t3e/totals.hpp"

namespace flitlab {
namespace {

bool whole(const Experiment& e) {
  return e.ints(t3e::param::topology.partial_planes).empty() && e.ints(t3e::param::topology.spares).empty() &&
         e.ints(t3e::param::topology.partitions).empty() && e.ints(t3e::param::faults.nodes).empty();
}

}  // namespace

ModelRecord t3e_model() {
  return {
      .kind = "t3e",
      .help = "Cray T3E",
      .topology = {records_of(t3e::param::topology)},
      .sections = {records_of(t3e::param::router), records_of(t3e::param::routing), records_of(t3e::param::barrier),
                   records_of(t3e::param::io), records_of(t3e::param::registers), records_of(t3e::param::faults),
                   records_of(t3e::param::special), records_of(t3e::param::boot)},
      .totals = t3e::kTotalTable,
      .check = check_t3e,
      .make_plan = plan_of<T3ePlan>,
      .modes = {"open", "batch", "request_reply", "trace", "host", "program"},
      .own_event = "special",
      .whole = whole,
      .tools = t3e_tools,
      .everything = {{&t3e::param::barrier.units, "1"}, {&t3e::param::special.enabled, "true"}},
  };
}

}  // namespace flitlab
