/// Registry entry of Blue Gene/L's torus.
#include "host/config/registry.hpp"
#include "host/routers/bgl/checks.hpp"
#include "host/routers/bgl/plan.hpp"
#include "kernels/routers/bgl/params.hpp"
#include "kernels/routers/bgl/totals.hpp"

namespace flitlab {
namespace {

bool whole(const Experiment& e) { return e.ints(bgl::param::faults.nodes).empty(); }

}  // namespace

ModelRecord bgl_model() {
  return {
      .kind = "bgl",
      .help = "Blue Gene/L torus",
      .topology = {records_of(bgl::param::topology)},
      .sections = {records_of(bgl::param::router), records_of(bgl::param::routing), records_of(bgl::param::injection),
                   records_of(bgl::param::reception), records_of(bgl::param::software),
                   records_of(bgl::param::broadcast), records_of(bgl::param::faults)},
      .totals = bgl::kTotalTable,
      .check = check_bgl,
      .make_plan = plan_of<BglPlan>,
      .modes = {"open", "batch", "trace", "host", "program", "broadcast"},
      .program_software = true,
      .whole = whole,
      .everything = {{&bgl::param::router.link_protocol, "true"}},
  };
}

}  // namespace flitlab
