#pragma once
/// Plan of a network of bufferless deflection routers: the data that do not change during a run (wiring, parameters,
/// layout of the state), and the host's operations on a state.
#include "host/plan/plan.hpp"
#include "host/plan/terminal_plan.hpp"
#include "kernels/routers/bless/state.hpp"

namespace flitlab {

class BlessPlan final : public Plan {
 public:
  explicit BlessPlan(const Experiment& experiment);
  BlessPlan(const BlessPlan&) = delete;
  BlessPlan& operator=(const BlessPlan&) = delete;

  std::unique_ptr<Engine> make_engine(const std::vector<Experiment>& replicas,
                                      const EngineChoice& choice) const override;
  const Topology& topology() const override { return topology_; }
  const StateLayout& layout() const override { return layout_; }
  std::vector<Bound> bounds() const override;
  std::vector<std::pair<std::string, double>> derived() const override;
  /// Always returns "": every flit leaves a router in the cycle in which it arrives, so flits never wait for one
  /// another.
  std::string find_deadlock(const std::vector<std::byte>&) const override { return ""; }
  std::string router_name(u32 router) const override;
  std::string port_name(u32 port) const override;
  /// Returns the ports of a router, each with the flits in transit to it.
  std::vector<PortSnapshot> inspect_router(const std::vector<std::byte>& state, u32 router) const override;
  /// Returns the number of flits in transit to a router and, as the capacity, the number of flits that its input
  /// channels can carry at the same time.
  Fill fill(const std::vector<std::byte>& state, u32 router, const std::vector<PortSnapshot>& ports) const override;
  std::string_view fill_of() const override { return "flits on their way to the router"; }
  TerminalSnapshot inspect_terminal(const std::vector<std::byte>& state, u32 terminal) const override;
  std::vector<u32> channel_flits(const std::vector<std::byte>& state) const override;
  std::map<std::string, double> figures(const CounterShard& totals, const std::vector<std::byte>& state,
                                        u64 measured_cycles) const override;

  const bless::Table& table() const { return table_; }
  /// Returns an upper bound on the number of packets that can be incomplete at a terminal at the same time. Each
  /// incomplete packet lacks a flit. This flit is on a channel, which limits them to the flits that all channels can
  /// hold, or still at its source, which limits them to one packet for each source. Returns 1 if all packets have one
  /// flit, because these need no reassembly.
  u64 most_partial() const;

 private:
  void set_network(const Experiment& e);
  void set_reassembly(const Experiment& e);
  void set_layout();
  std::vector<std::string> warnings() const;
  double mean_hops() const;
  double zero_load_latency(double mean_hops) const;

  Topology topology_;
  TerminalPlan traffic_;
  u32 longest_;  ///< longest packet, flits; in a trace, the longest packet that the router supports
  std::vector<u32> wired_;
  bless::Table table_{};
  StateLayout layout_;
};

}  // namespace flitlab
