#pragma once
/// Configurations of METRO networks, and their error messages.
#include <string>
#include <utility>

#include "host/plan/plan.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"

namespace flitlab::testing::metro_config {

inline RawConfig metro(RawConfig changes = {}) {
  changes.merge(Settings("router.kind=metro traffic.packet_flits=[[20,1.0]]"));
  return changes;
}

inline std::string error_of(RawConfig changes) {
  try {
    make_plan(experiment(metro(std::move(changes))));
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

}  // namespace flitlab::testing::metro_config
