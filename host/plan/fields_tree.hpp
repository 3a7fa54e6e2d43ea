#pragma once
/// All that an item's state consists of, whatever the model: its fields and their records, by name, with units and
/// meanings, as their lists declare them (kernels/common/fields.hpp).
#include <cstddef>
#include <vector>

#include "host/plan/inspector.hpp"
#include "kernels/engines/state_layout.hpp"

namespace flitlab {

/// Item `item` of kind `kind` in a state in canonical order. Numbers are values, and several of them a list; a record
/// is a part of the kind of its field's name, and several of them are parts named by their places. Names of values and
/// their texts live as long as the program.
InspectNode fields_tree(const StateLayout& layout, const std::vector<std::byte>& state, u32 kind, u32 item);

}  // namespace flitlab
