#pragma once
/// Inspection of a state: the contents of a router's ports and of a terminal, and an item as a tree of named values
/// with units. Text output, tables, pictures and the browser's view use that tree.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/plan/columns.hpp"
#include "host/plan/datum.hpp"
#include "kernels/common/counters.hpp"

namespace flitlab {

class Plan;

/// A virtual channel: the input VC with its buffer, and the output VC of the same port and VC number.
struct VcSnapshot {
  FLITLAB_COLUMNS((std::string, stage, "", "", "pipeline stage of the front packet; idle: no packet"),
                  (u32, flits, 0, "flits", "in the input buffer"),
                  (u32, capacity, 0, "flits", "size of the input buffer; 0: no buffer of its own, or no limit"),
                  (u32, packets, 0, "packets", "in the input buffer, whole or in part"),
                  (u32, left, 0, "flits", "of the front packet, still to be sent"),
                  (u32, out_port, kNone, "", "output port that the front packet requests or holds"),
                  (u32, out_vc, kNone, "", "output virtual channel that it holds"),
                  (u32, src, kNone, "", "source terminal of the front packet"),
                  (u32, id, kNone, "", "number of the front packet at its source"),
                  (u32, dst_router, kNone, "", "destination router of the front packet"),
                  (u32, credits, 0, "flits", "of the output VC with the same port and VC number"),
                  (u32, owner_port, kNone, "", "input port whose packet holds that output virtual channel"),
                  (u32, owner_vc, kNone, "", "virtual channel of that input port"))
  std::string name;  ///< name in the machine's terms; "": the number is sufficient
  std::string note;  ///< state in the machine's terms. A second line says why the front packet has not moved. "":
                     ///< nothing to report
};

struct PortSnapshot {
  std::string name;  ///< "+x", "-y", "terminal 0", "port 3"
  u32 peer = kNone;
  bool to_terminal = false;
  std::string note;  ///< state of the port in the machine's terms; "": nothing to report
  std::vector<VcSnapshot> vcs;
};

/// Occupancy of a router: `held` units are in use, out of `places`. Inspector::fill_of() names the unit.
struct Fill {
  u32 held = 0, places = 0;
};

struct TerminalSnapshot {
  u32 created = 0, sent = 0, received = 0, queued = 0, flits_left = 0, vc = 0;
  Cycle next_creation = kNever;
  std::vector<u32> credits;
};

/// Optional part of a plan that shows a state in the field's terms. All functions take states in canonical order.
class Inspector {
 public:
  virtual ~Inspector() = default;
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
  /// Returns for each router-to-router channel the number of flits sent since cycle 0, in the order of the channels.
  virtual std::vector<u32> channel_flits(const std::vector<std::byte>& state) const = 0;
  /// Returns the cycle in which each terminal's program ended, or kNone if it has not ended. Returns an empty list if
  /// terminals run no programs.
  virtual std::vector<u32> program_ends(const std::vector<std::byte>& /*state*/) const { return {}; }
  /// Returns whether results show this element of one of the model's own totals.
  virtual bool shows(const TotalRecord&, u32 /*element*/, const CounterShard&) const { return true; }
  /// Returns results of a run that only this model has and that are not totals, by name.
  virtual std::map<std::string, double> figures(const CounterShard&, const std::vector<std::byte>& /*state*/) const {
    return {};
  }
};

/// A named value of an item. If the value is a list, the length of the list is its shape.
struct InspectValue {
  std::string_view name;
  Datum value;
  std::string_view unit = "";
  std::string_view help = "";
};

/// A node of the tree: a router, a port, a virtual channel or a field of the state. It has values, and parts, which are
/// nodes.
struct InspectNode {
  std::string kind;  ///< "router", "port", "vc", "terminal", "state"
  std::string name;  ///< "+x"; "": the index among nodes of the same kind is sufficient
  std::vector<InspectValue> values;
  std::vector<InspectNode> parts;
  std::string_view help = "";
  std::string note = "";  ///< state in the machine's terms; "": nothing to report
};

/// Returns the inspector of a plan. ConfigError if the plan has none.
const Inspector& inspector_of(const Plan& plan);

/// Returns the tree of a router: its ports with their virtual channels, with notes for the beginning of cycle `now`.
/// The plan must have an inspector.
InspectNode router_tree(const Plan& plan, const std::vector<std::byte>& state, u32 router, Cycle now);
InspectNode terminal_tree(const Plan& plan, const std::vector<std::byte>& state, u32 terminal);

/// Returns for each router-to-router channel the number of flits sent since cycle 0; empty if the plan has no
/// inspector.
std::vector<u32> channel_flits(const Plan& plan, const std::vector<std::byte>& state);

}  // namespace flitlab
