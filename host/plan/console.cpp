#include "host/plan/console.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "host/config/check.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

std::string shown(const Datum& d) {
  struct Show {
    std::string operator()(std::monostate) const { return "none"; }
    std::string operator()(bool x) const { return x ? "true" : "false"; }
    std::string operator()(std::int64_t x) const { return std::to_string(x); }
    std::string operator()(u64 x) const { return std::to_string(x); }
    std::string operator()(double x) const { return to_text(Value{x}); }
    std::string operator()(const std::string& x) const { return to_text(Value{x}); }
    std::string operator()(const Datum::List& list) const {
      std::string text;
      for (const Datum& item : list) text += (text.empty() ? "" : ", ") + shown(item);
      return "[" + text + "]";
    }
    std::string operator()(const Datum::Map& map) const {
      std::string text;
      for (const auto& [name, item] : map) text += (text.empty() ? "" : ", ") + name + ": " + shown(item);
      return "{" + text + "}";
    }
  };
  return std::visit(Show{}, d.value);
}

bool whole(const Datum& d) {
  return std::holds_alternative<u64>(d.value) || std::holds_alternative<std::int64_t>(d.value);
}

bool negative(const Datum& d) {
  const auto* x = std::get_if<std::int64_t>(&d.value);
  return x && *x < 0;
}

double as_double(const Datum& d) {
  if (const auto* x = std::get_if<u64>(&d.value)) return static_cast<double>(*x);
  if (const auto* x = std::get_if<std::int64_t>(&d.value)) return static_cast<double>(*x);
  return std::get<double>(d.value);
}

/// "" if a value has an argument's type, else what it should be.
std::string type_wanted(const ArgumentRecord& a, const Datum& d) {
  switch (a.type) {
    case ArgumentType::kRouter:
    case ArgumentType::kTerminal:
    case ArgumentType::kNumber: return whole(d) && !negative(d) ? "" : "a whole number, not negative, of up to 64 bits";
    case ArgumentType::kInteger: return whole(d) ? "" : "a whole number";
    case ArgumentType::kReal: return whole(d) || std::holds_alternative<double>(d.value) ? "" : "a number";
    case ArgumentType::kFlag: return std::holds_alternative<bool>(d.value) ? "" : "true or false";
    case ArgumentType::kText: return std::holds_alternative<std::string>(d.value) ? "" : "a word";
    case ArgumentType::kIntegers: {
      const auto* list = std::get_if<Datum::List>(&d.value);
      return list && std::all_of(list->begin(), list->end(), whole) ? "" : "a list of whole numbers";
    }
    case ArgumentType::kAny: return "";
  }
  return "";
}

void check_argument(const OperationRecord& operation, const ArgumentRecord& a, const Datum& d, u32 routers,
                    u32 terminals) {
  const std::string where = std::string(operation.name) + ": " + std::string(a.name) + " = " + shown(d);
  if (const bool router = a.type == ArgumentType::kRouter; router || a.type == ArgumentType::kTerminal) {
    const u32 count = router ? routers : terminals;
    if (whole(d) && (negative(d) || as_double(d) >= count))
      throw ConfigError(std::string(router ? "router " : "terminal ") + shown(d) + " does not exist: " +
                        (router ? "routers" : "terminals") + " are numbered 0 to " + std::to_string(count - 1) + ".");
  }
  if (const std::string wanted = type_wanted(a, d); !wanted.empty())
    throw ConfigError(where + " has the wrong type: it must be " + wanted + ".");
  if (a.min != a.max && (as_double(d) < a.min || as_double(d) > a.max))
    throw ConfigError(where + " is out of range: allowed are " + to_text(Value{static_cast<std::int64_t>(a.min)}) +
                      " to " + to_text(Value{static_cast<std::int64_t>(a.max)}) + ".");
}

}  // namespace

Arguments::Arguments(const OperationRecord& operation, Datum::Map given, u32 routers, u32 terminals) {
  std::vector<std::string> names;
  for (const ArgumentRecord& a : operation.arguments) names.emplace_back(a.name);
  for (const auto& [name, value] : given)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw ConfigError(std::string(operation.name) + " has no argument " + name + " = " + shown(value) + "; " +
                        (names.empty() ? "it takes none." : "it takes " + listed(names) + "."));
  for (const ArgumentRecord& a : operation.arguments) {
    const auto mine =
        std::find_if(given.begin(), given.end(), [&](const auto& entry) { return entry.first == a.name; });
    if (mine == given.end() || mine->second.nothing()) {
      if (!a.optional)
        throw ConfigError(std::string(operation.name) + " needs " + std::string(a.name) +
                          (a.help.empty() ? "." : ": " + std::string(a.help)));
      continue;
    }
    check_argument(operation, a, mine->second, routers, terminals);
    values_.push_back(std::move(*mine));
  }
}

bool Arguments::has(std::string_view name) const {
  return std::any_of(values_.begin(), values_.end(), [&](const auto& entry) { return entry.first == name; });
}

const Datum& Arguments::at(std::string_view name) const {
  for (const auto& [key, value] : values_)
    if (key == name) return value;
  throw ConfigError("the argument " + std::string(name) + " is missing.");
}

u64 Arguments::number(std::string_view name) const { return static_cast<u64>(integer(name)); }

std::int64_t Arguments::integer(std::string_view name) const {
  const Datum& d = at(name);
  if (const auto* x = std::get_if<u64>(&d.value)) return static_cast<std::int64_t>(*x);
  return std::get<std::int64_t>(d.value);
}

double Arguments::real(std::string_view name) const { return as_double(at(name)); }
bool Arguments::flag(std::string_view name) const { return std::get<bool>(at(name).value); }
const std::string& Arguments::text(std::string_view name) const { return std::get<std::string>(at(name).value); }

std::vector<std::int64_t> Arguments::integers(std::string_view name) const {
  std::vector<std::int64_t> list;
  for (const Datum& d : std::get<Datum::List>(at(name).value)) {
    const auto* x = std::get_if<u64>(&d.value);
    list.push_back(x ? static_cast<std::int64_t>(*x) : std::get<std::int64_t>(d.value));
  }
  return list;
}

void Console::offer(OperationRecord record, std::function<Datum(Engine&, const Arguments&)> run) {
  operations_.push_back({std::move(record), std::move(run)});
}

Datum Console::call(Engine& engine, std::string_view name, Datum::Map arguments) {
  std::vector<std::string> names;
  for (const Operation& operation : operations_) {
    if (operation.record.name == name)
      return operation.run(engine, Arguments(operation.record, std::move(arguments), routers_, terminals_));
    names.emplace_back(operation.record.name);
  }
  throw ConfigError("this machine has no operation " + std::string(name) + ": it offers " + listed(names) + ".");
}

std::vector<std::string> Console::take_warnings() { return std::exchange(warnings_, {}); }

}  // namespace flitlab
