/// Registry entry of the adaptive router.
#include "host/config/registry.hpp"
#include "host/config/topology_params.hpp"
#include "host/routers/adaptive/checks.hpp"
#include "host/routers/adaptive/plan.hpp"
#include "kernels/routers/adaptive/params.hpp"
#include "kernels/routers/adaptive/totals.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {
namespace {

std::string_view default_of(const ParamRecord& record, const Experiment&) {
  return record.path == param::traffic.packet_flits.path ? "1" : "";
}

}  // namespace

ModelRecord adaptive_model() {
  return {
      .kind = "adaptive",
      .help = "adaptive router that the authors of S-Connect simulated",
      .topology = {records_of(param::topology), records_of(param::channels)},
      .sections = {records_of(adaptive::param::router)},
      .totals = adaptive::kTotalTable,
      .check = check_adaptive,
      .make_plan = plan_of<AdaptivePlan>,
      .default_of = default_of,
  };
}

}  // namespace flitlab
