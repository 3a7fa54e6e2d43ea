#pragma once
/// JSON writer for values, inspected items and state layouts.
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "host/config/value.hpp"
#include "host/plan/inspection.hpp"
#include "kernels/engines/state_layout.hpp"

namespace flitlab {

/// Writes JSON and inserts the commas: `Json j; j.open('[').put(3).put("x").close(']');`.
class Json {
 public:
  Json& open(char bracket);
  Json& close(char bracket);
  /// Writes the name of the next value inside { }.
  Json& key(std::string_view name);

  Json& put(std::string_view text);
  Json& put(const char* text) { return put(std::string_view(text)); }
  Json& put(const std::string& text) { return put(std::string_view(text)); }
  Json& put(bool x) { return raw(x ? "true" : "false"); }
  Json& put(double x);  ///< null for NaN and infinity
  Json& put(u32 x) { return whole(x); }
  Json& put(std::int64_t x) { return whole(x); }
  Json& put(u64 x);  ///< above 2^53 as a string, because JavaScript's numbers cannot represent such a number exactly
  Json& put(const Value& value);
  Json& put(const Datum& value);
  Json& null() { return raw("null"); }
  /// Appends text that is already JSON.
  Json& raw(std::string_view written);

  template <class T>
  Json& member(std::string_view name, const T& value) {
    return key(name).put(value);
  }

  std::string text;

 private:
  void comma();
  /// Appends a comma and the digits of a number in one call, because most of a recording consists of numbers.
  template <class Whole>
  Json& whole(Whole x) {
    char written[24] = {','};
    const char* end = std::to_chars(written + 1, written + sizeof written, x).ptr;
    const char* begin = written + std::exchange(first_, false);
    text.append(begin, static_cast<std::size_t>(end - begin));
    return *this;
  }

  bool first_ = true;
};

/// Writes an inspected item as [kind, name, [[name, value, unit, help], ...], [part, ...]].
void put_tree(Json& json, const InspectNode& node);
/// Writes a schema with which a caller can read such a tree from the bytes of an item: a list of the item's fields.
/// Each field is [name, unit, help, offset in bytes, number of elements, 1 if they are shown as a list, lowest bit,
/// number of bits (0: all), bytes per element, 1 if it is signed, list of its members].
void put_schema(Json& json, const ItemKind& kind);
/// Writes the names and notes of a router in the machine's terms: for each port [its note, [[name, note] for each
/// virtual channel]].
void put_texts(Json& json, const InspectNode& router);

}  // namespace flitlab
