#include "host/plan/fields_tree.hpp"

#include <bit>
#include <cstring>

namespace flitlab {
namespace {

/// Returns a number of the state. Numbers in the state are little-endian.
u64 read_bytes(const std::byte* at, u32 bytes) {
  u64 word = 0;
  std::memcpy(&word, at, bytes);
  return word;
}

Datum read_number(const MemberInfo& member, const std::byte* at) {
  const u32 bits = 8 * member.element->bytes;
  u64 word = read_bytes(at, member.element->bytes);
  if (member.mask) return Datum{(word & member.mask) >> std::countr_zero(member.mask)};
  if (!member.element->is_signed) return Datum{word};
  return Datum{static_cast<std::int64_t>(word << (64 - bits)) >> (64 - bits)};
}

/// Adds a member of the struct at address `record` to the node.
void show(InspectNode& node, const MemberInfo& member, const std::byte* record) {
  const std::byte* at = record + member.offset;
  const auto element = [&](u32 i) { return at + std::size_t{i} * member.element->bytes; };
  if (member.element->members.empty()) {
    Datum::List list;
    for (u32 i = 0; i < member.count; ++i) list.push_back(read_number(member, element(i)));
    Datum value = member.array ? Datum{std::move(list)} : std::move(list.front());
    node.values.push_back({member.name, std::move(value), member.unit, member.meaning});
    return;
  }
  for (u32 i = 0; i < member.count; ++i) {
    InspectNode part{std::string(member.name), member.array ? std::to_string(i) : "", {}, {}, member.meaning};
    for (const MemberInfo& inner : member.element->members) show(part, inner, element(i));
    node.parts.push_back(std::move(part));
  }
}

}  // namespace

InspectNode fields_tree(const StateLayout& layout, const std::vector<std::byte>& state, u32 kind, u32 item) {
  const ItemKind& items = layout.kinds.at(kind);
  const std::byte* start = state.data() + layout.kind_offset(kind, 1) + std::size_t{item} * items.item_bytes;
  InspectNode node{items.name, std::to_string(item), {}, {}};
  for (const FieldInfo& field : items.fields)
    show(node, {field.name, field.unit, field.meaning, field.offset, field.count, field.count > 1, 0, field.element},
         start);
  return node;
}

}  // namespace flitlab
