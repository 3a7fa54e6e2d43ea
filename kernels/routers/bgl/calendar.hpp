#pragma once
/// The calendar: whoever makes something happen in a node in a later cycle notes it here, so that nodes with nothing
/// to do cost a look at a byte. A note too many does no harm.
#include <utility>

#include "kernels/routers/bgl/directions.hpp"
#include "kernels/routers/bgl/state.hpp"

#if !defined(__CUDA_ARCH__)
#include "kernels/common/portable.hpp"
#endif

namespace flitlab::bgl {

/// Notes of what comes from neighbours are bytes: they write them at the same time, and all of them write a one.
template <class V>
FLITLAB_INLINE u8& mail_note(const V& v, Field<u8> calendar, u32 node, Cycle at) {
  return v.calendar[node / 64].at(calendar, (at & v.t.slot_mask) * 64 + node % 64);
}

/// A head, or tokens, will come to a node.
template <class V>
FLITLAB_INLINE void announce(const V& v, Field<u8> calendar, u32 node, Cycle at) {
#if defined(__CUDA_ARCH__)
  const_cast<volatile u8&>(mail_note(v, calendar, node, at)) = 1;
#else
  portable::AtomicRef<u8>(mail_note(v, calendar, node, at)).store(1, std::memory_order_relaxed);
#endif
}

/// The other notes are bits: on a CPU one thread at a time makes all of a calendar for 64 nodes, or their software.
template <class V>
FLITLAB_INLINE u64& notes_at(const V& v, Field<u64> calendar, u32 item, Cycle at) {
  return v.calendar[item / 64].at(calendar, at & (v.t.calendar_slots - 1));
}

template <class V>
FLITLAB_INLINE u64& told_at(const V& v, u32 item, Cycle at) {
  return v.calendar[item / 64].at(v.t.calendar_fields.told, at & 1);
}

FLITLAB_INLINE void note(u64& notes, u32 item) {
#if defined(__CUDA_ARCH__)
  atomicOr(reinterpret_cast<unsigned long long*>(&notes), 1ull << item % 64);
#else
  notes |= u64{1} << item % 64;
#endif
}

/// All notes of 64 nodes. On a device others cross out theirs meanwhile.
FLITLAB_INLINE u64 read_notes(const u64& notes) {
#if defined(__CUDA_ARCH__)
  return const_cast<const volatile u64&>(notes);
#else
  return notes;
#endif
}

/// Whether there is a note, which is crossed out.
FLITLAB_INLINE bool take_note(u64& notes, u32 item) {
  const u64 mine = u64{1} << item % 64;
#if defined(__CUDA_ARCH__)
  const bool noted = read_notes(notes) & mine;
  if (noted) atomicAnd(reinterpret_cast<unsigned long long*>(&notes), ~static_cast<unsigned long long>(mine));
#else
  const bool noted = notes & mine;
  notes &= ~mine;
#endif
  return noted;
}

/// Software has something for its node.
template <class V>
FLITLAB_INLINE u64& heard_at(const V& v, u32 node, Cycle at) {
  return v.calendar[node / 64].at(v.t.calendar_fields.heard, at & v.t.software_mask);
}

/// A link of a node will be free, or a request was lost.
template <class V>
FLITLAB_INLINE void look_again(const V& v, u32 node, Cycle at) {
  note(notes_at(v, v.t.calendar_fields.again, node, at), node);
}

/// In a node a tail will have left, or a head will be ready.
template <class V>
FLITLAB_INLINE void wake_queues(const V& v, u32 node, Cycle at) {
  note(notes_at(v, v.t.calendar_fields.queues, node, at), node);
}

template <class V>
FLITLAB_INLINE void wake_software(const V& v, u32 terminal, Cycle at) {
  note(notes_at(v, v.t.calendar_fields.software, terminal, at), terminal);
}

/// A node has something for its software.
template <class V>
FLITLAB_INLINE void tell_software(const V& v, u32 node, Cycle at) {
  note(told_at(v, node, at), node);
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

/// Notes for the nodes of a group of 64, as sets.
struct Notes {
  u64 heads, tokens;  ///< that come
  u64 heard;          ///< from software
  u64 again, queues;
};
FLITLAB_HD constexpr u64 all_of(const Notes& notes) {
  return notes.heads | notes.tokens | notes.heard | notes.again | notes.queues;
}

/// The bytes of notes of mail for 64 nodes in a cycle, of which the others are bits: as a set. `cross_out`: what is
/// read is no longer noted.
template <bool cross_out, class V>
FLITLAB_INLINE u64 mail_notes(const V& v, Field<u8> calendar, u32 group, Cycle now) {
  u64 set = 0;
#if FLITLAB_BGL_VECTORS
  if constexpr (V::width == 1) {
    for (u32 i = 0; i < 64; i += 16) {
      __m128i* const notes = reinterpret_cast<__m128i*>(&mail_note(v, calendar, 64 * group + i, now));
      const __m128i highest = _mm_slli_epi16(_mm_loadu_si128(notes), 7);  // a note is a one
      set |= u64{static_cast<u32>(_mm_movemask_epi8(highest))} << i;
      if (cross_out) _mm_storeu_si128(notes, _mm_setzero_si128());
    }
    return set;
  }
#endif
  for (u32 i = 0; i < 64; ++i) {
    u8& note = mail_note(v, calendar, 64 * group + i, now);
    set |= u64{note} << i;
    if (cross_out) note = 0;
  }
  return set;
}

/// All notes of the nodes 64 `group` to 64 `group` + 63, which are crossed out.
template <class V>
FLITLAB_INLINE Notes take_notes_of(const V& v, u32 group, Cycle now) {
  const auto& f = v.t.calendar_fields;
  return {mail_notes<true>(v, f.heads, group, now), mail_notes<true>(v, f.tokens, group, now),
          std::exchange(heard_at(v, 64 * group, now), 0), std::exchange(notes_at(v, f.again, 64 * group, now), 0),
          std::exchange(notes_at(v, f.queues, 64 * group, now), 0)};
}

/// Those of them for which there are any.
template <class V>
FLITLAB_INLINE u64 noted_nodes(const V& v, u32 group, Cycle now) {
  const auto& f = v.t.calendar_fields;
  return mail_notes<false>(v, f.heads, group, now) | mail_notes<false>(v, f.tokens, group, now) |
         heard_at(v, 64 * group, now) | notes_at(v, f.again, 64 * group, now) | notes_at(v, f.queues, 64 * group, now);
}

/// Whether there are any for one node.
template <class V>
FLITLAB_INLINE bool is_noted(const V& v, u32 node, Cycle now) {
  const auto& f = v.t.calendar_fields;
  const u64 bits = read_notes(heard_at(v, node, now)) | read_notes(notes_at(v, f.again, node, now)) |
                   read_notes(notes_at(v, f.queues, node, now));
  return mail_note(v, f.heads, node, now) | mail_note(v, f.tokens, node, now) | (bits >> node % 64 & 1);
}

/// The notes of one node, which are crossed out, as sets of one.
template <class V>
FLITLAB_INLINE Notes take_notes(const V& v, u32 node, Cycle now) {
  const auto& f = v.t.calendar_fields;
  u8 &head = mail_note(v, f.heads, node, now), &tokens = mail_note(v, f.tokens, node, now);
  return {std::exchange(head, u8{0}), std::exchange(tokens, u8{0}), take_note(heard_at(v, node, now), node),
          take_note(notes_at(v, f.again, node, now), node), take_note(notes_at(v, f.queues, node, now), node)};
}

/// Those of 64 nodes whose software has something to do.
template <class V>
FLITLAB_INLINE u64 noted_software(const V& v, u32 group, Cycle now) {
  return read_notes(notes_at(v, v.t.calendar_fields.software, 64 * group, now)) |
         read_notes(told_at(v, 64 * group, now));
}

}  // namespace flitlab::bgl
