#pragma once
/// State of a terminal: its source queue, its end of the channels to and from the router, and the state of each traffic
/// mode. It is the same in all models that use flit inboxes.
#include "kernels/common/fields.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/packet.hpp"
#include "kernels/traffic/program_state.hpp"
#include "kernels/traffic/trace.hpp"
#include "kernels/traffic/traffic.hpp"

namespace flitlab {

/// One virtual channel of the injection channel.
struct InjectionVc {
  FLITLAB_MEMBERS(InjectionVc,
    (u16, credits, "flits", "credits for the router's input buffer"),
    (u8, tail, "", "position of the next packet's descriptor in that buffer"),
    (u8, pad))
};
static_assert(sizeof(InjectionVc) == 4);

/// The packet that a terminal is injecting. In `TerminalControl::lane` of a terminal with several classes of packets,
/// `left` is the sum over all classes, `vc` is unused, and `pick` is a round-robin pointer over classes.
struct PacketInInjection {
  FLITLAB_MEMBERS(PacketInInjection,
    (u16, left, "flits", "of the packet, still to be sent; 0: no packet"),
    (u8, vc, "", "virtual channel of the packet"),
    (u8, pick, "", "round-robin pointer over injection VCs"))
};

struct TerminalControl {
  FLITLAB_MEMBERS(TerminalControl,
    (SourceCursor, next, "", "next creation; with several classes, only the cycle of the earliest one"),
    (SourceCursor, oldest, "", "next injection; equals `next` when the queue is empty; unused with several classes"),
    (u32, created, "packets", "created"),
    (u32, sent, "packets", "packets whose head has been injected; created - sent are queued"),
    (u32, received, "packets", "packets whose tail has arrived"),
    (u32, fault, "", "Fault bits"),
    (PacketInInjection, lane, "", "packet being injected; in a closed loop, the request"))
};
static_assert(sizeof(TerminalControl) == 52);

/// The source queue of one of several classes of packets.
struct ClassSource {
  FLITLAB_MEMBERS(ClassSource,
    (SourceCursor, next, "", "next creation"),
    (SourceCursor, oldest, "", "next injection; equals `next` when the queue is empty"),
    (u32, created, "packets", "created"),
    (u32, sent, "packets", "packets whose head has been injected; created - sent are queued"),
    (PacketInInjection, lane, "", "packet being injected"))
};
static_assert(sizeof(ClassSource) == 44);

/// Closed loop only: the state for replies.
struct LoopControl {
  FLITLAB_MEMBERS(LoopControl,
    (PacketInInjection, lane, "", "reply being injected"),
    (u32, outstanding, "packets", "requests without a reply"),
    (u32, replies_sent, "packets", "replies whose head has been injected; also the number of the oldest queued reply"),
    (u16, reply_first, "", "position of the oldest queued reply"),
    (u16, replies, "packets", "queued replies"),
    (u16, created, "packets", "queued replies that may leave"),
    (u16, promised, "", "reply queue positions reserved for requests that are being received"),
    (u8, served, "", "sent last: 0 requests, 1 replies; the other has priority now"),
    (u8, take, "", "round-robin pointer over VCs with arrived flits"),
    (u16, pad))
};
static_assert(sizeof(LoopControl) == 24);

/// A request without a reply, at its source.
struct Transaction {
  FLITLAB_MEMBERS(Transaction,
    (u32, id, "", "number of the request; kNone: unused"),
    (Cycle, created, "cycle", "creation of the request"))
};

/// A reply that waits at the terminal that will send it.
struct QueuedReply {
  FLITLAB_MEMBERS(QueuedReply,
    (u32, to, "", "terminal that sent the request"),
    (u32, tag, "", "transaction of that terminal"),
    (Cycle, created, "cycle", "first cycle in which the reply may leave"))
};

/// Flits of one VC that have arrived in the ejection buffer and that the terminal has not consumed.
struct EjectionVc {
  FLITLAB_MEMBERS(EjectionVc,
    (u16, flits, "flits", "in the ejection buffer"),
    (u16, left, "flits", "of the front packet, still to be consumed; 0: the packet has not been accepted"))
};

/// Quantities that determine the sizes of a terminal's fields.
struct TerminalSize {
  TrafficMode mode;
  u32 vcs;                 ///< virtual channels of the channels to and from the router
  u32 ring;                ///< packet descriptors per virtual channel
  u32 slots;               ///< arrival cycles per inbox
  u32 window;              ///< closed loop: most transactions at a time
  u32 reply_queue;         ///< closed loop: most queued replies
  u32 messages;            ///< programs: most messages that one terminal receives
  u32 classes;             ///< classes of packets, each with a source queue
  u32 queued_program = 0;  ///< 1: packets of a program go through the queue for traces
  u32 ranks = 1;           ///< programs: ranks of the terminal
  u32 processors = 0;      ///< programs: processors that its ranks share
  u32 trace_window = 0;    ///< 1: a packet of a trace may overtake packets that wait, and may need several packets
  u32 receives = 0;        ///< programs: most receives of a terminal that are matched during the run

  constexpr u32 loops() const { return mode == TrafficMode::kRequestReply; }
  constexpr u32 traces() const { return mode == TrafficMode::kTrace; }
  constexpr u32 programs() const { return mode == TrafficMode::kProgram || queued_program; }
  constexpr u32 sources() const { return classes > 1 ? classes : 0; }
};

/// Fields of a terminal; `t` is a TerminalSize.
struct TerminalFields {
  FLITLAB_FIELDS(TerminalFields,
    (TerminalControl, control, 1, "", "source queue and packet counts"),
    (u8, flit_mail, t.slots, "", "[slot] inbox for a flit: its VC + 1, head and tail marks"),
    (u8, credit_mail, t.slots, "", "[slot] inbox for a credit: its VC + 1"),
    (InjectionVc, output, t.vcs, "", "[VC] injection channel"),
    (u8, first, t.vcs, "", "[VC] position of the front packet's descriptor"),
    (ClassSource, source, t.sources(), "", "[class] source queues of several classes of packets"),
    (LoopControl, loop, t.loops(), "", "closed loop: state for replies"),
    (Transaction, transaction, t.loops() * t.window, "", "closed loop: requests without a reply"),
    (QueuedReply, reply, t.loops() * t.reply_queue, "", "[position] closed loop: queued replies"),
    (EjectionVc, held, t.loops() * t.vcs, "", "[VC] closed loop: flits in the ejection buffers"),
    (TraceFields, trace),
    (ProgramFields, program),
    (Packet, ring, t.vcs * t.ring, "", "[VC][position] descriptors of arriving packets"))
};

}  // namespace flitlab
