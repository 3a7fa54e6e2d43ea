#pragma once
/// Transmission of words over wires. The sender writes a word into the inbox of the far end, in the slot of the cycle
/// in which the receiver reads it. A wire's faults are stored at the sender, separately for each direction.
#include "kernels/common/philox.hpp"
#include "kernels/routers/metro/state.hpp"
#include "kernels/routers/metro/streams.hpp"

namespace flitlab::metro {

/// Returns the word that leaves a wire, which may have a fault.
FLITLAB_INLINE Word through_fault(WireState state, Word word, u32 width, u64 seed, u32 sender, Cycle now) {
  if (state.fault == WireFault::kNone || word == 0) return word;
  switch (state.fault) {
    case WireFault::kDead: return 0;
    case WireFault::kStuckAt0: return word & ~(1u << state.bit);
    case WireFault::kStuckAt1: return word | 1u << state.bit;
    case WireFault::kNoise: {
      const Random4 r = philox(seed, metro::stream::kNoise, sender, now);
      return (r.word[0] & 0xFFFF) < state.noise ? word ^ 1u << below(r.word[1], width) : word;
    }
    case WireFault::kNone: break;
  }
  return word;
}

/// Numbers of a router. `index`: its number among all routers. `wide`: number of its wide router. `slice`: its position
/// in the wide router.
struct RouterName {
  u32 index, wide, slice;
};
template <class T>
FLITLAB_INLINE RouterName router_name(const T& t, u32 index) {
  if (t.slices == 1) return {index, index, 0};
  return {index, index / t.slices, index % t.slices};
}

/// Writes words into the inboxes at the far ends of wires. A word is read one cycle later at the earliest.
template <class V>
struct FarInbox {
  const V& v;

  FLITLAB_INLINE void from_port(const RouterName& name, u32 port, Word word, Cycle now) const {
    const Wire& wire = v.t.wires[name.wide * v.t.ports() + port];
    put(wire, name.slice, word, now + v.t.stages + wire.delay);
  }
  template <class T>
  FLITLAB_INLINE void from_link(const T& t, u32 index, u32 link, u32 slice, Word word, Cycle now) const {
    const Wire& wire = t.endpoint_wires[index * 2 * t.links + link];
    put(wire, slice, word, now + 1 + wire.delay);
  }

 private:
  FLITLAB_INLINE void put(const Wire& wire, u32 slice, Word word, Cycle at) const {
    const auto& t = v.t;
    const u32 slot = at & t.slot_mask;
    if (wire.item == kNone) return;
    if (wire.to_endpoint)
      v.terminals[wire.item].at(t.endpoint_fields.mail, (slot * 2 * t.links + wire.port) * t.slices + slice) = word;
    else
      v.routers[wire.item * t.slices + slice].at(t.router_fields.mail, slot * t.ports() + wire.port) = word;
  }
};

/// Stores the words that a port's step sends, in place of FarInbox; the caller drives the wires after the step. So the
/// code that drives wires is compiled once (see FLITLAB_ONE_COPY). A step drives its forward port and its backward port
/// at most once each.
struct DeferredWords {
  struct One {
    u32 port = 0;
    Word word = 0;  ///< 0: no word
  };
  One& back;
  One& forward;
};

/// Stores the word that one half of an endpoint (source or sink) sends, like DeferredWords. Each half drives its link
/// at most once in a cycle.
struct DeferredSignal {
  struct One {
    Kind kind = Kind::kNothing;
    u64 content = 0;
  };
  One& one;
};

/// Drives a port of a router. `port`: p for forward port p, number of forward ports + p for backward port p. `far`:
/// FarInbox, or a class with the same functions.
template <class V, class Far, int W>
FLITLAB_INLINE void drive_port(const V& v, const Far& far, const Item<W>& node, const RouterName& name, u32 port,
                               Word word, Cycle now) {
  const auto& t = v.t;
  if (t.faulty)
    word = through_fault(node.at(t.router_fields.wire, port), word, t.width, v.row->seed, name.index << 6 | port, now);
  far.from_port(name, port, word, now);
}

/// Drives all slices of an endpoint's link. `link`: number of the link; links from the endpoint are numbered first,
/// then links to it. Endpoints have no pipeline, so no pipeline stages are added to the delay.
template <class V, class Far, int W>
FLITLAB_INLINE void drive_link(const V& v, const Far& far, const Item<W>& terminal, u32 index, u32 link, Kind kind,
                               u64 content, Cycle now) {
  const auto& t = v.t;
  const u32 mask = (1u << t.width) - 1;
  FLITLAB_ROLLED for (u32 s = 0; s < t.slices; ++s) {
    Word word = make_word(kind, static_cast<u32>(content >> s * t.width) & mask);
    if (t.faulty)
      word = through_fault(terminal.at(t.endpoint_fields.wire, link * t.slices + s), word, t.width, v.row->seed,
                           1u << 31 | index << 6 | (link * t.slices + s), now);
    far.from_link(t, index, link, s, word, now);
  }
}

}  // namespace flitlab::metro
