#pragma once
/// Parts of the second S-Connect (naive.hpp): messages, channel contents, TICs and hosts.
#include <array>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "tests/support/sconnect/sconnect.hpp"

namespace flitlab::testing {

struct NaiveMessage {
  MessageName name;
  u32 dst, node, flits, priority;
  Cycle created, injected = 0;
  u32 entered = 0;  // clock since the start of the machine
  u32 hops = 0;
  u32 failures = 0;         // requeues since it was first sent
  u32 vc = 0;               // VC on which it came to this TIC
  u32 next_port = 0;        // port of the queue that it is in or has left
  u32 next_vc = 0;          // VC that it was given here
  std::optional<u32> back;  // port from which it was requeued
  bool damaged = false;     // known when all of it has arrived
  bool waiting = false;     // in a queue
  bool reply = false;       // of a closed loop
  u32 request = 0;          // number of the request that it answers
};
using MessageRef = std::shared_ptr<NaiveMessage>;

/// Content of a channel's slot.
struct NaiveParcel {
  bool carries = false;  // a message, or a part of a quad
  bool quad = false, last = false, abort = false, hit = false;
  u32 sequence = 0;
  u32 answer = 0;                 // messages accepted in the slot that arrived a cycle before, modulo 2
  bool answer_requested = false;  // requests an answer, without a message
  NaiveMessage message{};
};

/// One direction of a channel: the contents of its slots, the next arrival first.
using NaiveWire = std::deque<std::optional<NaiveParcel>>;

/// One end of a slot: a window of one message each way.
struct NaiveSlot {
  MessageRef held;        // sent, outcome not yet known
  bool too_soon = false;  // the next answer was sent before all of the quad had arrived
  u32 sent = 0;           // messages that the far end has accepted, modulo 2
  u32 taken = 0;          // messages accepted from it, modulo 2
};

/// A quad on its way into a TIC.
struct NaiveTrain {
  u32 slot;
  u32 parts;
  bool damaged_train;
  MessageRef message;  // null: no buffer was free
};

struct NaiveTicPort {
  sconnect::Link link;
  NaiveWire *in = nullptr, *out = nullptr;
  u32 delay = 0;  // routing cycles to the far end
  std::vector<NaiveSlot> slots;
  std::array<std::array<std::list<MessageRef>, 2>, 4> queue;  // [priority][VC]
  u32 turn = 0;                                               // VC that is served first
  bool on = true;
  std::optional<NaiveParcel> last_arrival;  // arrived in the last cycle
  bool reply = false;                       // an answer is due with the next slot
  MessageRef leaving;                       // quad of which parts are still to be sent
  u32 parts = 0, leaving_slot = 0;
  std::optional<NaiveTrain> train;
  std::vector<MessageRef> damaged_arrivals;  // arrived damaged in the last cycle
  MessageRef back;                           // to be routed again
  u32 entering = 0;                          // cycles for which the host still sends parts of a quad
  u32 carried = 0, damaged = 0, refused = 0, failed = 0, lost = 0;

  bool is_channel() const { return link.kind == LinkKind::kSerial || link.kind == LinkKind::kParallel; }
};

struct NaiveTic {
  std::array<NaiveTicPort, 6> port;
  std::list<MessageRef> pool;
  bool no_route = false;

  /// Buffers of a queue's messages, including those that have left and are kept until their answer.
  u32 held(u32 p, u32 priority, u32 vc) const {
    u32 n = 0;
    for (const MessageRef& m : pool)
      n += m->next_port == p && m->priority == priority && m->next_vc == vc ? m->flits : 0;
    return n;
  }
  u32 used() const {
    u32 n = 0;
    for (const MessageRef& m : pool) n += m->flits;
    return n;
  }
};

/// Closed-loop state of a host's port.
struct NaiveLoop {
  struct Answer {  // due
    MessageName request;
    Cycle due;
  };
  struct Arrival {  // of an answer to a request of this port, at any port of its host
    u32 request;
    Cycle cycle;
  };
  std::map<u32, Cycle> open;  // creation cycles of requests without an answer
  std::deque<Answer> answers;
  std::deque<Arrival> arrivals;
  u32 given = 0;  // answers that have left
};

struct NaiveHost {
  NaiveLoop loop;
  std::deque<NaiveMessage> queue;
  SourceCursor next;
  u32 created = 0, sent = 0, received = 0;
};

}  // namespace flitlab::testing
