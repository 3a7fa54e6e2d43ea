#pragma once
/// The router models and all parameter records.
#include <string_view>
#include <vector>

#include "kernels/common/param.hpp"

namespace flitlab {

struct ModelRecord {
  std::string_view kind;  ///< value of router.kind
  std::string_view help;
  ParamTable params;  ///< its router.* parameters
};

/// Every registered router model, in the order in which help lists them.
const std::vector<ModelRecord>& models();

/// The record of router.kind itself.
const ParamRecord& model_choice();

/// Records that apply to a router kind, in the order in which resolved configurations list them.
std::vector<const ParamRecord*> parameters_of(std::string_view kind);

/// Every record of every model.
std::vector<const ParamRecord*> all_parameters();

}  // namespace flitlab
