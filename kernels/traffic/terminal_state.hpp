#pragma once
/// State of a terminal: its source queue, its half of the channels to and from the router, and what the modes of
/// traffic add. Terminals are the same beside every router.
#include "kernels/common/layout.hpp"
#include "kernels/common/packet.hpp"
#include "kernels/traffic/program_state.hpp"
#include "kernels/traffic/trace.hpp"
#include "kernels/traffic/traffic.hpp"

namespace flitlab {

/// One virtual channel of the channel into the network.
struct InjectionVc {
  u16 credits;  ///< free flit places in the router's buffer
  u8 tail;      ///< ring position of the next packet there
  u8 pad;
};
static_assert(sizeof(InjectionVc) == 4);

/// The packet that a terminal is sending into the network.
struct InjectionLane {
  u16 left;  ///< flits not yet sent; 0: none
  u8 vc;     ///< its virtual channel
  u8 pick;   ///< round-robin pointer over injection VCs
};

struct TerminalControl {
  SourceCursor next;    ///< next creation
  SourceCursor oldest;  ///< next injection; equals `next` when the queue is empty
  u32 created;          ///< packets created
  u32 sent;             ///< packets whose head has been injected; created - sent are queued
  u32 received;         ///< packets whose tail has arrived
  u32 fault;            ///< Fault bits
  InjectionLane lane;   ///< packets; requests in a closed loop
};
static_assert(sizeof(TerminalControl) == 52);

/// Closed loop only: the replying half of a terminal.
struct LoopControl {
  InjectionLane lane;  ///< replies
  u32 outstanding;     ///< requests without a reply
  u32 replies_sent;    ///< replies whose head has been injected: the number of the oldest queued one
  u16 reply_first;     ///< ring position of the oldest queued reply
  u16 replies;         ///< queued replies
  u16 created;         ///< of these, replies that may leave
  u16 promised;        ///< places kept for requests that are just being taken in
  u8 served;           ///< lane that sent last (0 requests, 1 replies); the other one is first now
  u8 take;             ///< round-robin pointer over VCs with arrived flits
  u16 pad;
};
static_assert(sizeof(LoopControl) == 24);

/// A request on its way, at its source.
struct Transaction {
  u32 id;  ///< number of the request; kNone: unused
  Cycle created;
};

/// A reply that waits at the terminal that makes it.
struct QueuedReply {
  u32 to;         ///< terminal that asked
  u32 tag;        ///< its transaction
  Cycle created;  ///< from when it may leave
};

/// Arrived flits of one VC that a terminal has not taken yet.
struct HeldVc {
  u16 flits;
  u16 left;  ///< flits of the front packet not yet taken; 0: it has not been let in
};

/// Fields of a terminal; V virtual channels, R ring places, S slots.
struct TerminalFields {
  Field<TerminalControl> control;  ///< [1]
  Field<u8> flit_mail;             ///< [S] flit arriving
  Field<u8> credit_mail;           ///< [S] credit arriving, its VC + 1
  Field<InjectionVc> output;       ///< [V] the injection channel
  Field<u8> first;                 ///< [V] ring position of the packet arriving next
  Field<LoopControl> loop;         ///< [1] closed loop only, like the next three
  Field<Transaction> transaction;  ///< [window]
  Field<QueuedReply> reply;        ///< [reply_queue]
  Field<HeldVc> held;              ///< [V]
  TraceFields trace;               ///< trace replay only
  ProgramFields program;           ///< message-passing programs only
  Field<Packet> ring;              ///< [V][R] descriptors of arriving packets
};

}  // namespace flitlab
