#pragma once
/// One cycle of the router (BLESS, FLIT-BLESS). All arriving flits leave in the cycle in which they arrive:
///   1. the router ejects the oldest flits that are addressed to its terminal, at most `router.ejection_width`;
///   2. if an input is now free, the terminal injects one flit;
///   3. oldest first, each flit takes a free productive output, or any free output if no productive one is left.
/// A router has as many outputs as inputs, so every flit gets one. A flit sent in cycle t is routed by the next router
/// in t + `router.delay` + `topology.channel_delay`.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/bless/interface.hpp"
#include "kernels/routers/bless/rank.hpp"
#if !defined(__CUDACC__)
#include "kernels/routers/bless/bulk.hpp"
#endif

namespace flitlab::bless {

template <class V>
struct RouterCycle {
  using Order = unsigned __int128;  ///< list of input numbers in one integer, which stays in registers; an array would
                                    ///< not on a GPU
  static constexpr u32 kRankBits = 6;                      ///< bits of one entry of `Order`, an input number
  static constexpr u32 kInjected = (1u << kRankBits) - 1;  ///< input number of the flit that is being injected

  const V& v;
  u32 index;
  Cycle now;
  Item<V::width> node;
  Item<V::width> terminal;
  Order order = 0;  ///< inputs of this router's flits, the oldest first
  u32 flits = 0;
  Flit injected{};

  FLITLAB_INLINE RouterCycle(const V& view, u32 router, Cycle cycle)
      : v(view), index(router), now(cycle), node(view.routers[router]), terminal(view.terminals[router]) {}

  /// Returns the flit by value, so that `injected` needs no address and stays in registers.
  FLITLAB_INLINE Flit flit_of(u32 input) const {
    if (input == kInjected) return injected;
    return node.at(v.t.router_fields.mail, (now & v.t.slot_mask) * v.t.channels + input);
  }
  FLITLAB_INLINE u32 input_at(u32 rank_position) const {
    return static_cast<u32>(order >> rank_position * kRankBits) & kInjected;
  }

  FLITLAB_INLINE void rank(u32 input) {
    static_assert((kMaxChannels + 1) * kRankBits <= 128);
    u32 rank_position = flits++;
    while (rank_position && older(flit_of(input), flit_of(input_at(rank_position - 1)))) --rank_position;
    const Order before = order & ((Order{1} << rank_position * kRankBits) - 1);
    order = before | Order{input} << rank_position * kRankBits | (order - before) << kRankBits;
  }

  FLITLAB_INLINE void collect() {
    const auto& t = v.t;
    for (u32 channel = 0; channel < t.channels; ++channel) {
      u8& flag = node.at(t.router_fields.came, (now & t.slot_mask) * t.channels + channel);
      if (!flag) continue;
      flag = 0;
      rank(channel);
      if constexpr (V::traced) v.log.write(index, flit_event(v, flit_of(channel), EventKind::kArrived, channel, 0));
    }
  }

  FLITLAB_INLINE void eject_oldest() {
    const auto& t = v.t;
    Order remaining = 0;
    u32 kept = 0, taken = 0;
    for (u32 i = 0; i < flits; ++i) {
      const u32 input = input_at(i);
      const Flit flit = flit_of(input);
      if (taken < t.ejection_width && flit.dst == t.address[index] && eject(v, terminal, index, flit, now)) {
        ++taken;
        if constexpr (V::traced) v.log.write(index, flit_event(v, flit, EventKind::kSwitchGranted, input, t.channels));
      } else {
        remaining |= Order{input} << kept++ * kRankBits;
      }
    }
    order = remaining;
    flits = kept;
  }

  FLITLAB_INLINE void inject() {
    const auto& t = v.t;
    TerminalControl& control = terminal.at(t.terminal_fields.control);
    create(v, terminal, index, control, now);
    if (!has_flit(control)) return;
    if (flits == bit_count(t.wired[index])) return count(*v.shard, Count::kBlocked);
    if (!control.lane.left) begin_packet(v, terminal, index, control, now);
    injected = take_flit(v, terminal, control);
    count(*v.shard, Total::kFlitsInjected);
    rank(kInjected);
    if constexpr (V::traced) v.log.write(index, flit_event(v, injected, EventKind::kArrived, t.channels, 0));
  }

  FLITLAB_INLINE void send(u32 input, u32 channel) const {
    const auto& t = v.t;
    const Peer peer = t.peers[std::size_t{index} * t.ports + channel];
    Flit flit = flit_of(input);
    ++flit.hops;
    const auto next = v.routers[peer.item];
    const u32 rank_position = ((now + t.hop_delay) & t.slot_mask) * t.channels + peer.port;
    next.at(t.router_fields.mail, rank_position) = flit;
    next.at(t.router_fields.came, rank_position) = 1;
    ++node.at(t.router_fields.sent, channel);
    count(*v.shard, Total::kFlitMoves);
    count(*v.shard, Count::kSent);
    if constexpr (V::traced)
      v.log.write(index,
                  flit_event(v, flit, EventKind::kSwitchGranted, input == kInjected ? t.channels : input, channel));
  }

  FLITLAB_INLINE void send_all() const {
    const auto& t = v.t;
    u32 free = t.wired[index];
    for (u32 i = 0; i < flits; ++i) {
      if (!free) return raise_fault(node.at(t.router_fields.control).fault, kFaultBufferOverflow, kNoFaultPort);
      const Flit flit = flit_of(input_at(i));
      const u32 productive = productive_channels(t, t.address[index], flit.dst);
      const u32 channel = choose_channel(flit, productive, free, t.channels, now);
      free &= ~(1u << channel);
      if (!(productive >> channel & 1)) count(*v.shard, Count::kDeflections);
      send(input_at(i), channel);
    }
  }

  FLITLAB_INLINE void work() {
    collect();
    if (flits) eject_oldest();
    inject();
    if (flits) send_all();
  }
};

struct RouterPhase {
  static constexpr const char* name = "router";

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }
  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    RouterCycle<V>(v, index, now).work();
  }

  /// Returns whether a flit arrives, or the terminal creates or sends one.
  template <class V>
    requires(!V::traced && (V::Table::kPlane || V::width != 1))
  FLITLAB_INLINE static bool due(const V& v, u32 index, Cycle now) {
    const auto& t = v.t;
    const auto node = v.routers[index];
    const u32 slot = (now & t.slot_mask) * t.channels;
    const TerminalControl& control = v.terminals[index].at(t.terminal_fields.control);
    u32 flag;
    if constexpr (V::width == 1) {
      std::memcpy(&flag, &node.at(t.router_fields.came, slot), sizeof flag);
    } else {
      flag = t.mode == TrafficMode::kTrace;
      for (u32 channel = 0; channel < t.channels; ++channel) flag |= node.at(t.router_fields.came, slot + channel);
    }
    return (flag | control.lane.left | (control.sent ^ control.created) | u32{control.next.at <= now}) != 0;
  }

#if !defined(__CUDACC__)
  static constexpr u32 batch = kRouters;

  /// Runs up to `batch` routers in one call.
  template <class V>
    requires(V::Table::kPlane && !V::traced && V::width == 1)
  FLITLAB_INLINE static void work_in_bulk(const V& v, const u32* list, u32 n, Cycle now) {
    bulk_step(v, list, n, now);
  }
#endif
};

}  // namespace flitlab::bless
