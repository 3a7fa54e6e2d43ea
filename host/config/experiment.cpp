#include "host/config/experiment.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "host/config/check.hpp"
#include "host/config/cross_checks.hpp"
#include "host/config/registry.hpp"
#include "host/config/stream_hash.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

/// One condition of an `only_if`, taken apart.
struct Condition {
  explicit Condition(std::string_view text) {
    const std::size_t equals = text.find('=');
    other = text[equals - 1] == '!';
    key = text.substr(0, equals - other);
    words = split_words(text.substr(equals + 1));
    for (std::string& word : words)
      if (word != "true" && word != "false") word = to_text(word);
  }

  /// Whether it holds for what is resolved so far.
  bool holds(const Experiment& e) const {
    return e.has(key) && (std::find(words.begin(), words.end(), to_text(e.at(key))) == words.end()) == other;
  }

  std::string key;
  bool other;                      ///< any word but these
  std::vector<std::string> words;  ///< or flags, as they are written
};

/// The first condition of a record that does not hold; none if the record applies.
std::optional<Condition> hindrance(const ParamRecord& record, const Experiment& e) {
  for (const std::string& text : split_words(record.only_if, '&'))
    if (const Condition condition(text); !condition.holds(e)) return condition;
  return {};
}

/// Why a record does not apply: what its condition asks for, and what is there instead.
std::string why_not(const ParamRecord& record, const Experiment& e, const std::vector<const ParamRecord*>& records) {
  const Condition condition = *hindrance(record, e);
  std::string text = "belongs to " + condition.key + (condition.other ? " other than " : " = ");
  for (std::size_t i = 0; i < condition.words.size(); ++i)
    text += (i == 0 ? "" : i + 1 < condition.words.size() ? ", " : " or ") + condition.words[i];
  if (e.has(condition.key)) return text + ", and " + condition.key + " is " + to_text(e.at(condition.key));
  const auto other =
      std::find_if(records.begin(), records.end(), [&](const ParamRecord* r) { return r->path == condition.key; });
  return text + ", which itself " + why_not(**other, e, records);
}

/// The default of a record; a few depend on the topology, without which they would not fit it.
Value default_for(const ParamRecord& record, const Experiment& e) {
  if (record.path == "routing.algorithm" && is_graph(e)) return std::string("table");
  if (record.path == "topology.shape" && e.has("topology.kind") && e.str("topology.kind") == "ring") return IntList{8};
  if (e.has("router.kind"))
    for (const auto& [path, value] : model_of(e.str("router.kind")).defaults)
      if (record.path == path) {
        ParamRecord mine = record;
        mine.default_value = value;
        return default_value(mine);
      }
  if (record.path == "traffic.hot_shape") {
    IntList extent;
    for (u32 radix : grid_shape(e)) extent.push_back(std::min(radix, 2u));
    if (!extent.empty()) return extent;
  }
  return default_value(record);
}

}  // namespace

Experiment Experiment::resolve(const RawConfig& given, std::string base_dir, SharedTexts texts) {
  Experiment e;
  e.base_dir_ = std::move(base_dir);
  e.texts_ = std::move(texts);
  const auto kind = given.find("router.kind");
  const Value model = check_value(model_choice(), kind == given.end() ? default_value(model_choice()) : kind->second);
  const std::vector<const ParamRecord*> records = parameters_of(std::get<std::string>(model));

  for (const auto& [path, value] : given)
    if (std::none_of(records.begin(), records.end(), [&](const ParamRecord* r) { return r->path == path; }))
      unknown_key(path, value, std::get<std::string>(model));

  for (const ParamRecord* record : records) {
    const std::string path(record->path);
    const auto mine = given.find(path);
    if (hindrance(*record, e)) {
      if (mine != given.end())
        throw ConfigError(path + " = " + shown(mine->second) + " has no effect here: it " +
                          why_not(*record, e, records) + ". Remove it or change the other key.");
      continue;
    }
    Value value = mine == given.end() ? default_for(*record, e) : check_value(*record, mine->second);
    e.values_.emplace_back(path, std::move(value));
    e.per_replica_.push_back(record->per_replica);
    if (record->type == ParamType::kFile && !e.str(path).empty()) e.files_.push_back(path);
  }
  check_together(e);
  return e;
}

const Value& Experiment::at(const std::string& path) const {
  for (const auto& [key, value] : values_)
    if (key == path) return value;
  throw ConfigError(path + " does not apply to this configuration.");
}

bool Experiment::has(const std::string& path) const {
  return std::any_of(values_.begin(), values_.end(), [&](const auto& entry) { return entry.first == path; });
}

bool Experiment::flag(const std::string& path) const { return std::get<bool>(at(path)); }
std::int64_t Experiment::i64(const std::string& path) const { return std::get<std::int64_t>(at(path)); }
u32 Experiment::u32_of(const std::string& path) const { return static_cast<u32>(i64(path)); }
double Experiment::f64(const std::string& path) const { return std::get<double>(at(path)); }
const std::string& Experiment::str(const std::string& path) const { return std::get<std::string>(at(path)); }

std::vector<u32> Experiment::ints(const std::string& path) const {
  const IntList& list = std::get<IntList>(at(path));
  return {list.begin(), list.end()};
}

const Lengths& Experiment::lengths(const std::string& path) const { return std::get<Lengths>(at(path)); }
bool Experiment::is_auto(const std::string& path) const { return std::holds_alternative<std::string>(at(path)); }

std::string Experiment::file(const std::string& path) const {
  const std::string& name = str(path);
  return name.empty() ? name : (std::filesystem::path(base_dir_) / name).string();
}

TextSource Experiment::text(const std::string& path) const {
  const auto shared = texts_.find(path);
  return shared == texts_.end() ? TextSource(file(path)) : TextSource(str(path) + ", as calls", shared->second);
}

u64 Experiment::files_hash() const {
  StreamHash hash;
  for (const std::string& path : files_) {
    if (const auto shared = texts_.find(path); shared != texts_.end()) {
      hash.add(shared->second.text.data(), shared->second.text.size());
      continue;
    }
    const u64 contents = hash_file(file(path));
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
