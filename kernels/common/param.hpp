#pragma once
/// ParamRecord: the single source of a parameter's name, type, default, range, unit and help. Validation, `--help`,
/// `flitlab inspect`, the reference page and sweeps all read these records.
#include <span>
#include <string_view>
#include <type_traits>

namespace flitlab {

enum class ParamType {
  kBool,
  kInt,
  kFloat,
  kFile,          ///< name of a file to read, relative to the configuration; "": no file
  kChoice,        ///< one of `choices`
  kIntList,       ///< a list of integers; one integer is read as a list of one
  kLengths,       ///< packet lengths: an integer, or a list of [flits, weight] pairs
  kIntOrAuto,     ///< a non-negative integer, or "auto"
  kIntOrList,     ///< an integer, or a list of integers
  kNumberOrList,  ///< a number, or a list of numbers
  kChoiceList,    ///< a list of words out of `choices`, kept as one text with commas; "": an empty list
};

/// Returns the name of a type, for lists of parameters.
constexpr std::string_view name_of(ParamType type) {
  constexpr std::string_view kNames[] = {
      "bool",           "int",     "float",       "string",          "choice",
      "int list",       "lengths", "int or auto", "int or int list", "float or float list",
      "list of choices"};
  return kNames[static_cast<int>(type)];
}

struct ParamRecord {
  std::string_view path;  ///< dotted path of the TOML key, e.g. "router.vcs"
  ParamType type;
  std::string_view default_value;  ///< as written in TOML: "4", "0.1", "uniform", "[8,8]"; "" = required
  double min = 0;                  ///< inclusive; for lists, of every element
  double max = 0;                  ///< inclusive; min == max == 0 means no range
  std::string_view choices = "";   ///< kChoice: the choices, separated by '|'
  std::string_view unit = "";      ///< "cycles": a delay; "cycle": a point in time
  std::string_view help = "";
  std::string_view cite = "";     ///< paper or textbook, and section
  std::string_view only_if = "";  ///< "a.key=one|two&b.key!=three": the parameter applies only if the other keys have
                                  ///< these values; "a.key|b.list=one": if a.key has it or b.list contains it;
                                  ///< "a.key|b.key!=one": if a.key or b.key has another value
  bool per_replica = false;       ///< may differ between replicas of one job (load, seed); replicas share all other
                                  ///< parameters
};

using ParamTable = std::span<const ParamRecord>;

/// Returns the records of a section of parameters, in order. A section is a struct whose members are all records, so
/// that code refers to a parameter by its record (`param::router.vcs`) and a misspelt name does not compile.
template <class Section>
ParamTable records_of(const Section& section) {
  static_assert(sizeof(Section) % sizeof(ParamRecord) == 0 && std::is_standard_layout_v<Section>);
  return {reinterpret_cast<const ParamRecord*>(&section), sizeof(Section) / sizeof(ParamRecord)};
}

}  // namespace flitlab
