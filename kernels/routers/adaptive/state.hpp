#pragma once
/// State of a network of adaptive routers. Items: routers, terminals. A terminal's state is read and changed by its
/// router alone.
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

/// Fields of a router. It has a place for each of its buffers, and one more for each message that may come.
struct RouterFields {
  FLITLAB_FIELDS(RouterFields,
    (RouterControl, control, 1, "", "what has been counted"),
    (u8, came, (t.slot_mask + 1) * t.channels, "", "[slot][channel] whether a message arrives"),
    (u8, order, t.places, "",
      "all places: those of the messages that are stored, the most preferred first; free ones"),
    (u32, options, t.places, "", "[place] channels that the message may take, as a set"),
    (u32, sent, t.channels, "messages", "[channel] sent"),
    (Packet, pool, t.places, "", "[place] messages"),
    (Packet, mail, (t.slot_mask + 1) * t.channels, "", "[slot][channel] messages that arrive"))
};

struct Table {
  static constexpr EngineCost cost{.cpu_ns = 83, .loads = 125, .blocks = 9, .bytes = 1300};

  u32 routers = 0;
  u32 terminals = 0;
  u32 concentration = 1;
  u32 channels = 0;         ///< C: of the router that has the most
  u32 ports = 0;            ///< channels and terminals
  u32 places = 0;           ///< P
  u32 channel_buffers = 1;  ///< for each channel of a router
  u32 spare = 0;            ///< and beyond
  u32 ejection = 0;         ///< messages that the terminals of a router take in a cycle; 0: all
  u32 delay = 1;            ///< of channels, cycles
  u32 slot_mask = 0;
  Assignment assignment = Assignment::kGreedy;
  TrafficMode mode = TrafficMode::kOpen;
  u32 priorities = 1;                 ///< that messages may have
  u32 priority_below[kPriorities]{};  ///< 32-bit draws below this have this priority
  const Peer* peers = nullptr;        ///< [routers][ports]
  const u32* wired = nullptr;         ///< [routers] channels that are there, as a set
  const u32* minimal = nullptr;       ///< [routers][routers] channels on shortest ways to each router, as sets
  TrafficTable traffic;
  RouterFields router_fields;
  TerminalFields terminal_fields;
};

template <class F>
void for_each_array(Table& t, F f) {
  f(t.peers, std::size_t{t.routers} * t.ports);
  f(t.wired, std::size_t{t.routers});
  f(t.minimal, std::size_t{t.routers} * t.routers);
}

template <int W, bool Traced>
struct View : ViewBase<W, Traced, adaptive::Table> {
  Items<W> routers;
  Items<W> terminals;
};

/// Buffers of a router.
template <class V>
FLITLAB_INLINE u32 buffers(const V& v, u32 index) {
  return bit_count(v.t.wired[index]) * v.t.channel_buffers + v.t.spare;
}

}  // namespace flitlab::adaptive
