/// What the registry knows of METRO.
#include "host/config/registry.hpp"
#include "host/routers/metro/checks.hpp"
#include "host/routers/metro/plan.hpp"
#include "kernels/routers/metro/params.hpp"

namespace flitlab {

ModelRecord metro_model() {
  return {
      .kind = "metro",
      .help = "METRO circuit-switched multistage network",
      .topology = kMetroTopologyParams,
      .router = kMetroParams,
      .others = {kMetroEndpointParams, kMetroFaultParams},
      .check = check_metro,
      .make_plan = plan_of<MetroPlan>,
      .defaults = {{"traffic.window", "1"}},
      .shape = metro_shape,
  };
}

}  // namespace flitlab
