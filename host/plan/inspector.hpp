#pragma once
/// What is inside an item, as a tree of named values with units that any tool can walk: printing, tables, pictures and
/// a browser's view read the same tree.
#include <string>
#include <string_view>
#include <vector>

#include "host/plan/datum.hpp"

namespace flitlab {

/// A value of an item. A list's length is its shape.
struct InspectValue {
  std::string_view name;
  Datum value;
  std::string_view unit = "";
  std::string_view help = "";
};

/// A router, a port, a virtual channel, a register: values, and what it consists of.
struct InspectNode {
  std::string kind;  ///< "router", "port", "vc", "terminal" or what the machine calls it
  std::string name;  ///< "+x"; "" if its place among its like says enough
  std::vector<InspectValue> values;
  std::vector<InspectNode> parts;
  std::string_view help = "";
};

/// A plan's view into a replica's state in canonical order.
class Inspector {
 public:
  virtual ~Inspector() = default;
  virtual InspectNode router(const std::vector<std::byte>& state, u32 index) const = 0;
  virtual InspectNode terminal(const std::vector<std::byte>& state, u32 index) const = 0;
};

}  // namespace flitlab
