#include "host/config/experiment.hpp"

#include <algorithm>
#include <filesystem>

#include "host/config/check.hpp"
#include "host/config/cross_checks.hpp"
#include "host/config/registry.hpp"
#include "host/error.hpp"

namespace flitlab {
namespace {

/// Whether an `only_if` condition holds for what is resolved so far.
bool applies(const ParamRecord& record, const std::vector<std::pair<std::string, Value>>& resolved) {
  if (record.only_if.empty()) return true;
  const std::size_t equals = record.only_if.find('=');
  const std::string key(record.only_if.substr(0, equals));
  for (const auto& [path, value] : resolved) {
    if (path != key) continue;
    const std::vector<std::string> words = split_words(record.only_if.substr(equals + 1));
    return std::find(words.begin(), words.end(), std::get<std::string>(value)) != words.end();
  }
  return false;
}

}  // namespace

Experiment Experiment::resolve(const RawConfig& given, std::string base_dir) {
  Experiment e;
  e.base_dir_ = std::move(base_dir);
  const auto kind = given.find("router.kind");
  const Value model = check_value(model_choice(), kind == given.end() ? default_value(model_choice()) : kind->second);
  const std::vector<const ParamRecord*> records = parameters_of(std::get<std::string>(model));

  for (const auto& [path, value] : given)
    if (std::none_of(records.begin(), records.end(), [&](const ParamRecord* r) { return r->path == path; }))
      unknown_key(path, value, std::get<std::string>(model));

  for (const ParamRecord* record : records) {
    const std::string path(record->path);
    const auto mine = given.find(path);
    if (!applies(*record, e.values_)) {
      if (mine != given.end())
        throw ConfigError(path + " = " + to_text(mine->second) + " has no effect here: it belongs to " +
                          std::string(record->only_if) + ". Remove it or change the other key.");
      continue;
    }
    Value value = mine == given.end() ? default_value(*record) : check_value(*record, mine->second);
    if (path == "routing.algorithm" && mine == given.end() && e.str("topology.kind") == "graph")
      value = std::string("table");
    e.values_.emplace_back(path, std::move(value));
    e.per_replica_.push_back(record->per_replica);
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

std::string Experiment::structure_key() const {
  std::string key = base_dir_ + "\n";
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (!per_replica_[i]) key += values_[i].first + "=" + to_text(values_[i].second) + "\n";
  return key;
}

}  // namespace flitlab
