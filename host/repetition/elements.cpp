#include "host/repetition/elements.hpp"

#include "host/plan/state_numbers.hpp"

namespace flitlab {

Elements find_elements(const StateLayout& layout, std::string_view name) {
  const StateNumbers found = find_numbers(layout, name);
  Elements e;
  e.kind = found.kind;
  if (found.absent) return e;
  const FieldInfo& field = *found.field;
  e = {e.kind, field.offset, field.element_bytes, field.element_bytes, field.count};
  if (found.path.size() == 1) return e;
  const MemberInfo& member = found.path.back();
  e.offset += member.offset;
  e.bytes = member.element->bytes * member.count;
  return e;
}

}  // namespace flitlab
