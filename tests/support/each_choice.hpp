#pragma once
/// One small experiment for each choice of each parameter of a model, with everything else at its default.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "host/config/check.hpp"
#include "host/config/cross_checks.hpp"
#include "host/config/registry.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::testing {

struct NamedExperiment {
  std::string name;  ///< such as "router.arbiter=matrix"
  Experiment experiment;
};

/// Collects the experiments of one model. Its constructor writes the files that choices need.
class EachChoice {
 public:
  explicit EachChoice(std::string_view kind)
      : kind_(kind), model_(model_of(kind)), records_(parameters_of(kind)), needs_(needs()) {}

  std::vector<NamedExperiment> all() const {
    std::vector<NamedExperiment> list;
    for (const ParamRecord* record : records_) {
      if (record->path == model_choice().path || is_of_another_model(*record)) continue;
      for (const std::string& choice : choices_of(*record)) add(*record, choice, list);
    }
    return list;
  }

 private:
  static std::vector<std::string> choices_of(const ParamRecord& record) {
    if (record.type == ParamType::kBool) return {"false", "true"};
    return record.type == ParamType::kChoice ? split_words(record.choices) : std::vector<std::string>{};
  }

  /// Returns whether a condition of the record, or of a parameter on which it depends, names other models.
  bool is_of_another_model(const ParamRecord& record) const {
    for (const std::string& condition : split_words(record.only_if, '&')) {
      const std::string key = condition.substr(0, condition.find_first_of("!=|"));
      if (key == model_choice().path && condition.substr(key.size() + 1) != kind_) return true;
      for (const ParamRecord* other : records_)
        if (other->path == key && is_of_another_model(*other)) return true;
    }
    return false;
  }

  static Value value_of(const ParamRecord& record, const std::string& choice) {
    if (record.type == ParamType::kInt) return Value{static_cast<std::int64_t>(std::stoll(choice))};
    return record.type == ParamType::kBool ? Value{choice == "true"} : Value{choice};
  }

  /// Returns whether the model rejects this choice, whatever the other parameters are.
  bool is_rejected(const ParamRecord& record, const std::string& choice) const {
    const auto& modes = model_.modes;
    if (record.path == "traffic.mode") return std::find(modes.begin(), modes.end(), choice) == modes.end();
    const bool programs = std::find(modes.begin(), modes.end(), "program") != modes.end();
    if (record.only_if == "traffic.mode=program" && !programs) return true;
    if (choice == "next_group") return kind_ != "vc";  // the others have no groups
    static const std::set<std::string> kRejected{"t3e:geometric",      "bgl:geometric",      "metro:geometric",
                                                 "sconnect:geometric", "adaptive:geometric", "bless:graph",
                                                 "bless:hypercube",    "switch:hot_region",  "switch:all_to_region"};
    return kRejected.contains(std::string(kind_) + ':' + choice);
  }

  /// Sets the parameters on which `record` depends, so that `record` applies.
  void enable(const ParamRecord& record, RawConfig& raw) const {
    for (const std::string& condition : split_words(record.only_if, '&')) {
      const std::size_t equals = condition.find('=');
      const bool excludes = condition[equals - 1] == '!';
      const std::string key = split_words(condition.substr(0, equals - excludes)).front();
      std::vector<std::string> words = split_words(std::string_view(condition).substr(equals + 1));
      for (const ParamRecord* other : records_) {
        if (other->path != key) continue;
        const bool listed = std::find(words.begin(), words.end(), other->default_value) != words.end();
        if (listed != excludes) continue;
        const auto needed = raw.find(key);
        if (needed != raw.end() && std::find(words.begin(), words.end(), text_of(needed->second)) != words.end())
          continue;
        if (excludes && other->type != ParamType::kInt)
          throw std::logic_error("EachChoice does not handle " + condition + ", which excludes the default");
        if (excludes) words.front() = std::to_string(std::stoll(std::string(other->default_value)) + 1);
        raw[key] = value_of(*other, words.front());
        add_needs(key + "=" + words.front(), raw);
        enable(*other, raw);
      }
    }
  }

  static std::string text_of(const Value& value) {
    const std::string* text = std::get_if<std::string>(&value);
    return text ? *text : "";
  }

  void add_needs(const std::string& name, RawConfig& raw) const {
    for (const std::string& key : {name, std::string(kind_) + ":" + name})
      if (const auto found = needs_.find(key); found != needs_.end())
        for (const auto& [path, value] : found->second) raw.emplace(path, value);
  }

  void add(const ParamRecord& record, const std::string& choice, std::vector<NamedExperiment>& list) const {
    const std::string path(record.path), name = path + "=" + choice;
    RawConfig raw{{"router.kind", std::string(kind_)}, {path, value_of(record, choice)}};
    add_needs(name, raw);
    enable(record, raw);
    const auto mode = raw.find("traffic.mode");
    const bool closed = mode != raw.end() && mode->second == Value{std::string("request_reply")};
    if ((mode == raw.end() || closed) && name != "traffic.matrix_values=rates") raw.emplace("traffic.load", 0.35);
    const bool rejected = is_rejected(record, choice);
    try {
      const Experiment e = experiment(raw);
      make_plan(e);  // some conditions are checked by the plan only
      list.push_back({name, e});
      if (rejected) ADD_FAILURE() << kind_ << ", " << name << ": remove it from is_rejected().";
    } catch (const ConfigError& error) {
      if (!rejected)
        ADD_FAILURE() << kind_ << ", " << name << ": no experiment has this choice (" << error.what()
                      << "). Add the settings that it needs to EachChoice::needs().";
    }
  }

  /// Returns the settings that a choice needs in addition, by "path=choice" or "model:path=choice".
  std::map<std::string, RawConfig> needs() const {
    const std::string edges = written(".edges.csv", "0,1\n1,2\n2,3\n3,4\n4,0\n0,2\n");
    const std::string matrix = written(".matrix.csv", matrix_text());
    const std::string calls = written(".calls.csv", "ranks,3\n0,send,1,100\n1,recv,0,100\n2,compute,40\n");
    const std::string table = written(".table.csv", "0,1,0,0\n1,0,0,0\n");
    const std::string wiring = FLITLAB_CORPUS "/../../../configs/metro-wiring.csv";
    std::string packets;
    for (const char* packet : {"0,0,3", "5,1,2", "5,2,0", "9,3,1", "40,0,2"})
      packets += std::string(packet) + (kind_ == "metro" ? ",20\n" : ",1\n");
    const std::string trace = written(".trace.csv", packets);
    return {{"topology.kind=graph", Settings("topology.file=", edges)},
            {"topology.kind=ring", Settings("topology.shape=[9]")},
            {"routing.algorithm=o1turn", Settings("topology.kind=mesh")},
            {"routing.algorithm=romm", Settings("topology.kind=mesh")},
            {"routing.algorithm=table", Settings("topology.kind=graph topology.file=", edges)},
            {"routing.algorithm=west_first", Settings("topology.kind=mesh")},
            {"routing.algorithm=north_last", Settings("topology.kind=mesh")},
            {"routing.algorithm=negative_first", Settings("topology.kind=mesh")},
            {"routing.algorithm=odd_even", Settings("topology.kind=mesh")},
            {"vc:traffic.pattern=next_group", Settings("topology.kind=dragonfly")},
            {"routing.ejection_vcs=all", Settings("topology.kind=dragonfly")},
            {"routing.ejection_vcs=class", Settings("topology.kind=dragonfly")},
            {"routing.congestion=port", Settings("topology.kind=dragonfly")},
            {"routing.congestion=class", Settings("topology.kind=dragonfly")},
            {"routing.algorithm=dal", Settings("topology.kind=hyperx")},
            {"routing.algorithm=dimwar", Settings("topology.kind=hyperx")},
            {"routing.algorithm=omniwar", Settings("topology.kind=hyperx")},
            {"routing.algorithm=minimal", Settings("topology.kind=hyperx")},
            {"routing.algorithm=up_down", Settings("topology.kind=jellyfish")},
            {"routing.algorithm=ugal_l", Settings("topology.kind=slim_fly")},
            {"routing.algorithm=par", Settings("topology.kind=dragonfly")},
            {"routing.algorithm=nearest_common_ancestor", Settings("topology.kind=fat_tree")},
            {"routing.algorithm=adaptive", Settings("topology.kind=fat_tree")},
            {"routing.selection=two_random", Settings("topology.kind=fat_tree routing.algorithm=adaptive")},
            {"traffic.class_vcs=ranges",
             Settings("traffic.classes=2 traffic.class_first_vc=[0,1] traffic.class_last_vc=[2,3] topology.kind=mesh")},
            {"traffic.mode=trace", Settings("traffic.trace_file=", trace)},
            {"traffic.mode=program", Settings("traffic.program_file=", calls)},
            {"adaptive:traffic.mode=program", Settings("traffic.flit_bytes=256 traffic.program_file=", calls)},
            {"sconnect:traffic.mode=program", Settings("traffic.flit_bytes=256 traffic.program_file=", calls)},
            {"traffic.pattern=matrix", Settings("traffic.matrix_file=", matrix)},
            {"t3e:traffic.pattern=transpose", Settings("topology.shape=[4,2,2]")},
            {"switch:traffic.pattern=transpose", Settings("topology.ports=16")},
            {"sconnect:routing.tables=file", Settings("topology.shape=[2] routing.file=", table)},
            {"metro:endpoint.checksum=crc32", Settings("traffic.packet_flits=20")},
            {"metro:topology.kind=file", Settings("topology.file=", wiring)}};
  }

  /// Returns a matrix in which each terminal sends to its two successors, with unequal weights.
  std::string matrix_text() const {
    std::string text;
    const u32 terminals = terminal_count(experiment("router.kind=", std::string(kind_)));
    for (u32 i = 0; i < terminals; ++i)
      for (u32 step : {1u, 2u})
        text += std::to_string(i) + ',' + std::to_string((i + step) % terminals) + ",0." +
                std::to_string(step + i % 3) + '\n';
    return text;
  }

  static std::string written(const std::string& suffix, const std::string& text) {
    const std::string path = temporary(suffix);
    std::ofstream(path) << text;
    return path;
  }

  std::string_view kind_;
  const ModelRecord& model_;
  std::vector<const ParamRecord*> records_;
  std::map<std::string, RawConfig> needs_;
};

}  // namespace flitlab::testing
