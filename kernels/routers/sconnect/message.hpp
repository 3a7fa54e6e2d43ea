#pragma once
/// A message, 80 bits in a TIC (S-Connect, 3.1); here with what the emulator measures. A quad is one with four flits.
#include "kernels/common/fields.hpp"
#include "kernels/common/types.hpp"
#include "kernels/routers/sconnect/choices.hpp"
#include "kernels/routers/sconnect/link.hpp"

namespace flitlab::sconnect {

struct alignas(16) Message {
  FLITLAB_MEMBERS(Message,
    (u32, dst, "", "terminal that it goes to"),
    (u32, src, "", "terminal that it is from"),
    (Cycle, created, "cycle", "cycle in which it entered the source queue"),
    (Cycle, injected, "cycle", "cycle in which the first TIC took it"),
    (u32, id, "", "number at its source"),
    (u16, node, "", "destination's address, by which tables go"),
    (u16, hops, "", "channels between TICs crossed so far"),
    (u8, flits, "flits", "1, or 4 in a quad"),
    (u8, priority, "", "0 to 3; 3 goes first"),
    (u8, vc, "", "virtual channel that it has come on; 0 from a host"),
    (u8, age, "", "times that it has been sent back to the router, at most 255"),
    (u8, tried, "", "port of the last attempt; kPorts: none"),
    (u8, entered, "clocks", "turn of the port by which it entered the fabric: its clock, and the phase of its node"),
    (u8, control, "", "Control operation; 0: data"),
    (u8, tag, "", "number of a control message, or of the transaction of a request or reply"))
};
static_assert(sizeof(Message) == 32);

/// Whether a message that waits in a queue goes before one that enters it. Both have the same priority. What has come
/// back in this TIC is known by the port that it has tried.
FLITLAB_HD inline bool goes_before(Age age, const Message& waiting, const Message& entering) {
  const bool back = entering.tried < kPorts;
  if (age == Age::kAll) return back ? waiting.age > entering.age : waiting.age >= entering.age;
  return !back || (age == Age::kRequeued && waiting.tried < kPorts && waiting.age > entering.age);
}

}  // namespace flitlab::sconnect
