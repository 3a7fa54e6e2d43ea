#pragma once
/// The calendar. It has notes: marks that a node has an event in a later cycle. So an idle node costs only the test of
/// its notes. A superfluous note is harmless, because the node then finds no event.
#include <utility>

#include "kernels/common/shared_words.hpp"
#include "kernels/routers/bgl/directions.hpp"
#include "kernels/routers/bgl/state.hpp"

#if !defined(__CUDA_ARCH__)
#include "kernels/common/portable.hpp"
#endif

namespace flitlab::bgl {

/// Returns the note for an arrival from a neighbour in cycle `at`. `calendar`: the field for heads or for tokens. These
/// notes are bytes, because several neighbours may write the same note at the same time; all of them write 1.
template <class V>
FLITLAB_INLINE u8& arrival_note(const V& v, Field<u8> calendar, u32 node, Cycle at) {
  return v.calendar[node / 64].at(calendar, (at & v.t.slot_mask) * 64 + node % 64);
}

/// Notes that a head, or tokens, will arrive at a node in cycle `at`.
template <class V>
FLITLAB_INLINE void announce(const V& v, Field<u8> calendar, u32 node, Cycle at) {
#if defined(__CUDA_ARCH__)
  const_cast<volatile u8&>(arrival_note(v, calendar, node, at)) = 1;
#else
  portable::AtomicRef<u8>(arrival_note(v, calendar, node, at)).store(1, std::memory_order_relaxed);
#endif
}

/// Returns the word with the notes of 64 nodes for cycle `at`, a bit for each node. Bits suffice, because on a CPU only
/// one thread at a time writes the notes of these nodes, or of their software.
template <class V>
FLITLAB_INLINE u64& notes_at(const V& v, Field<u64> calendar, u32 item, Cycle at) {
  return v.calendar[item / 64].at(calendar, at & (v.t.calendar_slots - 1));
}

template <class V>
FLITLAB_INLINE u64& node_notes_at(const V& v, u32 item, Cycle at) {
  return v.calendar[item / 64].at(v.t.calendar_fields.told, at & 1);
}

FLITLAB_INLINE void note(u64& notes, u32 item) { set_bit(notes, item % 64); }

/// Returns the notes of 64 nodes. On a GPU, other threads may clear the notes of their nodes at the same time.
FLITLAB_INLINE u64 read_notes(const u64& notes) {
#if defined(__CUDA_ARCH__)
  return const_cast<const volatile u64&>(notes);
#else
  return notes;
#endif
}

/// Clears the note of an item and returns whether it was set.
FLITLAB_INLINE bool take_note(u64& notes, u32 item) {
  const bool noted = read_notes(notes) >> item % 64 & 1;
  clear_bit(notes, item % 64, noted);
  return noted;
}

/// Returns the word with the notes of 64 nodes, a bit for each node, that the node's software has put or taken packets.
template <class V>
FLITLAB_INLINE u64& software_actions_at(const V& v, u32 node, Cycle at) {
  return v.calendar[node / 64].at(v.t.calendar_fields.heard, at & v.t.software_mask);
}

/// Notes that a link of a node becomes free in cycle `at`, or that requests are to be repeated then.
template <class V>
FLITLAB_INLINE void wake_links(const V& v, u32 node, Cycle at) {
  note(notes_at(v, v.t.calendar_fields.again, node, at), node);
}

/// Notes that in cycle `at` a tail will have left a queue of a node, or a head will be ready.
template <class V>
FLITLAB_INLINE void wake_queues(const V& v, u32 node, Cycle at) {
  note(notes_at(v, v.t.calendar_fields.queues, node, at), node);
}

template <class V>
FLITLAB_INLINE void wake_software(const V& v, u32 terminal, Cycle at) {
  note(notes_at(v, v.t.calendar_fields.software, terminal, at), terminal);
}

/// Notes that a node has a packet or free space for its software.
template <class V>
FLITLAB_INLINE void notify_software(const V& v, u32 node, Cycle at) {
  note(node_notes_at(v, node, at), node);
}

/// Wakes software for an event in cycle `at`, which may be any later cycle. If the cycle is beyond the end of the
/// calendar, software wakes at that end and calls this function again.
template <class V>
FLITLAB_INLINE void set_alarm(const V& v, SoftwareControl& software, u32 terminal, Cycle at, Cycle now) {
  if (at == kNever) return;
  const u32 most = v.t.calendar_slots - 1;
  software.alarm = at - now > most ? now + most : at;
  wake_software(v, terminal, software.alarm);
}

/// Notes of a group of 64 nodes for one cycle, as sets: bit i is node i of the group.
struct Notes {
  u64 heads, tokens;  ///< arrivals
  u64 heard;          ///< actions of software
  u64 again, queues;
};
FLITLAB_HD constexpr u64 all_of(const Notes& notes) {
  return notes.heads | notes.tokens | notes.heard | notes.again | notes.queues;
}

/// Returns the arrival notes of 64 nodes, which are bytes, as a set of bits. `clear`: clears the notes as well.
template <bool clear, class V>
FLITLAB_INLINE u64 arrival_notes(const V& v, Field<u8> calendar, u32 group, Cycle now) {
  u64 set = 0;
#if FLITLAB_BGL_VECTORS
  if constexpr (V::width == 1) {
    for (u32 i = 0; i < 64; i += 16) {
      __m128i* const notes = reinterpret_cast<__m128i*>(&arrival_note(v, calendar, 64 * group + i, now));
      const __m128i highest = _mm_slli_epi16(_mm_loadu_si128(notes), 7);  // moves the 1 of a note to bit 7 of its byte
      set |= u64{static_cast<u32>(_mm_movemask_epi8(highest))} << i;
      if (clear) _mm_storeu_si128(notes, _mm_setzero_si128());
    }
    return set;
  }
#endif
  for (u32 i = 0; i < 64; ++i) {
    u8& note = arrival_note(v, calendar, 64 * group + i, now);
    set |= u64{note} << i;
    if (clear) note = 0;
  }
  return set;
}

/// Returns and clears all notes of the nodes 64 `group` to 64 `group` + 63.
template <class V>
FLITLAB_INLINE Notes take_notes_of(const V& v, u32 group, Cycle now) {
  const auto& f = v.t.calendar_fields;
  return {arrival_notes<true>(v, f.heads, group, now), arrival_notes<true>(v, f.tokens, group, now),
          std::exchange(software_actions_at(v, 64 * group, now), 0),
          std::exchange(notes_at(v, f.again, 64 * group, now), 0),
          std::exchange(notes_at(v, f.queues, 64 * group, now), 0)};
}

/// Returns the nodes of a group that have a note in this cycle.
template <class V>
FLITLAB_INLINE u64 noted_nodes(const V& v, u32 group, Cycle now) {
  const auto& f = v.t.calendar_fields;
  return arrival_notes<false>(v, f.heads, group, now) | arrival_notes<false>(v, f.tokens, group, now) |
         software_actions_at(v, 64 * group, now) | notes_at(v, f.again, 64 * group, now) |
         notes_at(v, f.queues, 64 * group, now);
}

/// Returns whether a node has a note in this cycle.
template <class V>
FLITLAB_INLINE bool is_noted(const V& v, u32 node, Cycle now) {
  const auto& f = v.t.calendar_fields;
  const u64 bits = read_notes(software_actions_at(v, node, now)) | read_notes(notes_at(v, f.again, node, now)) |
                   read_notes(notes_at(v, f.queues, node, now));
  return arrival_note(v, f.heads, node, now) | arrival_note(v, f.tokens, node, now) | (bits >> node % 64 & 1);
}

/// Returns and clears the notes of one node; each set of the result is 0 or 1.
template <class V>
FLITLAB_INLINE Notes take_notes(const V& v, u32 node, Cycle now) {
  const auto& f = v.t.calendar_fields;
  u8 &head = arrival_note(v, f.heads, node, now), &tokens = arrival_note(v, f.tokens, node, now);
  return {std::exchange(head, u8{0}), std::exchange(tokens, u8{0}), take_note(software_actions_at(v, node, now), node),
          take_note(notes_at(v, f.again, node, now), node), take_note(notes_at(v, f.queues, node, now), node)};
}

/// Returns the nodes of a group whose software has work in this cycle.
template <class V>
FLITLAB_INLINE u64 noted_software(const V& v, u32 group, Cycle now) {
  return read_notes(notes_at(v, v.t.calendar_fields.software, 64 * group, now)) |
         read_notes(node_notes_at(v, 64 * group, now));
}

}  // namespace flitlab::bgl
