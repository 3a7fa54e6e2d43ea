#pragma once
/// The calendar: whoever makes something happen in a node in a later cycle notes it here, so that nodes with nothing
/// to do cost a look at a byte. A note too many does no harm.
#include <utility>

#include "kernels/routers/bgl/state.hpp"

#if !defined(__CUDA_ARCH__)
#include <atomic>
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
  std::atomic_ref<u8>(mail_note(v, calendar, node, at)).store(1, std::memory_order_relaxed);
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

/// An entry of a list of nodes that have something to do: the node, and which notes there are for it.
inline constexpr u32 kNodeBits = 27;
enum Note : u32 {
  kHead = 1u << kNodeBits,
  kTokens = 1u << (kNodeBits + 1),
  kHeard = 1u << (kNodeBits + 2),
  kAgain = 1u << (kNodeBits + 3),
  kQueues = 1u << (kNodeBits + 4),
};
FLITLAB_HD constexpr u32 node_of(u32 entry) { return entry & ((1u << kNodeBits) - 1); }

/// Notes of mail for 64 nodes, which are crossed out, as bits.
template <class V>
FLITLAB_INLINE u64 take_mail_notes(const V& v, Field<u8> calendar, u32 group, Cycle now) {
  const u32 slot = (now & v.t.slot_mask) * 64;
  u64 set = 0;
  if constexpr (V::width == 1) {
    u64* words = reinterpret_cast<u64*>(&v.calendar[group].at(calendar, slot));
    for (u32 i = 0; i < 8; ++i) {
      set |= (words[i] * 0x0102040810204080ull >> 56) << 8 * i;  // bytes of 0 and 1: bits
      words[i] = 0;
    }
  } else {
    for (u32 i = 0; i < 64; ++i) set |= u64{std::exchange(v.calendar[group].at(calendar, slot + i), u8{0})} << i;
  }
  return set;
}

/// Lists those of the nodes 64 `group` to 64 `group` + 63 that have something to do; their notes are crossed out.
template <class V>
FLITLAB_INLINE u32 list_nodes(const V& v, u32 group, Cycle now, u32* list) {
  const auto& f = v.t.calendar_fields;
  const u64 heads = take_mail_notes(v, f.heads, group, now), tokens = take_mail_notes(v, f.tokens, group, now);
  const u64 heard = std::exchange(heard_at(v, 64 * group, now), 0);
  const u64 again = std::exchange(notes_at(v, f.again, 64 * group, now), 0);
  const u64 queues = std::exchange(notes_at(v, f.queues, 64 * group, now), 0);
  u32 n = 0;
  for (u64 left = heads | tokens | heard | again | queues; left; left &= left - 1) {
    const u32 i = lowest_bit(left);
    const u64 notes = (heads >> i & 1) * kHead | (tokens >> i & 1) * kTokens | (heard >> i & 1) * kHeard |
                      (again >> i & 1) * kAgain | (queues >> i & 1) * u64{kQueues};
    list[n++] = (64 * group + i) | static_cast<u32>(notes);
  }
  return n;
}

/// The same for one node: its notes, or 0.
template <class V>
FLITLAB_INLINE u32 take_notes(const V& v, u32 node, Cycle now) {
  const auto& f = v.t.calendar_fields;
  u8 &head = mail_note(v, f.heads, node, now), &tokens = mail_note(v, f.tokens, node, now);
  const u32 notes = head * kHead | tokens * kTokens | take_note(heard_at(v, node, now), node) * kHeard |
                    take_note(notes_at(v, f.again, node, now), node) * kAgain |
                    take_note(notes_at(v, f.queues, node, now), node) * u32{kQueues};
  head = tokens = 0;
  return notes;
}

/// Those of 64 nodes whose software has something to do.
template <class V>
FLITLAB_INLINE u64 noted_software(const V& v, u32 group, Cycle now) {
  return read_notes(notes_at(v, v.t.calendar_fields.software, 64 * group, now)) |
         read_notes(told_at(v, 64 * group, now));
}

}  // namespace flitlab::bgl
