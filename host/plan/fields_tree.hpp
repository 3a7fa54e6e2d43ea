#pragma once
/// The tree of an item's whole state, for any model: its fields and their structs, by name, with the units and meanings
/// of their declarations (kernels/common/fields.hpp).
#include <cstddef>
#include <vector>

#include "host/plan/inspector.hpp"
#include "kernels/engines/state_layout.hpp"

namespace flitlab {

/// Returns the tree of item `item` of kind `kind` in a state in canonical order. A number is a value, an array of
/// numbers a list. A struct is a part named after its field; an array of structs is several parts named by index. The
/// texts in the tree live as long as the program.
InspectNode fields_tree(const StateLayout& layout, const std::vector<std::byte>& state, u32 kind, u32 item);

}  // namespace flitlab
