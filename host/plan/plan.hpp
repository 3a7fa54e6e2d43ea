#pragma once
/// A plan: the data of a job that do not change during a run (wiring, routes, parameters, layout of the state), and the
/// operations of the host on a state that depend on the router model.
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/plan/bounds.hpp"
#include "host/plan/columns.hpp"
#include "host/plan/console.hpp"
#include "host/plan/motion.hpp"
#include "host/plan/snapshot.hpp"
#include "host/topology/topology.hpp"
#include "kernels/common/counters.hpp"
#include "kernels/engines/engine.hpp"
#include "kernels/engines/engine_cost.hpp"
#include "kernels/traffic/program_state.hpp"

namespace flitlab {

/// A conservation rule that an audit checks: quantity entered = quantity left + quantity inside the network.
struct Conserved {
  std::string what;  ///< name of the conserved quantity, for example "flits"
  u32 audited;       ///< index of a total; each audit adds to it the quantity that is inside the network
  u32 entered;       ///< index of the total that counts the quantity that has entered
  /// indices of the totals that count the quantity that has left
  std::vector<u32> left;
};

template <class Audited, class Entered, class... Left>
Conserved conserved(std::string what, Audited audited, Entered entered, Left... left) {
  return {std::move(what), static_cast<u32>(audited), static_cast<u32>(entered), {static_cast<u32>(left)...}};
}

/// Facts with which the scope describes routers of this kind.
struct ScopeFacts {
  FLITLAB_COLUMNS(
      (std::string, credits, "", "", "name of the credits of an output; empty: routers have no credits"),
      (bool, in_order, true, "", "whether packets leave an input virtual channel in the order of their arrival"),
      (bool, whole_packets, false, "", "whether a grant sends a whole packet, which occupies the channel for cycles"),
      (bool, datelines, false, "", "whether packets change their class of virtual channels on wrap-around channels"),
      (bool, message_queues, false, "", "whether a router's contents are messages in queues, not flits in buffers"),
      (std::string, waiting, "", "", "reason why a packet in stage waiting waits; empty: events show the reason"))
};

/// Facts about a network that do not change during a run: its terminals, its packets, and warnings for the user.
/// The form of a plan's state on each engine: "lanes", or "scalar" with the parameter that excludes lanes.
struct StateForms {
  std::string cpu = "scalar", gpu = "scalar";
};

struct PlanFacts {
  u32 active_terminals = 0;  ///< number of terminals that take part in the traffic
  /// traffic.mode = batch or broadcast: lower bound of the number of packets that sources create.
  u64 batch_packets = 0;
  const ProgramTable* program = nullptr;   ///< program of the terminals, if they run one
  std::vector<u32> dead_terminals = {};    ///< terminals without working channels, which a trace must not name
  u32 shortest_packet = 1;                 ///< length of the shortest packet, flits
  u32 longest_packet = 1;                  ///< length of the longest packet, flits
  bool identifies_arrivals = true;         ///< whether a terminal can identify which packet of a trace has arrived
  std::vector<std::string> warnings = {};  ///< warnings about a configuration that can run nevertheless
  /// Text that says what software must do between cycles before traffic can flow; "": nothing.
  std::string software_prerequisite = "";
  std::vector<Conserved> conserved = {};  ///< conservation rules for quantities other than flits and packets
  EngineCost cost = {};                   ///< costs of a cycle on each backend, with which backend = auto chooses
  StateForms forms = {};
  ScopeFacts scope = {};
  u32 search_copies = 1;  ///< number of copies of a state that a deadlock search makes
};

class Plan {
 public:
  virtual ~Plan() = default;

  virtual std::unique_ptr<Engine> make_engine(const std::vector<Experiment>& replicas,
                                              const EngineChoice& choice) const = 0;
  virtual const Topology& topology() const = 0;
  virtual const StateLayout& layout() const = 0;
  /// Returns the bounds of all numbers in a state that routers and terminals use as indices.
  virtual std::vector<Bound> bounds() const = 0;
  const PlanFacts& facts() const { return facts_; }
  /// Text with the parameter that sets the size of the network, and its value; make_plan() writes it.
  std::string size = "topology";
  /// Returns the first cycle from the given one on at whose beginning the plan changes the state of running replicas
  /// (for example, because a fault is scheduled); kNever: there are no more changes.
  virtual u64 next_change(u64) const { return kNever; }
  /// Makes the change that is due in the current cycle.
  virtual void change(Engine&, u32 /*replica*/) const {}
  /// Returns how the state changes while the traffic repeats itself.
  virtual Motion motion() const { return {.never = "only networks with router.kind = \"vc\" are skipped"}; }
  /// Returns the quantities that `flitlab inspect` shows, in order, each with its name.
  virtual std::vector<std::pair<std::string, double>> derived() const = 0;

  /// Searches a state for a deadlock. Returns "" or a text that names the blocked virtual channels and shows a cycle in
  /// which they wait for one another.
  virtual std::string find_deadlock(const std::vector<std::byte>& state) const = 0;
  /// Searches a state for units of the model, other than virtual channels, that have stopped: no scheduled event can
  /// let them continue. Returns "" or a line that names these units and what each of them waits for. `now`: the next
  /// cycle.
  virtual std::string find_stopped(const std::vector<std::byte>& /*state*/, Cycle /*now*/) const { return {}; }
  /// Explains a fault that the user's own software has caused, for example by wrong routing tables; "" if the fault has
  /// another cause.
  virtual std::string explain_fault(const FaultReport&, const std::vector<std::byte>& /*state*/) const { return {}; }
  virtual std::string router_name(u32 router) const = 0;
  virtual std::string port_name(u32 port) const = 0;

  /// The next functions show a state in the field's terms. They take states in canonical order.

  /// Returns the ports of a router and their virtual channels.
  virtual std::vector<PortSnapshot> inspect_router(const std::vector<std::byte>& state, u32 router) const = 0;
  /// Adds names and notes to the ports, for the beginning of cycle `now`. This is a separate function, because a caller
  /// that reads all routers needs no names and notes.
  virtual void describe_router(const std::vector<std::byte>& /*state*/, u32 /*router*/, Cycle /*now*/,
                               std::vector<PortSnapshot>&) const {}
  /// Returns the occupancy of a router. `ports`: result of inspect_router() for this router. The default counts the
  /// flits in buffers of limited size, out of the total size of these buffers.
  virtual Fill fill(const std::vector<std::byte>& state, u32 router, const std::vector<PortSnapshot>& ports) const;
  /// Returns the unit of fill(): a noun phrase in the plural.
  virtual std::string_view fill_of() const { return "flits in buffers"; }
  virtual TerminalSnapshot inspect_terminal(const std::vector<std::byte>& state, u32 terminal) const = 0;
  /// Returns the cycles from the switch grant of a flit to its arrival at the next router, if channels differ; 0: all
  /// channels take the same time.
  virtual u32 channel_cycles(u32 /*router*/, u32 /*port*/) const { return 0; }
  /// Returns for each router-to-router channel the number of flits sent since cycle 0, in the order of the channels.
  virtual std::vector<u32> channel_flits(const std::vector<std::byte>& state) const = 0;
  /// Returns the cycle in which each terminal's program ended, or kNone if it has not ended. Returns an empty list if
  /// terminals run no programs.
  std::vector<u32> program_ends(const std::vector<std::byte>& state) const;
  /// Returns how many elements of a total the network counts; most networks of a model count all.
  virtual u32 elements(const TotalRecord& total) const { return total.count; }
  /// Returns whether results show this element of one of the model's own totals.
  virtual bool shows(const TotalRecord&, u32 /*element*/, const CounterShard&) const { return true; }
  /// Returns results of a run that only this model has and that are not totals, by name. `measured_cycles`: length of
  /// the measurement window.
  virtual std::map<std::string, double> figures(const CounterShard&, const std::vector<std::byte>& /*state*/,
                                                u64 /*measured_cycles*/) const {
    return {};
  }

  /// Returns the console for the first replica; null if the model has none. The plan must outlive the console.
  virtual std::unique_ptr<Console> console() const { return nullptr; }

 protected:
  void warn(const std::vector<std::string>& texts) {
    facts_.warnings.insert(facts_.warnings.end(), texts.begin(), texts.end());
  }

  PlanFacts facts_;  ///< filled in by the constructors
};

/// Returns the plan that the router model of an experiment makes.
std::unique_ptr<Plan> make_plan(const Experiment& experiment);

/// Returns the topology of an experiment.
Topology make_topology(const Experiment& experiment);

/// Throws ConfigError if topology.file gives channels a delay or width, for models whose channels are all alike.
void require_equal_channels(const Experiment& experiment, const Topology& topology);

/// Returns how often a terminal creates packets if it offers `load` (flits/cycle, not 0).
SourceRate make_rate(const Experiment& experiment, double load);
/// Returns the run parameters of one replica, except its measurement window.
ReplicaRow make_row(const Experiment& experiment);

}  // namespace flitlab
