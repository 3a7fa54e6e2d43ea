/// What the registry knows of Blue Gene/L's torus.
#include "host/config/registry.hpp"
#include "host/routers/bgl/checks.hpp"
#include "host/routers/bgl/plan.hpp"
#include "kernels/routers/bgl/params.hpp"

namespace flitlab {

ModelRecord bgl_model() {
  return {
      .kind = "bgl",
      .help = "Blue Gene/L torus",
      .topology = kBglTopologyParams,
      .router = kBglParams,
      .routing = kBglRoutingParams,
      .others = {kBglInterfaceParams, kBglBroadcastParams, kBglFaultParams},
      .check = check_bgl,
      .make_plan = plan_of<BglPlan>,
      .runs_programs = true,
      .broadcasts = true,
  };
}

}  // namespace flitlab
