#include "host/repetition/elements.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace flitlab {
namespace {

/// Removes the part of a name before its first dot, and returns it.
std::string_view take_part(std::string_view& name) {
  const std::size_t dot = name.find('.');
  const std::string_view part = name.substr(0, dot);
  name = dot == name.npos ? std::string_view() : name.substr(dot + 1);
  return part;
}

const MemberInfo& member_of(const FieldInfo& field, std::string_view name) {
  for (const MemberInfo& member : field.element->members)
    if (member.name == name) return member;
  throw std::logic_error(std::string(field.name) + " has no member " + std::string(name));
}

}  // namespace

const FieldInfo* find_field(const StateLayout& layout, std::string_view name, u32& kind) {
  const std::string_view items = take_part(name), field = take_part(name);
  for (kind = 0; kind < layout.kinds.size(); ++kind)
    if (layout.kinds[kind].name == items) break;
  if (kind == layout.kinds.size()) throw std::logic_error("no items of kind " + std::string(items));
  const auto is_meant = [&](const FieldInfo& f) { return f.name == field; };
  const std::vector<FieldInfo>& fields = layout.kinds[kind].fields;
  const auto found = std::find_if(fields.begin(), fields.end(), is_meant);
  return found == fields.end() ? nullptr : &*found;
}

Elements find_elements(const StateLayout& layout, std::string_view name) {
  Elements e;
  const FieldInfo* field = find_field(layout, name, e.kind);
  if (!field) return e;
  e = {e.kind, field->offset, field->element_bytes, field->element_bytes, field->count};
  take_part(name), take_part(name);
  if (name.empty()) return e;
  const MemberInfo& member = member_of(*field, name);
  e.offset += member.offset;
  e.bytes = member.element->bytes * member.count;
  return e;
}

}  // namespace flitlab
