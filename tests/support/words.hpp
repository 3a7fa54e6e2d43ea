#pragma once
/// The text that describes a router whose state a test has written by hand.
#include <vector>

#include "host/plan/plan.hpp"
#include "host/plan/terminal_plan.hpp"

namespace flitlab::testing {

inline std::vector<PortSnapshot> in_words(const Plan& plan, const std::vector<std::byte>& state, u32 router,
                                          Cycle now = 0) {
  std::vector<PortSnapshot> ports = plan.inspect_router(state, router);
  plan.describe_router(state, router, now, ports);
  return ports;
}

}  // namespace flitlab::testing
