/// What the registry knows of the adaptive router.
#include "host/config/registry.hpp"
#include "host/routers/adaptive/checks.hpp"
#include "host/routers/adaptive/plan.hpp"
#include "host/topology/params.hpp"
#include "kernels/routers/adaptive/params.hpp"

namespace flitlab {

ModelRecord adaptive_model() {
  return {
      .kind = "adaptive",
      .help = "S-Connect's adaptive router as it was simulated",
      .topology = kTopologyParams,
      .router = kAdaptiveParams,
      .check = check_adaptive,
      .make_plan = plan_of<AdaptivePlan>,
      .defaults = {{"traffic.packet_flits", "1"}},
  };
}

}  // namespace flitlab
