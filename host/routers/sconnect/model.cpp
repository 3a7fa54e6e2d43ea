/// What the registry knows of S-Connect.
#include "host/config/registry.hpp"
#include "host/routers/sconnect/checks.hpp"
#include "host/routers/sconnect/plan.hpp"
#include "kernels/routers/sconnect/params.hpp"

namespace flitlab {

ModelRecord sconnect_model() {
  return {
      .kind = "sconnect",
      .help = "S-Connect fabric of TIC chips",
      .topology = kSconnectTopologyParams,
      .router = kSconnectParams,
      .routing = kSconnectRoutingParams,
      .others = {kSconnectChannelParams, kSconnectHostParams, kSconnectClockParams},
      .check = check_sconnect,
      .make_plan = plan_of<SconnectPlan>,
      .defaults = {{"traffic.packet_flits", "1"}},
      .shape = sconnect_shape,
  };
}

}  // namespace flitlab
