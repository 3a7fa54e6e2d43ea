#pragma once
/// Run-time description of a struct in the state, for code that reads a state without knowing its types. It is derived
/// from the struct's list of members (kernels/common/fields.hpp).
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab {

struct RecordInfo;

struct MemberInfo {
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
  u32 offset;  ///< bytes from the start of the struct
  u32 count;   ///< number of elements; for an array of arrays, of all elements
  bool array;
  u64 mask;  ///< bit field: the field's bits in the word at `offset`; otherwise 0
  const RecordInfo* element;
};

/// Description of a struct, or of a number, which has no members.
struct RecordInfo {
  u32 bytes;
  bool is_signed;
  std::vector<MemberInfo> members;  ///< without padding
};

template <class T>
const RecordInfo& record_info();

/// Collects the members that for_each_member() visits.
struct MemberList {
  std::vector<MemberInfo> members;

  template <class T>
  void member(std::string_view name, std::string_view unit, std::string_view meaning, u32 offset) {
    using Element = std::remove_all_extents_t<T>;
    const u32 count = sizeof(T) / sizeof(Element);
    members.push_back({name, unit, meaning, offset, count, std::is_array_v<T>, 0, &record_info<Element>()});
  }

  /// Adds a bit field. A bit field has no address, so its position is found from the bits that `fill` sets in an empty
  /// struct.
  template <class Record, class T>
  void bits(std::string_view name, std::string_view unit, std::string_view meaning, void (*fill)(Record&)) {
    Record record{};
    fill(record);
    for (u32 offset = 0; offset < sizeof(Record); offset += sizeof(T)) {
      T word;
      std::memcpy(&word, reinterpret_cast<const std::byte*>(&record) + offset, sizeof(T));
      if (word) members.push_back({name, unit, meaning, offset, 1, false, word, &record_info<T>()});
    }
  }
};

template <class T>
const RecordInfo& record_info() {
  static const RecordInfo info = [] {
    MemberList list;
    if constexpr (std::is_class_v<T>) T::for_each_member(list);
    bool is_signed = false;
    if constexpr (std::is_integral_v<T>) is_signed = std::is_signed_v<T>;
    return RecordInfo{sizeof(T), is_signed, std::move(list.members)};
  }();
  return info;
}

}  // namespace flitlab
