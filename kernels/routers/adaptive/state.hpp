#pragma once
/// State and plan of a network of adaptive routers. Items: routers, terminals. Only its own router reads or changes a
/// terminal's state.
#include "kernels/common/counters.hpp"
#include "kernels/common/events.hpp"
#include "kernels/common/fault.hpp"
#include "kernels/common/fields.hpp"
#include "kernels/common/peer.hpp"
#include "kernels/common/view.hpp"
#include "kernels/engines/engine_cost.hpp"
#include "kernels/routers/adaptive/assign.hpp"
#include "kernels/traffic/terminal_state.hpp"

namespace flitlab::adaptive {

inline constexpr u32 kPriorities = 4;

struct RouterControl {
  FLITLAB_MEMBERS(RouterControl,
    (u32, fault, "", "Fault bits"),
    (u32, stored, "messages", "in its buffers"))
};
static_assert(sizeof(RouterControl) == 8);

/// Fields of a router. The pool, which stores the router's messages, has a position for each buffer, and one per
/// channel for an arriving message.
struct RouterFields {
  FLITLAB_FIELDS(RouterFields,
    (RouterControl, control, 1, "", "fault bits and stored messages"),
    (u8, came, (t.slot_mask + 1) * t.channels, "", "[slot][channel] whether a message arrives"),
    (u8, order, t.positions, "",
      "[rank] all positions in `pool`: of stored messages, the most preferred first, then free positions"),
    (u32, options, t.positions, "", "[position] set of channels that the message may take"),
    (u32, sent, t.channels, "messages", "[channel] sent on it"),
    (Packet, pool, t.positions, "", "[position] messages"),
    (Packet, mail, (t.slot_mask + 1) * t.channels, "", "[slot][channel] messages that arrive"))
};

struct Table {
  static constexpr EngineCost cost{.cpu_ns = 83, .loads = 125, .blocks = 9, .bytes = 1300};

  u32 routers = 0;
  u32 terminals = 0;
  u32 concentration = 1;
  u32 channels = 0;   ///< C: most channels of a router
  u32 ports = 0;      ///< channels and terminals of a router
  u32 positions = 0;  ///< P: positions in a pool
  u32 ejection = 0;   ///< messages that a router delivers in a cycle; 0: no limit
  u32 delay = 1;      ///< delay of a channel, cycles
  u32 slot_mask = 0;
  Assignment assignment = Assignment::kGreedy;
  TrafficMode mode = TrafficMode::kOpen;
  u32 priorities = 1;                 ///< number of priorities
  u32 priority_below[kPriorities]{};  ///< [priority] a message has the first priority whose limit is above the
                                      ///< message's 32-bit draw
  const Peer* peers = nullptr;        ///< [routers][ports]
  const u32* wired = nullptr;         ///< [router] set of connected channels
  const u32* buffers = nullptr;       ///< [router] number of buffers
  const u32* minimal = nullptr;       ///< [router][destination] set of channels on shortest paths
  TrafficTable traffic;
  RouterFields router_fields;
  TerminalFields terminal_fields;
};

template <class F>
void for_each_array(Table& t, F f) {
  f(t.peers, std::size_t{t.routers} * t.ports);
  f(t.wired, std::size_t{t.routers});
  f(t.buffers, std::size_t{t.routers});
  f(t.minimal, std::size_t{t.routers} * t.routers);
}

template <int W, bool Traced>
struct View : ViewBase<W, Traced, adaptive::Table> {
  Items<W> routers;
  Items<W> terminals;
};

}  // namespace flitlab::adaptive
