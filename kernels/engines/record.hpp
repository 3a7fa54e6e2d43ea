#pragma once
/// What a record consists of, for those who walk a state without knowing its types. It follows from the record's list
/// of members (kernels/common/fields.hpp).
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
  u32 offset;  ///< bytes from the start of the record
  u32 count;   ///< elements; those of an array of arrays, one after the other
  bool array;
  u64 mask;  ///< of a bit field: its bits in the word at `offset`; else 0
  const RecordInfo* element;
};

/// A record, or a number: then it has no members.
struct RecordInfo {
  u32 bytes;
  bool is_signed;
  std::vector<MemberInfo> members;  ///< but for padding
};

template <class T>
const RecordInfo& record_info();

/// Collects the members that for_each_member() shows.
struct MemberList {
  std::vector<MemberInfo> members;

  template <class T>
  void member(std::string_view name, std::string_view unit, std::string_view meaning, u32 offset) {
    using Element = std::remove_all_extents_t<T>;
    const u32 count = sizeof(T) / sizeof(Element);
    members.push_back({name, unit, meaning, offset, count, std::is_array_v<T>, 0, &record_info<Element>()});
  }

  /// A bit field has no address. What `fill` changes in an empty record is where it lies.
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
