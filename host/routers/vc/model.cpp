/// What the registry knows of the canonical virtual-channel router.
#include "host/config/registry.hpp"
#include "host/routers/vc/checks.hpp"
#include "host/routers/vc/plan.hpp"
#include "host/topology/params.hpp"
#include "kernels/routers/vc/params.hpp"

namespace flitlab {

ModelRecord vc_model() {
  return {
      .kind = "vc",
      .help = "canonical input-queued virtual-channel router",
      .topology = kTopologyParams,
      .router = kVcParams,
      .routing = kRoutingParams,
      .check = check_vc,
      .make_plan = plan_of<VcPlan>,
  };
}

}  // namespace flitlab
