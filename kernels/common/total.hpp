#pragma once
/// TotalRecord: the description of one total, a counter of a run. From one list FLITLAB_TOTALS makes the enumeration by
/// which kernels count, and the records from which results, `flitlab inspect` and the reference page take names and
/// help.
#include <span>
#include <string>
#include <string_view>

#include "kernels/common/for_each.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

struct TotalRecord {
  u32 first;  ///< index of its first element in a shard
  u32 count;  ///< number of elements: one for each VC, network stage or priority; an element's index replaces # in the
              ///< names
  std::string_view name;  ///< name in a network's totals, e.g. "blocked_stage_#"
  std::string_view unit;
  std::string_view help;
  std::string_view cite = "";
  std::string_view figure = "";  ///< name in the `model` object of a result; "": not in the result
  bool maximum = false;          ///< shards and replicas are combined by maximum, not by sum
};

using TotalTable = std::span<const TotalRecord>;

/// Returns a total's name with # replaced by the number of an element.
inline std::string element_name(std::string_view name, u32 element) {
  const std::size_t mark = name.find('#');
  if (mark == name.npos) return std::string(name);
  return std::string(name.substr(0, mark)) + std::to_string(element) + std::string(name.substr(mark + 1));
}

}  // namespace flitlab

/// FLITLAB_TOTALS(Enumeration, table, first index, (kName, count, .name = "...", .unit = "...", .help = "..."), ...)
/// declares an enumeration of totals and `table`, their records. `first index` is the index of the first total in a
/// shard.
#define FLITLAB_TOTALS(Enumeration, table, before, ...)                                                           \
  enum class Enumeration : int {                                                                                  \
    kBefore = (before) - 1,                                                                                       \
    FLITLAB_FOR_EACH(FLITLAB_TOTAL_ENUMERATORS, , __VA_ARGS__) kEnd                                               \
  };                                                                                                              \
  namespace detail_##Enumeration {                                                                                \
    using Of = Enumeration;                                                                                       \
    inline constexpr ::flitlab::TotalRecord kRecords[] = {FLITLAB_FOR_EACH(FLITLAB_TOTAL_RECORD, , __VA_ARGS__)}; \
  }                                                                                                               \
  inline constexpr ::flitlab::TotalTable table = detail_##Enumeration::kRecords;

#define FLITLAB_TOTAL_ENUMERATORS(unused, enumerator, count, ...) \
  enumerator, enumerator##Last = enumerator + (count) - 1,
#define FLITLAB_TOTAL_RECORD(unused, enumerator, number, ...) \
  ::flitlab::TotalRecord{.first = static_cast<::flitlab::u32>(Of::enumerator), .count = number, __VA_ARGS__},
