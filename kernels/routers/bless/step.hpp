#pragma once
/// One cycle of up to `kMost` routers (BLESS, FLIT-BLESS). All arriving flits leave in the cycle in which they arrive:
///   1. the router ejects the oldest flits that are addressed to its terminal, at most `router.ejection_width`;
///   2. if an input is now free, the terminal injects one flit;
///   3. oldest first, each flit takes a free productive output, or any free output if no productive one is left.
/// A router has as many outputs as inputs, so every flit gets one. A flit sent in cycle t is routed by the next router
/// in t + `router.delay` + `topology.channel_delay`. Each part runs for all routers before the next part
/// (kernels/common/lists.hpp gives the reason).
#include "kernels/common/lists.hpp"
#include "kernels/routers/bless/inputs.hpp"
#if !defined(__CUDACC__)
#include "kernels/routers/bless/four.hpp"
#endif

namespace flitlab::bless {

template <u32 kMost, class V>
struct RouterStep : Inputs<kMost, V> {
  using In = Inputs<kMost, V>;
  using In::In, In::v, In::index, In::n, In::now, In::router, In::terminal, In::occupied, In::flit;

  FLITLAB_INLINE TerminalControl& control(u32 i) const { return terminal[i].at(v.t.terminal_fields.control); }

  FLITLAB_INLINE void collect_and_eject() {
    SetList<kMost> ejecting;
    for (u32 i = 0; i < n; ++i) ejecting.add(i, In::collect(i));
    ejecting.for_each_set([&](u32 i, u64 set)
                              __attribute__((always_inline)) { eject_oldest(i, static_cast<u32>(set)); });
  }

  /// Ejects the oldest flits of `set`, the inputs whose flits are addressed to this router's terminal.
  FLITLAB_INLINE void eject_oldest(u32 i, u32 set) {
    const auto& t = v.t;
    for (u32 taken = 0; set && taken < t.ejection_width;) {
      const u32 first = oldest(set, [&](u32 input) __attribute__((always_inline)) { return flit(i, input); });
      set &= ~(1u << first);
      const auto& ejected = flit(i, first);
      if (!eject(v, terminal[i], index[i], ejected, now)) continue;
      occupied[i] &= ~(1u << first);
      ++taken;
      if constexpr (V::traced)
        v.log.write(index[i], flit_event(v, ejected, EventKind::kSwitchGranted, first, t.channels));
    }
  }

  FLITLAB_INLINE void inject() {
    const auto& t = v.t;
    ItemList<kMost> creating, starting, sending;
    u32 blocked = 0;
    for (u32 i = 0; i < n; ++i) creating.add(i, creates(v, control(i), now));
    for (u32 i : creating) create(v, terminal[i], index[i], control(i), now);
    for (u32 i = 0; i < n; ++i) {
      const TerminalControl& c = control(i);
      const bool busy = c.lane.left != 0, has = busy | (c.sent != c.created);
      const bool full = !(t.wired[index[i]] & ~occupied[i]), sends = has & !full;
      blocked += has & full;
      sending.add(i, sends);
      starting.add(i, sends & !busy);
    }
    for (u32 i : starting) begin_packet(v, terminal[i], index[i], control(i), now);
    for (u32 i : sending) {
      const Flit injected = take_flit(v, terminal[i], control(i));
      In::inject(i, injected);
      if constexpr (V::traced) v.log.write(index[i], flit_event(v, injected, EventKind::kArrived, t.channels, 0));
    }
    if (blocked) count(*v.shard, Count::kBlocked, blocked);
    if (sending.count) count(*v.shard, Total::kFlitsInjected, sending.count);
  }

  FLITLAB_INLINE void send() {
    const auto& t = v.t;
    const auto came = arriving(t, t.router_fields.came, now + t.hop_delay);
    const auto mail = arriving(t, t.router_fields.mail, now + t.hop_delay);
    u32 moved = 0;
    const u32 deflected = In::choose([&](u32 i, u32 input, u32 channel) __attribute__((always_inline)) {
      const Peer peer = t.peers[std::size_t{index[i]} * t.ports + channel];
      const auto next = v.routers[peer.item];
      Flit& sent = next.at(mail, peer.port);
      sent = flit(i, input);
      ++sent.hops;
      next.at(came, peer.port) = 1;
      ++router[i].at(t.router_fields.sent, channel);
      ++moved;
      if constexpr (V::traced) v.log.write(index[i], flit_event(v, sent, EventKind::kSwitchGranted, input, channel));
    });
    if (!moved) return;
    count(*v.shard, Total::kFlitMoves, moved);
    count(*v.shard, Count::kSent, moved);
    if (deflected) count(*v.shard, Count::kDeflections, deflected);
  }
};

template <u32 kMost, class V>
FLITLAB_INLINE void step(const V& v, const u32* list, u32 n, Cycle now) {
  RouterStep<kMost, V> routers(v, list, n, now);
  routers.collect_and_eject();
  routers.inject();
  routers.send();
}

}  // namespace flitlab::bless
