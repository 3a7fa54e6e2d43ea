#include "host/plan/console.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "host/config/check.hpp"
#include "host/config/experiment.hpp"
#include "host/config/registry.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

/// Returns a value as text for a message; long lists are shortened.
std::string short_text(const Datum& d) {
  struct Show {
    std::string operator()(std::monostate) const { return "none"; }
    std::string operator()(bool x) const { return x ? "true" : "false"; }
    std::string operator()(std::int64_t x) const { return std::to_string(x); }
    std::string operator()(u64 x) const { return std::to_string(x); }
    std::string operator()(double x) const { return to_text(Value{x}); }
    std::string operator()(const std::string& x) const { return to_text(Value{x}); }
    std::string operator()(const Datum::List& list) const {
      constexpr std::size_t kMost = 12;
      std::string text;
      for (std::size_t i = 0; i < std::min(list.size(), kMost); ++i) text += (i ? ", " : "") + short_text(list[i]);
      return "[" + text + (list.size() > kMost ? ", ...]" : "]");
    }
    std::string operator()(const Datum::Map& map) const {
      std::string text;
      for (const auto& [name, item] : map) text += (text.empty() ? "" : ", ") + name + ": " + short_text(item);
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

/// Returns "" if a value has the type of an argument, otherwise a description of the value that is expected.
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

bool in_range(const ArgumentRecord& a, const Datum& d) {
  if (const auto* list = std::get_if<Datum::List>(&d.value))
    return std::all_of(list->begin(), list->end(), [&](const Datum& item) { return in_range(a, item); });
  return as_double(d) >= a.min && as_double(d) <= a.max;
}

void check_argument(const OperationRecord& operation, const ArgumentRecord& a, const Datum& d, u32 routers,
                    u32 terminals) {
  if (const bool router = a.type == ArgumentType::kRouter; router || a.type == ArgumentType::kTerminal) {
    const u32 count = router ? routers : terminals;
    if (whole(d) && (negative(d) || as_double(d) >= count))
      throw ConfigError(std::string(router ? "router " : "terminal ") + short_text(d) + " does not exist: " +
                        (router ? "routers" : "terminals") + " are numbered 0 to " + std::to_string(count - 1) + ".");
  }
  const auto fail = [&](const std::string& what) {
    throw ConfigError(std::string(operation.name) + ": " + std::string(a.name) + " = " + short_text(d) + what);
  };
  if (const std::string wanted = type_wanted(a, d); !wanted.empty())
    fail(" has the wrong type: it must be " + wanted + ".");
  if (a.min != a.max && !in_range(a, d))
    fail(" is out of range: allowed are " + to_text(Value{static_cast<std::int64_t>(a.min)}) + " to " +
         to_text(Value{static_cast<std::int64_t>(a.max)}) + ".");
}

/// Returns the element of `items` whose record has a given name, or null.
template <class Item>
const Item* named(const std::vector<Item>& items, std::string_view name) {
  const auto at = std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.record.name == name; });
  return at == items.end() ? nullptr : &*at;
}

template <class Item>
std::string names_of(const std::vector<Item>& items) {
  std::vector<std::string> names;
  for (const Item& item : items) names.emplace_back(item.record.name);
  return listed(names);
}

}  // namespace

std::string_view name_of(ArgumentType type) {
  static constexpr std::string_view kNames[] = {"router", "terminal", "number",   "integer", "real",
                                                "flag",   "text",     "integers", "any"};
  return kNames[static_cast<std::size_t>(type)];
}

Arguments::Arguments(const OperationRecord& operation, Datum::Map given, u32 routers, u32 terminals) {
  for (const auto& [name, value] : given) {
    std::vector<std::string> names;
    for (const ArgumentRecord& a : operation.arguments) {
      if (a.name == name) break;
      names.emplace_back(a.name);
    }
    if (names.size() == operation.arguments.size())
      throw ConfigError(std::string(operation.name) + " has no argument " + name + " = " + short_text(value) + "; " +
                        (names.empty() ? "it takes none." : "it takes " + listed(names) + "."));
  }
  for (const ArgumentRecord& a : operation.arguments) {
    const auto passed =
        std::find_if(given.begin(), given.end(), [&](const auto& entry) { return entry.first == a.name; });
    if (passed == given.end() || passed->second.nothing()) {
      if (!a.optional)
        throw ConfigError(std::string(operation.name) + " needs " + std::string(a.name) +
                          (a.help.empty() ? "." : ": " + std::string(a.help)));
      continue;
    }
    check_argument(operation, a, passed->second, routers, terminals);
    values_.push_back(std::move(*passed));
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

void Console::offer(RegisterFile file) {
  registers_ = file.records;
  for (const RegisterRecord& r : registers_)
    register_names_ += (register_names_.empty() ? "" : ", ") + std::string(r.name);
  register_names_ += "; # is a number or a port, as in the list of `registers`.";
  const auto text = [&](std::string line) -> std::string_view { return texts_.emplace_back(std::move(line)); };
  const std::string of(file.of);
  const ArgumentRecord node{"node", ArgumentType::kRouter, text("Number of " + of + ".")};
  const ArgumentRecord name{"name", ArgumentType::kText, register_names_};
  offer({.name = "read_register",
         .help = text("Reads a register of " + of + "."),
         .arguments = {node, name},
         .returns = file.reads,
         .cite = file.cite},
        [read = file.read](Engine& engine, const Arguments& a) {
          return Datum{read(engine, a.u32_of("node"), a.text("name"))};
        });
  offer({.name = "registers",
         .help = text("Reads all registers of " + of + "."),
         .arguments = {node},
         .returns = "a map: name -> value",
         .cite = file.cite},
        [all = file.all](Engine& engine, const Arguments& a) { return Datum::map_of(all(engine, a.u32_of("node"))); });
  if (!file.write) return;
  offer({.name = "write_register",
         .help = text("Writes a register of " + of + "." + (file.remark.empty() ? "" : " ") + std::string(file.remark)),
         .arguments = {node, name, {"value", ArgumentType::kNumber, "The value to write.", "bits"}},
         .cite = file.cite},
        [this, read = file.read, write = file.write](Engine& engine, const Arguments& a) {
          const std::string& wanted = a.text("name");
          const RegisterRecord* record = record_of(registers_, wanted);
          if (!record || !record->writable) {
            // Throws a ConfigError that lists the registers if there is no register of this name.
            read(engine, a.u32_of("node"), wanted);
            throw ConfigError("register " + wanted + " can be read only.");
          }
          write(engine, a.u32_of("node"), wanted, a.number("value"));
          return Datum{};
        });
}

const RegisterRecord* record_of(const std::vector<RegisterRecord>& records, std::string_view name) {
  for (const RegisterRecord& r : records) {
    const std::size_t mark = r.name.find('#');
    const bool numbered = mark != r.name.npos && name.size() > mark && name.starts_with(r.name.substr(0, mark));
    if (numbered || r.name == name) return &r;
  }
  return nullptr;
}

Datum Console::call(Engine& engine, std::string_view name, Datum::Map arguments) {
  const Operation* operation = named(operations_, name);
  if (!operation)
    throw ConfigError("this machine has no operation " + std::string(name) + ": it offers " + names_of(operations_) +
                      ".");
  return operation->run(engine, Arguments(operation->record, std::move(arguments), routers_, terminals_));
}

std::vector<std::string> Console::take_warnings() { return std::exchange(warnings_, {}); }

std::vector<Tool> tools_of(const std::string& kind) {
  std::vector<std::string> kinds;
  for (const ModelRecord& model : models()) {
    if (model.kind == kind) return model.tools ? model.tools() : std::vector<Tool>{};
    kinds.emplace_back(model.kind);
  }
  throw ConfigError("router.kind = \"" + kind + "\" is not known: allowed are " + listed(kinds) + ".");
}

Datum call_tool(const std::string& kind, const std::string& name, const Experiment* experiment, Datum::Map arguments) {
  const std::vector<Tool> tools = tools_of(kind);
  const std::string of = "router.kind = \"" + kind + "\"";
  const Tool* tool = named(tools, name);
  if (!tool && tools.empty()) throw ConfigError(name + ": " + of + " has no tools.");
  if (!tool) throw ConfigError(name + " is no tool of " + of + ". Its tools are " + names_of(tools) + ".");
  if (tool->wants_experiment && (!experiment || experiment->kind() != kind))
    throw ConfigError(name + " needs an experiment with " + of +
                      (experiment ? "; it was given one with \"" + experiment->kind() + "\"." : "."));
  return tool->run(tool->wants_experiment ? experiment : nullptr, Arguments(tool->record, std::move(arguments)));
}

std::string register_ranges(const std::map<std::string, u64>& registers) {
  struct Family {
    u64 first, last;
  };
  std::map<std::string, Family> numbered;
  std::vector<std::string> names;
  for (const auto& [name, value] : registers) {
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    if (digits == name.size()) {
      names.push_back(name);
      continue;
    }
    const u64 number = std::stoull(name.substr(digits));
    const auto [at, is_new] = numbered.try_emplace(name.substr(0, digits), Family{number, number});
    at->second = {std::min(at->second.first, number), std::max(at->second.last, number)};
  }
  for (const auto& [stem, family] : numbered) {
    const std::string first = stem + std::to_string(family.first);
    names.push_back(family.first == family.last ? first : first + " to " + std::to_string(family.last));
  }
  std::sort(names.begin(), names.end());
  return listed(names);
}

}  // namespace flitlab
