#pragma once
/// JSON text, as JavaScript and Python read it.
#include <string>
#include <string_view>

#include "host/config/value.hpp"
#include "host/plan/inspector.hpp"

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
  Json& put(u32 x) { return raw(std::to_string(x)); }
  Json& put(std::int64_t x) { return raw(std::to_string(x)); }
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

  bool first_ = true;
};

/// An inspected item, short: kind, name, values (name, value, unit, help) and parts.
void put_tree(Json& json, const InspectNode& node);
/// Of a router in the machine's words: [note, [[name, note], ...]] for each port.
void put_words(Json& json, const InspectNode& router);

}  // namespace flitlab
