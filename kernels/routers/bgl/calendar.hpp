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

/// There will be mail for a node.
template <class V>
FLITLAB_INLINE void announce(const V& v, u32 node, Cycle at) {
  note(v, v.t.calendar_fields.mail, node, at);
}

/// What a node has to do in a cycle by itself.
inline constexpr u8 kLookAgain = 1;   ///< a link will be free, or a request was lost
inline constexpr u8 kQueueTurns = 2;  ///< a tail will have left, or a head will be ready

template <class V>
FLITLAB_INLINE void remind(const V& v, u32 node, Cycle at, u8 of) {
  note_at(v, v.t.calendar_fields.self, node, at) |= of;
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

/// Those of the items 64 `group` to 64 `group` + 63 for which there is a note in one of two calendars.
template <class V>
FLITLAB_INLINE u64 noted(const V& v, Field<u8> one, Field<u8> other, u32 group, Cycle now) {
  const u32 slot = (now & (v.t.calendar_slots - 1)) * 64;
  u64 set = 0;
  if constexpr (V::width == 1) {
    const u64* words = reinterpret_cast<const u64*>(&v.calendar[group].at(one, slot));
    const u64* others = reinterpret_cast<const u64*>(&v.calendar[group].at(other, slot));
    for (u32 i = 0; i < 8; ++i) {
      const u64 notes = words[i] | others[i];
      const u64 bytes = (notes | notes >> 1) & 0x0101010101010101ull;
      set |= (bytes * 0x0102040810204080ull >> 56) << 8 * i;  // bytes of 0 and 1 become bits
    }
  } else {
    for (u32 i = 0; i < 64; ++i)
      set |= u64{(v.calendar[group].at(one, slot + i) | v.calendar[group].at(other, slot + i)) != 0} << i;
  }
  return set;
}

}  // namespace flitlab::bgl
