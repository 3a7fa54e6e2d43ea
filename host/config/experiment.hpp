#pragma once
/// A resolved configuration: all parameters that apply, with defaults filled in, checked against their records.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/config/text_source.hpp"
#include "host/config/value.hpp"
#include "kernels/common/param.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

/// A parameter whose choices are the values of the enumeration E. A parameter with other choices does not compile.
template <class E>
struct ChoiceOf {
  const ParamRecord& record;

  consteval ChoiceOf(const ParamRecord& p) : record(p) {
    if (p.choices != words_of(E{})) throw "The parameter has other words than the enumeration.";
  }
};

/// A parameter and one of its choices. A word that is not one of the choices does not compile.
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
  /// Checks a configuration and adds the defaults. `base_dir`: folder to which relative file names refer. `texts`:
  /// texts in memory that replace files, by the parameter that names the file. `optional`: the beginning of
  /// paths. Parameters with such paths are left out where they have no effect; for others, this is an error. Throws
  /// ConfigError for the first error.
  static Experiment resolve(const RawConfig& given, std::string base_dir, SharedTexts texts = {},
                            std::string_view optional = {});

  /// Returns the value of router.kind.
  const std::string& kind() const;

  /// The functions below return the value of a parameter. All of them except has() throw ConfigError if the parameter
  /// does not apply.
  bool has(const ParamRecord& p) const { return has(p.path); }
  bool flag(const ParamRecord& p) const;
  std::int64_t i64(const ParamRecord& p) const;
  u32 u32_of(const ParamRecord& p) const;
  double f64(const ParamRecord& p) const;
  const std::string& str(const ParamRecord& p) const;
  /// For a parameter of type kChoice: returns the enumerator of its choice (FLITLAB_CHOICES).
  template <class E>
  E choice(ChoiceOf<E> p) const {
    return static_cast<E>(position(p.record));
  }
  /// For a parameter of type kChoice: returns whether its choice is this word: `e.is({param::traffic.mode, "trace"})`.
  bool is(WordOf p) const { return str(p.record) == p.word; }
  /// Return the numbers of a parameter that is a list or may be one.
  std::vector<u32> ints(const ParamRecord& p) const;
  std::vector<double> numbers(const ParamRecord& p) const;
  /// For a parameter that may be a list: returns whether its value is a single number.
  bool is_single(const ParamRecord& p) const;
  const Lengths& lengths(const ParamRecord& p) const;
  /// For a parameter of type kChoiceList: returns the words.
  std::vector<std::string> words(const ParamRecord& p) const;
  /// For a parameter of type kIntOrAuto: returns whether its value is "auto".
  bool is_auto(const ParamRecord& p) const;
  /// Returns a file name, to which base_dir is added if it is relative; "" stays "".
  std::string file(const ParamRecord& p) const;
  /// Returns the text to which a parameter that names a file refers: the file, or a text in memory.
  TextSource text(const ParamRecord& p) const;
  const Value& at(const ParamRecord& p) const { return at(p.path); }

  /// Returns a copy with another value of a parameter that applies. Nothing is checked.
  Experiment with(const ParamRecord& p, Value value) const;

  /// Returns a hash of the contents of all files and texts of the configuration, because equal names may have different
  /// contents.
  u64 files_hash() const;

  /// Returns all resolved parameters and their values, in the order of the records.
  const std::vector<std::pair<std::string, Value>>& flat() const { return values_; }
  /// Returns a text that is equal for two experiments if they can be replicas of one job.
  std::string structure_key() const;
  /// Returns a value by dotted path, for conditions and for input from the user.
  const Value& at(std::string_view path) const;
  bool has(std::string_view path) const;

 private:
  /// Returns the index of the value among the parameter's choices.
  u8 position(const ParamRecord& p) const;

  std::vector<std::pair<std::string, Value>> values_;
  std::vector<bool> per_replica_;
  std::vector<const ParamRecord*> files_;  ///< parameters that name a file or text
  SharedTexts texts_;                      ///< texts in memory that replace files
  std::string base_dir_;
};

}  // namespace flitlab
