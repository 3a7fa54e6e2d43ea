#pragma once
/// Macros that declare the state once. One list gives the type, name, unit and meaning of a struct's members or of an
/// item's fields; the struct, the memory layout and the output of inspections follow from it.
///
///     struct InputVc {
///       FLITLAB_MEMBERS(InputVc,
///         (Cycle, ready_at, "cycle", "first cycle in which the packet may act"),
///         (u8[2], pick, "", "round-robin pointers"),
///         (u8, held, "flits", "of the front packet", 4),  // a bit field of four bits
///         (u8, pad))                                      // no unit and meaning: padding, not shown
///     };
///
/// declares the members, `for_each_member(visit)` and `pointers()`. The latter returns a Pointers<&InputVc::ready_at,
/// ...> of all members but padding.
///
///     struct RouterFields {
///       FLITLAB_FIELDS(RouterFields,
///         (InputVc, input, t.ports * t.vcs, "", "input virtual channels"),
///         (ClockFields, clock),                                     // a group of fields with its own list
///         (u64, mail, t.slots, "", "arriving words", "clock_mail"))  // another name in the layout
///     };
///
/// declares a Field<InputVc> `input` and so on, `pointers()`, and `for_each_field(fields, t, add)`. The latter calls
/// add(field, name, count, unit, meaning) for each field in order. Counts may depend on `t`, a model's table for
/// example. A field of count 0 is absent from the state.
#include <type_traits>

#include "kernels/common/for_each.hpp"
#include "kernels/common/layout.hpp"

namespace flitlab {

/// A pointer to a member as a type, so that a function can have an overload for each member; one of several; and a list
/// of them. A bit field has no pointer: Of<nullptr> stands for it.
template <auto kPointer>
struct Of {};
template <auto... kPointers>
struct AnyOf {
  template <auto kPointer>
    requires(std::is_same_v<Of<kPointer>, Of<kPointers>> || ...)
  FLITLAB_HD AnyOf(Of<kPointer>) {}
};
template <auto... kPointers>
struct Pointers {
  template <auto kPointer>
  FLITLAB_HD constexpr auto operator+(Of<kPointer>) const {
    return Pointers<kPointers..., kPointer>{};
  }
};

}  // namespace flitlab

#define FLITLAB_MEMBERS(Self, ...)                              \
  FLITLAB_FOR_EACH(FLITLAB_DECLARE_MEMBER, Self, __VA_ARGS__)   \
  FLITLAB_POINTERS(FLITLAB_POINT_TO_MEMBER, Self, __VA_ARGS__)  \
  template <class Visit>                                        \
  static void for_each_member([[maybe_unused]] Visit&& visit) { \
    FLITLAB_FOR_EACH(FLITLAB_VISIT_MEMBER, Self, __VA_ARGS__)   \
  }
#define FLITLAB_DECLARE_MEMBER(Self, type, name, ...) \
  std::type_identity_t<type> name __VA_OPT__(FLITLAB_WIDTH(__VA_ARGS__));
#define FLITLAB_WIDTH(unit, meaning, ...) __VA_OPT__( : __VA_ARGS__)
#define FLITLAB_VISIT_MEMBER(Self, type, name, ...) __VA_OPT__(FLITLAB_SHOW(Self, type, name, __VA_ARGS__))
#define FLITLAB_SHOW(Self, type, name, unit, meaning, ...) \
  FLITLAB_SHOW_##__VA_OPT__(BITS)(Self, type, name, unit, meaning __VA_OPT__(, ) __VA_ARGS__)
#define FLITLAB_SHOW_(Self, type, name, unit, meaning) \
  visit.template member<type>(#name, unit, meaning, static_cast<u32>(offsetof(Self, name)));
#define FLITLAB_SHOW_BITS(Self, type, name, unit, meaning, width) \
  visit.template bits<Self, type>(#name, unit, meaning, [](Self& record) { record.name = (1u << width) - 1; });

#define FLITLAB_POINTERS(point, Self, ...)                                     \
  FLITLAB_HD static constexpr auto pointers() {                                \
    return ::flitlab::Pointers<>() FLITLAB_FOR_EACH(point, Self, __VA_ARGS__); \
  }
#define FLITLAB_POINT_TO_MEMBER(Self, type, name, ...) __VA_OPT__(FLITLAB_POINT(Self, name, __VA_ARGS__))
#define FLITLAB_POINT(Self, name, unit, meaning, ...) FLITLAB_POINT_TO##__VA_OPT__(_BITS)(Self, , name)
#define FLITLAB_POINT_TO(Self, type, name, ...) +::flitlab::Of<&Self::name>()
#define FLITLAB_POINT_TO_BITS(Self, type, name) +::flitlab::Of<nullptr>()

#define FLITLAB_FIELDS(Self, ...)                                                              \
  FLITLAB_FOR_EACH(FLITLAB_DECLARE_FIELD, Self, __VA_ARGS__)                                   \
  FLITLAB_POINTERS(FLITLAB_POINT_TO, Self, __VA_ARGS__)                                        \
  bool operator==(const Self&) const = default;                                                \
  template <class T, class Add>                                                                \
  static constexpr void for_each_field(Self& fields, [[maybe_unused]] const T& t, Add&& add) { \
    FLITLAB_FOR_EACH(FLITLAB_VISIT_FIELD, Self, __VA_ARGS__)                                   \
  }
#define FLITLAB_DECLARE_FIELD(Self, type, name, ...) FLITLAB_HANDLE_##__VA_OPT__(OF)(type) name;
#define FLITLAB_HANDLE_(group) group
#define FLITLAB_HANDLE_OF(type) ::flitlab::Field<type>
#define FLITLAB_VISIT_FIELD(Self, type, name, ...) \
  FLITLAB_ADD_##__VA_OPT__(FIELD)(type, name __VA_OPT__(, ) __VA_ARGS__)
#define FLITLAB_ADD_(group, name) group::for_each_field(fields.name, t, add);
#define FLITLAB_ADD_FIELD(type, name, count, unit, meaning, ...)                                                     \
  add(fields.name, FLITLAB_NAME_##__VA_OPT__(GIVEN)(name __VA_OPT__(, ) __VA_ARGS__), static_cast<u32>(count), unit, \
      meaning);
#define FLITLAB_NAME_(name) #name
#define FLITLAB_NAME_GIVEN(name, given) given

namespace flitlab {

/// Appends a field to an item that already has `item_bytes` bytes. Returns the field, and adds its size to
/// `item_bytes`.
template <class T>
constexpr Field<T> append_field(u32& item_bytes, u32 count) {
  const Field<T> field{(item_bytes + u32{alignof(T)} - 1) / u32{alignof(T)} * u32{alignof(T)}};
  item_bytes = field.offset + count * static_cast<u32>(sizeof(T));
  return field;
}

/// Returns the fields of an item with their offsets, for tables whose sizes are known at compile time.
template <class Fields, class T>
constexpr Fields lay_out_fields(const T& t) {
  Fields fields{};
  u32 item_bytes = 0;
  Fields::for_each_field(fields, t, [&]<class E>(Field<E>& field, const char*, u32 count, const char*, const char*) {
    if (count) field = append_field<E>(item_bytes, count);
  });
  return fields;
}

}  // namespace flitlab
