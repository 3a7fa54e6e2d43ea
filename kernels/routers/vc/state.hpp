#pragma once
/// State and plan of the canonical virtual-channel router. The host writes the plan (VcTable) once, and all replicas
/// read it. The state is the fields of each router and terminal; a cycle changes only these.
#include "kernels/common/counters.hpp"
#include "kernels/common/events.hpp"
#include "kernels/common/fault.hpp"
#include "kernels/common/fields.hpp"
#include "kernels/common/inbox.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/packet.hpp"
#include "kernels/common/peer.hpp"
#include "kernels/common/view.hpp"
#include "kernels/engines/engine_cost.hpp"
#include "kernels/routers/vc/choices.hpp"
#include "kernels/traffic/terminal_state.hpp"
#include "kernels/traffic/traffic.hpp"

namespace flitlab::vc {

inline constexpr u32 kMaxVcs = 16;
inline constexpr u32 kMaxPorts = 64;        ///< of a router, and most inputs or outputs of its crossbar
inline constexpr u32 kMaxMatrixPorts = 32;  ///< with matrix arbiters
inline constexpr u32 kMaxSpeedup = 8;
inline constexpr u32 kMaxDims = 20;
inline constexpr u32 kMaxTreeLevels = 8;  ///< fat tree: levels of routers below the highest
inline constexpr u32 kMaxHyperxDims = 8;  ///< with DAL, DimWAR or OmniWAR
inline constexpr u16 kNoOwner = 0xFFFF;

/// A set of a router's ports, or of inputs or outputs of its crossbar (speedup.hpp), a bit for each.
using PortSet = u64;

/// Progress of the packet at the front of an input virtual channel.
enum class VcState : u8 {
  kIdle,     ///< no packet
  kRouting,  ///< route computation until `ready_at`
  kWaiting,  ///< bids for an output virtual channel
  kHead,     ///< owns an output virtual channel; the head flit has not left
  kBody      ///< the head flit has left
};

/// Sets of virtual channels, read in every cycle: a bit per (port, VC), `vcs` bits per port, whole ports in a word. A
/// small router has one word, so two ANDs find the VCs that are ready to send.
struct RouterControl {
  FLITLAB_MEMBERS(RouterControl,
    (u64, flits, "", "input VCs whose buffers hold flits"),
    (u64, credits, "", "input VCs whose packet owns an output VC with credits (undefined without an output VC)"),
    (u64, granted, "", "input VCs whose packet owns an output VC and may request the switch"),
    (u64, pending, "", "input VCs whose packet owns an output VC, usable from `ready_at`"),
    (u64, waiting, "", "input VCs whose front packet is in kRouting or kWaiting"),
    (u64, bids, "", "input VCs that bid for an output VC in this cycle (read by speculation)"),
    (u64, taken, "", "output VCs that have an owner"),
    (u32, fault, "", "Fault bits, in the router's first word"),
    (u32, closed, "", "bit per port of this word: outputs whose narrow channel accepts no flit in the next cycle"))

  FLITLAB_HD u64 ready() const { return flits & credits & granted; }
};
static_assert(sizeof(RouterControl) == 64);

/// State of input port p and of output port p, or of a crossbar's input and output p. A round-robin pointer is one past
/// the index that was served last.
struct PortState {
  FLITLAB_MEMBERS(PortState,
    (u8, pick_vc, "", "round-robin pointer of the input's arbiter over VCs"),
    (u8, pick_input, "", "round-robin pointer of the output's arbiter over input ports"),
    (u8, pick_output, "", "round-robin pointer of the input's arbiter over output ports (output-first, iSLIP)"),
    (u8, occupied, "", "time for which the output's narrow channel is occupied, in 1/PortChannel::flits of a cycle"),
    (u32, flits_sent, "flits", "sent on output port p since the last statistics reset"))
};
static_assert(sizeof(PortState) == 8);

/// One input virtual channel: a buffer of `buffer_flits` flits that holds a queue of packets.
struct InputVc {
  FLITLAB_MEMBERS(InputVc,
    (Cycle, ready_at, "cycle", "first cycle in which the front packet may act (with internal speedup: round)"),
    (u16, flits, "flits", "in the buffer, in the order of the queued packets"),
    (u16, left, "flits", "of the front packet that have not left (from route computation on)"),
    (u8, first, "", "position of the front packet in `ring`"),
    (u8, packets, "packets", "queued"),
    (u8, out_port, "", "output port that the front packet goes to"),
    (u8, out_vc, "", "output VC that the front packet owns"),
    (VcState, stage, "", "Stage of the front packet"),
    (u8, pick, "", "round-robin pointer over output VCs"),
    (u16, allowed, "", "bit w: output VC w may be requested"))
};
static_assert(sizeof(InputVc) == 16);

/// One output virtual channel: the sender's view of the buffer at the other end.
struct OutputVc {
  FLITLAB_MEMBERS(OutputVc,
    (u16, credits, "flits", "free slots downstream"),
    (u16, owner, "", "input VC (port * vcs + vc) whose packet owns it, or kNoOwner"),
    (u16, pick, "", "round-robin pointer over input VCs; with router.vc_arbiter_by_port: over input ports"),
    (u8, tail, "", "position of the next packet in the downstream `ring`"),
    (u8, pad))
};
static_assert(sizeof(OutputVc) == 8);

/// A connection through the crossbar, which a packet holds between its flits.
struct Connection {
  FLITLAB_MEMBERS(Connection,
    (Cycle, at, "cycle", "last cycle in which it existed (with internal speedup: number of the round)"),
    (u32, vc, "", "virtual channel of the packet, + 1; 0: none"))
};
static_assert(sizeof(Connection) == 8);

/// What waits at a port of a router with speedup.
struct PortQueues {
  FLITLAB_MEMBERS(PortQueues,
    (u16, first, "", "position of the first flit in the output port's `queue`"),
    (u16, flits, "flits", "in `queue`"),
    (u16, credits, "", "sum of the input port's `owed`"),
    (u8, pick_credit, "", "round-robin pointer over the VCs of `owed`"),
    (u8, pad))
};
static_assert(sizeof(PortQueues) == 8);

/// Fields of a router.
struct RouterFields {
  FLITLAB_FIELDS(RouterFields,
    (RouterControl, control, t.set_words, "", "[word] sets of virtual channels"),
    (u64, flit_mail, (t.slot_mask + 1) * t.port_words, "",
      "[slot][word of 8 ports] byte p%8 of word p/8: flit arriving at input port p (see inbox.hpp)"),
    (u64, credit_mail, (t.slot_mask + 1) * t.port_words, "",
      "[slot][word of 8 ports] byte: credit arriving at output port p, its VC + 1"),
    (PortState, port, t.ports * t.crossbar_factor, "",
      "[port] input port and output port together; then further inputs and outputs of the crossbar (speedup)"),
    (InputVc, input, t.ports * t.vcs, "", "[port][VC] input virtual channels"),
    (OutputVc, output, t.ports * t.vcs, "", "[port][VC] output virtual channels"),
    (u16, claim, t.ports * t.vcs, "", "[port][VC] best bidder for an output VC so far, within a cycle; else kNoOwner"),
    (Connection, connection, t.hold_switch ? t.ports * t.crossbar_factor : 0, "",
      "[crossbar input] its connection through the crossbar (router.hold_switch_for_packet)"),
    (PortQueues, queues, t.queue_flits || t.late_credits ? t.ports : 0, "", "[port] what waits there (speedup)"),
    (u8, queue, t.ports * t.queue_flits, "",
      "[port][position] flits at output port p (see inbox.hpp) that wait for its channel, a circular buffer (speedup)"),
    (u16, owed, t.late_credits ? t.ports * t.vcs : 0, "", "[port][VC] credits that input port p has to return (speedup)"),
    (u32, input_matrix, t.arbiter == ArbiterKind::kMatrix ? t.ports * t.vcs : 0, "",
      "[port][VC] matrix arbiter of input port p: VCs that VC v beats"),
    (u32, output_matrix,
      t.arbiter == ArbiterKind::kMatrix ? t.ports * t.crossbar_factor * t.ports * t.crossbar_factor : 0, "",
      "[port][port] matrix arbiter of output port p: inputs that input q beats; with speedup of the crossbar's ports"),
    (u8, pick_of_port, t.vc_arbiter_by_port ? t.ports * t.vcs * t.ports : 0, "",
      "[output port][VC][input port] round-robin pointer over the input port's VCs (router.vc_arbiter_by_port)"),
    (Packet, ring, t.ports * t.vcs * t.ring, "",
      "[port][VC][position] packet descriptors, a circular buffer; the upstream sender writes them with the head flit"))
};

/// Channels of a network port, in both directions, in networks whose channels are not all alike.
struct PortChannel {
  u16 link_delay;    ///< as VcTable::link_delay
  u16 credit_delay;  ///< as VcTable::credit_delay
  u8 flits, cycles;  ///< width: accepts `flits` flits in `cycles` cycles
};

struct VcTable {
  static constexpr EngineCost cost{.cpu_ns = 25, .loads = 174, .blocks = 12, .bytes = 3000};
  /// Measured on an H200 (docs/gpu.md): a warp group alone on a multiprocessor takes 5.4 microseconds for a cycle; if
  /// four warp groups share a multiprocessor, it takes 2.2 microseconds per warp group. Routers of more than 5 ports
  /// need more warps, and registers suffice for three warp groups. The CPU engine has lane state, too.
  static constexpr EngineCost cost_of_lane_state{
      .cpu_ns = 25, .loads = 110, .blocks = 6, .bytes = 270, .warp_group = 128, .warp_groups = 4};
  static constexpr u32 kWarpGroupsOfMorePorts = 3;
  /// Changes a cost of lane state to that of the kernels for any options: registers suffice for one warp group, and an
  /// element of 16 bits leaves room for half as many routers. These kernels were not timed on a GPU.
  static constexpr void set_cost_of_any_options(EngineCost& cost, u32 element_bits) {
    cost.warp_group = 1024 / element_bits;
    cost.warp_groups = 1;
  }

  static constexpr bool kMayHaveClasses = true;   ///< whether traffic may have several classes of packets
  static constexpr bool kDimensionOrder = false;  ///< whether it is known that routing is dimension-order

  u32 routers, terminals, network_ports, ports, concentration;
  u32 vcs, buffer_flits, ring;  ///< `ring`: most packets of which one buffer can hold flits
  u32 slot_mask;                ///< slots of an inbox (a power of two) - 1
  u32 port_words;               ///< words of 8 ports in an inbox slot
  u32 set_words;                ///< words in a set of virtual channels
  u32 set_shift;                ///< log2 of the ports in a word of a set
  u32 routing_delay, allocation_delay;
  u32 link_delay;              ///< switch grant to arrival at the next router, cycles
  u32 eject_delay;             ///< switch grant to arrival at the terminal, cycles
  u32 inject_delay;            ///< sending by the terminal to arrival at the router, cycles
  u32 credit_delay;            ///< switch grant to the cycle in which the upstream router can use the credit, cycles
  u32 injection_credit_delay;  ///< the same for the terminal, cycles
  const PortChannel* channel;  ///< [routers][network_ports]; null: all channels have link_delay and credit_delay
  u32 narrow;                  ///< whether the width of a channel is less than 1
  FlowControl flow_control;
  VcAllocator vc_allocator;
  SwitchAllocator switch_allocator;
  ArbiterKind arbiter;
  Algorithm algorithm;
  VcAssignment vc_assignment;
  TrafficMode mode;
  u8 iterations;
  u8 speculative;
  u8 hold_switch;                            ///< router.hold_switch_for_packet
  u8 wait_for_tail_credit;                   ///< router.wait_for_tail_credit
  u8 input_speedup = 1, output_speedup = 1;  ///< router.*_speedup
  u8 crossbar_factor = 1;                    ///< the larger one of input_speedup and output_speedup
  u8 switch_delay = 1;                       ///< router.switch_allocation_delay
  u8 pointer_spans_ports = 0;                ///< router.vc_pointer_spans_ports
  u8 vc_arbiter_by_port = 0;                 ///< router.vc_arbiter_by_port
  u8 vc_needs_credit = 0;                    ///< router.vc_needs_credit
  u8 early_vc_credits = 0;                   ///< router.early_vc_credits
  u16 rounds = 1, round_cycles = 1;          ///< router.internal_speedup: `rounds` rounds in `round_cycles` cycles
  u8 late_credits = 0;                       ///< an input port can owe several credits
  u16 crossbar_vcs[kMaxSpeedup] = {};        ///< [n] VCs that use the n-th crossbar input of their port
  u32 queue_flits = 0;                       ///< positions of the queue of an output port; 0: no queue
  u32 queue_limit = 0;                       ///< flits in a queue from which on no further flit may request it
  u8 wraps;
  u8 one_port_per_dim;  ///< hypercube: one port in each dimension
  u32 dims;
  u32 message_classes;                   ///< sets into which the VCs are divided for classes of packets
  u8 adapts;                             ///< routes of waiting packets are recomputed in every cycle
  Selection selection;                   ///< routing.selection
  u8 stay_on_escape = 0;                 ///< routing.stay_on_escape
  u32 atomic_adaptive;                   ///< adaptive VCs are taken only when empty (wormhole; Duato's condition)
  u16 message_mask[kMaxTrafficClasses];  ///< [class of packets] set of VCs
  u16 class_mask[kMaxTrafficClasses][kMaxVcs];  ///< [class of packets][routing class] set of VCs
  u32 dim_radix[kMaxDims];
  u32 dim_mask[kMaxDims];
  u8 dim_shift[kMaxDims];
  u8 dim_of_bit[32];        ///< [bit] dimension to which an address bit belongs
  const Peer* peers;        ///< [routers][ports] item and port at the other end
  const u32* address;       ///< [routers] coordinates as bit fields
  const u8* next_port;      ///< [routers][routers] table routing: port toward a router, with or without kAnyParallel
  const u8* layer;          ///< [routers][routers] routing class of (source, destination)
  const PortSet* parallel;  ///< [routers][network_ports] Topology::parallel_ports(); null if no entry has kAnyParallel
  u8 by_tables;             ///< routes come from tables (table_routes.hpp), not from coordinates
  Intermediate intermediate;
  Congestion congestion;
  EjectionVcs ejection_vcs;
  i32 threshold;                      ///< routing.threshold
  PortSet dim_ports[kMaxHyperxDims];  ///< HyperX: [dimension] ports of a router in it
  u32 hop_classes;                    ///< OmniWAR: most hops of a route, as many as there are classes of VCs
  /// Fat tree: [level] terminals below a router of the level before it (1 for level 0). The ways up to the terminals
  /// with numbers from a multiple of this number on are the same.
  u32 tree_stride[kMaxTreeLevels];
  u32 terminal_routers;     ///< number of routers that have terminals: the first ones
  u8 class_of_vc[kMaxVcs];  ///< [VC] routing class, if channels have ranks
  const u16* rank;          ///< [routers][network_ports] rank of the channel that leaves; null: classes are layers
  const u16* rank_in;       ///< [routers][network_ports] rank of the channel that enters
  const PortSet* shortest;  ///< [routers][routers] ports on shortest routes; null if packets take next_port
  const u8* hops;           ///< [routers][routers] hops of the routes of next_port; null if routing does not compare
  const u16* group;         ///< [routers] Topology::group; null: no groups
  TrafficTable traffic;
  RouterFields router_fields;
  TerminalFields terminal_fields;
};

/// Calls f(array, elements) for every array of a plan.
template <class F>
void for_each_array(VcTable& t, F f) {
  const std::size_t n = t.routers;
  f(t.peers, n * t.ports);
  f(t.address, n);
  f(t.next_port, n * n);
  f(t.layer, n * n);
  f(t.parallel, t.parallel ? n * t.network_ports : 0);
  f(t.rank, t.rank ? n * t.network_ports : 0);
  f(t.rank_in, t.rank_in ? n * t.network_ports : 0);
  f(t.shortest, t.shortest ? n * n : 0);
  f(t.hops, t.hops ? n * n : 0);
  f(t.group, t.group ? n : 0);
  f(t.channel, t.channel ? n * t.network_ports : 0);
}

/// Returns the channels of a network port. Requires t.channel.
template <class T>
FLITLAB_INLINE const PortChannel& channel_of(const T& t, u32 router, u32 port) {
  return t.channel[std::size_t{router} * t.network_ports + port];
}
/// Return the delays of a flit that leaves through a port, and of a credit that returns through it.
template <class T>
FLITLAB_INLINE u32 link_delay_of(const T& t, u32 router, u32 port) {
  return t.channel && port < t.network_ports ? channel_of(t, router, port).link_delay : t.link_delay;
}
template <class T>
FLITLAB_INLINE u32 credit_delay_of(const T& t, u32 router, u32 port) {
  return t.channel && port < t.network_ports ? channel_of(t, router, port).credit_delay : t.credit_delay;
}

/// Returns whether an arbiter compares numbers of the requests.
constexpr bool compares_ranks(ArbiterKind arbiter) {
  return arbiter == ArbiterKind::kOldestFirst || arbiter == ArbiterKind::kMostHopsFirst ||
         arbiter == ArbiterKind::kRandom || arbiter == ArbiterKind::kHighestPriorityFirst;
}

/// Returns whether a router has speedup of any kind.
inline bool has_speedup(const VcTable& t) { return t.queue_flits || t.late_credits; }

/// Returns whether a plan's allocators and arbiters are the default ones.
inline bool has_default_allocators(const VcTable& t) {
  return t.vc_allocator == VcAllocator::kInputFirst && t.switch_allocator == SwitchAllocator::kInputFirst &&
         t.arbiter == ArbiterKind::kRoundRobin && !t.speculative && !t.hold_switch && !t.pointer_spans_ports &&
         !t.vc_arbiter_by_port && !t.vc_needs_credit && !t.early_vc_credits && !has_speedup(t);
}

/// A plan with open-loop traffic. The constant hides the member of the same name, so that generic code compiles without
/// branches on it.
struct OpenVcTable : VcTable {
  OpenVcTable() = default;
  explicit OpenVcTable(const VcTable& table) : VcTable(table) {}

  static constexpr TrafficMode mode = TrafficMode::kOpen;

  static bool fits(const VcTable& t) { return t.mode == TrafficMode::kOpen; }
};

/// A plan with requests and replies.
struct LoopVcTable : VcTable {
  LoopVcTable() = default;
  explicit LoopVcTable(const VcTable& table) : VcTable(table) {}

  static constexpr TrafficMode mode = TrafficMode::kRequestReply;

  static bool fits(const VcTable& t) { return t.mode == TrafficMode::kRequestReply; }
};

/// A plan with an open loop of one class or a closed loop.
struct NoScriptVcTable : VcTable {
  NoScriptVcTable() = default;
  explicit NoScriptVcTable(const VcTable& table) : VcTable(table) {}

  static bool fits(const VcTable& t) { return t.mode == TrafficMode::kOpen || t.mode == TrafficMode::kRequestReply; }
};

/// Any other plan: with a trace, or with several classes of packets.
struct ScriptVcTable : VcTable {
  ScriptVcTable() = default;
  explicit ScriptVcTable(const VcTable& table) : VcTable(table) {}

  static bool fits(const VcTable& t) { return !NoScriptVcTable::fits(t); }
};

/// A plan with the traffic of a trace, but not of a program.
struct TraceVcTable : VcTable {
  TraceVcTable() = default;
  explicit TraceVcTable(const VcTable& table) : VcTable(table) {}

  static constexpr TrafficMode mode = TrafficMode::kTrace;
  static constexpr bool kNoProgram = true;
  static constexpr bool kFileOrder = true;

  static bool fits(const VcTable& t) {
    return t.mode == TrafficMode::kTrace && !t.traffic.program.queued && !t.traffic.trace_window;
  }
};

/// Base of the table types of plain routers.
struct PlainVcTable {};

/// A plan of plain routers, the most common ones: default allocators and arbiters, wormhole flow control and
/// dimension-order routing. `Traffic`: OpenVcTable, LoopVcTable or TraceVcTable.
template <class Traffic>
struct PlainTable : Traffic, PlainVcTable {
  PlainTable() = default;
  explicit PlainTable(const VcTable& table) : Traffic(table) {}

  static constexpr VcAllocator vc_allocator = VcAllocator::kInputFirst;
  static constexpr SwitchAllocator switch_allocator = SwitchAllocator::kInputFirst;
  static constexpr ArbiterKind arbiter = ArbiterKind::kRoundRobin;
  static constexpr u8 speculative = 0;
  static constexpr u8 hold_switch = 0;
  static constexpr u8 wait_for_tail_credit = 0;
  static constexpr u8 input_speedup = 1, output_speedup = 1, crossbar_factor = 1;
  static constexpr u8 pointer_spans_ports = 0;
  static constexpr u8 vc_arbiter_by_port = 0, vc_needs_credit = 0, early_vc_credits = 0;
  static constexpr u16 rounds = 1, round_cycles = 1;
  static constexpr u8 late_credits = 0;
  static constexpr u32 queue_flits = 0;
  static constexpr FlowControl flow_control = FlowControl::kWormhole;
  static constexpr Algorithm algorithm = Algorithm::kDimensionOrder;
  static constexpr bool kDimensionOrder = true;
  static constexpr u8 one_port_per_dim = 0;
  static constexpr u8 adapts = 0;
  static constexpr u32 atomic_adaptive = 0;
  static constexpr const PortChannel* channel = nullptr;
  static constexpr u32 narrow = 0;

  /// Returns whether a plan agrees with these constants.
  static bool fits(const VcTable& t) {
    return Traffic::fits(t) && has_default_allocators(t) && t.flow_control == FlowControl::kWormhole &&
           !t.wait_for_tail_credit && t.injection_credit_delay == t.credit_delay &&
           t.algorithm == Algorithm::kDimensionOrder && !t.one_port_per_dim && !t.channel;
  }
};

/// Offsets of terminals' fields that are known at compile time. In a closed loop they depend on further sizes.
template <u32 V, class Traffic>
struct FixedTerminals : PlainTable<Traffic> {
  FixedTerminals() = default;
  explicit FixedTerminals(const VcTable& table) : PlainTable<Traffic>(table) {}

  static constexpr TerminalFields make_terminal_fields() {
    return lay_out_fields<TerminalFields>(TerminalSize{Traffic::mode, V, 1, 4, 0, 0, 0, 1});
  }
  static constexpr TerminalFields terminal_fields = make_terminal_fields();

  static bool fits(const VcTable& t) { return PlainTable<Traffic>::fits(t) && t.terminal_fields == terminal_fields; }
};
template <u32 V>
struct FixedTerminals<V, LoopVcTable> : PlainTable<LoopVcTable> {
  FixedTerminals() = default;
  explicit FixedTerminals(const VcTable& table) : PlainTable<LoopVcTable>(table) {}
};

/// A plain router of sizes known at compile time: P ports, the last one to a terminal, V virtual channels, inboxes of
/// four slots. Offsets of fields become constants.
template <u32 P, u32 V, class Traffic = OpenVcTable>
struct FixedVcTable : FixedTerminals<V, Traffic> {
  FixedVcTable() = default;
  explicit FixedVcTable(const VcTable& table) : FixedTerminals<V, Traffic>(table) {}

  static constexpr u32 ports = P;
  static constexpr u32 network_ports = P - 1;
  static constexpr u32 concentration = 1;
  static constexpr u32 vcs = V;
  static constexpr u32 slot_mask = 3;
  static constexpr u32 port_words = 1, set_words = 1, set_shift = 5;
  static constexpr u32 routing_delay = 1, allocation_delay = 1;
  static constexpr u32 dims = (P - 1) / 2;
  /// Sizes that offsets of fields depend on. `ring` is 1 because its field is the last one.
  struct Sizes {
    u32 ports = P, vcs = V, slot_mask = 3, port_words = 1, set_words = 1, ring = 1;
    u8 hold_switch = 0, crossbar_factor = 1, late_credits = 0, vc_arbiter_by_port = 0;
    u32 queue_flits = 0;
    ArbiterKind arbiter = ArbiterKind::kRoundRobin;
  };
  static constexpr RouterFields make_router_fields() { return lay_out_fields<RouterFields>(Sizes{}); }
  static constexpr RouterFields router_fields = make_router_fields();

  /// Returns whether a plan agrees with these constants; compares its layout, too.
  static bool fits(const VcTable& t) {
    return FixedTerminals<V, Traffic>::fits(t) && t.ports == P && t.network_ports == P - 1 && t.vcs == V &&
           t.slot_mask == 3 && t.port_words == 1 && t.set_words == 1 && t.routing_delay == 1 &&
           t.allocation_delay == 1 && t.dims == (P - 1) / 2 && t.router_fields == router_fields;
  }
};

/// Returns the credits that an output VC must have before a packet may take it: in wormhole flow control none (or 1, if
/// it needs a credit), otherwise the packet's length `flits`. A VC whose last tail must have left the buffer at the
/// other end needs all credits.
template <class T>
FLITLAB_INLINE u32 credits_to_take(const T& t, u32 flits) {
  if (t.wait_for_tail_credit) return t.buffer_flits;
  return t.flow_control == FlowControl::kWormhole ? u32{t.vc_needs_credit} : flits;
}
/// Returns whether that number is 0 for packets of any length.
template <class T>
FLITLAB_INLINE bool takes_without_credits(const T& t) {
  return credits_to_take(t, 1) == 0;
}

/// Returns the control word with the sets of a port. `control`: the first word.
template <class T, int W>
FLITLAB_INLINE RouterControl& word_of(const T& t, const Item<W>& router, RouterControl& control, u32 port) {
  return t.set_words == 1 ? control : router.at(t.router_fields.control, port >> t.set_shift);
}

/// Returns the bit number of a port in its word.
template <class T>
FLITLAB_INLINE u32 port_bit(const T& t, u32 port) {
  return port & ((1u << t.set_shift) - 1);
}

/// Returns the bit number of (port, vc) in its word.
template <class T>
FLITLAB_INLINE u32 bit_of(const T& t, u32 port, u32 vc) {
  return port_bit(t, port) * t.vcs + vc;
}

/// Returns the virtual channels of a port in a set, bit 0 first.
template <class T>
FLITLAB_INLINE u32 vcs_of(const T& t, u64 set, u32 port) {
  return static_cast<u32>(set >> bit_of(t, port, 0)) & ((1u << t.vcs) - 1);
}

/// Calls work(port, vc) for each member of a set. `set_of(word)`: the set's bits in a control word.
template <class T, int W, class Set, class Work>
FLITLAB_INLINE void for_each_vc(const T& t, const Item<W>& router, RouterControl& control, Set&& set_of, Work&& work) {
  for (u32 w = 0; w < t.set_words; ++w) {
    const u32 first_port = w << t.set_shift;
    for (u64 set = set_of(word_of(t, router, control, first_port)); set; set &= set - 1) {
      const u32 bit = lowest_bit(set), port = bit / t.vcs;
      work(first_port + port, bit - port * t.vcs);
    }
  }
}

/// Input of a phase: the plan, one replica's items and run parameters, the thread's counters.
template <int W, bool Traced, class T>
struct View : ViewBase<W, Traced, T> {
  Items<W> routers;
  Items<W> terminals;
};

}  // namespace flitlab::vc
