/// Registry entry of the canonical virtual-channel router.
#include "host/config/cross_checks.hpp"
#include "host/config/registry.hpp"
#include "host/config/topology_params.hpp"
#include "host/routers/vc/checks.hpp"
#include "host/routers/vc/plan.hpp"
#include "kernels/routers/vc/params.hpp"

namespace flitlab {
namespace {

std::string_view default_of(const ParamRecord& record, const Experiment& e) {
  return record.path == vc::param::routing.algorithm.path && is_graph(e) ? "table" : "";
}

}  // namespace

ModelRecord vc_model() {
  return {
      .kind = "vc",
      .help = "canonical input-queued virtual-channel router",
      .topology = {records_of(param::topology), records_of(vc::param::channels)},
      .sections = {records_of(vc::param::router), records_of(vc::param::routing)},
      .check = check_vc,
      .make_plan = plan_of<VcPlan>,
      .modes = {"open", "batch", "request_reply", "trace"},
      .default_of = default_of,
  };
}

}  // namespace flitlab
