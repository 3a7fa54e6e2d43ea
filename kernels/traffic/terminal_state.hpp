#pragma once
/// State of a terminal: its source queue, its half of the channels to and from the router, and what the modes of
/// traffic add. Terminals are the same beside every router.
#include "kernels/common/fields.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/packet.hpp"
#include "kernels/traffic/program_state.hpp"
#include "kernels/traffic/trace.hpp"
#include "kernels/traffic/traffic.hpp"

namespace flitlab {

/// One virtual channel of the channel into the network.
struct InjectionVc {
  FLITLAB_MEMBERS(InjectionVc,
    (u16, credits, "flits", "free places in the router's buffer"),
    (u8, tail, "", "ring position of the next packet there"),
    (u8, pad))
};
static_assert(sizeof(InjectionVc) == 4);

/// The packet that a terminal is sending into the network.
struct InjectionLane {
  FLITLAB_MEMBERS(InjectionLane,
    (u16, left, "flits", "not yet sent; 0: none"),
    (u8, vc, "", "its virtual channel"),
    (u8, pick, "", "round-robin pointer over injection VCs"))
};

struct TerminalControl {
  FLITLAB_MEMBERS(TerminalControl,
    (SourceCursor, next, "", "next creation"),
    (SourceCursor, oldest, "", "next injection; equals `next` when the queue is empty"),
    (u32, created, "packets", "created"),
    (u32, sent, "packets", "whose head has been injected; created - sent are queued"),
    (u32, received, "packets", "whose tail has arrived"),
    (u32, fault, "", "Fault bits"),
    (InjectionLane, lane, "", "of packets; of requests in a closed loop"))
};
static_assert(sizeof(TerminalControl) == 52);

/// Closed loop only: the replying half of a terminal.
struct LoopControl {
  FLITLAB_MEMBERS(LoopControl,
    (InjectionLane, lane, "", "of replies"),
    (u32, outstanding, "packets", "requests without a reply"),
    (u32, replies_sent, "packets", "replies whose head has been injected: the number of the oldest queued one"),
    (u16, reply_first, "", "ring position of the oldest queued reply"),
    (u16, replies, "packets", "queued replies"),
    (u16, created, "packets", "of these, replies that may leave"),
    (u16, promised, "", "places kept for requests that are just being taken in"),
    (u8, served, "", "lane that sent last (0 requests, 1 replies); the other one is first now"),
    (u8, take, "", "round-robin pointer over VCs with arrived flits"),
    (u16, pad))
};
static_assert(sizeof(LoopControl) == 24);

/// A request on its way, at its source.
struct Transaction {
  FLITLAB_MEMBERS(Transaction,
    (u32, id, "", "number of the request; kNone: unused"),
    (Cycle, created, "cycle", "when it was"))
};

/// A reply that waits at the terminal that makes it.
struct QueuedReply {
  FLITLAB_MEMBERS(QueuedReply,
    (u32, to, "", "terminal that asked"),
    (u32, tag, "", "its transaction"),
    (Cycle, created, "cycle", "from when it may leave"))
};

/// Arrived flits of one VC that a terminal has not taken yet.
struct HeldVc {
  FLITLAB_MEMBERS(HeldVc,
    (u16, flits, "flits", "held"),
    (u16, left, "flits", "of the front packet not yet taken; 0: it has not been let in"))
};

/// What the fields of terminals depend on.
struct TerminalSize {
  TrafficMode mode;
  u32 vcs;          ///< of the channels to and from the router
  u32 ring;         ///< descriptors per virtual channel
  u32 slots;        ///< of mail
  u32 window;       ///< closed loop: transactions
  u32 reply_queue;  ///< closed loop: replies
  u32 messages;     ///< programs: most that a terminal receives

  constexpr u32 loops() const { return mode == TrafficMode::kRequestReply; }
  constexpr u32 traces() const { return mode == TrafficMode::kTrace; }
  constexpr u32 programs() const { return mode == TrafficMode::kProgram; }
};

/// Fields of a terminal; `t` is a TerminalSize.
struct TerminalFields {
  FLITLAB_FIELDS(TerminalFields,
    (TerminalControl, control, 1, "", "the source queue, and what has been counted"),
    (u8, flit_mail, t.slots, "", "[slot] flit arriving"),
    (u8, credit_mail, t.slots, "", "[slot] credit arriving, its VC + 1"),
    (InjectionVc, output, t.vcs, "", "[VC] the injection channel"),
    (u8, first, t.vcs, "", "[VC] ring position of the packet arriving next"),
    (LoopControl, loop, t.loops(), "", "closed loop: the replying half"),
    (Transaction, transaction, t.loops() * t.window, "", "closed loop: requests on their way"),
    (QueuedReply, reply, t.loops() * t.reply_queue, "", "[place] closed loop: replies that wait"),
    (HeldVc, held, t.loops() * t.vcs, "", "[VC] closed loop: flits that have arrived and have not been taken"),
    (TraceFields, trace),
    (ProgramFields, program),
    (Packet, ring, t.vcs * t.ring, "", "[VC][place] descriptors of arriving packets"))
};

}  // namespace flitlab
