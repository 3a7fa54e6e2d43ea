#pragma once
/// A resolved configuration: all parameters that apply, checked against their records.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/config/text_source.hpp"
#include "host/config/value.hpp"
#include "kernels/common/param.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

/// A parameter with the same choices as the enumeration E. A parameter with other choices does not compile.
template <class E>
struct ChoiceOf {
  const ParamRecord& record;

  consteval ChoiceOf(const ParamRecord& p) : record(p) {
    if (p.choices != words_of(E{})) throw "The parameter has other words than the enumeration.";
  }
};

/// A parameter and one of its choices. A word that is not a choice of the parameter does not compile.
struct WordOf {
  const ParamRecord& record;
  std::string_view word;

  consteval WordOf(const ParamRecord& p, std::string_view w) : record(p), word(w) {
    for (std::string_view rest = p.choices;;) {
      const std::size_t end = rest.find('|');
      if (rest.substr(0, end) == w) return;
      if (end == rest.npos) throw "The parameter does not have this word.";
      rest.remove_prefix(end + 1);
    }
  }
};

class Experiment {
 public:
  /// Checks a configuration and adds the defaults. `base_dir`: folder of relative file names. `texts`: texts in memory,
  /// by the parameter that would otherwise name a file. Throws ConfigError for the first error.
  static Experiment resolve(const RawConfig& given, std::string base_dir, SharedTexts texts = {});

  /// Returns the value of router.kind.
  const std::string& kind() const;

  /// Values by record. All functions except has() throw ConfigError for a parameter that does not apply.
  bool has(const ParamRecord& p) const { return has(p.path); }
  bool flag(const ParamRecord& p) const;
  std::int64_t i64(const ParamRecord& p) const;
  u32 u32_of(const ParamRecord& p) const;
  double f64(const ParamRecord& p) const;
  const std::string& str(const ParamRecord& p) const;
  /// kChoice: the enumerator that belongs to the word (FLITLAB_CHOICES).
  template <class E>
  E choice(ChoiceOf<E> p) const {
    return static_cast<E>(position(p.record));
  }
  /// kChoice: whether the parameter has this word: `e.is({param::traffic.mode, "trace"})`.
  bool is(WordOf p) const { return str(p.record) == p.word; }
  std::vector<u32> ints(const ParamRecord& p) const;
  const Lengths& lengths(const ParamRecord& p) const;
  /// kIntOrAuto: whether the value is "auto".
  bool is_auto(const ParamRecord& p) const;
  /// Returns a file name with base_dir in front of a relative one; "" stays "".
  std::string file(const ParamRecord& p) const;
  /// Returns the text of a parameter that names a file.
  TextSource text(const ParamRecord& p) const;
  const Value& at(const ParamRecord& p) const { return at(p.path); }

  /// Returns a hash of the contents of all files and texts of the configuration, because names do not identify
  /// contents.
  u64 files_hash() const;

  /// Returns all resolved parameters in record order.
  const std::vector<std::pair<std::string, Value>>& flat() const { return values_; }
  /// Returns a text that is equal for experiments that can be replicas of one job.
  std::string structure_key() const;
  /// Values by path, for conditions and users' input.
  const Value& at(std::string_view path) const;
  bool has(std::string_view path) const;

 private:
  /// Index of the value among the record's choices.
  u8 position(const ParamRecord& p) const;

  std::vector<std::pair<std::string, Value>> values_;
  std::vector<bool> per_replica_;
  std::vector<const ParamRecord*> files_;  ///< parameters that name a file or text
  SharedTexts texts_;                      ///< texts in memory, in place of files
  std::string base_dir_;
};

}  // namespace flitlab
