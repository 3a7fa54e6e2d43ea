#pragma once
/// Parts of the second implementation of S-Connect (naive.hpp): messages, channel contents, TICs and hosts.
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
  u32 entered = 0;  // clock of entry, since the start of the machine
  u32 hops = 0;
  u32 failures = 0;         // number of requeues
  u32 vc = 0;               // VC on which the message came to this TIC
  u32 next_port = 0;        // port of the queue in which the message is or was
  u32 next_vc = 0;          // VC of that queue
  std::optional<u32> back;  // port from which the message was requeued
  bool damaged = false;     // known when the whole message has arrived
  bool waiting = false;     // the message is in a queue
  bool reply = false;       // the message is a reply of a closed loop
  u32 request = 0;          // number of the request that the reply answers
};
using MessageRef = std::shared_ptr<NaiveMessage>;

/// Content of a channel's slot.
struct NaiveParcel {
  bool carries = false;  // carries a message or a part of a quad
  bool quad = false, last = false, abort = false, hit = false;
  u32 sequence = 0;
  u32 answer = 0;                 // parity of the number of messages accepted in the slot read a cycle before
  bool answer_requested = false;  // carries no message, but requests an answer
  NaiveMessage message{};
};

/// One direction of a channel: the contents of its slots, the next arrival first.
using NaiveWire = std::deque<std::optional<NaiveParcel>>;

/// One end of a slot, which has a window of one message in each direction.
struct NaiveSlot {
  MessageRef held;        // message that was sent and whose outcome is unknown
  bool too_soon = false;  // the next answer was sent before the whole quad had arrived
  u32 sent = 0;           // parity of the number of messages that the far end has accepted
  u32 taken = 0;          // parity of the number of messages accepted from the far end
};

/// A train: the slots of a quad that is arriving at a TIC.
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
  std::optional<NaiveParcel> last_arrival;  // content of the slot that arrived in the last cycle
  bool reply = false;                       // the next slot must carry an answer
  MessageRef leaving;                       // quad of which some parts have not been sent
  u32 parts = 0, leaving_slot = 0;
  std::optional<NaiveTrain> train;
  std::vector<MessageRef> damaged_arrivals;  // messages that arrived damaged in the last cycle
  MessageRef back;                           // message that must be routed again
  u32 entering = 0;                          // cycles in which the host will still send parts of a quad
  u32 carried = 0, damaged = 0, refused = 0, failed = 0, lost = 0;

  bool is_channel() const { return link.kind == LinkKind::kSerial || link.kind == LinkKind::kParallel; }
};

struct NaiveTic {
  std::array<NaiveTicPort, 6> port;
  std::list<MessageRef> pool;
  bool no_route = false;

  /// Returns the buffers of a queue's messages, including messages that have left and are kept until their answer
  /// arrives.
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
  struct Answer {  // a reply that the host has to send
    MessageName request;
    Cycle due;
  };
  struct Arrival {  // the arrival, at any port of the host, of a reply to a request of this port
    u32 request;
    Cycle cycle;
  };
  std::map<u32, Cycle> open;  // creation cycles of requests without a reply
  std::deque<Answer> answers;
  std::deque<Arrival> arrivals;
  u32 given = 0;  // replies that have left
};

struct NaiveHost {
  NaiveLoop loop;
  std::deque<NaiveMessage> queue;
  SourceCursor next;
  u32 created = 0, sent = 0, received = 0;
};

}  // namespace flitlab::testing
