#pragma once
/// The router models and all parameter records.
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/common/param.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

class Experiment;
class Plan;

struct ModelRecord {
  std::string_view kind;  ///< value of router.kind
  std::string_view help;
  ParamTable topology = {};             ///< its topology.* parameters
  ParamTable router = {};               ///< its router.* parameters
  ParamTable routing = {};              ///< its routing.* parameters
  std::vector<ParamTable> others = {};  ///< parameters of what only it has
  void (*check)(const Experiment&);     ///< ConfigError if its parameters do not fit each other
  std::unique_ptr<Plan> (*make_plan)(const Experiment&);
  bool runs_programs = false;  ///< its terminals can run message-passing programs
  bool broadcasts = false;     ///< its packets can leave copies on their way (traffic.mode = "broadcast")
  /// Defaults of common parameters that would not fit it: path and value.
  std::vector<std::pair<std::string_view, std::string_view>> defaults = {};
  /// Shape of its terminals for traffic patterns, {} if that takes the plan; null: topology.shape or
  /// topology.dimensions.
  std::vector<u32> (*shape)(const Experiment&) = nullptr;
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
