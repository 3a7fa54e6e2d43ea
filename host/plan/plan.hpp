#pragma once
/// A plan: the immutable part of a job (wiring, routes, parameters, layout of the state), and the model-specific
/// operations of the host on a state.
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

/// A conservation rule that an audit checks: entered = left + inside the network.
struct Conserved {
  std::string what;  ///< the conserved quantity: "flits"
  u32 audited;       ///< index of the total that each audit increases by the quantity inside the network
  u32 entered;       ///< index of the total of the quantity that has entered
  /// indices of the totals of the quantity that has left
  std::vector<u32> left;
};

template <class Audited, class Entered, class... Left>
Conserved conserved(std::string what, Audited audited, Entered entered, Left... left) {
  return {std::move(what), static_cast<u32>(audited), static_cast<u32>(entered), {static_cast<u32>(left)...}};
}

/// Facts about a network that do not change during a run: its terminals, its packets, and warnings for the user.
struct PlanFacts {
  u32 active_terminals = 0;                ///< terminals that take part in the traffic
  u64 batch_packets = 0;                   ///< traffic.mode = batch or broadcast: lower bound of the packets that
                                           ///< sources create
  std::vector<u32> dead_terminals = {};    ///< terminals without working channels, which a trace must not name
  u32 shortest_packet = 1;                 ///< flits
  u32 longest_packet = 1;                  ///< flits
  bool identifies_arrivals = true;         ///< terminals can identify the trace packet that has arrived
  std::vector<std::string> warnings = {};  ///< warnings about a configuration that can be run nevertheless
  std::string software_prerequisite = "";  ///< what software must do between cycles before traffic can flow, and how;
                                           ///< "": nothing
  std::vector<Conserved> conserved = {};   ///< rules for quantities other than flits and packets
  EngineCost cost = {};                    ///< cost of a cycle, by which backend = auto chooses
  u32 search_copies = 1;                   ///< copies of a state that a deadlock search makes
};

class Plan {
 public:
  virtual ~Plan() = default;

  virtual std::unique_ptr<Engine> make_engine(const std::vector<Experiment>& replicas,
                                              const EngineChoice& choice) const = 0;
  virtual const Topology& topology() const = 0;
  virtual const StateLayout& layout() const = 0;
  /// Returns the bounds of the numbers in a state that are used as indices, for all routers and terminals.
  virtual std::vector<Bound> bounds() const = 0;
  const PlanFacts& facts() const { return facts_; }
  /// The parameter that sets the size of the network, with its value; make_plan() writes it.
  std::string size = "topology";
  /// Returns the next cycle, not before the given one, before which the plan itself changes the state of running
  /// replicas (for example a scheduled fault); kNever: no more changes.
  virtual u64 next_change(u64) const { return kNever; }
  /// Makes the change that is due now.
  virtual void change(Engine&, u32 /*replica*/) const {}
  /// Returns numbers for `flitlab inspect`, in order.
  virtual std::vector<std::pair<std::string, double>> derived() const = 0;

  /// Deadlock search. Returns "", or a text that names the blocked virtual channels and shows the cycle in which they
  /// wait for one another.
  virtual std::string find_deadlock(const std::vector<std::byte>& state) const = 0;
  /// Returns "", or a line that names the model's other units that have stopped, and what each waits for: no event is
  /// scheduled that could let them continue. `now`: the next cycle.
  virtual std::string find_stopped(const std::vector<std::byte>& /*state*/, Cycle /*now*/) const { return {}; }
  /// Explains a fault caused by the user's own software, for example by wrong routing tables; "" if it has another
  /// cause.
  virtual std::string explain_fault(const FaultReport&, const std::vector<std::byte>& /*state*/) const { return {}; }
  virtual std::string router_name(u32 router) const = 0;
  virtual std::string port_name(u32 port) const = 0;
  /// Returns the inspector of this plan's states; null if the model has none.
  virtual const Inspector* inspector() const { return nullptr; }
  /// Returns the console for the first replica; null if the model has none. The plan must outlive it.
  virtual std::unique_ptr<Console> console() const { return nullptr; }

 protected:
  void warn(const std::vector<std::string>& texts) {
    facts_.warnings.insert(facts_.warnings.end(), texts.begin(), texts.end());
  }

  PlanFacts facts_;  ///< set by the constructors
};

/// Returns the plan of an experiment's router model.
std::unique_ptr<Plan> make_plan(const Experiment& experiment);

/// Returns the topology of an experiment.
Topology make_topology(const Experiment& experiment);

/// Returns how often a terminal of an experiment that offers `load` (not 0) creates packets.
SourceRate make_rate(const Experiment& experiment, double load);
/// Returns the run parameters of one replica, except its measurement window.
ReplicaRow make_row(const Experiment& experiment);

}  // namespace flitlab
