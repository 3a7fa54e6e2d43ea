#pragma once
/// Looking into a state: what is in the ports of a router and in a terminal, and everything that an item holds as a
/// tree of named values with units. Printing, tables, pictures and a browser's view walk that tree.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/plan/datum.hpp"
#include "kernels/common/counters.hpp"

namespace flitlab {

class Plan;

struct VcSnapshot {
  std::string stage;  ///< idle, routing, waiting, head, body
  u32 flits = 0, packets = 0, left = 0;
  u32 capacity = 0;  ///< flits that the input buffer holds; 0: the channel has no buffer, or one without limit
  u32 out_port = kNone, out_vc = kNone;         ///< kNone unless granted (port also while waiting)
  u32 src = kNone, id = 0, dst_router = kNone;  ///< front packet
  u32 credits = 0;                              ///< of the output VC with the same numbers
  u32 owner_port = kNone, owner_vc = kNone;     ///< input VC that holds that output VC
  std::string name;                             ///< in the machine's words; "": its number says enough
  std::string note;                             ///< what the machine says of it now, and, in a line of its own, of
                                                ///< the packet in front: why it is still there; "": nothing
};

struct PortSnapshot {
  std::string name;  ///< "+x", "-y", "terminal 0", "port 3"
  u32 peer = kNone;
  bool to_terminal = false;
  std::string note;  ///< what the machine says of it now; "": nothing
  std::vector<VcSnapshot> vcs;
};

/// How full a router is. Both numbers are of one kind of thing, which Inspector::fill_of names.
struct Fill {
  u32 held = 0, places = 0;
};

struct TerminalSnapshot {
  u32 created = 0, sent = 0, received = 0, queued = 0, flits_left = 0, vc = 0;
  Cycle next_creation = kNever;
  std::vector<u32> credits;
};

/// What a plan may offer: what is in a state, in the field's terms. States are in canonical order.
class Inspector {
 public:
  virtual ~Inspector() = default;
  /// Ports of a router and their virtual channels.
  virtual std::vector<PortSnapshot> inspect_router(const std::vector<std::byte>& state, u32 router) const = 0;
  /// Fills in names and notes, at the beginning of cycle `now`: apart, since whoever looks at all routers needs none.
  virtual void describe_router(const std::vector<std::byte>& /*state*/, u32 /*router*/, Cycle /*now*/,
                               std::vector<PortSnapshot>&) const {}
  /// How full a router is; `ports` are what inspect_router returns for it. Unless a model overrides it: the flits in
  /// buffers of limited size, and the sizes of these buffers.
  virtual Fill fill(const std::vector<std::byte>& state, u32 router, const std::vector<PortSnapshot>& ports) const;
  /// What `fill` counts: a noun phrase in the plural.
  virtual std::string_view fill_of() const { return "flits in buffers"; }
  virtual TerminalSnapshot inspect_terminal(const std::vector<std::byte>& state, u32 terminal) const = 0;
  /// Flits sent per router-to-router channel since cycle 0, in channel order.
  virtual std::vector<u32> channel_flits(const std::vector<std::byte>& state) const = 0;
  /// Cycle in which each terminal's program ended, kNone if it has not; empty if terminals run none.
  virtual std::vector<u32> program_ends(const std::vector<std::byte>& /*state*/) const { return {}; }
  /// Whether a result shows an element of one of the model's own totals.
  virtual bool shows(const TotalRecord&, u32 /*element*/, const CounterShard&) const { return true; }
  /// What only models of this kind say of the end of a run beside its totals.
  virtual std::map<std::string, double> figures(const CounterShard&, const std::vector<std::byte>& /*state*/) const {
    return {};
  }
};

/// A value of an item. A list's length is its shape.
struct InspectValue {
  std::string_view name;
  Datum value;
  std::string_view unit = "";
  std::string_view help = "";
};

/// A router, a port, a virtual channel, a field of the state: values, and what it consists of.
struct InspectNode {
  std::string kind;  ///< "router", "port", "vc", "terminal", "state"
  std::string name;  ///< "+x"; "" if its place among its like says enough
  std::vector<InspectValue> values;
  std::vector<InspectNode> parts;
  std::string_view help = "";
  std::string note = "";  ///< what the machine says of it now; "": nothing
};

/// A plan's inspector. ConfigError if it has none.
const Inspector& inspector_of(const Plan& plan);

/// A router of a plan that has an inspector: its ports with their virtual channels, in the machine's words of cycle
/// `now`.
InspectNode router_tree(const Plan& plan, const std::vector<std::byte>& state, u32 router, Cycle now);
InspectNode terminal_tree(const Plan& plan, const std::vector<std::byte>& state, u32 terminal);

/// Flits sent per router-to-router channel since cycle 0; empty if the plan has no inspector.
std::vector<u32> channel_flits(const Plan& plan, const std::vector<std::byte>& state);

}  // namespace flitlab
