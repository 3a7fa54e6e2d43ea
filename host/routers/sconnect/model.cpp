/// Registration of the S-Connect model.
#include "host/config/registry.hpp"
#include "host/routers/sconnect/checks.hpp"
#include "host/routers/sconnect/plan.hpp"
#include "host/routers/sconnect/tools.hpp"
#include "kernels/routers/sconnect/params.hpp"
#include "kernels/routers/sconnect/totals.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {
namespace {

std::string_view default_of(const ParamRecord& record, const Experiment&) {
  const bool flits = record.path == param::traffic.packet_flits.path || record.path == param::traffic.reply_flits.path;
  return flits ? "1" : "";
}

}  // namespace

ModelRecord sconnect_model() {
  return {
      .kind = "sconnect",
      .help = "S-Connect fabric of TIC chips",
      .topology = {records_of(sconnect::param::topology)},
      .sections = {records_of(sconnect::param::router), records_of(sconnect::param::routing),
                   records_of(sconnect::param::channel), records_of(sconnect::param::host),
                   records_of(sconnect::param::clock)},
      .totals = sconnect::kTotalTable,
      .check = check_sconnect,
      .make_plan = plan_of<SconnectPlan>,
      .modes = {"open", "batch", "request_reply", "trace", "host", "program"},
      .default_of = default_of,
      .tools = sconnect_tools,
      .shape = sconnect_shape,
      .everything = {{&sconnect::param::clock.emulated, "true"}, {&sconnect::param::host.priorities, "[1, 1, 0, 0]"}},
  };
}

}  // namespace flitlab
