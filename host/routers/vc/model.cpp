/// Registry entry of the canonical virtual-channel router.
#include <algorithm>

#include "host/config/check.hpp"
#include "host/config/registry.hpp"
#include "host/config/topology_params.hpp"
#include "host/routers/vc/checks.hpp"
#include "host/routers/vc/plan.hpp"
#include "kernels/routers/vc/params.hpp"
#include "kernels/traffic/class_totals.hpp"

namespace flitlab {
namespace {

/// A default that differs from the one in the parameter's record.
struct Default {
  const ParamRecord& record;
  std::string_view kinds;  ///< values of topology.kind, separated by '|'
  std::string_view value;
};

constexpr Default kDefaults[] = {
    {param::networks.shape, "hyperx|flattened_butterfly|cmesh", "[4, 4]"},
    {param::networks.order, "polarstar", "3"},
    {param::networks.routers, "jellyfish", "32"},
    {param::networks.concentration, "dragonfly|megafly|jellyfish|polarstar", "2"},
    {param::networks.concentration, "full_mesh|hyperx|flattened_butterfly|fat_tree|slim_fly|polarfly|cmesh", "4"},
};

std::string_view default_of(const ParamRecord& record, const Experiment& e) {
  if (!e.has(param::networks.kind)) return "";
  if (record.path == vc::param::routing.algorithm.path) return default_algorithm(e);
  for (const Default& d : kDefaults) {
    if (d.record.path != record.path) continue;
    const std::vector<std::string> kinds = split_words(d.kinds);
    if (std::find(kinds.begin(), kinds.end(), e.str(param::networks.kind)) != kinds.end()) return d.value;
  }
  return "";
}

}  // namespace

ModelRecord vc_model() {
  return {
      .kind = "vc",
      .help = "canonical input-queued virtual-channel router",
      .topology = {records_of(param::networks), records_of(vc::param::channels)},
      .sections = {records_of(vc::param::router), records_of(vc::param::routing)},
      .totals = kClassTotalTable,
      .check = check_vc,
      .make_plan = plan_of<VcPlan>,
      .modes = {"open", "batch", "request_reply", "trace", "host", "program"},
      .default_of = default_of,
  };
}

}  // namespace flitlab
