#pragma once
/// A plan: the immutable side of a job (wiring, routes, parameters, layout of the state), and what only the model
/// knows how to do with a state on the host.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/plan/bounds.hpp"
#include "host/plan/console.hpp"
#include "host/plan/inspector.hpp"
#include "host/topology/topology.hpp"
#include "kernels/engines/engine.hpp"
#include "kernels/engines/engine_cost.hpp"

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

/// What never changes about a network: the terminals and packets that it takes, and what users should know of it.
struct PlanFacts {
  u32 active_terminals = 0;                ///< that take part in the traffic
  u64 batch_packets = 0;                   ///< traffic.mode = batch or broadcast: packets that sources create at least
  std::vector<u32> dead_terminals = {};    ///< that a trace must not name, since nothing leads from or to them
  u32 shortest_packet = 1;                 ///< flits
  u32 longest_packet = 1;                  ///< flits
  bool knows_arrivals = true;              ///< terminals know which packet of a trace it is that has arrived
  std::vector<std::string> warnings = {};  ///< of a configuration that can be run nevertheless
  std::string waits_for_software = "";     ///< what software must do between cycles before traffic can flow, and how
  std::vector<Conserved> conserved = {};   ///< beside flits and packets
  EngineCost cost = {};                    ///< of a cycle, by which backend = auto chooses
  u32 search_copies = 1;                   ///< copies of a state that a search for deadlock takes
};

class Plan {
 public:
  virtual ~Plan() = default;

  virtual std::unique_ptr<Engine> make_engine(const std::vector<Experiment>& replicas,
                                              const EngineChoice& choice) const = 0;
  virtual const Topology& topology() const = 0;
  virtual const StateLayout& layout() const = 0;
  /// What numbers of a state stay below if they say where something lies: all that routers and terminals believe.
  virtual std::vector<Bound> bounds() const = 0;
  const PlanFacts& facts() const { return facts_; }
  /// The parameter that sets the size of the network and its value, which make_plan() writes here.
  std::string size = "topology";
  /// Cycle, not before `now`, before which the plan changes the state of running replicas by itself; kNever: none.
  virtual u64 next_change(u64) const { return kNever; }
  /// Makes the change that is due now.
  virtual void change(Engine&, u32 /*replica*/) const {}
  /// Numbers for `flitlab inspect`, in order.
  virtual std::vector<std::pair<std::string, double>> derived() const = 0;

  /// "" or a text that names the blocked virtual channels and shows the cycle in which they wait for each other.
  virtual std::string find_deadlock(const std::vector<std::byte>& state) const = 0;
  /// "" or a line that names the units of a model beside its virtual channels that have stopped, and what each waits
  /// for: no event is under way that could make them go on. `now`: the cycle that comes next.
  virtual std::string find_stopped(const std::vector<std::byte>& /*state*/, Cycle /*now*/) const { return {}; }
  /// Says of a fault that the user's own software made, by a router's tables, what is wrong; "": none did.
  virtual std::string explain_fault(const FaultReport&, const std::vector<std::byte>& /*state*/) const { return {}; }
  virtual std::string router_name(u32 router) const = 0;
  virtual std::string port_name(u32 port) const = 0;
  /// Looks into states of this plan; null: nobody has written that for this model.
  virtual const Inspector* inspector() const { return nullptr; }
  /// What software can do to the first replica by name, between cycles; null: nothing. It lives no longer than the
  /// plan.
  virtual std::unique_ptr<Console> console() const { return nullptr; }

 protected:
  void warn(const std::vector<std::string>& texts) {
    facts_.warnings.insert(facts_.warnings.end(), texts.begin(), texts.end());
  }

  PlanFacts facts_;  ///< which the constructors fill in
};

/// Builds the plan of an experiment's router model.
std::unique_ptr<Plan> make_plan(const Experiment& experiment);

/// Topology of an experiment.
Topology make_topology(const Experiment& experiment);

/// How often a terminal of an experiment that offers `load` (not 0) creates packets.
SourceRate make_rate(const Experiment& experiment, double load);
/// Run parameters of one replica, except its measurement window.
ReplicaRow make_row(const Experiment& experiment);

}  // namespace flitlab
