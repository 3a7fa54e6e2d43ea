/// Conditions between the parameters of the bufferless deflection router.
#include "host/routers/bless/checks.hpp"

#include "host/config/cross_checks.hpp"
#include "host/config/topology_params.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/bless/params.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

void check_bless(const Experiment& e) {
  const std::string& kind = e.str(param::topology.kind);
  if (kind != "mesh" && kind != "torus" && kind != "ring")
    throw ConfigError(quoted(e, param::topology.kind) +
                      " does not fit router.kind = \"bless\", which routes by dimension and direction. Use "
                      "\"mesh\", \"torus\" or \"ring\".");
  check_topology(e);
  if (const u32 terminals = e.u32_of(param::topology.concentration); terminals != 1)
    throw ConfigError("topology.concentration = " + std::to_string(terminals) +
                      " does not fit router.kind = \"bless\", whose routers have one terminal each. Set it to 1.");
  if (terminal_count(e) < 2)
    throw ConfigError("topology.shape = " + list_text(e.ints(param::topology.shape)) +
                      " is one router, and router.kind = \"bless\" needs two or more.");
  const std::string& mode = e.str(param::traffic.mode);
  if (const u32 width = e.u32_of(bless::param::router.ejection_width); comes_from_host(e) && width != 1)
    throw ConfigError("router.ejection_width = " + std::to_string(width) + " does not fit traffic.mode = \"" + mode +
                      "\", where a terminal takes at most one packet per cycle. "
                      "Set it to 1.");
}

}  // namespace flitlab
