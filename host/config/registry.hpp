#pragma once
/// The registry: the list of router models, and all parameter records.
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
  std::string_view kind;  ///< the choice of router.kind
  std::string_view help;
  std::vector<ParamTable> topology;  ///< topology.* parameters of the model
  std::vector<ParamTable> sections;  ///< other parameters of the model
  TotalTable totals = {};            ///< totals that the model counts in addition to the common ones
  void (*check)(const Experiment&);  ///< throws ConfigError if parameters contradict each other
  std::unique_ptr<Plan> (*make_plan)(const Experiment&);
  /// Values of traffic.mode that the model's terminals support.
  std::vector<std::string_view> modes = {"open", "batch", "trace", "host", "program"};
  /// Whether the model's own software passes the packets of a program to the network; otherwise they go through the
  /// queue for traces.
  bool program_software = false;
  /// Name, in traces, of the event kind that only this model has (EventKind::kOwn).
  std::string_view own_event = "own";
  /// Returns the default that a parameter has in this model, as TOML text, or "" for the default in the record. Null:
  /// all parameters have the defaults in their records.
  std::string_view (*default_of)(const ParamRecord&, const Experiment&) = nullptr;
  /// Returns whether all terminals of the network exist and take part in the traffic. Null: this is always true.
  bool (*whole)(const Experiment&) = nullptr;
  /// Returns the model's tools: operations that need no network (host/plan/console.hpp).
  std::vector<Tool> (*tools)() = nullptr;
  /// Returns the radix of each dimension in which terminals are numbered, for traffic patterns, or {} if only the plan
  /// knows it. Null: topology.shape or topology.dimensions has it.
  std::vector<u32> (*shape)(const Experiment&) = nullptr;
  /// Parameters and values (TOML text) with which the model has all of its state fields and registers, for the
  /// reference page and tests.
  std::vector<std::pair<const ParamRecord*, std::string_view>> everything = {};
};

/// A function for ModelRecord::make_plan that makes a plan of class P.
template <class P>
std::unique_ptr<Plan> plan_of(const Experiment& e) {
  return std::make_unique<P>(e);
}

/// Returns all registered router models, in the order in which help lists them.
const std::vector<ModelRecord>& models();

/// Returns the model of a kind, which must be registered.
const ModelRecord& model_of(std::string_view kind);

/// Returns the record of router.kind.
const ParamRecord& model_choice();

/// Returns the parameter records of a router kind, in the order in which resolved configurations list them.
std::vector<const ParamRecord*> parameters_of(std::string_view kind);

/// Returns the parameter records of all models.
std::vector<const ParamRecord*> all_parameters();

}  // namespace flitlab
