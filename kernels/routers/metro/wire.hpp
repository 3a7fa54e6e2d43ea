#pragma once
/// Words on wires: into the mail of the far end, in the slot of the cycle in which it reads them, unless a fault of the
/// wire has it otherwise. The wire belongs to the sender, of both directions.
#include "kernels/common/philox.hpp"
#include "kernels/routers/metro/state.hpp"
#include "kernels/routers/metro/streams.hpp"

namespace flitlab::metro {

/// What a faulty wire makes of a word.
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

/// A router by its number among all, that of the wide router, and its own among those that are cascaded.
struct RouterName {
  u32 index, wide, slice;
};
template <class T>
FLITLAB_INLINE RouterName router_name(const T& t, u32 index) {
  if (t.slices == 1) return {index, index, 0};
  return {index, index / t.slices, index % t.slices};
}

/// Puts words into the mail of the far ends of wires. A word is on the wire, and read, at the earliest a cycle later.
template <class V>
struct FarMail {
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

/// Takes the place of FarMail where words are kept until all of a step is done, so that there is one copy of the code
/// that drives them (FLITLAB_ONE_COPY says why): a port's step drives the port and its backward port at most once.
struct KeptWords {
  struct One {
    u32 port = 0;
    Word word = 0;  ///< 0: none
  };
  One& back;
  One& forward;
};

/// The same for half of an endpoint, which drives its link at most once.
struct KeptSignal {
  struct One {
    Kind kind = Kind::kNothing;
    u64 content = 0;
  };
  One& one;
};

/// A router drives a port: a forward one, or I + a backward one. `far`: FarMail, or another way to the same place.
template <class V, class Far, int W>
FLITLAB_INLINE void drive_port(const V& v, const Far& far, const Item<W>& node, const RouterName& name, u32 port,
                               Word word, Cycle now) {
  const auto& t = v.t;
  if (t.faulty)
    word = through_fault(node.at(t.router_fields.wire, port), word, t.width, v.row->seed, name.index << 6 | port, now);
  far.from_port(name, port, word, now);
}

/// An endpoint drives one of its links, all bits of it: leaving ones first. It has no pipeline.
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
