#pragma once
/// Inspection of a state: a router or a terminal as a tree of named values with units. Text output, tables, pictures
/// and the browser's view use that tree.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "host/plan/datum.hpp"

namespace flitlab {

class Plan;

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

/// Returns the tree of a router: its ports with their virtual channels, with notes for the beginning of cycle `now`.
InspectNode router_tree(const Plan& plan, const std::vector<std::byte>& state, u32 router, Cycle now);
InspectNode terminal_tree(const Plan& plan, const std::vector<std::byte>& state, u32 terminal);

}  // namespace flitlab
