/// What the registry knows of the Cray T3E.
#include "host/config/registry.hpp"
#include "host/routers/t3e/checks.hpp"
#include "host/routers/t3e/plan.hpp"
#include "kernels/routers/t3e/params.hpp"

namespace flitlab {

ModelRecord t3e_model() {
  return {
      .kind = "t3e",
      .help = "Cray T3E",
      .topology = kT3eTopologyParams,
      .router = kT3eParams,
      .routing = kT3eRoutingParams,
      .others = {kT3eBarrierParams, kT3eMachineParams, kT3eSpecialParams},
      .check = check_t3e,
      .make_plan = plan_of<T3ePlan>,
  };
}

}  // namespace flitlab
