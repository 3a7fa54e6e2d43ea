#pragma once
/// Access to single elements of a replica's state by the names of fields, for software that acts on one node between
/// two cycles. Only the elements' bytes are copied.
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/engines/engine.hpp"

namespace flitlab {

/// Returns a field of a kind of item. Its elements must have type T.
template <class T>
FieldInfo field_of(const Engine& engine, u32 kind, std::string_view name) {
  const FieldInfo& field = engine.layout().kinds[kind].field(name);
  if (field.element_bytes != sizeof(T)) throw std::logic_error(std::string(name) + " has elements of another type");
  return field;
}

/// Returns the field whose only element is element `index` of such a field.
template <class T>
FieldInfo element_of(const Engine& engine, u32 kind, std::string_view name, u32 index) {
  const FieldInfo field = field_of<T>(engine, kind, name);
  if (index >= field.count) throw std::logic_error(std::string(name) + " has no element " + std::to_string(index));
  return field.only(index);
}

/// Returns the elements of a field of one item.
template <class T>
std::vector<T> get_elements(const Engine& engine, u32 replica, u32 kind, u32 item, std::string_view name) {
  const FieldInfo field = field_of<T>(engine, kind, name);
  std::vector<T> elements(field.count);
  engine.get_item(replica, kind, item, field, elements.data());
  return elements;
}

/// Return or replace element `index` of a field of one item.
template <class T>
T get_element(const Engine& engine, u32 replica, u32 kind, u32 item, std::string_view name, u32 index = 0) {
  T element;
  engine.get_item(replica, kind, item, element_of<T>(engine, kind, name, index), &element);
  return element;
}
template <class T>
void set_element(Engine& engine, u32 replica, u32 kind, u32 item, std::string_view name, const T& element,
                 u32 index = 0) {
  engine.set_item(replica, kind, item, element_of<T>(engine, kind, name, index), &element);
}

/// Calls change(element) for element `index` of a field of one item.
template <class T, class Change>
void change_element(Engine& engine, u32 replica, u32 kind, u32 item, std::string_view name, u32 index,
                    Change&& change) {
  T element = get_element<T>(engine, replica, kind, item, name, index);
  change(element);
  set_element(engine, replica, kind, item, name, element, index);
}

}  // namespace flitlab
