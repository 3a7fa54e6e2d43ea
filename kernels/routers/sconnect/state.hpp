#pragma once
/// State of a fabric. Items: TICs, and the terminals that hosts have at their ports. A terminal belongs to one TIC,
/// whose phase does its work, so nothing lies between the two but the parallel port.
#include "kernels/common/bits.hpp"
#include "kernels/common/counters.hpp"
#include "kernels/common/events.hpp"
#include "kernels/common/fault.hpp"
#include "kernels/common/fields.hpp"
#include "kernels/common/view.hpp"
#include "kernels/engines/engine_cost.hpp"
#include "kernels/routers/sconnect/channel.hpp"
#include "kernels/routers/sconnect/clock_state.hpp"
#include "kernels/routers/sconnect/message.hpp"
#include "kernels/routers/sconnect/route.hpp"
#include "kernels/traffic/terminal_state.hpp"

namespace flitlab::sconnect {

inline constexpr u32 kMaxBuffers = 64;                    ///< of a TIC's pool
inline constexpr u32 kQueuesOfPort = kPriorities * kVcs;  ///< queues of a port
inline constexpr u32 kQueues =
    kPorts * kQueuesOfPort;          ///< a TIC with two hosts uses 40: hosts have no virtual channels
inline constexpr u32 kMailbox = 16;  ///< control messages that a host's port holds, each way
inline constexpr u16 kNoAddress = 0xFFFF;

/// A linked list of buffers.
struct Queue {
  FLITLAB_MEMBERS(Queue,
    (u8, head, "", "first buffer"),
    (u8, tail, "", "last buffer"),
    (u8, messages, "messages", "queued"),
    (u8, pad))
};
static_assert(sizeof(Queue) == 4);

/// What a buffer's message is doing.
struct BufferState {
  FLITLAB_MEMBERS(BufferState,
    (u8, next, "", "buffer behind it in its queue"),
    (u8, queue, "", "queue that it waits in, or has left last"),
    (u8, flags, "", "kWaiting, kComing, kBad, kApart"),
    (u8, source, "", "port that it came by"))
};
static_assert(sizeof(BufferState) == 4);

inline constexpr u8 kWaiting = 4;  ///< it is in its queue
inline constexpr u8 kComing = 1;   ///< parts of the quad are still to come
inline constexpr u8 kBad = 2;      ///< it came in damaged
inline constexpr u8 kApart = 8;    ///< a control message that does not count for its queue's promise

/// A TIC.
struct TicControl {
  FLITLAB_MEMBERS(TicControl,
    (u64, free, "", "buffers that hold no message, as bits"),
    (u64, waiting, "", "queues that are not empty, as bits"),
    (u32, fault, "", "Fault bits"),
    (u32, counter, "", "events counted"),
    (u8, used, "buffers", "in use, four for a quad"),
    (u8, reserved, "buffers",
      "of the others, those kept for queues and for control messages that have less than they are promised"),
    (u8, enabled, "", "ports that are switched on, as bits"),
    (u8, counting, "", "event that the counter counts"),
    (u8, next_vc, "", "virtual channel that each transmitter serves first, as bits"),
    (u8, awake, "", "1: something was heard, or is to be answered"),
    (u16, address, "", "of the node; kNoAddress: none has been given"),
    (u16, timer, "cycles", "what is to be added to the cycle"),
    (u8[2], held_control, "buffers", "in use by control requests, and by replies, for which their queues had none"),
    (u16, missed, "", "node that the table had no entry for, at the first fault of that kind"),
    (u8[2], pad),
    (u8[kQueues], held, "buffers",
      "in use by the messages of each queue, those that have left it for a channel included, and without control "
      "messages for which it had none"))
};
static_assert(sizeof(TicControl) == 88);

/// A port: what it has heard, what it is in the middle of, and its error registers.
struct Port {
  FLITLAB_MEMBERS(Port,
    (u8, heard, "", "protocol bits of the last slot; 0: nothing came"),
    (u8, reply, "", "kOccupied: an answer to the last slot is due; 0: none is"),
    (u8, doubtful, "", "buffer of a message that came damaged, until that is known; kNoBuffer"),
    (u8, spoiled, "", "the same of a quad: both may come to their ends in one cycle"),
    (u8, sending, "", "buffer of the quad that is going out; kNoBuffer"),
    (u8, parts, "", "parts of it that have gone"),
    (u8, requeued, "", "buffer that goes back to the router; kNoBuffer"),
    (u8, entering, "", "parts of a quad that the host still has to give"),
    (Train, train, "", "quad that is coming"),
    (u32, carried, "", "messages and parts sent since cycle 0"),
    (u16, damaged, "", "slots that came damaged; registers stop at 65535"),
    (u16, refused, "messages", "that came and found no buffer"),
    (u16, failed, "messages", "sent that came back"),
    (u16, lost, "", "outcomes that could not be read"))
};
static_assert(sizeof(Port) == 24);

struct TicFields {
  FLITLAB_FIELDS(TicFields,
    (TicControl, control, 1, "", "buffers, and registers"),
    (u64, mail, t.slot_mask + 1, "", "[slot] protocol bits that arrive, a byte for each port"),
    (Port, port, kPorts, "", "[port] channels, and their error registers"),
    (Queue, queue, kQueues, "", "[port][priority][VC] lists of buffers"),
    (BufferState, buffer, t.buffers, "", "[buffer] what its message is doing"),
    (Slot, slot, t.slots, "", "[slot of a round] of all ports, one after the other"),
    (Message, message, t.buffers, "", "[buffer] messages"),
    (Message, arriving, (t.slot_mask + 1) * kPorts, "", "[slot][port] messages that arrive"),
    (ClockFields, clock),
    (u16, table, t.nodes, "", "[node] Options: ways to it"))
};

/// A host's port.
struct HostControl {
  FLITLAB_MEMBERS(HostControl,
    (Message, offered, "", "the next message, if there is one queue"),
    (u8, ready, "", "priorities whose next message is known, as bits; of one queue, bit 0; of replies, bit 4"),
    (u8, out_first, "", "ring position of the oldest control message that waits to be sent"),
    (u8, out_count, "messages", "control messages that wait to be sent"),
    (u8, in_count, "messages", "replies that the host has not looked at"),
    (u32, lost, "messages", "replies that came when the mailbox was full"),
    (u16, address, "", "by which other hosts call this one; written between cycles only"),
    (u8[6], pad))
};
static_assert(sizeof(HostControl) == 48);

/// A queue of a host's packets of one priority. It needs no more room than two cursors, however long it is.
struct HostQueue {
  FLITLAB_MEMBERS(HostQueue,
    (Message, offered, "", "the next message"),
    (SourceCursor, oldest, "",
      "oldest packet of the priority that has not been sent; none: where the next creation is. Of a trace `index` "
      "alone: how many of those created are before it"))
};
static_assert(sizeof(HostQueue) == 48);

/// A reply that has come by a port, for the host's other one to see in the next cycle.
struct HeardReply {
  FLITLAB_MEMBERS(HeardReply,
    (u32, to, "", "terminal that asked; kNone: no reply came"),
    (u32, tag, "", "its transaction"))
};
static_assert(sizeof(HeardReply) == 8);

/// A host's port. They lie before the fields of closed loops, traces and programs.
struct HostFields {
  FLITLAB_FIELDS(HostFields,
    (HostControl, host, 1, "", "the next message, and mailboxes"),
    (HostQueue, queue, t.host_queues(), "", "[priority] host.queues = priorities: what waits", "host_queue"),
    (Message, reply, t.loops(), "", "closed loop: the next reply", "offered_reply"),
    (HeardReply, heard, 2 * t.loops(), "", "[cycle modulo 2] closed loop: the reply that has come by this port"))
};

/// They lie behind those.
struct MailboxFields {
  FLITLAB_FIELDS(MailboxFields,
    (Message, outbox, kMailbox, "", "[place] control messages that wait to be sent"),
    (Message, inbox, kMailbox, "", "[place] replies that the host has not looked at"))
};

struct Table {
  static constexpr EngineCost cost{.cpu_ns = 118, .loads = 331, .blocks = 19, .bytes = 6600};

  u32 routers = 0;    ///< TICs
  u32 terminals = 0;  ///< host ports
  u32 nodes = 0;      ///< destinations
  u32 buffers = kMaxBuffers;
  u32 slots = 0;                                           ///< [all ports' rounds]
  u32 slot_mask = 0;                                       ///< S - 1
  u8 reserve[kPriorities] = {};                            ///< buffers promised to each queue of a priority
  u8 control_buffers = 0;                                  ///< promised to control requests, and to replies
  u8 host_buffers = 0;                                     ///< hosts' messages are accepted while fewer are in use
  u8 quad_priority = 0;                                    ///< of quads that are no replies
  u8 reply_priority = 0;                                   ///< of replies
  u8 host_ports = 1;                                       ///< of a node: terminals one after the other, 1 or 2
  u32 hit_threshold = 0;                                   ///< a 32-bit draw below this hits a slot
  u32 priority_below[kPorts - kSerial][kPriorities] = {};  ///< a 32-bit draw below this gives the priority
  u8 queues[kPorts - kSerial] = {};                        ///< priorities that have queues, as bits; 0: one queue
  u32 refuses = 0;                                         ///< priorities that hosts do not take, as bits
  u8 clocks = 0;                                           ///< clocks are emulated
  u8 parallel_vcs = 1;                                     ///< of parallel ports between TICs
  Age age = Age::kRequeued;                                ///< what it decides
  u8 mixed_entries = 0;                                    ///< of tables: serial and parallel ports in one
  u8 table_given = 1;                                      ///< TICs start with tables and addresses
  ClockTable clock;
  const Link* links = nullptr;         ///< [routers][kPorts]
  const u8* channels = nullptr;        ///< [routers] ports that lead to TICs, as bits
  const u8* hosts = nullptr;           ///< [routers] ports that lead to hosts, as bits
  const u16* slot_first = nullptr;     ///< [routers][kPorts] first of a port's slots
  const u16* entry = nullptr;          ///< [routers][nodes] tables to start with
  const u16* address = nullptr;        ///< [routers]
  const u16* terminal_node = nullptr;  ///< [terminals]
  const u8* phase = nullptr;           ///< [routers] clock in which routing cycles begin
  TrafficMode mode = TrafficMode::kOpen;
  TrafficTable traffic;
  TicFields fields;
  TerminalFields terminal_fields;
  HostFields host_fields;
  MailboxFields mailbox_fields;

  /// Of a host's port.
  constexpr u32 host_queues() const { return queues[0] | queues[1] ? kPriorities : 0; }
  constexpr u32 loops() const { return mode == TrafficMode::kRequestReply; }
};

template <class F>
void for_each_array(Table& t, F f) {
  f(t.links, std::size_t{t.routers} * kPorts);
  f(t.channels, std::size_t{t.routers});
  f(t.hosts, std::size_t{t.routers});
  f(t.slot_first, std::size_t{t.routers} * kPorts);
  f(t.entry, std::size_t{t.routers} * t.nodes);
  f(t.address, std::size_t{t.routers});
  f(t.terminal_node, std::size_t{t.terminals});
  f(t.phase, std::size_t{t.routers});
  f(t.clock.free, t.clock.free ? t.routers : 0);
  f(t.clock.phase, t.clock.phase ? t.routers : 0);
  f(t.clock.offset, t.clock.offset ? std::size_t{t.routers} * kSerial : 0);
}

/// Of what most fabrics are, numbers known at compile time: open loops without errors, of hosts with one queue, over
/// channels of up to 3 routing cycles. The constants hide the members of the same name.
struct PlainFields : TicFields {
  static constexpr u32 slots = 4;

  static constexpr Field<TicControl> control{0};
  static constexpr Field<u64> mail{sizeof(TicControl)};
  static constexpr Field<Port> port{mail.offset + slots * sizeof(u64)};
  static constexpr Field<Queue> queue{port.offset + kPorts * sizeof(Port)};
  static constexpr Field<BufferState> buffer{queue.offset + kQueues * sizeof(Queue)};
  static constexpr Field<Slot> slot{buffer.offset + kMaxBuffers * sizeof(BufferState)};
};

struct PlainTerminalFields : TerminalFields {
  static constexpr Field<TerminalControl> control{0};
};

struct PlainHostFields : HostFields {
  static constexpr Field<HostControl> host{64};
};

struct PlainTable : Table {
  static constexpr u32 buffers = kMaxBuffers;
  static constexpr u32 slot_mask = PlainFields::slots - 1;
  static constexpr u32 hit_threshold = 0;
  static constexpr u8 queues[kPorts - kSerial] = {};
  static constexpr u32 refuses = 0;
  static constexpr u8 clocks = 0;
  static constexpr u8 parallel_vcs = 1;
  static constexpr Age age = Age::kRequeued;
  static constexpr u8 table_given = 1;
  static constexpr TrafficMode mode = TrafficMode::kOpen;
  PlainFields fields;
  PlainTerminalFields terminal_fields;
  PlainHostFields host_fields;

  PlainTable() = default;
  explicit PlainTable(const Table& t)
      : Table(t), fields{t.fields}, terminal_fields{t.terminal_fields}, host_fields{t.host_fields} {}

  /// Whether these constants describe a table; its layout is compared, not assumed.
  static bool fits(const Table& t) {
    const auto same = [](const auto& field, const auto& constant) { return field == constant; };
    return t.buffers == buffers && t.slot_mask == slot_mask && t.hit_threshold == hit_threshold && !t.host_queues() &&
           t.refuses == refuses && t.clocks == clocks && t.parallel_vcs == parallel_vcs && t.age == age &&
           t.table_given == table_given && t.mode == mode && same(t.fields.control, PlainFields::control) &&
           same(t.fields.mail, PlainFields::mail) && same(t.fields.port, PlainFields::port) &&
           same(t.fields.queue, PlainFields::queue) && same(t.fields.buffer, PlainFields::buffer) &&
           same(t.fields.slot, PlainFields::slot) && same(t.terminal_fields.control, PlainTerminalFields::control) &&
           same(t.host_fields.host, PlainHostFields::host);
  }
};

template <int W, bool Traced, class TableType = Table>
struct View : ViewBase<W, Traced, TableType> {
  Items<W> tics;
  Items<W> terminals;
};

}  // namespace flitlab::sconnect
