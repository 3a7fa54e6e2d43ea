#pragma once
/// One record per configuration parameter: the single source of its name, type, default, range, unit and help.
/// Validation, `--help`, `flitlab inspect`, the docs and sweeps all iterate these records.
#include <span>
#include <string_view>
#include <type_traits>

namespace flitlab {

enum class ParamType {
  kBool,
  kInt,
  kFloat,
  kFile,      ///< name of a file to read, relative to the configuration; "" for none
  kChoice,    ///< one word out of `choices`
  kIntList,   ///< a list of integers; one integer is read as a list of one
  kLengths,   ///< packet lengths: an integer, or a list of [flits, weight] pairs
  kIntOrAuto  ///< a non-negative integer, or the word "auto"
};

struct ParamRecord {
  std::string_view path;  ///< dotted path of the TOML key, e.g. "router.vcs"
  ParamType type;
  std::string_view default_value;  ///< as it would be written in TOML: "4", "0.1", "uniform", "[8,8]"; "" = required
  double min = 0;                  ///< inclusive; for lists, of every element
  double max = 0;                  ///< inclusive; min == max == 0 means no range
  std::string_view choices = "";   ///< kChoice: the words, separated by '|'
  std::string_view unit = "";      ///< "cycles": a delay; "cycle": a point in time
  std::string_view help = "";
  std::string_view cite = "";     ///< source and section, or the textbook's
  std::string_view only_if = "";  ///< "a.key=one|two&b.key!=three": the key belongs to these values of others alone
  bool per_replica = false;       ///< may differ between replicas of one job (load, seed); all else is shared
};

using ParamTable = std::span<const ParamRecord>;

/// The records of a section of parameters, in order. A section is a struct of nothing but records, so that code names a
/// parameter by its record (`param::router.vcs`), and a name that does not exist does not compile.
template <class Section>
ParamTable records_of(const Section& section) {
  static_assert(sizeof(Section) % sizeof(ParamRecord) == 0 && std::is_standard_layout_v<Section>);
  return {reinterpret_cast<const ParamRecord*>(&section), sizeof(Section) / sizeof(ParamRecord)};
}

}  // namespace flitlab
