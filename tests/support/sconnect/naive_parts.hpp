#pragma once
/// What the second S-Connect (naive.hpp) consists of: messages, what crosses channels, TICs and hosts.
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
  u32 failures = 0;         // since it was sent first
  u32 vc = 0;               // that it has come to this TIC on
  u32 next_port = 0;        // queue that it is in, or has left
  u32 next_vc = 0;          // that it has been given here
  std::optional<u32> back;  // port that it has come back from
  bool damaged = false;     // that will be known when it has come
  bool waiting = false;     // in a queue
  bool reply = false;       // of a closed loop
  u32 request = 0;          // number of the request that it answers
};
using MessageRef = std::shared_ptr<NaiveMessage>;

/// What crosses a channel in a slot.
struct NaiveParcel {
  bool carries = false;  // a message, or a part of a quad
  bool quad = false, last = false, abort = false, hit = false;
  u32 sequence = 0;
  u32 answer = 0;     // number of messages taken in the slot that came a cycle before, modulo 2
  bool asks = false;  // for an answer, without a message
  NaiveMessage message{};
};

/// One way of a channel: what is in its slots, the one that arrives first.
using NaiveWire = std::deque<std::optional<NaiveParcel>>;

/// One end of a slot: a window of one message each way.
struct NaiveSlot {
  MessageRef held;        // sent, and nobody knows yet whether it has come
  bool too_soon = false;  // the answer that comes next was given before all of the quad was there
  u32 sent = 0;           // messages that the far end has taken, modulo 2
  u32 taken = 0;          // messages taken from it, modulo 2
};

/// A quad on its way into a TIC.
struct NaiveTrain {
  u32 slot;
  u32 parts;
  bool spoiled;
  MessageRef message;  // null: there was no buffer for it
};

struct NaiveTicPort {
  sconnect::Link link;
  NaiveWire *in = nullptr, *out = nullptr;
  u32 delay = 0;  // routing cycles to the far end
  std::vector<NaiveSlot> slots;
  std::array<std::array<std::list<MessageRef>, 2>, 4> queue;  // [priority][VC]
  u32 turn = 0;                                               // VC that is served first
  bool on = true;
  std::optional<NaiveParcel> heard;  // in the last cycle
  bool reply = false;                // an answer is to go out with the next slot
  MessageRef leaving;                // quad of which parts are still to go
  u32 parts = 0, leaving_slot = 0;
  std::optional<NaiveTrain> train;
  std::vector<MessageRef> doubtful;  // came damaged in the last cycle
  MessageRef back;                   // to be routed anew
  u32 entering = 0;                  // cycles for which the host still gives parts of a quad
  u32 carried = 0, damaged = 0, refused = 0, failed = 0, lost = 0;

  bool is_channel() const { return link.kind == LinkKind::kSerial || link.kind == LinkKind::kParallel; }
};

struct NaiveTic {
  std::array<NaiveTicPort, 6> port;
  std::list<MessageRef> pool;
  bool no_route = false;

  /// Buffers of the messages of a queue, those included that have left it and are held.
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

/// What a host's port does in a closed loop.
struct NaiveLoop {
  struct Answer {  // to be given
    MessageName request;
    Cycle due;
  };
  struct Arrival {  // of an answer to a request of this port, by any port of its host
    u32 request;
    Cycle cycle;
  };
  std::map<u32, Cycle> open;  // requests without an answer, and when they were created
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
