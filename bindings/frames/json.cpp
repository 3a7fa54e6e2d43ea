#include "bindings/frames/json.hpp"

#include <bit>
#include <cstdio>

#include "kernels/common/portable.hpp"
#include "kernels/engines/record.hpp"

namespace flitlab {

void Json::comma() {
  if (!first_) text += ',';
  first_ = false;
}

Json& Json::raw(std::string_view written) {
  comma();
  text += written;
  return *this;
}

Json& Json::open(char bracket) {
  comma();
  text += bracket;
  first_ = true;
  return *this;
}

Json& Json::close(char bracket) {
  text += bracket;
  first_ = false;
  return *this;
}

Json& Json::key(std::string_view name) {
  put(name);
  text += ':';
  first_ = true;
  return *this;
}

Json& Json::put(std::string_view texts) {
  comma();
  text += '"';
  for (const char c : texts) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (byte < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", byte);
      text += code;
    } else {
      text += c;
    }
  }
  text += '"';
  return *this;
}

Json& Json::put(double x) { return x - x == 0 ? raw(portable::shortest_text(x)) : null(); }

Json& Json::put(u64 x) {
  constexpr u64 kMostExact = u64{1} << 53;
  return x <= kMostExact ? raw(std::to_string(x)) : put(std::string_view(std::to_string(x)));
}

namespace {

struct PutValue {
  Json& json;

  void operator()(std::monostate) const { json.null(); }
  void operator()(const IntList& list) const {
    json.open('[');
    for (const std::int64_t x : list) json.put(x);
    json.close(']');
  }
  void operator()(const NumberList& list) const {
    json.open('[');
    for (const double x : list) json.put(x);
    json.close(']');
  }
  void operator()(const WordList& list) const {
    json.open('[');
    for (const std::string& word : list) json.put(word);
    json.close(']');
  }
  void operator()(const Lengths& lengths) const {
    json.open('[');
    for (const auto& [flits, weight] : lengths) json.open('[').put(flits).put(weight).close(']');
    json.close(']');
  }
  void operator()(const Datum::List& list) const {
    json.open('[');
    for (const Datum& x : list) json.put(x);
    json.close(']');
  }
  void operator()(const Datum::Map& map) const {
    json.open('{');
    for (const auto& [name, x] : map) json.key(name).put(x);
    json.close('}');
  }
  void operator()(const std::string& x) const { json.put(std::string_view(x)); }
  template <class Plain>
  void operator()(Plain x) const {
    json.put(x);
  }
};

}  // namespace

Json& Json::put(const Value& value) {
  std::visit(PutValue{*this}, value);
  return *this;
}

Json& Json::put(const Datum& value) {
  std::visit(PutValue{*this}, value.value);
  return *this;
}

void put_tree(Json& json, const InspectNode& node) {
  json.open('{').member("kind", node.kind).member("name", node.name).key("values").open('[');
  for (const InspectValue& v : node.values)
    json.open('{')
        .member("name", v.name)
        .member("value", v.value)
        .member("unit", v.unit)
        .member("help", v.help)
        .close('}');
  json.close(']').key("parts").open('[');
  for (const InspectNode& part : node.parts) put_tree(json, part);
  json.close(']').close('}');
}

namespace {

void put_member(Json& json, const MemberInfo& m) {
  json.open('{').member("name", m.name).member("unit", m.unit).member("help", m.meaning);
  json.member("offset", m.offset).member("count", m.count).member("list", m.array);
  json.member("low", static_cast<u32>(m.mask ? std::countr_zero(m.mask) : 0));
  json.member("bits", static_cast<u32>(std::popcount(m.mask)));
  json.member("bytes", m.element->bytes).member("signed", m.element->is_signed).key("members").open('[');
  for (const MemberInfo& inner : m.element->members) put_member(json, inner);
  json.close(']').close('}');
}

}  // namespace

void put_schema(Json& json, const ItemKind& kind) {
  json.open('[');
  for (const FieldInfo& f : kind.fields)
    put_member(json, {f.name, f.unit, f.meaning, f.offset, f.count, f.count > 1, 0, f.element});
  json.close(']');
}

Texts texts_of(const InspectNode& router) {
  Json port_notes, vc_names, vc_notes;
  for (Json* json : {&port_notes, &vc_names, &vc_notes}) json->open('[');
  for (const InspectNode& port : router.parts) {
    port_notes.put(port.note);
    vc_names.open('[');
    vc_notes.open('[');
    for (const InspectNode& vc : port.parts) vc_names.put(vc.name), vc_notes.put(vc.note);
    vc_names.close(']');
    vc_notes.close(']');
  }
  for (Json* json : {&port_notes, &vc_names, &vc_notes}) json->close(']');
  return {{"port_notes", port_notes.text}, {"vc_names", vc_names.text}, {"vc_notes", vc_notes.text}};
}

void put_texts(Json& json, const Texts& texts) {
  json.open('{');
  for (const auto& [name, text] : texts) json.key(name).raw(text);
  json.close('}');
}

}  // namespace flitlab
