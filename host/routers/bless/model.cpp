/// Registry entry of the bufferless deflection router.
#include "host/config/registry.hpp"
#include "host/config/topology_params.hpp"
#include "host/routers/bless/checks.hpp"
#include "host/routers/bless/plan.hpp"
#include "kernels/routers/bless/params.hpp"
#include "kernels/routers/bless/totals.hpp"

namespace flitlab {

ModelRecord bless_model() {
  return {
      .kind = "bless",
      .help = "bufferless deflection router, FLIT-BLESS with the oldest flit first",
      .topology = {records_of(param::topology), records_of(param::channels)},
      .sections = {records_of(bless::param::router)},
      .totals = bless::kTotalTable,
      .check = check_bless,
      .make_plan = plan_of<BlessPlan>,
  };
}

}  // namespace flitlab
