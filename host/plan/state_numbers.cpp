#include "host/plan/state_numbers.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace flitlab {

StateNumbers find_numbers(const StateLayout& layout, std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = name;; rest.remove_prefix(parts.back().size() + 1)) {
    parts.push_back(rest.substr(0, rest.find('.')));
    if (parts.back().size() == rest.size()) break;
  }
  const auto named = [](std::string_view part) { return [part](const auto& info) { return info.name == part; }; };
  const auto find = [&](const auto& list, std::string_view part) {
    return std::find_if(list.begin(), list.end(), named(part));
  };
  const auto require = [&](bool found) {
    if (!found) throw std::logic_error("no state has \"" + std::string(name) + "\"");
  };
  StateNumbers n;
  const auto kind = find(layout.kinds, parts[0]);
  require(kind != layout.kinds.end());
  n.kind = static_cast<u32>(kind - layout.kinds.begin());
  if (parts.size() == 1) return n;
  const auto field = find(kind->fields, parts[1]);
  if (field == kind->fields.end()) {
    require(find(kind->absent, parts[1]) != kind->absent.end());
    n.absent = true;
    return n;
  }
  n.field = &*field;
  n.path.push_back({field->name, "", "", field->offset, field->count, field->count > 1, 0, field->element});
  for (std::size_t i = 2; i < parts.size(); ++i) {
    const std::vector<MemberInfo>& members = n.path.back().element->members;
    const auto member = find(members, parts[i]);
    require(member != members.end());
    n.path.push_back(*member);
  }
  return n;
}

}  // namespace flitlab
