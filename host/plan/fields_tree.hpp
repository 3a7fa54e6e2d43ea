#pragma once
/// The complete state of an item as a tree, for any model: its fields and their structs, with the names, units and
/// meanings of their declarations (kernels/common/fields.hpp).
#include <cstddef>
#include <vector>

#include "host/plan/inspection.hpp"
#include "kernels/engines/state_layout.hpp"

namespace flitlab {

/// Returns the tree of item `item` of kind `kind`, from a state in canonical order. A number becomes a value, an array
/// of numbers a list. A struct becomes a part of the tree named after its field; an array of structs becomes several
/// parts named by index. The texts in the tree are valid as long as the program runs.
InspectNode fields_tree(const StateLayout& layout, const std::vector<std::byte>& state, u32 kind, u32 item);

}  // namespace flitlab
