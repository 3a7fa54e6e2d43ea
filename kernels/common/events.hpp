#pragma once
/// Events of a cycle (a packet is created, a flit arrives, ...), for traces and for inspecting a network. Each router
/// or terminal writes its own list, so the order of events does not depend on threads. Only phases that are compiled
/// with tracing write events.
#include "kernels/common/choices.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

/// kOwn: an event of one router model only; the model's registry record names it.
FLITLAB_CHOICES(EventKind, (kCreated, "created"), (kInjected, "injected"), (kArrived, "arrived"), (kRouted, "routed"),
                (kVcGranted, "vc_granted"), (kSwitchGranted, "switch_granted"), (kDelivered, "delivered"),
                (kOwn, "own"))

struct Event {
  u32 src;  ///< source terminal
  u32 id;   ///< packet number at its source
  EventKind kind;
  u8 port;  ///< input port
  u8 vc;
  u8 out_port;
  u8 out_vc;
  u8 flit;          ///< kHeadFlit and kTailFlit; 0: body
  u16 flits;        ///< packet length, flits
  u32 dst = kNone;  ///< kCreated: terminal that the packet goes to
  u32 latency = 0;  ///< kDelivered: cycles from the packet's creation to its tail's arrival, as in latency_sum
};
static_assert(sizeof(Event) == 24);

inline constexpr u8 kHeadFlit = 1, kTailFlit = 2;

/// Returns Event::flit of a packet's first flit; in a packet of one flit it is also the tail.
FLITLAB_HD inline u8 head_of(u32 flits) { return flits == 1 ? kHeadFlit | kTailFlit : kHeadFlit; }
/// Returns Event::flit of the last flit of a packet.
FLITLAB_HD inline u8 tail_of(u32 flits) { return flits == 1 ? kHeadFlit | kTailFlit : kTailFlit; }

struct EventLog {
  Event* events = nullptr;  ///< [items][capacity]
  u32* counts = nullptr;    ///< [items] events written since the host last cleared it; may exceed capacity
  u32 capacity = 0;

  FLITLAB_HD void write(u32 item, const Event& event) const {
    const u32 n = counts[item]++;
    if (n < capacity) events[std::size_t{item} * capacity + n] = event;
  }
};

}  // namespace flitlab
