#pragma once
/// JSON text, as JavaScript and Python read it.
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "host/config/value.hpp"
#include "host/plan/inspector.hpp"
#include "kernels/engines/state_layout.hpp"

namespace flitlab {

/// Puts commas where they belong: `Json j; j.open('[').put(3).put("x").close(']');`.
class Json {
 public:
  Json& open(char bracket);
  Json& close(char bracket);
  /// The next value's name, inside of { }.
  Json& key(std::string_view name);

  Json& put(std::string_view text);
  Json& put(const char* text) { return put(std::string_view(text)); }
  Json& put(const std::string& text) { return put(std::string_view(text)); }
  Json& put(bool x) { return raw(x ? "true" : "false"); }
  Json& put(double x);  ///< null for not-a-number
  Json& put(u32 x) { return whole(x); }
  Json& put(std::int64_t x) { return whole(x); }
  Json& put(u64 x);  ///< as text beyond 2^53, where JavaScript's numbers are not whole any more
  Json& put(const Value& value);
  Json& put(const Datum& value);
  Json& null() { return raw("null"); }
  /// What is JSON already.
  Json& raw(std::string_view written);

  template <class T>
  Json& member(std::string_view name, const T& value) {
    return key(name).put(value);
  }

  std::string text;

 private:
  void comma();
  /// Most of a recording is such numbers: a comma and digits are added at once.
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

/// An inspected item, short: kind, name, values (name, value, unit, help) and parts.
void put_tree(Json& json, const InspectNode& node);
/// How such a tree is read out of the bytes of an item: its fields, each [name, unit, help, offset, elements, whether
/// they are a list, lowest bit, bits or 0, bytes of an element, whether it is signed, what it consists of or []].
void put_schema(Json& json, const ItemKind& kind);
/// Of a router in the machine's words: [note, [[name, note], ...]] for each port.
void put_words(Json& json, const InspectNode& router);

}  // namespace flitlab
