#pragma once
/// State and tables of the canonical virtual-channel router. The tables are the plan: written once by the host, read
/// by every replica. The state is one record list per router and per terminal; nothing else changes in a cycle.
#include "kernels/common/peer.hpp"
#include "kernels/common/counters.hpp"
#include "kernels/common/fault.hpp"
#include "kernels/common/events.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/packet.hpp"
#include "kernels/traffic/trace.hpp"
#include "kernels/traffic/traffic.hpp"

namespace flitlab::vc {

inline constexpr u32 kMaxVcs = 16;
inline constexpr u32 kMaxPorts = 32;
inline constexpr u32 kMaxDims = 20;
inline constexpr u32 kMaxMessageClasses = 2;
inline constexpr u16 kNoOwner = 0xFFFF;

enum class FlowControl : u8 { kWormhole, kVirtualCutThrough, kStoreAndForward };
enum class Allocator : u8 { kInputFirst, kOutputFirst, kIslip, kWavefront };
enum class ArbiterKind : u8 { kRoundRobin, kMatrix, kOldestFirst };
enum class Algorithm : u8 { kDimensionOrder, kO1Turn, kValiant, kRomm, kMinimalAdaptive, kTable };
enum class VcAssignment : u8 { kDateline, kBalanced, kByCrossing, kAny };

/// Life of the packet at the front of an input virtual channel.
enum class Stage : u8 {
  kIdle,     ///< no packet
  kRouting,  ///< route computation until `ready_at`
  kWaiting,  ///< bids for an output virtual channel
  kHead,     ///< owns one; the head flit is still here
  kBody      ///< the head has left
};

/// Looked at every cycle.
struct RouterControl {
  u32 ready;    ///< bit p: input port p has virtual channels that may bid for the crossbar
  u32 waiting;  ///< bit p: input port p has packets in kRouting or kWaiting
  u32 pending;  ///< bit p: input port p has granted packets whose allocation delay still runs
  u32 fault;    ///< Fault bits
};

/// Input port p and output port p together.
struct PortState {
  u16 ready;        ///< bit v: virtual channel v has an output VC, a flit and a credit
  u16 waiting;      ///< bit v: front packet in kRouting or kWaiting
  u16 pending;      ///< bit v: output VC granted, usable from `ready_at`
  u8 pick_vc;       ///< round-robin pointer of the input's arbiter over VCs
  u8 pick_input;    ///< round-robin pointer of the output's arbiter over input ports
  u8 pick_output;   ///< round-robin pointer of the input's arbiter over output ports (output-first, iSLIP)
  u8 diagonal;      ///< wavefront: first diagonal (kept in port 0)
  u16 bids;         ///< bit v: bid for an output VC in this cycle (speculation reads it)
  u32 flits_sent;   ///< flits sent on output port p since the last statistics reset
};
static_assert(sizeof(PortState) == 16);

/// One input virtual channel: a buffer of `buffer_flits` flits holding a queue of packets.
struct InputVc {
  Cycle ready_at;   ///< first cycle in which the present stage may act
  u16 flits;        ///< flits in the buffer; they belong to the queue's packets, first come first
  u16 left;         ///< flits of the front packet not yet sent on
  u8 first;         ///< ring position of the front packet
  u8 packets;       ///< packets queued
  u8 out_port;
  u8 out_vc;
  Stage stage;
  u8 pick;          ///< round-robin pointer over output VCs
  u16 allowed;      ///< bit w: output VC w may be asked for
};
static_assert(sizeof(InputVc) == 16);

/// One output virtual channel: the sender's view of the buffer at the other end.
struct OutputVc {
  u16 credits;   ///< free flit places downstream
  u16 owner;     ///< input VC (port * vcs + vc) whose packet holds it, or kNoOwner
  u16 claim;     ///< within a cycle: best bidder so far, else kNoOwner
  u16 pick;      ///< round-robin pointer over input VCs
  u8 tail;       ///< ring position of the next packet downstream
  u8 pad[3];
};
static_assert(sizeof(OutputVc) == 12);

/// The packet that a terminal is sending into the network.
struct InjectionLane {
  u16 left;  ///< flits not yet sent; 0: none
  u8 vc;     ///< its virtual channel
  u8 pick;   ///< round-robin pointer over injection VCs
};

struct TerminalControl {
  SourceCursor next;     ///< next creation
  SourceCursor oldest;   ///< next injection; equals `next` when the queue is empty
  u32 created;           ///< packets created
  u32 sent;              ///< packets whose head has been injected; created - sent are queued
  u32 received;          ///< packets whose tail has arrived
  u32 fault;             ///< Fault bits
  InjectionLane lane;    ///< packets; requests in a closed loop
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

/// Fields of a router; P ports, V virtual channels, R ring places, S slots, w words of 8 ports.
struct RouterFields {
  Field<RouterControl> control;   ///< [1]
  Field<u64> flit_mail;           ///< [S][w] byte p%8 of word p/8: flit arriving at input port p (see mail below)
  Field<u64> credit_mail;         ///< [S][w] byte: credit arriving at output port p, its VC + 1
  Field<PortState> port;          ///< [P]
  Field<InputVc> input;           ///< [P][V]
  Field<OutputVc> output;         ///< [P][V]
  Field<Packet> ring;             ///< [P][V][R] descriptors, written by the upstream sender with the head flit
  Field<u32> input_matrix;        ///< [P][V] matrix arbiter of input port p: VCs that VC v beats; matrix only
  Field<u32> output_matrix;       ///< [P][P] matrix arbiter of output port p: inputs that input q beats; matrix only
};

struct TerminalFields {
  Field<TerminalControl> control;  ///< [1]
  Field<u8> flit_mail;             ///< [S] flit arriving
  Field<u8> credit_mail;           ///< [S] credit arriving, its VC + 1
  Field<OutputVc> output;          ///< [V] the injection channel
  Field<u8> first;                 ///< [V] ring position of the packet arriving next
  Field<LoopControl> loop;         ///< [1] closed loop only, like the next three
  Field<Transaction> transaction;  ///< [window]
  Field<QueuedReply> reply;        ///< [reply_queue]
  Field<HeldVc> held;              ///< [V]
  TraceFields trace;               ///< trace replay only
  Field<Packet> ring;              ///< [V][R] descriptors of arriving packets
};

/// Mail bytes: a flit is (vc + 1) with these marks; 0 is no flit.
inline constexpr u8 kHeadMark = 0x80;
inline constexpr u8 kTailMark = 0x40;
inline constexpr u8 kVcBits = 0x3F;

struct VcTable {
  u32 routers, terminals, network_ports, ports, concentration;
  u32 vcs, buffer_flits, ring;  ///< ring: packets that one buffer can hold parts of
  u32 slot_mask;                ///< mail slots - 1
  u32 port_words;               ///< words of 8 ports in a mail slot
  u32 routing_delay, allocation_delay;
  u32 link_delay;               ///< switch grant to arrival at the next router, cycles
  u32 eject_delay;              ///< switch grant to arrival at the terminal
  u32 inject_delay;             ///< terminal to router
  u32 credit_delay;             ///< switch grant to credit usable upstream
  FlowControl flow_control;
  Allocator vc_allocator, switch_allocator;
  ArbiterKind arbiter;
  Algorithm algorithm;
  VcAssignment vc_assignment;
  TrafficMode mode;
  u8 iterations;
  u8 speculative;
  u8 wraps;
  u8 one_port_per_dim;          ///< hypercube
  u32 dims;
  u32 message_classes;
  u32 atomic_adaptive;          ///< adaptive VCs are taken only when empty (wormhole; Duato's condition)
  u16 message_mask[kMaxMessageClasses];     ///< VCs of a message class
  u16 class_mask[kMaxMessageClasses][kMaxVcs];  ///< VCs of a routing class of a message class
  u32 dim_radix[kMaxDims];
  u32 dim_mask[kMaxDims];
  u8 dim_shift[kMaxDims];
  u8 dim_of_bit[32];            ///< dimension that an address bit belongs to
  const Peer* peers;            ///< [routers][ports]
  const u32* address;           ///< [routers]
  const u8* next_port;          ///< [routers][routers] table routing
  const u8* layer;              ///< [routers][routers] routing class of (source, destination)
  TrafficTable traffic;
  RouterFields router_fields;
  TerminalFields terminal_fields;
};

/// The most common router, with its choices known at compile time: the constants hide the members of the same name,
/// so that code written for any table loses its branches.
struct PlainVcTable : VcTable {
  PlainVcTable() = default;
  explicit PlainVcTable(const VcTable& table) : VcTable(table) {}

  static constexpr FlowControl flow_control = FlowControl::kWormhole;
  static constexpr Allocator vc_allocator = Allocator::kInputFirst;
  static constexpr Allocator switch_allocator = Allocator::kInputFirst;
  static constexpr ArbiterKind arbiter = ArbiterKind::kRoundRobin;
  static constexpr Algorithm algorithm = Algorithm::kDimensionOrder;
  static constexpr TrafficMode mode = TrafficMode::kOpen;
  static constexpr u8 speculative = 0;
  static constexpr u8 one_port_per_dim = 0;
  static constexpr u32 atomic_adaptive = 0;
  static constexpr u32 port_words = 1;
};

inline bool is_plain(const VcTable& t) {
  return t.flow_control == FlowControl::kWormhole && t.vc_allocator == Allocator::kInputFirst &&
         t.switch_allocator == Allocator::kInputFirst && t.arbiter == ArbiterKind::kRoundRobin &&
         t.algorithm == Algorithm::kDimensionOrder && t.mode == TrafficMode::kOpen && !t.speculative && !t.one_port_per_dim && t.port_words == 1;
}

/// A plain router whose sizes are known as well: P ports of which one leads to a terminal, V virtual channels, mail of
/// four slots. Addresses inside a router become constants.
template <u32 P, u32 V>
struct FixedVcTable : PlainVcTable {
  FixedVcTable() = default;
  explicit FixedVcTable(const VcTable& table) : PlainVcTable(table) {}

  static constexpr u32 ports = P;
  static constexpr u32 network_ports = P - 1;
  static constexpr u32 concentration = 1;
  static constexpr u32 vcs = V;
  static constexpr u32 slot_mask = 3;
  static constexpr u32 dims = (P - 1) / 2;
  static constexpr u32 align(u32 bytes, u32 to) { return (bytes + to - 1) / to * to; }
  static constexpr RouterFields make_router_fields() {
    RouterFields f{};
    f.flit_mail.offset = sizeof(RouterControl);
    f.credit_mail.offset = f.flit_mail.offset + 4 * sizeof(u64);
    f.port.offset = f.credit_mail.offset + 4 * sizeof(u64);
    f.input.offset = f.port.offset + P * sizeof(PortState);
    f.output.offset = f.input.offset + P * V * sizeof(InputVc);
    f.ring.offset = align(f.output.offset + P * V * sizeof(OutputVc), alignof(Packet));
    return f;
  }
  static constexpr TerminalFields make_terminal_fields() {
    TerminalFields f{};
    f.flit_mail.offset = sizeof(TerminalControl);
    f.credit_mail.offset = f.flit_mail.offset + 4;
    f.output.offset = f.credit_mail.offset + 4;
    f.first.offset = f.output.offset + V * sizeof(OutputVc);
    f.ring.offset = align(f.first.offset + V, alignof(Packet));
    return f;
  }
  static constexpr RouterFields router_fields = make_router_fields();
  static constexpr TerminalFields terminal_fields = make_terminal_fields();

  /// Whether these constants describe a table; its layout is compared, not assumed.
  static bool fits(const VcTable& t) {
    const RouterFields& r = t.router_fields;
    const TerminalFields& e = t.terminal_fields;
    return is_plain(t) && t.ports == P && t.network_ports == P - 1 && t.vcs == V && t.slot_mask == 3 &&
           t.dims == (P - 1) / 2 && r.control.offset == 0 && r.flit_mail.offset == router_fields.flit_mail.offset &&
           r.credit_mail.offset == router_fields.credit_mail.offset && r.port.offset == router_fields.port.offset &&
           r.input.offset == router_fields.input.offset && r.output.offset == router_fields.output.offset &&
           r.ring.offset == router_fields.ring.offset && e.control.offset == 0 &&
           e.flit_mail.offset == terminal_fields.flit_mail.offset &&
           e.credit_mail.offset == terminal_fields.credit_mail.offset &&
           e.output.offset == terminal_fields.output.offset && e.first.offset == terminal_fields.first.offset &&
           e.ring.offset == terminal_fields.ring.offset;
  }
};

/// The ring position after `place`, for rings of `size` places.
FLITLAB_HD inline u8 next_place(u32 place, u32 size) { return static_cast<u8>(place + 1 == size ? 0 : place + 1); }

/// What a phase sees: the plan, one replica's items, its run parameters, the worker's counters.
template <int W, bool Traced, class T>
struct View {
  static constexpr bool traced = Traced;
  T t;
  Items<W> routers;
  Items<W> terminals;
  const ReplicaRow* row;
  CounterShard* shard;
  EventLog log;
};

}  // namespace flitlab::vc
