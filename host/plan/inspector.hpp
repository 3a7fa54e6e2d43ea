#pragma once
/// Inspection of a state: the contents of a router's ports and of a terminal, and an item as a tree of named values
/// with units. Printing, tables, pictures and the browser's view use that tree.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/plan/datum.hpp"
#include "kernels/common/counters.hpp"

namespace flitlab {

class Plan;

/// A virtual channel of an input port.
struct VcSnapshot {
  std::string stage;  ///< pipeline stage of the front packet: idle, routing, waiting, head, body
  u32 flits = 0, packets = 0, left = 0;
  u32 capacity = 0;                      ///< flits that the input buffer holds; 0: no buffer, or one without limit
  u32 out_port = kNone, out_vc = kNone;  ///< kNone before the grant (the port is also set while waiting)
  u32 src = kNone, id = 0, dst_router = kNone;  ///< front packet
  u32 credits = 0;                              ///< of the output VC with the same port and VC number
  u32 owner_port = kNone, owner_vc = kNone;     ///< input VC that holds that output VC
  std::string name;                             ///< name in the machine's terms; "": the number suffices
  std::string note;                             ///< state in the machine's terms, and, in a separate line, why the
                                                ///< front packet has not moved; "" if there is nothing to report
};

struct PortSnapshot {
  std::string name;  ///< "+x", "-y", "terminal 0", "port 3"
  u32 peer = kNone;
  bool to_terminal = false;
  std::string note;  ///< state of the port in the machine's terms; "": nothing to report
  std::vector<VcSnapshot> vcs;
};

/// Occupancy of a router, in the unit that Inspector::fill_of names: `held` of `places`.
struct Fill {
  u32 held = 0, places = 0;
};

struct TerminalSnapshot {
  u32 created = 0, sent = 0, received = 0, queued = 0, flits_left = 0, vc = 0;
  Cycle next_creation = kNever;
  std::vector<u32> credits;
};

/// Optional part of a plan: shows a state in the field's terms. States are in canonical order.
class Inspector {
 public:
  virtual ~Inspector() = default;
  /// Returns the ports of a router and their virtual channels.
  virtual std::vector<PortSnapshot> inspect_router(const std::vector<std::byte>& state, u32 router) const = 0;
  /// Fills in names and notes, at the beginning of cycle `now`. Separate, because a caller that reads all routers needs
  /// none.
  virtual void describe_router(const std::vector<std::byte>& /*state*/, u32 /*router*/, Cycle /*now*/,
                               std::vector<PortSnapshot>&) const {}
  /// Returns the occupancy of a router; `ports` are the result of inspect_router for it. By default it counts the flits
  /// in buffers of limited size, and the sizes of these buffers.
  virtual Fill fill(const std::vector<std::byte>& state, u32 router, const std::vector<PortSnapshot>& ports) const;
  /// Returns the unit of `fill`: a noun phrase in the plural.
  virtual std::string_view fill_of() const { return "flits in buffers"; }
  virtual TerminalSnapshot inspect_terminal(const std::vector<std::byte>& state, u32 terminal) const = 0;
  /// Returns the flits sent per router-to-router channel since cycle 0, in channel order.
  virtual std::vector<u32> channel_flits(const std::vector<std::byte>& state) const = 0;
  /// Returns the cycle in which each terminal's program ended, kNone if it has not; empty if terminals run no programs.
  virtual std::vector<u32> program_ends(const std::vector<std::byte>& /*state*/) const { return {}; }
  /// Returns whether a result shows an element of one of the model's own totals.
  virtual bool shows(const TotalRecord&, u32 /*element*/, const CounterShard&) const { return true; }
  /// Returns the model's own results of a run beside its totals, by name.
  virtual std::map<std::string, double> figures(const CounterShard&, const std::vector<std::byte>& /*state*/) const {
    return {};
  }
};

/// A named value of an item. A list's length is its shape.
struct InspectValue {
  std::string_view name;
  Datum value;
  std::string_view unit = "";
  std::string_view help = "";
};

/// A router, a port, a virtual channel or a field of the state: its values, and the nodes it consists of.
struct InspectNode {
  std::string kind;  ///< "router", "port", "vc", "terminal", "state"
  std::string name;  ///< "+x"; "": its index among nodes of the same kind suffices
  std::vector<InspectValue> values;
  std::vector<InspectNode> parts;
  std::string_view help = "";
  std::string note = "";  ///< state in the machine's terms; "": nothing to report
};

/// Returns a plan's inspector. ConfigError if it has none.
const Inspector& inspector_of(const Plan& plan);

/// Returns the tree of a router of a plan that has an inspector: its ports with their virtual channels, with notes at
/// the beginning of cycle `now`.
InspectNode router_tree(const Plan& plan, const std::vector<std::byte>& state, u32 router, Cycle now);
InspectNode terminal_tree(const Plan& plan, const std::vector<std::byte>& state, u32 terminal);

/// Returns the flits sent per router-to-router channel since cycle 0; empty if the plan has no inspector.
std::vector<u32> channel_flits(const Plan& plan, const std::vector<std::byte>& state);

}  // namespace flitlab
