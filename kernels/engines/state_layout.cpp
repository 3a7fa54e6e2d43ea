#include "kernels/engines/state_layout.hpp"

#include <cstring>
#include <stdexcept>

#include "kernels/common/bits.hpp"

namespace flitlab {

std::size_t element_offset(const ItemKind& kind, const FieldInfo& field, std::size_t item, u32 index, u32 width) {
  const std::size_t block = item / width, lane = item % width;
  return block * width * kind.item_bytes + std::size_t{field.offset} * width +
         (std::size_t{index} * width + lane) * field.element_bytes;
}

Placement place_items(const StateLayout& layout, u32 width) {
  Placement p{};
  p.kinds = static_cast<u32>(layout.kinds.size());
  for (u32 k = 0; k < p.kinds; ++k) {
    p.offset[k] = layout.kind_offset(k, width);
    p.item_bytes[k] = layout.kinds[k].item_bytes;
    p.count[k] = layout.kinds[k].count;
  }
  return p;
}

void convert_state(const StateLayout& layout, const std::byte* from, u32 from_width, std::byte* to, u32 to_width) {
  std::memset(to, 0, layout.bytes(to_width));
  for (const ItemKind& kind : layout.kinds) {
    if (from_width == to_width) {
      std::memcpy(to, from, kind.bytes(from_width));
    } else {
      for (std::size_t item = 0; item < kind.count; ++item)
        for (const FieldInfo& field : kind.fields)
          for (u32 i = 0; i < field.count; ++i)
            std::memcpy(to + element_offset(kind, field, item, i, to_width),
                        from + element_offset(kind, field, item, i, from_width), field.element_bytes);
    }
    from += kind.bytes(from_width);
    to += kind.bytes(to_width);
  }
}

const FieldInfo& ItemKind::field(std::string_view field_name) const {
  for (const FieldInfo& f : fields)
    if (f.name == field_name) return f;
  throw std::logic_error(name + " has no field " + std::string(field_name));
}

void read_item(const ItemKind& kind, const FieldInfo& field, const std::byte* items, u32 width, u32 item, void* out) {
  auto* to = static_cast<std::byte*>(out);
  for (u32 i = 0; i < field.count; ++i, to += field.element_bytes)
    std::memcpy(to, items + element_offset(kind, field, item, i, width), field.element_bytes);
}

void write_item(const ItemKind& kind, const FieldInfo& field, std::byte* items, u32 width, u32 item, const void* in) {
  auto* from = static_cast<const std::byte*>(in);
  for (u32 i = 0; i < field.count; ++i, from += field.element_bytes)
    std::memcpy(items + element_offset(kind, field, item, i, width), from, field.element_bytes);
}

void read_field(const ItemKind& kind, const FieldInfo& field, const std::byte* items, u32 width, void* out) {
  auto* to = static_cast<std::byte*>(out);
  const std::size_t bytes = std::size_t{field.count} * field.element_bytes;
  for (u32 item = 0; item < kind.count; ++item, to += bytes) read_item(kind, field, items, width, item, to);
}

void write_field(const ItemKind& kind, const FieldInfo& field, std::byte* items, u32 width, const void* in) {
  auto* from = static_cast<const std::byte*>(in);
  const std::size_t bytes = std::size_t{field.count} * field.element_bytes;
  for (u32 item = 0; item < kind.count; ++item, from += bytes) write_item(kind, field, items, width, item, from);
}

u64 hash_state(const StateLayout& layout, const std::byte* state, u32 width) {
  if (width != 1) {
    std::vector<std::byte> canonical(layout.bytes(1));
    convert_state(layout, state, width, canonical.data(), 1);
    return hash_state(layout, canonical.data(), 1);
  }
  const std::size_t words = layout.bytes(1) / 8;
  u64 sum = 0;
  for (std::size_t i = 0; i < words; ++i) {
    u64 word;
    std::memcpy(&word, state + i * 8, 8);
    sum += mix64(word ^ mix64(i + 0x9E3779B97F4A7C15ull));
  }
  return sum;
}

}  // namespace flitlab
