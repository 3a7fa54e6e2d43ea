#pragma once
/// What happened in a cycle, for traces and for looking inside. Each item writes its own short list, so the order
/// does not depend on threads; only a traced build of the phases writes any.
#include "kernels/common/types.hpp"

namespace flitlab {

/// kOwn: what only the router model has; its record in the registry names it.
enum class EventKind : u8 { kCreated, kInjected, kArrived, kRouted, kVcGranted, kSwitchGranted, kDelivered, kOwn };

struct Event {
  u32 src;  ///< packet's source terminal
  u32 id;   ///< packet's number at its source
  EventKind kind;
  u8 port;  ///< input port
  u8 vc;
  u8 out_port;
  u8 out_vc;
  u8 flit;          ///< kHeadFlit and kTailFlit; 0: body
  u16 flits;        ///< packet length
  u32 dst = kNone;  ///< kCreated: terminal that the packet goes to
  u32 latency = 0;  ///< kDelivered: cycles from the packet's creation to its tail's arrival, as totals count them
};
static_assert(sizeof(Event) == 24);

inline constexpr u8 kHeadFlit = 1, kTailFlit = 2;

/// Event::flit of the first flit of a packet, which is the only one of a packet of one flit.
FLITLAB_HD inline u8 head_of(u32 flits) { return flits == 1 ? kHeadFlit | kTailFlit : kHeadFlit; }
/// Event::flit of the last flit of a packet.
FLITLAB_HD inline u8 tail_of(u32 flits) { return flits == 1 ? kHeadFlit | kTailFlit : kTailFlit; }

struct EventLog {
  Event* events = nullptr;  ///< [items][capacity]
  u32* counts = nullptr;    ///< [items] written since the host last cleared it; may exceed capacity
  u32 capacity = 0;

  FLITLAB_HD void write(u32 item, const Event& event) const {
    const u32 n = counts[item]++;
    if (n < capacity) events[std::size_t{item} * capacity + n] = event;
  }
};

}  // namespace flitlab
