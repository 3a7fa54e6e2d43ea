#include "host/config/registry.hpp"

#include <algorithm>
#include <string>

#include "host/config/cross_checks.hpp"
#include "host/config/network_params.hpp"
#include "host/models/adaptive_plan.hpp"
#include "host/models/bgl_plan.hpp"
#include "host/models/metro_plan.hpp"
#include "host/models/sconnect_plan.hpp"
#include "host/models/switch_plan.hpp"
#include "host/models/t3e_plan.hpp"
#include "host/models/vc_plan.hpp"
#include "host/run_params.hpp"
#include "kernels/routers/adaptive/params.hpp"
#include "kernels/routers/bgl/params.hpp"
#include "kernels/routers/metro/params.hpp"
#include "kernels/routers/sconnect/params.hpp"
#include "kernels/routers/switch/params.hpp"
#include "kernels/routers/t3e/params.hpp"
#include "kernels/routers/vc/params.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {
namespace {

void append(std::vector<const ParamRecord*>& list, ParamTable table) {
  for (const ParamRecord& record : table) list.push_back(&record);
}

void append(std::vector<const ParamRecord*>& list, const ModelRecord& model) {
  append(list, model.topology);
  list.push_back(&model_choice());
  append(list, model.router);
  append(list, model.routing);
  for (ParamTable table : model.others) append(list, table);
}

template <class P>
std::unique_ptr<Plan> plan_of(const Experiment& e) {
  return std::make_unique<P>(e);
}

}  // namespace

const std::vector<ModelRecord>& models() {
  static const std::vector<ModelRecord> list{
      {"vc",
       "canonical input-queued virtual-channel router",
       kTopologyParams,
       kVcParams,
       kRoutingParams,
       {},
       check_vc,
       plan_of<VcPlan>},
      {"t3e",
       "Cray T3E",
       kT3eTopologyParams,
       kT3eParams,
       kT3eRoutingParams,
       {kT3eBarrierParams, kT3eMachineParams, kT3eSpecialParams},
       check_t3e,
       plan_of<T3ePlan>},
      {"bgl",
       "Blue Gene/L torus",
       kBglTopologyParams,
       kBglParams,
       kBglRoutingParams,
       {kBglInterfaceParams, kBglBroadcastParams, kBglFaultParams},
       check_bgl,
       plan_of<BglPlan>,
       true},
      {"metro",
       "METRO circuit-switched multistage network",
       kMetroTopologyParams,
       kMetroParams,
       {},
       {kMetroEndpointParams, kMetroFaultParams},
       check_metro,
       plan_of<MetroPlan>,
       false,
       {{"traffic.window", "1"}},
       metro_shape},
      {"sconnect",
       "S-Connect fabric of TIC chips",
       kSconnectTopologyParams,
       kSconnectParams,
       kSconnectRoutingParams,
       {kSconnectChannelParams, kSconnectHostParams, kSconnectClockParams},
       check_sconnect,
       plan_of<SconnectPlan>,
       false,
       {{"traffic.packet_flits", "1"}},
       sconnect_shape},
      {"adaptive",
       "S-Connect's adaptive router as it was simulated",
       kTopologyParams,
       kAdaptiveParams,
       {},
       {},
       check_adaptive,
       plan_of<AdaptivePlan>,
       false,
       {{"traffic.packet_flits", "1"}}},
      {"switch",
       "single switch that preserves order: crossbar or buffer pool",
       kSwitchTopologyParams,
       kSwitchParams,
       {},
       {},
       check_switch,
       plan_of<SwitchPlan>,
       false,
       {},
       switch_shape},
  };
  return list;
}

const ModelRecord& model_of(std::string_view kind) {
  return *std::find_if(models().begin(), models().end(), [&](const ModelRecord& m) { return m.kind == kind; });
}

const ParamRecord& model_choice() {
  static const std::string kinds = [] {
    std::string text;
    for (const ModelRecord& model : models()) text += (text.empty() ? "" : "|") + std::string(model.kind);
    return text;
  }();
  static const ParamRecord record{.path = "router.kind",
                                  .type = ParamType::kChoice,
                                  .default_value = models().front().kind,
                                  .choices = kinds,
                                  .help = "Router model."};
  return record;
}

std::vector<const ParamRecord*> parameters_of(std::string_view kind) {
  std::vector<const ParamRecord*> list;
  append(list, model_of(kind));
  append(list, kTrafficParams);
  append(list, kRunParams);
  return list;
}

std::vector<const ParamRecord*> all_parameters() {
  std::vector<const ParamRecord*> list;
  for (const ModelRecord& model : models()) append(list, model);
  append(list, kTrafficParams);
  append(list, kRunParams);
  return list;
}

}  // namespace flitlab
