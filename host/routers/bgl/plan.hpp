#pragma once
/// Plan of a Blue Gene/L torus: the data that do not change during a run (wiring, parameters, layout of the state), and
/// the host's operations on a state.
#include "host/plan/plan.hpp"
#include "host/plan/terminal_plan.hpp"
#include "kernels/routers/bgl/state.hpp"

namespace flitlab {

class BglPlan final : public Plan {
 public:
  explicit BglPlan(const Experiment& experiment);
  BglPlan(const BglPlan&) = delete;
  BglPlan& operator=(const BglPlan&) = delete;

  std::unique_ptr<Engine> make_engine(const std::vector<Experiment>& replicas,
                                      const EngineChoice& choice) const override;
  const Topology& topology() const override { return topology_; }
  const StateLayout& layout() const override { return layout_; }
  std::vector<Bound> bounds() const override;
  std::vector<std::pair<std::string, double>> derived() const override;
  std::string find_deadlock(const std::vector<std::byte>& state) const override;
  std::string router_name(u32 router) const override;
  std::string port_name(u32 port) const override;
  std::vector<PortSnapshot> inspect_router(const std::vector<std::byte>& state, u32 router) const override;
  std::string_view fill_of() const override { return "chunks in buffers and FIFOs"; }
  void describe_router(const std::vector<std::byte>& state, u32 router, Cycle now,
                       std::vector<PortSnapshot>& ports) const override;
  TerminalSnapshot inspect_terminal(const std::vector<std::byte>& state, u32 terminal) const override;
  /// Returns for each channel the cycles in which it was busy, including trailers, gaps and acknowledgments.
  std::vector<u32> channel_flits(const std::vector<std::byte>& state) const override;

  bool shows(const TotalRecord& total, u32 element, const CounterShard& totals) const override;
  std::map<std::string, double> figures(const CounterShard& totals, const std::vector<std::byte>& state,
                                        u64 measured_cycles) const override;
  std::unique_ptr<Console> console() const override;

  const bgl::Table& table() const { return table_; }

 private:
  void set_parameters(const Experiment& e);
  void set_links(const Experiment& e);
  void set_layout();
  u32 capacity(u32 port, u32 vc) const;

  std::vector<u32> dead_;  ///< dead nodes
  Topology topology_;
  TerminalPlan traffic_;
  std::vector<bgl::GivenHints> given_;
  bgl::Table table_{};
  StateLayout layout_;
};

}  // namespace flitlab
