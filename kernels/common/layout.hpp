#pragma once
/// Memory layout of the state. An item (a router, a terminal) is a list of fields; a field is an array of `count`
/// elements of one type per item. Items are stored in blocks of W: field by field, element by element, W items side by
/// side. W = 1 keeps an item's state together, which suits a CPU core. W = 32 lets the threads of a warp read adjacent
/// memory. Models use only `item.at(field, index)`, so the engine chooses W.
#include <string_view>
#include <type_traits>

#include "kernels/common/types.hpp"

namespace flitlab {

/// Handle of a field: the byte offset of its first element in an item stored with W = 1.
template <class T>
struct Field {
  u32 offset = 0;

  bool operator==(const Field&) const = default;
};

/// Access to one item of a state that is stored in blocks of W items.
template <int W>
struct Item {
  std::byte* block;
  u32 lane;

  template <class T>
  FLITLAB_HD T& at(Field<T> field, u32 index = 0) const {
    return *reinterpret_cast<T*>(block + std::size_t{field.offset} * W + (std::size_t{index} * W + lane) * sizeof(T));
  }
};

template <>
struct Item<1> {
  std::byte* block;

  template <class T>
  FLITLAB_HD T& at(Field<T> field, u32 index = 0) const {
    return *reinterpret_cast<T*>(block + field.offset + std::size_t{index} * sizeof(T));
  }
};

/// Access to all items of one kind in one replica.
template <int W>
struct Items {
  std::byte* base;
  u32 item_bytes;

  FLITLAB_HD Item<W> operator[](u32 item) const {
    if constexpr (W == 1)
      return {base + std::size_t{item} * item_bytes};
    else
      return {base + std::size_t{item / W} * W * item_bytes, item % W};
  }
};

inline constexpr u32 kMaxItemKinds = 4;

/// Where the items of each kind start in a replica's memory, for one block width.
struct Placement {
  u64 offset[kMaxItemKinds];
  u32 item_bytes[kMaxItemKinds];
  u32 count[kMaxItemKinds];
  u32 kinds;

  template <int W>
  FLITLAB_HD Items<W> items(std::byte* state, u32 kind) const {
    return {state + offset[kind], item_bytes[kind]};
  }
};

}  // namespace flitlab
