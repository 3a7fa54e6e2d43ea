#pragma once
/// A resolved configuration: every parameter that applies, checked against its record.
#include <string>
#include <utility>
#include <vector>

#include "host/config/text_source.hpp"
#include "host/config/value.hpp"
#include "kernels/common/param.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

class Experiment {
 public:
  /// Checks a configuration and fills in the defaults. `base_dir` is where relative file names start; parameters in
  /// `texts` name no file, their text is there. Throws ConfigError for the first thing that is wrong.
  static Experiment resolve(const RawConfig& given, std::string base_dir, SharedTexts texts = {});

  bool has(const std::string& path) const;
  bool flag(const std::string& path) const;
  std::int64_t i64(const std::string& path) const;
  u32 u32_of(const std::string& path) const;
  double f64(const std::string& path) const;
  const std::string& str(const std::string& path) const;
  std::vector<u32> ints(const std::string& path) const;
  const Lengths& lengths(const std::string& path) const;
  /// kIntOrAuto: true if the value is the word "auto".
  bool is_auto(const std::string& path) const;
  /// A file name, made absolute with base_dir; "" stays "".
  std::string file(const std::string& path) const;
  /// The text that a file name stands for.
  TextSource text(const std::string& path) const;

  /// Hash of what is in all the files and texts that the configuration names: a name alone says little.
  u64 files_hash() const;

  /// All resolved parameters in record order.
  const std::vector<std::pair<std::string, Value>>& flat() const { return values_; }
  /// Equal for experiments that can be replicas of one job.
  std::string structure_key() const;
  /// A parameter of any type.
  const Value& at(const std::string& path) const;

 private:
  std::vector<std::pair<std::string, Value>> values_;
  std::vector<bool> per_replica_;
  std::vector<std::string> files_;  ///< paths of the parameters that name one
  SharedTexts texts_;               ///< what is in memory instead
  std::string base_dir_;
};

}  // namespace flitlab
