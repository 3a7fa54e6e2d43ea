#pragma once
/// Console of a METRO network: scan access between cycles.
#include "host/plan/console.hpp"
#include "host/routers/metro/plan.hpp"

namespace flitlab {

class MetroConsole final : public Console {
 public:
  explicit MetroConsole(const MetroPlan& plan);

 private:
  /// Returns whether at least one test access port of a router works.
  bool reachable(const Engine& engine, u32 router) const;
  /// Returns the value of a register. ConfigError if the register does not exist or scan cannot access it.
  u64 value_of(const Engine& engine, u32 router, const std::string& name) const;

  const MetroPlan& plan_;
};

}  // namespace flitlab
