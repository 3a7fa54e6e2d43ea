#pragma once
/// A plan: the immutable side of a job (wiring, routes, parameters, layout of the state), and what only the model
/// knows how to do with a state on the host.
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/plan/console.hpp"
#include "host/plan/inspector.hpp"
#include "host/topology/topology.hpp"
#include "kernels/engines/engine.hpp"

namespace flitlab {

/// What has entered the network and has not left it must be inside when an audit counts it.
struct Conserved {
  std::string what;  ///< "flits"
  u32 audited;       ///< total that grows at every audit by what is inside
  u32 entered;       ///< total of what has entered
  std::vector<u32> left;
};

template <class Audited, class Entered, class... Left>
Conserved conserved(std::string what, Audited audited, Entered entered, Left... left) {
  return {std::move(what), static_cast<u32>(audited), static_cast<u32>(entered), {static_cast<u32>(left)...}};
}

class Plan {
 public:
  virtual ~Plan() = default;

  virtual std::unique_ptr<Engine> make_engine(const std::vector<Experiment>& replicas,
                                              const EngineChoice& choice) const = 0;
  virtual const Topology& topology() const = 0;
  virtual const StateLayout& layout() const = 0;
  /// Terminals that take part in the traffic.
  virtual u32 active_terminals() const { return topology().terminals; }
  /// Terminals that a trace must not name, since nothing leads from or to them.
  virtual std::vector<u32> dead_terminals() const { return {}; }
  /// Cycle, not before `now`, before which the plan changes the state of running replicas by itself; kNever: none.
  virtual u64 next_change(u64) const { return kNever; }
  /// Makes the change that is due now.
  virtual void change(Engine&, u32 /*replica*/) const {}
  /// What a user should know about this configuration, though it can be run.
  virtual std::vector<std::string> warnings() const { return {}; }
  /// What software must do between cycles before traffic can flow, and how; a run by itself has none. "": nothing.
  virtual std::string waits_for_software() const { return {}; }
  /// Whether what a terminal sends to itself goes through the network.
  virtual bool sends_to_itself() const { return true; }
  /// Longest and shortest packet that the network can carry, flits.
  virtual u32 longest_packet() const = 0;
  virtual u32 shortest_packet() const { return 1; }
  /// Whether terminals know which packet of a trace it is that has arrived.
  virtual bool knows_arrivals() const { return true; }
  /// Numbers for `flitlab inspect`, in order.
  virtual std::vector<std::pair<std::string, double>> derived() const = 0;

  /// "" or a text that names the blocked virtual channels and shows the cycle in which they wait for each other.
  virtual std::string find_deadlock(const std::vector<std::byte>& state) const = 0;
  /// Says of a fault that the user's own software made, by a router's tables, what is wrong; "": none did.
  virtual std::string explain_fault(const FaultReport&, const std::vector<std::byte>& /*state*/) const { return {}; }
  virtual std::string router_name(u32 router) const = 0;
  virtual std::string port_name(u32 port) const = 0;
  /// Looks into states of this plan; null: nobody has written that for this model.
  virtual const Inspector* inspector() const { return nullptr; }
  /// Flits sent per router-to-router channel since cycle 0, in channel order.
  virtual std::vector<u32> channel_flits(const std::vector<std::byte>& state) const = 0;

  /// Cycle in which each terminal's program ended, kNone if it has not; empty if terminals run none.
  virtual std::vector<u32> program_ends(const std::vector<std::byte>&) const { return {}; }

  /// Whether a result shows an element of one of the model's own totals.
  virtual bool shows(const TotalRecord&, u32 /*element*/, const CounterShard&) const { return true; }
  /// What is conserved beside flits and packets.
  virtual std::vector<Conserved> conserved() const { return {}; }
  /// What only models of this kind say of the end of a run beside its totals, given the totals and the state.
  virtual std::map<std::string, double> figures(const CounterShard&, const std::vector<std::byte>&) const { return {}; }

  /// What software can do to the first replica by name, between cycles; null: nothing. It lives no longer than the
  /// plan.
  virtual std::unique_ptr<Console> console() const { return nullptr; }
};

/// Builds the plan of an experiment's router model.
std::unique_ptr<Plan> make_plan(const Experiment& experiment);

/// Topology of an experiment.
Topology make_topology(const Experiment& experiment);

/// Run parameters of one replica, except its measurement window.
ReplicaRow make_row(const Experiment& experiment);

}  // namespace flitlab
