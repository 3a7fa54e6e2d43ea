#pragma once
/// Numbers of a state, found by name.
#include <cstring>
#include <string_view>

#include "kernels/engines/state_layout.hpp"

namespace flitlab {

/// Reads a number of 1, 2 or 4 bytes.
inline u32 number_at(const std::byte* at, u32 bytes) {
  u32 value = 0;
  std::memcpy(&value, at, bytes);
  return value;
}
inline void set_number_at(std::byte* at, u32 bytes, u32 value) { std::memcpy(at, &value, bytes); }

/// The numbers of one name in an item of a kind.
struct Elements {
  u32 kind = 0;
  u32 offset = 0;  ///< of the first one in the item, bytes
  u32 stride = 0;  ///< from one to the next, bytes
  u32 bytes = 0;   ///< of each
  u32 count = 0;   ///< 0: this network has none

  u32 read(const std::byte* item, u32 index) const { return number_at(item + offset + index * stride, bytes); }
  void write(std::byte* item, u32 index, u32 value) const {
    set_number_at(item + offset + index * stride, bytes, value);
  }
};

/// Returns the numbers of that name (state_numbers.hpp): kind of item, field and perhaps a member.
Elements find_elements(const StateLayout& layout, std::string_view name);

/// Returns an item of a state in canonical order.
template <class Bytes>
auto* item_at(const StateLayout& layout, Bytes& state, u32 kind, u32 index) {
  return state.data() + layout.kind_offset(kind, 1) + std::size_t{index} * layout.kinds[kind].item_bytes;
}

}  // namespace flitlab
