#include "host/config/experiment.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "host/config/check.hpp"
#include "host/config/cross_checks.hpp"
#include "host/config/registry.hpp"
#include "host/config/stream_hash.hpp"
#include "host/config/topology_params.hpp"
#include "kernels/common/error.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {
namespace {

/// One condition in the member `only_if` of a parameter's record. A parameter applies only if all its conditions hold.
struct Condition {
  explicit Condition(std::string_view text) {
    const std::size_t equals = text.find('=');
    other = text[equals - 1] == '!';
    keys = split_words(text.substr(0, equals - other));
    words = split_words(text.substr(equals + 1));
    for (std::string& word : words)
      if (word != "true" && word != "false" && word.find_first_not_of("0123456789") != word.npos) word = to_text(word);
  }

  /// Returns whether the condition holds for the parameters resolved so far. If the condition's key does not apply,
  /// only a condition of the kind "any value except ..." holds.
  bool holds(const Experiment& e) const {
    const std::string* present = present_key(e);
    if (!present) return other;
    return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
      if (!e.has(key)) return false;
      const std::vector<std::string> values = values_of(e.at(key));
      const bool found = std::any_of(values.begin(), values.end(), [&](const std::string& value) {
        return std::find(words.begin(), words.end(), value) != words.end();
      });
      return found != other;
    });
  }

  /// Returns the value of a key as texts of `words`. With several keys, a text is a list of words.
  std::vector<std::string> values_of(const Value& value) const {
    if (const auto* number = std::get_if<double>(&value); number && *number == std::floor(*number))
      return {to_text(static_cast<std::int64_t>(*number))};
    const auto* text = std::get_if<std::string>(&value);
    if (!text || keys.size() == 1) return {to_text(value)};
    std::vector<std::string> values = split_words(*text, ',');
    for (std::string& word : values) word = to_text(word);
    return values;
  }

  /// Returns the first of the keys that applies; null if none does.
  const std::string* present_key(const Experiment& e) const {
    for (const std::string& key : keys)
      if (e.has(key)) return &key;
    return nullptr;
  }

  std::vector<std::string> keys;   ///< several: the condition holds for one of them, and they may be lists of words
  bool other;                      ///< true: the condition holds for any value except `words`
  std::vector<std::string> words;  ///< values as TOML text
};

/// Returns the first condition of a parameter that does not hold; nothing if the parameter applies.
std::optional<Condition> failing_condition(const ParamRecord& record, const Experiment& e) {
  for (const std::string& text : split_words(record.only_if, '&'))
    if (const Condition condition(text); !condition.holds(e)) return condition;
  return {};
}

/// Returns why a parameter does not apply: the condition that fails, and the present value of the condition's key.
std::string why_not(const ParamRecord& record, const Experiment& e, const std::vector<const ParamRecord*>& records) {
  const Condition condition = *failing_condition(record, e);
  std::string keys;  // all keys that apply here, or the first key if none applies
  for (const std::string& key : condition.keys)
    if (e.has(key)) keys += (keys.empty() ? "" : " or ") + key;
  if (keys.empty()) keys = condition.keys.front();
  std::string text = "belongs to " + keys + (condition.other ? " other than " : " = ");
  for (std::size_t i = 0; i < condition.words.size(); ++i)
    text += (i == 0 ? "" : i + 1 < condition.words.size() ? ", " : " or ") + condition.words[i];
  if (const std::string* key = condition.present_key(e)) return text + ", and " + *key + " is " + to_text(e.at(*key));
  const auto other = std::find_if(records.begin(), records.end(),
                                  [&](const ParamRecord* r) { return r->path == condition.keys.front(); });
  return text + ", which itself " + why_not(**other, e, records);
}

/// Returns the default of a parameter. Some defaults depend on the model or the topology.
Value default_for(const ParamRecord& record, const Experiment& e, const ModelRecord& model) {
  if (record.path == param::topology.shape.path && e.has(param::topology.kind) && e.str(param::topology.kind) == "ring")
    return IntList{8};
  if (model.default_of)
    if (const std::string_view value = model.default_of(record, e); !value.empty()) {
      ParamRecord changed = record;
      changed.default_value = value;
      return default_value(changed);
    }
  if (record.path == param::traffic.hot_shape.path) {
    IntList extent;
    for (u32 radix : grid_shape(e)) extent.push_back(std::min(radix, 2u));
    if (!extent.empty()) return extent;
  }
  return default_value(record);
}

}  // namespace

Experiment Experiment::resolve(const RawConfig& given, std::string base_dir, SharedTexts texts,
                               std::string_view optional) {
  Experiment e;
  e.base_dir_ = std::move(base_dir);
  e.texts_ = std::move(texts);
  const auto kind = given.find(std::string(model_choice().path));
  const Value model = check_value(model_choice(), kind == given.end() ? default_value(model_choice()) : kind->second);
  const std::vector<const ParamRecord*> records = parameters_of(std::get<std::string>(model));

  for (const auto& [path, value] : given)
    if (std::none_of(records.begin(), records.end(), [&name = path](const ParamRecord* r) { return r->path == name; }))
      unknown_key(path, value, std::get<std::string>(model));

  for (const ParamRecord* record : records) {
    const std::string path(record->path);
    const auto found = given.find(path);
    if (failing_condition(*record, e)) {
      if (found != given.end() && (optional.empty() || !path.starts_with(optional)))
        throw ConfigError(path + " = " + shown(found->second) + " has no effect here: it " +
                          why_not(*record, e, records) + ". Remove it (--unset " + path + ") or change the other key.");
      continue;
    }
    Value value = found == given.end() ? default_for(*record, e, model_of(std::get<std::string>(model)))
                                       : check_value(*record, found->second);
    e.values_.emplace_back(path, std::move(value));
    e.per_replica_.push_back(record->per_replica);
    if (record->type == ParamType::kFile && !e.str(*record).empty()) e.files_.push_back(record);
  }
  check_together(e);
  return e;
}

Experiment Experiment::with(const ParamRecord& p, Value value) const {
  Experiment changed = *this;
  for (auto& [key, present] : changed.values_)
    if (key == p.path) present = std::move(value);
  return changed;
}

const Value& Experiment::at(std::string_view path) const {
  for (const auto& [key, value] : values_)
    if (key == path) return value;
  throw ConfigError(std::string(path) + " does not apply to this configuration.");
}

bool Experiment::has(std::string_view path) const {
  return std::any_of(values_.begin(), values_.end(), [&](const auto& entry) { return entry.first == path; });
}

const std::string& Experiment::kind() const { return str(model_choice()); }

bool Experiment::flag(const ParamRecord& p) const { return std::get<bool>(at(p)); }
std::int64_t Experiment::i64(const ParamRecord& p) const { return std::get<std::int64_t>(at(p)); }
u32 Experiment::u32_of(const ParamRecord& p) const { return static_cast<u32>(i64(p)); }
double Experiment::f64(const ParamRecord& p) const { return std::get<double>(at(p)); }
const std::string& Experiment::str(const ParamRecord& p) const { return std::get<std::string>(at(p)); }

u8 Experiment::position(const ParamRecord& p) const {
  const std::vector<std::string> words = split_words(p.choices);
  return static_cast<u8>(std::find(words.begin(), words.end(), str(p)) - words.begin());
}

std::vector<u32> Experiment::ints(const ParamRecord& p) const {
  if (is_single(p)) return {u32_of(p)};
  const IntList& list = std::get<IntList>(at(p));
  return {list.begin(), list.end()};
}

std::vector<double> Experiment::numbers(const ParamRecord& p) const {
  return is_single(p) ? NumberList{f64(p)} : std::get<NumberList>(at(p));
}

bool Experiment::is_single(const ParamRecord& p) const {
  return std::holds_alternative<std::int64_t>(at(p)) || std::holds_alternative<double>(at(p));
}

std::vector<std::string> Experiment::words(const ParamRecord& p) const { return split_words(str(p), ','); }

const Lengths& Experiment::lengths(const ParamRecord& p) const { return std::get<Lengths>(at(p)); }
bool Experiment::is_auto(const ParamRecord& p) const { return std::holds_alternative<std::string>(at(p)); }

std::string Experiment::file(const ParamRecord& p) const {
  const std::string& name = str(p);
  return name.empty() ? name : (std::filesystem::path(base_dir_) / name).string();
}

TextSource Experiment::text(const ParamRecord& p) const {
  const auto shared = texts_.find(std::string(p.path));
  return shared == texts_.end() ? TextSource(file(p)) : TextSource(str(p) + " (compiled)", shared->second);
}

u64 Experiment::files_hash() const {
  StreamHash hash;
  for (const ParamRecord* p : files_) {
    if (const auto shared = texts_.find(std::string(p->path)); shared != texts_.end()) {
      hash.add(shared->second.text.data(), shared->second.text.size());
      continue;
    }
    const u64 contents = hash_file(file(*p));
    hash.add(&contents, sizeof contents);
  }
  return hash.value();
}

std::string Experiment::structure_key() const {
  std::string key = base_dir_ + "\n" + std::to_string(files_hash()) + "\n";
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (!per_replica_[i]) key += values_[i].first + "=" + to_text(values_[i].second) + "\n";
  return key;
}

}  // namespace flitlab
