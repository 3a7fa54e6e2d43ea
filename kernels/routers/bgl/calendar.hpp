#pragma once
/// The calendar: whoever makes something happen in a node in a later cycle notes it here, so that nodes with nothing
/// to do cost a look at a byte. A note too many does no harm.
#include "kernels/routers/bgl/state.hpp"

#if !defined(__CUDA_ARCH__)
#include <atomic>
#endif

namespace flitlab::bgl {

template <class V>
FLITLAB_INLINE u8& note_at(const V& v, Field<u8> calendar, u32 item, Cycle at) {
  return v.calendar[item / 64].at(calendar, (at & (v.t.calendar_slots - 1)) * 64 + item % 64);
}

/// Several may note the same; all of them write a one.
template <class V>
FLITLAB_INLINE void note(const V& v, Field<u8> calendar, u32 item, Cycle at) {
#if defined(__CUDA_ARCH__)
  note_at(v, calendar, item, at) = 1;
#else
  std::atomic_ref<u8>(note_at(v, calendar, item, at)).store(1, std::memory_order_relaxed);
#endif
}

template <class V>
FLITLAB_INLINE void wake_node(const V& v, u32 node, Cycle at) {
  note(v, v.t.calendar_fields.node, node, at);
}

template <class V>
FLITLAB_INLINE void wake_software(const V& v, u32 terminal, Cycle at) {
  note(v, v.t.calendar_fields.software, terminal, at);
}

/// Wakes software for a creation in any later cycle. The calendar ends somewhere, so the distant future is looked at
/// again when it is nearer.
template <class V>
FLITLAB_INLINE void set_alarm(const V& v, SoftwareControl& software, u32 terminal, Cycle at, Cycle now) {
  if (at == kNever) return;
  const u32 most = v.t.calendar_slots - 1;
  software.alarm = at - now > most ? now + most : at;
  wake_software(v, terminal, software.alarm);
}

/// Those of the items 64 `group` to 64 `group` + 63 that have something to do.
template <class V>
FLITLAB_INLINE u64 noted(const V& v, Field<u8> calendar, u32 group, Cycle now) {
  const u32 slot = (now & (v.t.calendar_slots - 1)) * 64;
  u64 set = 0;
  if constexpr (V::width == 1) {
    const u64* words = reinterpret_cast<const u64*>(&v.calendar[group].at(calendar, slot));
    for (u32 i = 0; i < 8; ++i)  // bytes of 0 and 1 become bits
      if (words[i]) set |= (words[i] * 0x0102040810204080ull >> 56) << 8 * i;
  } else {
    for (u32 i = 0; i < 64; ++i) set |= u64{v.calendar[group].at(calendar, slot + i)} << i;
  }
  return set;
}

}  // namespace flitlab::bgl
