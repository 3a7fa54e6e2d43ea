/// List of router models and their parameters.
#include "host/config/registry.hpp"

#include <algorithm>
#include <string>

#include "host/config/cross_checks.hpp"
#include "host/config/run_params.hpp"
#include "kernels/traffic/params.hpp"

/// All models, in the order of help texts; the first is the default. host/routers/<name>/model.cpp describes each. No
/// other shared file names a model.
#define FLITLAB_MODELS(MODEL) \
  MODEL(vc)                   \
  MODEL(t3e)                  \
  MODEL(bgl)                  \
  MODEL(metro)                \
  MODEL(sconnect)             \
  MODEL(adaptive)             \
  MODEL(bless)                \
  MODEL(switch)

namespace flitlab {

#define FLITLAB_DECLARE_MODEL(name) ModelRecord name##_model();
FLITLAB_MODELS(FLITLAB_DECLARE_MODEL)
#undef FLITLAB_DECLARE_MODEL

namespace {

void append(std::vector<const ParamRecord*>& list, ParamTable table) {
  for (const ParamRecord& record : table) list.push_back(&record);
}

void append(std::vector<const ParamRecord*>& list, const ModelRecord& model) {
  for (ParamTable table : model.topology) append(list, table);
  list.push_back(&model_choice());
  for (ParamTable table : model.sections) append(list, table);
}

}  // namespace

const std::vector<ModelRecord>& models() {
#define FLITLAB_MODEL_RECORD(name) name##_model(),
  static const std::vector<ModelRecord> list{FLITLAB_MODELS(FLITLAB_MODEL_RECORD)};
#undef FLITLAB_MODEL_RECORD
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
  append(list, records_of(param::traffic));
  append(list, records_of(param::run));
  return list;
}

std::vector<const ParamRecord*> all_parameters() {
  std::vector<const ParamRecord*> list;
  for (const ModelRecord& model : models()) append(list, model);
  append(list, records_of(param::traffic));
  append(list, records_of(param::run));
  return list;
}

}  // namespace flitlab
