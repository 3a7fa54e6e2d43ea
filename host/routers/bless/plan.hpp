#pragma once
/// Plan of a network of bufferless deflection routers.
#include "host/plan/plan.hpp"
#include "host/plan/terminal_plan.hpp"
#include "kernels/routers/bless/state.hpp"

namespace flitlab {

class BlessPlan final : public Plan, public Inspector {
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
  /// Flits never wait: all that arrive in a cycle leave in it. So none waits for another.
  std::string find_deadlock(const std::vector<std::byte>&) const override { return ""; }
  std::string router_name(u32 router) const override;
  std::string port_name(u32 port) const override;
  const Inspector* inspector() const override { return this; }
  /// Ports, each with the flits that are on their way to it.
  std::vector<PortSnapshot> inspect_router(const std::vector<std::byte>& state, u32 router) const override;
  /// A router has no buffers: the flits on their way to it, of as many as its channels carry at a time.
  Fill fill(const std::vector<std::byte>& state, u32 router, const std::vector<PortSnapshot>& ports) const override;
  std::string_view fill_of() const override { return "flits on their way to the router"; }
  TerminalSnapshot inspect_terminal(const std::vector<std::byte>& state, u32 terminal) const override;
  std::vector<u32> channel_flits(const std::vector<std::byte>& state) const override;
  std::map<std::string, double> figures(const CounterShard& totals, const std::vector<std::byte>& state) const override;

  const bless::Table& table() const { return table_; }
  /// Packets that a terminal can have in parts at a time, whatever happens: each lacks a flit, which is on a channel
  /// (of so many flits as channels hold), or still at its source (one packet each). Packets of one flit need no place.
  u64 most_partial() const;

 private:
  void set_network(const Experiment& e);
  void set_places(const Experiment& e);
  void set_layout();
  std::vector<std::string> warnings() const;
  double mean_hops() const;
  double zero_load_latency(double mean_hops) const;

  Topology topology_;
  TerminalPlan traffic_;
  u32 longest_;  ///< flits; of a trace, whatever is possible
  std::vector<u32> wired_;
  bless::Table table_{};
  StateLayout layout_;
};

}  // namespace flitlab
