#pragma once
/// Networks of each model for counts and rates of the CUDA engine.
#include <string>

#include "tests/support/build.hpp"

namespace flitlab::testing {

/// About 64 routers (a switch of 64 ports).
inline RawConfig network_of_64(const std::string& kind) {
  RawConfig config{{"router.kind", kind}, {"topology.shape", IntList{8, 8}}};
  if (kind == "t3e" || kind == "bgl") config["topology.shape"] = IntList{4, 4, 4};
  if (kind != "switch" && kind != "metro") return config;
  config.erase("topology.shape");
  if (kind == "switch") {
    config["topology.ports"] = std::int64_t{64};
  } else {
    config["topology.radix"] = IntList{4, 4, 4};
    config["topology.dilation"] = IntList{2, 2, 1};
  }
  return config;
}

/// 32768 routers; empty: not of this model, whose tables grow with the square of its size, or whose shape is another.
inline RawConfig network_of_32768(const std::string& kind) {
  if (kind == "vc" || kind == "t3e" || kind == "bgl")
    return {{"router.kind", kind}, {"topology.shape", IntList{32, 32, 32}}};
  if (kind == "bless") return {{"router.kind", kind}, {"topology.shape", IntList{256, 128}}};
  return {};
}

}  // namespace flitlab::testing
