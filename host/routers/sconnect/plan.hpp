#pragma once
/// Plan of an S-Connect fabric.
#include "host/plan/plan.hpp"
#include "host/plan/terminal_plan.hpp"
#include "host/routers/sconnect/clocks.hpp"
#include "host/routers/sconnect/fabric.hpp"
#include "host/routers/sconnect/tables.hpp"
#include "kernels/routers/sconnect/state.hpp"

namespace flitlab {

class SconnectPlan final : public Plan {
 public:
  explicit SconnectPlan(const Experiment& experiment);
  SconnectPlan(const SconnectPlan&) = delete;
  SconnectPlan& operator=(const SconnectPlan&) = delete;

  std::unique_ptr<Engine> make_engine(const std::vector<Experiment>& replicas,
                                      const EngineChoice& choice) const override;
  const Topology& topology() const override { return topology_; }
  const StateLayout& layout() const override { return layout_; }
  std::vector<Bound> bounds() const override;
  std::vector<std::pair<std::string, double>> derived() const override;
  std::string find_deadlock(const std::vector<std::byte>& state) const override;
  /// Explains a missing entry of a routing table. The plan's tables are complete, so only software can have removed it.
  std::string explain_fault(const FaultReport& fault, const std::vector<std::byte>& state) const override;
  std::string router_name(u32 router) const override { return fabric_.names[router]; }
  std::string port_name(u32 port) const override;
  std::vector<PortSnapshot> inspect_router(const std::vector<std::byte>& state, u32 router) const override;
  /// Returns the number of the TIC's buffers in use. Buffers of sent messages count until the message is acknowledged.
  Fill fill(const std::vector<std::byte>& state, u32 router, const std::vector<PortSnapshot>& ports) const override;
  std::string_view fill_of() const override { return "buffers of the pool in use"; }
  void describe_router(const std::vector<std::byte>& state, u32 router, Cycle now,
                       std::vector<PortSnapshot>& ports) const override;
  TerminalSnapshot inspect_terminal(const std::vector<std::byte>& state, u32 terminal) const override;
  /// Returns the messages and parts of quads sent by each channel.
  std::vector<u32> channel_flits(const std::vector<std::byte>& state) const override;
  bool shows(const TotalRecord& total, u32 element, const CounterShard& totals) const override;
  std::map<std::string, double> figures(const CounterShard& totals, const std::vector<std::byte>& state,
                                        u64 measured_cycles) const override;
  std::unique_ptr<Console> console() const override;

  /// Returns the priority of packet `id` of a terminal. A packet of a trace is taken as a single message, not as a
  /// quad.
  u32 packet_priority(const ReplicaRow& row, u32 terminal, u32 id) const;

  const sconnect::Table& table() const { return table_; }
  const SconnectFabric& fabric() const { return fabric_; }
  const SconnectTables& tables() const { return tables_; }

 private:
  std::vector<std::string> warnings(const Experiment& e) const;
  std::string software_prerequisite() const;
  void set_parameters(const Experiment& e);
  void set_buffers(const Experiment& e);
  void set_hosts(const Experiment& e);
  void set_nodes(const Experiment& e);
  void set_layout();
  void set_slots();

  SconnectFabric fabric_;
  SconnectTables tables_;
  SconnectClocks clocks_;
  Topology topology_;
  TerminalPlan traffic_;
  std::vector<u16> slot_first_, address_, terminal_node_;
  std::vector<u8> channels_, hosts_;
  bool quads_fit_ = false;  ///< the queues of quad_priority have at least four reserved buffers each, as quads need
  sconnect::Table table_{};
  StateLayout layout_;
};

}  // namespace flitlab
