#pragma once
/// Plan of a network of adaptive routers: the data that do not change during a run (wiring, routes, parameters, layout
/// of the state), and the host's operations on a state.
#include "host/plan/plan.hpp"
#include "host/plan/terminal_plan.hpp"
#include "kernels/routers/adaptive/state.hpp"

namespace flitlab {

class AdaptivePlan final : public Plan {
 public:
  explicit AdaptivePlan(const Experiment& experiment);
  AdaptivePlan(const AdaptivePlan&) = delete;
  AdaptivePlan& operator=(const AdaptivePlan&) = delete;

  std::unique_ptr<Engine> make_engine(const std::vector<Experiment>& replicas,
                                      const EngineChoice& choice) const override;
  const Topology& topology() const override { return topology_; }
  const StateLayout& layout() const override { return layout_; }
  std::vector<Bound> bounds() const override;
  std::vector<std::pair<std::string, double>> derived() const override;
  /// Returns "": a message that finds no buffer is misrouted, so no message waits for a buffer of another router.
  std::string find_deadlock(const std::vector<std::byte>&) const override { return ""; }
  std::string router_name(u32 router) const override { return std::to_string(router); }
  std::string port_name(u32 port) const override;
  /// Returns the ports of a router. The last entry is not a port: it has the router's buffers, which all ports share.
  std::vector<PortSnapshot> inspect_router(const std::vector<std::byte>& state, u32 router) const override;
  std::string_view fill_of() const override { return "messages in buffers"; }
  TerminalSnapshot inspect_terminal(const std::vector<std::byte>& state, u32 terminal) const override;
  std::vector<u32> channel_flits(const std::vector<std::byte>& state) const override;
  std::map<std::string, double> figures(const CounterShard& totals, const std::vector<std::byte>& state,
                                        u64 measured_cycles) const override;

  const adaptive::Table& table() const { return table_; }

 private:
  void set_parameters(const Experiment& e);
  void set_priorities(const Experiment& e);
  /// Sets which ports have channels, and which channels are on shortest paths to each router.
  void set_channels(const Experiment& e);
  void set_layout();
  /// Returns the mean number of hops of the experiment's packets on shortest routes.
  double mean_hops() const;
  u32 most_buffers() const;

  Topology topology_;
  TerminalPlan traffic_;
  u32 message_units_;
  std::vector<u32> buffers_;  ///< [router] number of buffers
  std::vector<u32> wired_;
  std::vector<u32> minimal_;
  adaptive::Table table_{};
  StateLayout layout_;
};

}  // namespace flitlab
