/// METRO's entry in the registry of models.
#include "host/config/registry.hpp"
#include "host/routers/metro/checks.hpp"
#include "host/routers/metro/plan.hpp"
#include "host/routers/metro/tools.hpp"
#include "kernels/routers/metro/params.hpp"
#include "kernels/routers/metro/totals.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {
namespace {

std::string_view default_of(const ParamRecord& record, const Experiment&) {
  return record.path == param::traffic.window.path ? "1" : "";
}

}  // namespace

ModelRecord metro_model() {
  return {
      .kind = "metro",
      .help = "METRO circuit-switched multistage network",
      .topology = {records_of(metro::param::topology)},
      .sections = {records_of(metro::param::router), records_of(metro::param::endpoint),
                   records_of(metro::param::faults)},
      .totals = metro::kTotalTable,
      .check = check_metro,
      .make_plan = plan_of<MetroPlan>,
      .modes = {"open", "batch", "request_reply", "trace", "host"},
      .default_of = default_of,
      .tools = metro_tools,
      .shape = metro_shape,
      .everything = {{&metro::param::faults.dead_links, "0.05"}},
  };
}

}  // namespace flitlab
