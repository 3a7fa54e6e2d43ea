#pragma once
/// Plan of a Cray T3E: the data that do not change during a run (wiring, routing tables, parameters, layout of the
/// state), and the host's operations on a state.
#include "host/plan/plan.hpp"
#include "host/plan/terminal_plan.hpp"
#include "host/routers/t3e/machine.hpp"
#include "host/routers/t3e/registers.hpp"

namespace flitlab {

class T3ePlan final : public Plan {
 public:
  explicit T3ePlan(const Experiment& experiment);
  T3ePlan(const T3ePlan&) = delete;
  T3ePlan& operator=(const T3ePlan&) = delete;

  std::unique_ptr<Engine> make_engine(const std::vector<Experiment>& replicas,
                                      const EngineChoice& choice) const override;
  const Topology& topology() const override { return topology_; }
  const StateLayout& layout() const override { return layout_; }
  std::vector<Bound> bounds() const override;
  u64 next_change(u64 now) const override { return machine_.next_change(now); }
  void change(Engine& engine, u32 replica) const override;
  std::vector<std::pair<std::string, double>> derived() const override;
  std::string find_deadlock(const std::vector<std::byte>& state) const override;
  std::string find_stopped(const std::vector<std::byte>& state, Cycle now) const override;
  std::string router_name(u32 router) const override;
  std::string port_name(u32 port) const override;
  std::vector<PortSnapshot> inspect_router(const std::vector<std::byte>& state, u32 router) const override;
  void describe_router(const std::vector<std::byte>& state, u32 router, Cycle now,
                       std::vector<PortSnapshot>& ports) const override;
  TerminalSnapshot inspect_terminal(const std::vector<std::byte>& state, u32 terminal) const override;
  std::vector<u32> channel_flits(const std::vector<std::byte>& state) const override;
  bool shows(const TotalRecord& total, u32 element, const CounterShard& totals) const override;
  std::unique_ptr<Console> console() const override;

  /// Returns the name of a port, for example "Y1 +y": the name in the manual, and the direction that R_ORIENT assigns
  /// to the port. `turned`: member of the node's Registers, the dimensions in which R_ORIENT exchanges + and - (bits).
  std::string port_name(u32 node, u32 port, u32 turned) const;
  const t3e::Table& table() const { return table_; }
  const t3e::Machine& machine() const { return machine_; }

 private:
  void set_parameters(const Experiment& e);
  void set_machine();
  void set_layout();
  void set_barrier_trees(const Experiment& e);
  struct Path {
    u32 hops = 0, dims = 0;  ///< dims: number of dimensions in which the path moves
  };
  u32 node_of(u32 terminal) const;
  /// Returns the shortest path between two nodes of a machine without partial planes.
  Path shortest_path(u32 from, u32 to) const;
  /// Returns whether all packets take shortest paths during the whole run.
  bool takes_shortest_paths() const { return machine_.shape.full() && !machine_.breaks() && machine_.has_plan_tables; }
  /// Return means over the experiment's packets; kNotMeasured if they cannot be computed.
  double mean_hops() const;
  double zero_load_latency() const;
  Item<1> router(const std::vector<std::byte>& state, u32 index) const;

  t3e::Machine machine_;
  Topology topology_;
  TerminalPlan traffic_;
  std::vector<t3e::BarrierRegister> barrier_trees_;  ///< [units][nodes] each barrier unit's tree
  t3e::Table table_{};
  StateLayout layout_;
};

}  // namespace flitlab
