/// Registry entry of the single switch.
#include "host/config/registry.hpp"
#include "host/routers/switch/checks.hpp"
#include "host/routers/switch/plan.hpp"
#include "kernels/routers/switch/params.hpp"

namespace flitlab {

ModelRecord switch_model() {
  return {
      .kind = "switch",
      .help = "single switch that preserves order: crossbar or buffer pool",
      .topology = {records_of(sw::param::topology)},
      .sections = {records_of(sw::param::router)},
      .check = check_switch,
      .make_plan = plan_of<SwitchPlan>,
      .shape = switch_shape,
  };
}

}  // namespace flitlab
