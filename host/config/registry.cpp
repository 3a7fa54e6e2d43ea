#include "host/config/registry.hpp"

#include <string>

#include "host/config/network_params.hpp"
#include "host/run_params.hpp"
#include "kernels/routers/vc/params.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {
namespace {

void append(std::vector<const ParamRecord*>& list, ParamTable table) {
  for (const ParamRecord& record : table) list.push_back(&record);
}

}  // namespace

const std::vector<ModelRecord>& models() {
  static const std::vector<ModelRecord> list{
      {"vc", "canonical input-queued virtual-channel router", kVcParams},
  };
  return list;
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
  append(list, kTopologyParams);
  list.push_back(&model_choice());
  for (const ModelRecord& model : models())
    if (model.kind == kind) append(list, model.params);
  append(list, kRoutingParams);
  append(list, kTrafficParams);
  append(list, kRunParams);
  return list;
}

std::vector<const ParamRecord*> all_parameters() {
  std::vector<const ParamRecord*> list;
  append(list, kTopologyParams);
  list.push_back(&model_choice());
  for (const ModelRecord& model : models()) append(list, model.params);
  append(list, kRoutingParams);
  append(list, kTrafficParams);
  append(list, kRunParams);
  return list;
}

}  // namespace flitlab
