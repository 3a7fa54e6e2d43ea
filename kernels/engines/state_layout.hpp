#pragma once
/// Description of a replica's state: kinds of items, their fields and sizes. One description serves allocation,
/// hashing, checkpoints and inspection.
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/fields.hpp"
#include "kernels/engines/record.hpp"

namespace flitlab {

struct FieldInfo {
  std::string_view name;
  u32 offset;  ///< bytes from the start of an item stored with W = 1
  u32 count;   ///< elements per item
  u32 element_bytes;
  std::string_view unit = "";
  std::string_view meaning = "";
  const RecordInfo* element = nullptr;  ///< type of an element

  /// Returns the field whose only element is element `index` of this one.
  FieldInfo only(u32 index) const {
    FieldInfo one = *this;
    one.offset += index * element_bytes;
    one.count = 1;
    return one;
  }
};

struct ItemKind {
  std::string name;
  u32 count = 0;       ///< items per replica
  u32 item_bytes = 0;  ///< multiple of 64
  std::vector<FieldInfo> fields;
  std::vector<FieldInfo> absent;  ///< fields that this model has only in other configurations; 0 elements here

  /// Returns the bytes that all items take in blocks of `width`.
  std::size_t bytes(u32 width) const { return (std::size_t{count} + width - 1) / width * width * item_bytes; }

  /// Appends the fields of a list (kernels/common/fields.hpp), whose numbers of elements depend on `t`. Elements must
  /// have no padding, because the state is hashed and stored byte by byte.
  template <class Fields, class T>
  void add_fields(Fields& list, const T& t) {
    Fields::for_each_field(list, t, [this](auto& field, auto... text) { this->add_field(field, text...); });
  }
  template <class E>
  void add_field(Field<E>& field, const char* field_name, u32 elements, const char* unit, const char* meaning) {
    static_assert(std::has_unique_object_representations_v<E> && std::is_trivially_copyable_v<E>);
    if (elements) field = append_field<E>(item_bytes, elements);
    (elements ? fields : absent)
        .push_back({field_name, field.offset, elements, sizeof(E), unit, meaning, &record_info<E>()});
  }

  /// Returns the field of that name, which must exist.
  const FieldInfo& field(std::string_view field_name) const;

  /// Rounds an item up to whole cache lines, so that data read together spans as few lines as possible.
  void finish() { item_bytes = (item_bytes + 63) / 64 * 64; }
};

struct StateLayout {
  std::vector<ItemKind> kinds;

  std::size_t bytes(u32 width) const {
    std::size_t sum = 0;
    for (const ItemKind& kind : kinds) sum += kind.bytes(width);
    return sum;
  }
  /// Returns the byte offset of a kind's items in a replica stored in blocks of `width`.
  std::size_t kind_offset(u32 kind, u32 width) const {
    std::size_t sum = 0;
    for (u32 k = 0; k < kind; ++k) sum += kinds[k].bytes(width);
    return sum;
  }
};

/// Returns the layout in the form that kernels use.
Placement place_items(const StateLayout& layout, u32 width);

/// Copies a replica from blocks of `from_width` to blocks of `to_width`; padding items become zero.
void convert_state(const StateLayout& layout, const std::byte* from, u32 from_width, std::byte* to, u32 to_width);

/// Copy one field of all items of a kind, stored in blocks of `width`, to an array [items][count] in item order
/// (read_field) or back (write_field).
void read_field(const ItemKind& kind, const FieldInfo& field, const std::byte* items, u32 width, void* out);
void write_field(const ItemKind& kind, const FieldInfo& field, std::byte* items, u32 width, const void* in);
/// Copy one field of one item to an array [count], or back.
void read_item(const ItemKind& kind, const FieldInfo& field, const std::byte* items, u32 width, u32 item, void* out);
void write_item(const ItemKind& kind, const FieldInfo& field, std::byte* items, u32 width, u32 item, const void* in);

/// Returns the byte offset, among the items of a kind, of element `index` of a field of `item`.
std::size_t element_offset(const ItemKind& kind, const FieldInfo& field, std::size_t item, u32 index, u32 width);

/// Returns the hash of a replica's state in canonical order (W = 1). It is a sum over 8-byte words of mixed (position,
/// content), so it can be computed in parallel and does not depend on the memory layout.
u64 hash_state(const StateLayout& layout, const std::byte* state, u32 width);

}  // namespace flitlab
