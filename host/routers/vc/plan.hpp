#pragma once
/// Plan of the canonical virtual-channel router: the data that do not change during a run (wiring, routes, parameters,
/// layout of the state), and the host's operations on a state.
#include "host/plan/plan.hpp"
#include "host/plan/terminal_plan.hpp"
#include "host/routers/vc/routes.hpp"
#include "kernels/routers/vc/state.hpp"

namespace flitlab {

class VcPlan final : public Plan {
 public:
  explicit VcPlan(const Experiment& experiment);
  VcPlan(const VcPlan&) = delete;
  VcPlan& operator=(const VcPlan&) = delete;

  std::unique_ptr<Engine> make_engine(const std::vector<Experiment>& replicas,
                                      const EngineChoice& choice) const override;
  const Topology& topology() const override { return topology_; }
  const StateLayout& layout() const override { return layout_; }
  std::vector<Bound> bounds() const override;
  Motion motion() const override;
  std::vector<std::pair<std::string, double>> derived() const override;
  std::string find_deadlock(const std::vector<std::byte>& state) const override;
  std::string router_name(u32 router) const override;
  std::string port_name(u32 port) const override;
  std::vector<PortSnapshot> inspect_router(const std::vector<std::byte>& state, u32 router) const override;
  TerminalSnapshot inspect_terminal(const std::vector<std::byte>& state, u32 terminal) const override;
  u32 channel_cycles(u32 router, u32 port) const override {
    return table_.channel ? vc::channel_of(table_, router, port).link_delay : 0;
  }
  std::vector<u32> channel_flits(const std::vector<std::byte>& state) const override;
  u32 elements(const TotalRecord& total) const override;
  std::map<std::string, double> figures(const CounterShard& totals, const std::vector<std::byte>& state,
                                        u64 measured_cycles) const override;

  const vc::VcTable& table() const { return table_; }
  u32 route_layers() const { return routes_.classes; }

 private:
  /// Returns the mean number of hops on the routes of the experiment's packets.
  double mean_hops() const;
  /// Returns the mean over the experiment's packets of the sum of cost(router, output port) over the route.
  double mean_cost(const std::function<double(u32 router, u32 port)>& cost) const;
  /// Returns the mean time from the arrival of a packet's head to that of its tail, cycles.
  double tail_after_head() const;
  double zero_load_latency(double mean_hops) const;
  /// Returns the load at which the busiest channel is full. With oblivious routing this is the load of its routes; with
  /// adaptive routing, no routes at all can carry more.
  double saturation_load_bound() const;
  void set_parameters(const Experiment& e);
  void set_classes(const Experiment& e);
  void set_layout();

  Topology topology_;
  TerminalPlan traffic_;
  vc::Routes routes_;
  std::vector<vc::PortChannel> channels_;  ///< storage of VcTable::channel
  vc::VcTable table_{};
  StateLayout layout_;
};

}  // namespace flitlab
