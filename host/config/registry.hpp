#pragma once
/// The router models and all parameter records.
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/common/param.hpp"
#include "kernels/common/total.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

class Experiment;
class Plan;
struct Tool;

struct ModelRecord {
  std::string_view kind;  ///< value of router.kind
  std::string_view help;
  ParamTable topology;               ///< its topology.* parameters
  std::vector<ParamTable> sections;  ///< all others that are its own
  TotalTable totals = {};            ///< what it counts beside the totals of all models
  void (*check)(const Experiment&);  ///< ConfigError if its parameters do not fit each other
  std::unique_ptr<Plan> (*make_plan)(const Experiment&);
  /// Values of traffic.mode that its terminals know.
  std::vector<std::string_view> modes = {"open", "batch", "trace"};
  /// What a trace calls an event that only this model has (EventKind::kOwn).
  std::string_view own_event = "own";
  /// Default of a parameter that its record's would not fit, as TOML has it; "": the record's. Null: always the
  /// record's.
  std::string_view (*default_of)(const ParamRecord&, const Experiment&) = nullptr;
  /// Whether all terminals of its network exist and take part in the traffic; null: they always do.
  bool (*whole)(const Experiment&) = nullptr;
  /// Operations that need no network (host/plan/console.hpp).
  std::vector<Tool> (*tools)() = nullptr;
  /// Shape of its terminals for traffic patterns, {} if that takes the plan; null: topology.shape or
  /// topology.dimensions.
  std::vector<u32> (*shape)(const Experiment&) = nullptr;
  /// Settings, as TOML has them, with which all of its state and registers are there: for the reference page and tests.
  std::vector<std::pair<const ParamRecord*, std::string_view>> everything = {};
};

/// ModelRecord::make_plan of a class of plans.
template <class P>
std::unique_ptr<Plan> plan_of(const Experiment& e) {
  return std::make_unique<P>(e);
}

/// Every registered router model, in the order in which help lists them.
const std::vector<ModelRecord>& models();

/// The model of a kind, which must be registered.
const ModelRecord& model_of(std::string_view kind);

/// The record of router.kind itself.
const ParamRecord& model_choice();

/// Records that apply to a router kind, in the order in which resolved configurations list them.
std::vector<const ParamRecord*> parameters_of(std::string_view kind);

/// Every record of every model.
std::vector<const ParamRecord*> all_parameters();

}  // namespace flitlab
