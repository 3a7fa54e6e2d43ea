#pragma once
/// Plan of a METRO network: the data that do not change during a run (wiring, headers, parameters, layout of the
/// state), and the host's operations on a state.
#include "host/plan/plan.hpp"
#include "host/plan/terminal_plan.hpp"
#include "host/routers/metro/faults.hpp"
#include "host/routers/metro/network.hpp"
#include "kernels/routers/metro/state.hpp"

namespace flitlab {

class MetroPlan final : public Plan {
 public:
  explicit MetroPlan(const Experiment& experiment);
  MetroPlan(const MetroPlan&) = delete;
  MetroPlan& operator=(const MetroPlan&) = delete;

  std::unique_ptr<Engine> make_engine(const std::vector<Experiment>& replicas,
                                      const EngineChoice& choice) const override;
  const Topology& topology() const override { return topology_; }
  const StateLayout& layout() const override { return layout_; }
  std::vector<Bound> bounds() const override;
  std::vector<std::pair<std::string, double>> derived() const override;
  /// Returns "": a blocked connection is released, so METRO cannot deadlock.
  std::string find_deadlock(const std::vector<std::byte>&) const override { return ""; }
  std::string router_name(u32 router) const override;
  std::string port_name(u32 port) const override;
  /// Returns the ports of a router and their states. No port holds words, because a METRO router has no buffers.
  std::vector<PortSnapshot> inspect_router(const std::vector<std::byte>& state, u32 router) const override;
  /// Returns the number of open connections and, as the capacity, the number of backward ports. A router has no buffers
  /// whose occupancy could be shown.
  Fill fill(const std::vector<std::byte>& state, u32 router, const std::vector<PortSnapshot>& ports) const override;
  std::string_view fill_of() const override { return "open connections"; }
  void describe_router(const std::vector<std::byte>& state, u32 router, Cycle now,
                       std::vector<PortSnapshot>& ports) const override;
  TerminalSnapshot inspect_terminal(const std::vector<std::byte>& state, u32 terminal) const override;
  /// Returns for each channel the number of data words that its connections have carried, in both directions.
  std::vector<u32> channel_flits(const std::vector<std::byte>& state) const override;
  bool shows(const TotalRecord& total, u32 element, const CounterShard& totals) const override;
  std::map<std::string, double> figures(const CounterShard& totals, const std::vector<std::byte>& state,
                                        u64 measured_cycles) const override;
  u64 next_change(u64 now) const override;
  void change(Engine& engine, u32 replica) const override;
  std::unique_ptr<Console> console() const override;

  const metro::Table& table() const { return table_; }
  const MetroNetwork& network() const { return network_; }
  const MetroFaults& faults() const { return faults_; }
  /// Returns the number of test access ports of each router.
  u32 scan_paths() const { return scan_paths_; }

 private:
  void set_parameters(const Experiment& e);
  void set_routes(const Experiment& e);
  void set_layout();

  MetroNetwork network_;
  MetroRoutes routes_;
  MetroFaults faults_;
  Topology topology_;
  TerminalPlan traffic_;
  u32 scan_paths_;
  metro::Table table_{};
  StateLayout layout_;
};

}  // namespace flitlab
