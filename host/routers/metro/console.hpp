#pragma once
/// What software can do to a METRO network between cycles: scan.
#include "host/plan/console.hpp"
#include "host/routers/metro/plan.hpp"

namespace flitlab {

class MetroConsole final : public Console {
 public:
  explicit MetroConsole(const MetroPlan& plan);

 private:
  /// Whether any of a router's test access ports works.
  bool reachable(const Engine& engine, u32 router) const;
  /// A register that can be reached.
  u64 value_of(const Engine& engine, u32 router, const std::string& name) const;

  const MetroPlan& plan_;
};

}  // namespace flitlab
