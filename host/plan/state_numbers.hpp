#pragma once
/// Numbers of a state, found by name: kind of item, field and members, as in "router.input.out_port".
#include <string_view>
#include <vector>

#include "kernels/engines/state_layout.hpp"

namespace flitlab {

/// All numbers (or structs) of the state that have one name.
struct StateNumbers {
  u32 kind = 0;                      ///< index of the kind of item in the layout
  const FieldInfo* field = nullptr;  ///< null: the name is that of a kind, or the field is absent
  bool absent = false;               ///< the items of this configuration do not have the field
  std::vector<MemberInfo> path;  ///< how to find them in an item: first its field, then a member of the field's struct,
                                 ///< then a member of that member, and so on; empty: the item itself
};

/// Throws std::logic_error if no configuration has such a name.
StateNumbers find_numbers(const StateLayout& layout, std::string_view name);

}  // namespace flitlab
