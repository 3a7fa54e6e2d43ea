#pragma once
/// A message (80 bits in a TIC; S-Connect, 3.1) with the emulator's measurement fields, and the order by age in queues.
/// A quad is one Message with four flits.
#include "kernels/common/fields.hpp"
#include "kernels/common/types.hpp"
#include "kernels/routers/sconnect/choices.hpp"
#include "kernels/routers/sconnect/link.hpp"

namespace flitlab::sconnect {

struct alignas(16) Message {
  FLITLAB_MEMBERS(Message,
    (u32, dst, "", "destination terminal"),
    (u32, src, "", "source terminal"),
    (Cycle, created, "cycle", "cycle in which it entered the source queue"),
    (Cycle, injected, "cycle", "cycle in which it entered the first TIC"),
    (u32, id, "", "packet number at its source"),
    (u16, node, "", "destination node: index into routing tables"),
    (u16, hops, "", "channels between TICs that it has crossed"),
    (u8, flits, "flits", "1, or 4 in a quad"),
    (u8, priority, "", "0 to 3; 3 is served first"),
    (u8, vc, "", "virtual channel on which it arrived; 0 from a host"),
    (u8, age, "", "failed transmissions, at most 255"),
    (u8, tried, "", "port of the last failed attempt in this TIC; kPorts: none"),
    (u8, entered, "clocks", "turn of the port by which it entered the fabric: port number + phase of the node"),
    (u8, control, "", "control Operation; 0: data"),
    (u8, tag, "", "number of a control message, or of a request's or reply's transaction"))
};
static_assert(sizeof(Message) == 32);

/// Returns whether a message in a queue stays ahead of a message that enters the queue; both have the same priority.
/// `tried` below kPorts marks a message that has returned to the router in this TIC.
FLITLAB_HD inline bool goes_before(Age age, const Message& waiting, const Message& entering) {
  const bool back = entering.tried < kPorts;
  if (age == Age::kAll) return back ? waiting.age > entering.age : waiting.age >= entering.age;
  return !back || (age == Age::kRequeued && waiting.tried < kPorts && waiting.age > entering.age);
}

}  // namespace flitlab::sconnect
