#pragma once
/// JSON writer for values, inspected items and state layouts.
#include <charconv>
#include <map>
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

/// Writes an inspected item as an object: kind, name, values (each with name, value, unit and help), parts.
void put_tree(Json& json, const InspectNode& node);
/// Writes a schema with which a caller can read such a tree from the bytes of an item: a list of the item's fields.
/// Each field is an object: name, unit, help, offset (bytes), count (of elements), list (whether the elements are shown
/// as a list), low (lowest bit), bits (0: all), bytes (per element), signed, members.
void put_schema(Json& json, const ItemKind& kind);
/// Texts of a router in the machine's terms, in JSON: port_notes `[port]`, vc_names `[port][vc]`, vc_notes
/// `[port][vc]`.
using Texts = std::map<std::string, std::string>;
Texts texts_of(const InspectNode& router);
void put_texts(Json& json, const Texts& texts);

}  // namespace flitlab
