#pragma once
/// The inputs of routers in one cycle: which flits arrive, and which channel each flit takes. `Inputs` serves networks
/// of any dimension. Its specialisation in four.hpp serves batches in two dimensions on a CPU.
#include "kernels/routers/bless/interface.hpp"
#include "kernels/routers/bless/rank.hpp"

namespace flitlab::bless {

/// Returns the part of an inbox field for the flits that arrive in cycle `now`: `[channel]`.
template <class T, class Table>
FLITLAB_INLINE Field<T> arriving(const Table& t, Field<T> field, Cycle now) {
  return {field.offset + (now & t.slot_mask) * t.channels * static_cast<u32>(sizeof(T))};
}

/// Up to `kMost` routers that a step processes together.
template <u32 kMost, class V>
struct Routers {
  const V& v;
  const u32* index;  ///< `[n]`: numbers of the routers
  u32 n;
  Cycle now;
  Field<u8> came;  ///< parts of the inboxes for the flits that arrive in this cycle
  Field<Flit> mail;
  Item<V::width> router[kMost], terminal[kMost];
  u32 occupied[kMost];  ///< set of inputs that hold a flit

  FLITLAB_INLINE Routers(const V& view, const u32* list, u32 count, Cycle cycle)
      : v(view),
        index(list),
        n(kMost == 1 ? 1 : count),
        now(cycle),
        came(arriving(v.t, v.t.router_fields.came, now)),
        mail(arriving(v.t, v.t.router_fields.mail, now)) {
    for (u32 i = 0; i < n; ++i) router[i] = v.routers[list[i]], terminal[i] = v.terminals[list[i]];
  }
};

/// Flits stay where they are, in the inbox and in the terminal, because copies of them would need an array. Input
/// `channels` is that of the injected flit.
template <u32 kMost, class V>
struct Inputs : Routers<kMost, V> {
  using Base = Routers<kMost, V>;
  using Base::Base, Base::v, Base::index, Base::n, Base::now, Base::came, Base::mail, Base::router, Base::terminal,
      Base::occupied;

  FLITLAB_INLINE Flit flit(u32 i, u32 input) const {
    if (input != v.t.channels) return router[i].at(mail, input);
    Flit injected = terminal[i].at(v.t.interface_fields.sending);
    --injected.via;  // `sending` is the flit after it
    return injected;
  }

  /// Takes the flits that arrive at a router. Returns the inputs whose flits are addressed to the router's terminal.
  FLITLAB_INLINE u32 collect(u32 i) {
    const auto& t = v.t;
    u32 addressed = 0;
    occupied[i] = 0;
    for (u32 input = 0; input < t.channels; ++input) {
      u8& flag = router[i].at(came, input);
      if (!flag) continue;
      flag = 0;
      const Flit& flit = router[i].at(mail, input);
      occupied[i] |= 1u << input;
      addressed |= u32{flit.dst == t.address[index[i]]} << input;
      if constexpr (V::traced) v.log.write(index[i], flit_event(v, flit, EventKind::kArrived, input, 0));
    }
    return addressed;
  }

  /// Adds a flit that the terminal has taken from its packet.
  FLITLAB_INLINE void inject(u32 i, const Flit&) { occupied[i] |= 1u << v.t.channels; }

  /// Lets the flits of each router choose channels, oldest first, and calls send(i, input, channel) for each flit.
  /// Returns the number of deflected flits.
  template <class Send>
  FLITLAB_INLINE u32 choose(Send&& send) const {
    const auto& t = v.t;
    u32 deflected = 0;
    for (u32 i = 0; i < n; ++i) {
      u32 free = t.wired[index[i]];
      for (u32 left = occupied[i]; left;) {
        if (!free) {
          raise_fault(router[i].at(t.router_fields.control).fault, kFaultBufferOverflow, kNoFaultPort);
          break;
        }
        const u32 input = oldest(left, [&](u32 other) __attribute__((always_inline)) { return flit(i, other); });
        const Flit first = flit(i, input);
        const u32 productive = productive_channels(t, t.address[index[i]], first.dst);
        const u32 channel = choose_channel(productive, free, t.channels, now,
                                           [&]() __attribute__((always_inline)) { return preference(first); });
        left &= ~(1u << input);
        free &= ~(1u << channel);
        deflected += ~productive >> channel & 1;
        send(i, input, channel);
      }
    }
    return deflected;
  }
};

}  // namespace flitlab::bless
