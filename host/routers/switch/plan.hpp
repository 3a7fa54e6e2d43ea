#pragma once
/// Plan of a single switch: the data that do not change during a run (parameters, layout of the state), and the host's
/// operations on a state.
#include "host/plan/plan.hpp"
#include "host/plan/terminal_plan.hpp"
#include "kernels/routers/switch/state.hpp"

namespace flitlab {

class SwitchPlan final : public Plan {
 public:
  explicit SwitchPlan(const Experiment& experiment);
  SwitchPlan(const SwitchPlan&) = delete;
  SwitchPlan& operator=(const SwitchPlan&) = delete;

  std::unique_ptr<Engine> make_engine(const std::vector<Experiment>& replicas,
                                      const EngineChoice& choice) const override;
  const Topology& topology() const override { return topology_; }
  const StateLayout& layout() const override { return layout_; }
  std::vector<Bound> bounds() const override;
  std::vector<std::pair<std::string, double>> derived() const override;
  /// Returns "": every output finishes its message, so every message that waits will proceed.
  std::string find_deadlock(const std::vector<std::byte>&) const override { return ""; }
  std::string router_name(u32) const override { return "switch"; }
  std::string port_name(u32 port) const override { return "port " + std::to_string(port); }
  std::vector<PortSnapshot> inspect_router(const std::vector<std::byte>& state, u32 router) const override;
  /// Returns the number of messages at the heads of input FIFOs and in output buffers, and as the capacity the number
  /// that fit there. The rest of an input FIFO has no limit and is not counted.
  Fill fill(const std::vector<std::byte>& state, u32 router, const std::vector<PortSnapshot>& ports) const override;
  std::string_view fill_of() const override { return "messages"; }
  TerminalSnapshot inspect_terminal(const std::vector<std::byte>& state, u32 terminal) const override;
  /// Returns an empty list: a single switch has no channels between routers.
  std::vector<u32> channel_flits(const std::vector<std::byte>&) const override { return {}; }
  std::map<std::string, double> figures(const CounterShard& totals, const std::vector<std::byte>& state,
                                        u64 measured_cycles) const override;

  const sw::Table& table() const { return table_; }

 private:
  void set_layout();

  Topology topology_;
  TerminalPlan traffic_;
  sw::Table table_{};
  StateLayout layout_;
};

}  // namespace flitlab
