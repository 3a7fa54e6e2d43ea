/// Conditions between parameters of the single switch.
#include "host/routers/switch/checks.hpp"
#include "host/config/cross_checks.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/switch/params.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

std::vector<u32> switch_shape(const Experiment& e) { return {e.u32_of(sw::param::topology.ports)}; }

void check_switch(const Experiment& e) {
  if (!e.has(param::traffic.pattern)) return;
  const std::string& pattern = e.str(param::traffic.pattern);
  if (pattern == "hot_region" || pattern == "all_to_region")
    throw ConfigError(quoted(e, param::traffic.pattern) +
                      " needs coordinates of routers, but router.kind = \"switch\" has one router. Use "
                      "\"hot_spot\".");
}

}  // namespace flitlab
