#pragma once
/// State of a fabric: fields of TICs and of terminals (host ports), and the constant table. A TIC's phase also
/// processes its terminals, so a parallel port to a host has no delay and no inbox.
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

inline constexpr u32 kMaxBuffers = 64;                    ///< buffers of a TIC's pool
inline constexpr u32 kQueuesOfPort = kPriorities * kVcs;  ///< queues of a port
inline constexpr u32 kQueues =
    kPorts * kQueuesOfPort;          ///< a TIC with two host ports uses 40, because these have no virtual channels
inline constexpr u32 kMailbox = 16;  ///< control messages that a host's port buffers in each direction
inline constexpr u16 kNoAddress = 0xFFFF;

/// A queue: a linked list of buffers.
struct Queue {
  FLITLAB_MEMBERS(Queue,
    (u8, head, "", "first buffer"),
    (u8, tail, "", "last buffer"),
    (u8, messages, "messages", "messages in the queue"),
    (u8, pad))
};
static_assert(sizeof(Queue) == 4);

/// State of a buffer and its message.
struct BufferState {
  FLITLAB_MEMBERS(BufferState,
    (u8, next, "", "next buffer in its queue"),
    (u8, queue, "", "queue that the message is in, or left last"),
    (u8, flags, "", "kWaiting, kComing, kBad, kApart"),
    (u8, source, "", "port by which the message arrived"))
};
static_assert(sizeof(BufferState) == 4);

inline constexpr u8 kWaiting = 4;  ///< the message is in its queue
inline constexpr u8 kComing = 1;   ///< parts of the quad have not arrived yet
inline constexpr u8 kBad = 2;      ///< the message arrived damaged
inline constexpr u8 kApart = 8;    ///< a control message that counts for the control reservation, not for the queue

/// Registers and buffer bookkeeping of a TIC.
struct TicControl {
  FLITLAB_MEMBERS(TicControl,
    (u64, free, "", "buffers that hold no message, as bits"),
    (u64, waiting, "", "queues that are not empty, as bits"),
    (u32, fault, "", "Fault bits"),
    (u32, counter, "", "events counted"),
    (u8, used, "buffers", "buffers in use, four for a quad"),
    (u8, reserved, "buffers",
      "free buffers that are reserved for queues and for control messages"),
    (u8, enabled, "", "ports that are switched on, as bits"),
    (u8, counting, "", "event that the counter counts"),
    (u8, next_vc, "", "virtual channel that each transmitter serves first, as bits"),
    (u8, awake, "", "1: a port has received something, or has an acknowledgment to send"),
    (u16, address, "", "node address; kNoAddress: not set"),
    (u16, timer, "cycles", "timer - cycle number"),
    (u8[2], held_control, "buffers", "buffers of the control reservation in use by requests, and by replies"),
    (u16, missed, "", "destination node without a table entry, at the first such fault"),
    (u8[2], pad),
    (u8[kQueues], held, "buffers",
      "buffers that count for each queue's reservation: its messages, and those sent from it that are not yet "
      "acknowledged, without control messages marked kApart"))
};
static_assert(sizeof(TicControl) == 88);

/// A port: the last slot received, messages in transmission and reception, and error registers.
struct Port {
  FLITLAB_MEMBERS(Port,
    (u8, heard, "", "protocol bits of the last slot received; 0: empty slot"),
    (u8, reply, "", "kOccupied: the last slot must be acknowledged; 0: not"),
    (u8, doubtful, "", "buffer of a damaged message until its CRC check ends; kNoBuffer: none"),
    (u8, spoiled, "", "buffer of a damaged quad until the end of the check; kNoBuffer: none"),
    (u8, sending, "", "buffer of the quad in transmission; kNoBuffer: none"),
    (u8, parts, "", "parts of that quad sent"),
    (u8, requeued, "", "buffer that returns to the router in this cycle; kNoBuffer: none"),
    (u8, entering, "", "parts of a quad that the host has not yet transferred"),
    (Train, train, "", "quad in reception"),
    (u32, carried, "", "messages and parts sent since cycle 0"),
    (u16, damaged, "", "damaged slots received; saturates at 65535 like the registers below"),
    (u16, refused, "messages", "messages rejected for lack of a buffer"),
    (u16, failed, "messages", "messages sent whose transmission failed"),
    (u16, lost, "", "acknowledgments that could not be read"))
};
static_assert(sizeof(Port) == 24);

struct TicFields {
  FLITLAB_FIELDS(TicFields,
    (TicControl, control, 1, "", "bookkeeping of buffers, and registers"),
    (u64, mail, t.slot_mask + 1, "", "[slot] inbox: protocol bits that arrive, a byte for each port"),
    (Port, port, kPorts, "", "[port] channels, and their error registers"),
    (Queue, queue, kQueues, "", "[port][priority][VC] lists of buffers"),
    (BufferState, buffer, t.buffers, "", "[buffer] state of the buffer"),
    (Slot, slot, t.slots, "", "[slot of the round] protocol state of the ports' slots, port after port"),
    (Message, message, t.buffers, "", "[buffer] messages"),
    (Message, arriving, (t.slot_mask + 1) * kPorts, "", "[slot][port] inbox: messages that arrive"),
    (ClockFields, clock),
    (u16, table, t.nodes, "", "[node] routing table: Options to reach it"))
};

/// A host's port: control of its message queues.
struct HostControl {
  FLITLAB_MEMBERS(HostControl,
    (Message, offered, "", "next message to inject, of a host with a single queue"),
    (u8, ready, "", "queues whose next message is drawn, as bits: priority; 0 for a single queue; 4 for replies"),
    (u8, out_first, "", "outbox index of the oldest control message to send"),
    (u8, out_count, "messages", "control messages to send"),
    (u8, in_count, "messages", "replies that the host has not read"),
    (u32, lost, "messages", "replies dropped because the inbox was full"),
    (u16, address, "", "node address of this host for senders; written between cycles only"),
    (u8[6], pad))
};
static_assert(sizeof(HostControl) == 48);

/// A host's source queue of one priority. Packets are computed when they are needed, so a cursor represents a queue of
/// any length.
struct HostQueue {
  FLITLAB_MEMBERS(HostQueue,
    (Message, offered, "", "next message to inject"),
    (SourceCursor, oldest, "",
      "oldest unsent packet of the priority; if all are sent, the next creation. Of a trace only `index`: number "
      "of created packets ahead of it"))
};
static_assert(sizeof(HostQueue) == 48);

/// A reply that arrived by a port, for the host's ports to read in the next cycle.
struct ArrivedReply {
  FLITLAB_MEMBERS(ArrivedReply,
    (u32, to, "", "terminal that sent the request; kNone: no reply"),
    (u32, tag, "", "transaction of the request"))
};
static_assert(sizeof(ArrivedReply) == 8);

/// Fields of a host's port that precede the fields of closed loops, traces and programs.
struct HostFields {
  FLITLAB_FIELDS(HostFields,
    (HostControl, host, 1, "", "next message, and control of the mailboxes"),
    (HostQueue, queue, t.host_queues(), "", "[priority] source queues, if host.queues = priorities", "host_queue"),
    (Message, reply, t.loops(), "", "closed loop: next reply to inject", "offered_reply"),
    (ArrivedReply, heard, 2 * t.loops(), "", "[cycle modulo 2] closed loop: reply that arrived by this port"))
};

/// Fields of a host's port that follow the fields of closed loops, traces and programs.
struct MailboxFields {
  FLITLAB_FIELDS(MailboxFields,
    (Message, outbox, kMailbox, "", "[index] circular buffer of control messages to send"),
    (Message, inbox, kMailbox, "", "[index] replies that the host has not read"))
};

/// Constants of a fabric, and where its fields lie.
struct Table {
  static constexpr EngineCost cost{.cpu_ns = 118, .loads = 331, .blocks = 19, .bytes = 6600, .block_items = 512};

  u32 routers = 0;    ///< TICs
  u32 terminals = 0;  ///< host ports
  u32 nodes = 0;      ///< destinations
  u32 buffers = kMaxBuffers;
  u32 slots = 0;                                           ///< largest number of slots of a TIC, over all ports
  u32 slot_mask = 0;                                       ///< number of inbox slots, a power of two, minus 1
  u8 reserve[kPriorities] = {};                            ///< [priority] buffers reserved for each queue
  u8 control_buffers = 0;                                  ///< buffers reserved for control requests, and for replies
  u8 host_buffers = 0;                                     ///< host messages are accepted below this use
  u8 quad_priority = 0;                                    ///< priority of quads except replies
  u8 reply_priority = 0;                                   ///< priority of hosts' replies
  u8 host_ports = 1;                                       ///< terminals of a node, 1 or 2, consecutively numbered
  u32 hit_threshold = 0;                                   ///< a 32-bit draw below this damages a slot
  u32 priority_below[kPorts - kSerial][kPriorities] = {};  ///< [host port][priority] upper bounds of 32-bit draws
  u8 queues[kPorts - kSerial] = {};                        ///< [host port] priorities with queues, as bits; 0: single
  u32 refuses = 0;                                         ///< priorities that hosts do not accept, as bits
  u8 clocks = 0;                                           ///< 1: clocks are emulated
  u8 parallel_vcs = 1;                                     ///< virtual channels of parallel ports between TICs
  Age age = Age::kRequeued;                                ///< effect of a message's age
  u8 mixed_entries = 0;                                    ///< 1: an entry may name serial and parallel ports
  u8 table_given = 1;                                      ///< 1: TICs start with tables and addresses
  ClockTable clock;
  const Link* links = nullptr;         ///< [routers][kPorts] far ends of the ports
  const u8* channels = nullptr;        ///< [routers] ports that lead to TICs, as bits
  const u8* hosts = nullptr;           ///< [routers] ports that lead to hosts, as bits
  const u16* slot_first = nullptr;     ///< [routers][kPorts] first of a port's slots
  const u16* entry = nullptr;          ///< [routers][nodes] routing tables at the start
  const u16* address = nullptr;        ///< [routers] node addresses at the start
  const u16* terminal_node = nullptr;  ///< [terminals] node of a terminal
  const u8* phase = nullptr;           ///< [routers] clock (0 to 5) in which routing cycles begin
  TrafficMode mode = TrafficMode::kOpen;
  TrafficTable traffic;
  TicFields fields;
  TerminalFields terminal_fields;
  HostFields host_fields;
  MailboxFields mailbox_fields;

  /// Return the number of elements of HostFields::queue, and of the fields of closed loops.
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

/// Compile-time constants of the most common fabrics: open-loop hosts with one queue, channels of up to 3 routing
/// cycles without errors. The constants hide the members of the same name.
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

  /// Returns whether these constants, and the layout of the fields, match a table.
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
