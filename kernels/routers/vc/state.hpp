#pragma once
/// State and tables of the canonical virtual-channel router. The tables are the plan: written once by the host, read
/// by every replica. The state is one record list per router and per terminal; nothing else changes in a cycle.
#include "kernels/common/counters.hpp"
#include "kernels/common/events.hpp"
#include "kernels/common/fault.hpp"
#include "kernels/common/fields.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/mail.hpp"
#include "kernels/common/packet.hpp"
#include "kernels/common/peer.hpp"
#include "kernels/common/view.hpp"
#include "kernels/engines/engine_cost.hpp"
#include "kernels/routers/vc/choices.hpp"
#include "kernels/traffic/terminal_state.hpp"
#include "kernels/traffic/traffic.hpp"

namespace flitlab::vc {

inline constexpr u32 kMaxVcs = 16;
inline constexpr u32 kMaxPorts = 32;
inline constexpr u32 kMaxDims = 20;
inline constexpr u32 kMaxMessageClasses = 2;
inline constexpr u16 kNoOwner = 0xFFFF;

/// Life of the packet at the front of an input virtual channel.
enum class Stage : u8 {
  kIdle,     ///< no packet
  kRouting,  ///< route computation until `ready_at`
  kWaiting,  ///< bids for an output virtual channel
  kHead,     ///< owns one; the head flit is still here
  kBody      ///< the head has left
};

/// Sets of virtual channels, looked at every cycle: one bit per (port, VC), `vcs` bits per port, whole ports to a word.
/// Small routers have one word; the channels ready to send are then found with two ANDs.
struct RouterControl {
  FLITLAB_MEMBERS(RouterControl,
    (u64, flits, "", "input VCs whose buffers hold flits"),
    (u64, credits, "", "input VCs whose packet owns an output VC with credits (meaningless while it owns none)"),
    (u64, granted, "", "input VCs whose packet owns an output VC, allocation delay over"),
    (u64, pending, "", "input VCs whose packet owns an output VC, usable from `ready_at`"),
    (u64, waiting, "", "input VCs whose front packet is in kRouting or kWaiting"),
    (u64, bids, "", "input VCs that bid for an output VC in this cycle (speculation reads it)"),
    (u64, taken, "", "output VCs that have an owner"),
    (u32, fault, "", "Fault bits (those of a router are in its first word)"),
    (u32, pad))

  FLITLAB_HD u64 ready() const { return flits & credits & granted; }
};
static_assert(sizeof(RouterControl) == 64);

/// Input port p and output port p together. Round-robin pointers are one past the last one served.
struct PortState {
  FLITLAB_MEMBERS(PortState,
    (u8, pick_vc, "", "round-robin pointer of the input's arbiter over VCs"),
    (u8, pick_input, "", "round-robin pointer of the output's arbiter over input ports"),
    (u8, pick_output, "", "round-robin pointer of the input's arbiter over output ports (output-first, iSLIP)"),
    (u8, pad),
    (u32, flits_sent, "flits", "sent on output port p since the last statistics reset"))
};
static_assert(sizeof(PortState) == 8);

/// One input virtual channel: a buffer of `buffer_flits` flits holding a queue of packets.
struct InputVc {
  FLITLAB_MEMBERS(InputVc,
    (Cycle, ready_at, "cycle", "first cycle in which the present stage may act"),
    (u16, flits, "flits", "in the buffer; they belong to the queue's packets, first come first"),
    (u16, left, "flits", "of the front packet not yet sent on (from route computation on)"),
    (u8, first, "", "ring position of the front packet"),
    (u8, packets, "packets", "queued"),
    (u8, out_port, "", "output port that the front packet goes to"),
    (u8, out_vc, "", "output VC that the front packet owns"),
    (Stage, stage, "", "Stage of the front packet"),
    (u8, pick, "", "round-robin pointer over output VCs"),
    (u16, allowed, "", "bit w: output VC w may be asked for"))
};
static_assert(sizeof(InputVc) == 16);

/// One output virtual channel: the sender's view of the buffer at the other end.
struct OutputVc {
  FLITLAB_MEMBERS(OutputVc,
    (u16, credits, "flits", "free places downstream"),
    (u16, owner, "", "input VC (port * vcs + vc) whose packet holds it, or kNoOwner"),
    (u16, pick, "", "round-robin pointer over input VCs"),
    (u8, tail, "", "ring position of the next packet downstream"),
    (u8, pad))
};
static_assert(sizeof(OutputVc) == 8);

/// Fields of a router.
struct RouterFields {
  FLITLAB_FIELDS(RouterFields,
    (RouterControl, control, t.set_words, "", "[word] sets of virtual channels"),
    (u64, flit_mail, (t.slot_mask + 1) * t.port_words, "",
      "[slot][word of 8 ports] byte p%8 of word p/8: flit arriving at input port p (see mail.hpp)"),
    (u64, credit_mail, (t.slot_mask + 1) * t.port_words, "",
      "[slot][word of 8 ports] byte: credit arriving at output port p, its VC + 1"),
    (PortState, port, t.ports, "", "[port] input port and output port together"),
    (InputVc, input, t.ports * t.vcs, "", "[port][VC] input virtual channels"),
    (OutputVc, output, t.ports * t.vcs, "", "[port][VC] output virtual channels"),
    (u16, claim, t.ports * t.vcs, "", "[port][VC] of output VCs, within a cycle: best bidder so far, else kNoOwner"),
    (u32, input_matrix, t.arbiter == ArbiterKind::kMatrix ? t.ports * t.vcs : 0, "",
      "[port][VC] matrix arbiter of input port p: VCs that VC v beats"),
    (u32, output_matrix, t.arbiter == ArbiterKind::kMatrix ? t.ports * t.ports : 0, "",
      "[port][port] matrix arbiter of output port p: inputs that input q beats"),
    (Packet, ring, t.ports * t.vcs * t.ring, "",
      "[port][VC][place] descriptors, written by the upstream sender with the head flit"))
};

struct VcTable {
  static constexpr EngineCost cost{.cpu_ns = 25, .loads = 174, .blocks = 12, .bytes = 3000};
  /// Of an H200 (docs/gpu.md): a crew that is alone takes 5.4 microseconds for a cycle, each of four that share a
  /// multiprocessor 2.2. Of networks with more ports than meshes have, crews have more warps, and three have room (by
  /// their registers). The CPU has lanes, too.
  static constexpr EngineCost cost_in_lanes{
      .cpu_ns = 25, .loads = 110, .blocks = 6, .bytes = 270, .crew = 128, .crews = 4};
  static constexpr u32 kCrewsOfMorePorts = 3;

  static constexpr bool kSmall = false;           ///< at most 8 ports and 64 virtual channels, known at compile time
  static constexpr bool kDimensionOrder = false;  ///< the algorithm, known at compile time

  u32 routers, terminals, network_ports, ports, concentration;
  u32 vcs, buffer_flits, ring;  ///< ring: packets that one buffer can hold parts of
  u32 slot_mask;                ///< mail slots - 1
  u32 port_words;               ///< words of 8 ports in a mail slot
  u32 set_words;                ///< words in a set of virtual channels
  u32 set_shift;                ///< log2 of the ports in a word of a set
  u32 routing_delay, allocation_delay;
  u32 link_delay;    ///< switch grant to arrival at the next router, cycles
  u32 eject_delay;   ///< switch grant to arrival at the terminal
  u32 inject_delay;  ///< terminal to router
  u32 credit_delay;  ///< switch grant to credit usable upstream
  FlowControl flow_control;
  Allocator vc_allocator, switch_allocator;
  ArbiterKind arbiter;
  Algorithm algorithm;
  VcAssignment vc_assignment;
  TrafficMode mode;
  u8 iterations;
  u8 speculative;
  u8 wraps;
  u8 one_port_per_dim;  ///< hypercube
  u32 dims;
  u32 message_classes;
  u8 adapts;                             ///< routes of waiting packets are computed anew in every cycle
  u32 atomic_adaptive;                   ///< adaptive VCs are taken only when empty (wormhole; Duato's condition)
  u16 message_mask[kMaxMessageClasses];  ///< VCs of a message class
  u16 class_mask[kMaxMessageClasses][kMaxVcs];  ///< VCs of a routing class of a message class
  u32 dim_radix[kMaxDims];
  u32 dim_mask[kMaxDims];
  u8 dim_shift[kMaxDims];
  u8 dim_of_bit[32];    ///< dimension that an address bit belongs to
  const Peer* peers;    ///< [routers][ports]
  const u32* address;   ///< [routers]
  const u8* next_port;  ///< [routers][routers] table routing: port toward a router, with or without kAnyParallel
  const u8* layer;      ///< [routers][routers] routing class of (source, destination)
  const u32* parallel;  ///< [routers][network_ports] Topology::parallel_ports(); null if no entry has kAnyParallel
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
}

/// The most common allocators and arbiters, known at compile time: the constants hide the members of the same name, so
/// that code written for any table loses its branches.
struct RoundRobinVcTable : VcTable {
  static constexpr bool kSmall = true;

  RoundRobinVcTable() = default;
  explicit RoundRobinVcTable(const VcTable& table) : VcTable(table) {}

  static constexpr Allocator vc_allocator = Allocator::kInputFirst;
  static constexpr Allocator switch_allocator = Allocator::kInputFirst;
  static constexpr ArbiterKind arbiter = ArbiterKind::kRoundRobin;
  static constexpr u8 speculative = 0;
  static constexpr u32 port_words = 1;
  static constexpr u32 set_words = 1;
  static constexpr u32 set_shift = 5;

  /// Whether these constants describe a table.
  static bool fits(const VcTable& t) {
    return t.vc_allocator == Allocator::kInputFirst && t.switch_allocator == Allocator::kInputFirst &&
           t.arbiter == ArbiterKind::kRoundRobin && !t.speculative && t.port_words == 1 && t.set_words == 1;
  }
};

/// The same in an open loop.
struct OpenVcTable : RoundRobinVcTable {
  OpenVcTable() = default;
  explicit OpenVcTable(const VcTable& table) : RoundRobinVcTable(table) {}

  static constexpr TrafficMode mode = TrafficMode::kOpen;

  static bool fits(const VcTable& t) { return RoundRobinVcTable::fits(t) && t.mode == TrafficMode::kOpen; }
};

/// The most common router: wormhole flow control and dimension order too.
struct PlainVcTable : OpenVcTable {
  PlainVcTable() = default;
  explicit PlainVcTable(const VcTable& table) : OpenVcTable(table) {}

  static constexpr FlowControl flow_control = FlowControl::kWormhole;
  static constexpr Algorithm algorithm = Algorithm::kDimensionOrder;
  static constexpr bool kDimensionOrder = true;
  static constexpr u8 one_port_per_dim = 0;
  static constexpr u8 adapts = 0;
  static constexpr u32 atomic_adaptive = 0;

  static bool fits(const VcTable& t) {
    return OpenVcTable::fits(t) && t.flow_control == FlowControl::kWormhole &&
           t.algorithm == Algorithm::kDimensionOrder && !t.one_port_per_dim;
  }
};

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
  /// The sizes that fields depend on. A ring's only says that it is there: nothing lies behind it.
  struct Sizes {
    u32 ports = P, vcs = V, slot_mask = 3, port_words = 1, set_words = 1, ring = 1;
    ArbiterKind arbiter = ArbiterKind::kRoundRobin;
  };
  static constexpr RouterFields make_router_fields() { return place_fields<RouterFields>(Sizes{}); }
  static constexpr TerminalFields make_terminal_fields() {
    return place_fields<TerminalFields>(TerminalSize{TrafficMode::kOpen, V, 1, 4, 0, 0, 0});
  }
  static constexpr RouterFields router_fields = make_router_fields();
  static constexpr TerminalFields terminal_fields = make_terminal_fields();

  /// Whether these constants describe a table; its layout is compared, not assumed.
  static bool fits(const VcTable& t) {
    return PlainVcTable::fits(t) && t.ports == P && t.network_ports == P - 1 && t.vcs == V && t.slot_mask == 3 &&
           t.dims == (P - 1) / 2 && t.router_fields == router_fields && t.terminal_fields == terminal_fields;
  }
};

/// The word of sets that holds an input or output port; `control` is the first. A small router's phase works on a copy
/// of its only word, so that the sets stay in registers.
template <class T, int W>
FLITLAB_INLINE RouterControl& word_of(const T& t, const Item<W>& router, RouterControl& control, u32 port) {
  if constexpr (T::kSmall)
    return control;
  else
    return router.at(t.router_fields.control, port >> t.set_shift);
}

/// The bit of (port, vc) in its word.
template <class T>
FLITLAB_INLINE u32 bit_of(const T& t, u32 port, u32 vc) {
  if constexpr (T::kSmall)
    return port * t.vcs + vc;
  else
    return (port & ((1u << t.set_shift) - 1)) * t.vcs + vc;
}

/// The virtual channels of a port in a set.
template <class T>
FLITLAB_INLINE u32 vcs_of(const T& t, u64 set, u32 port) {
  return static_cast<u32>(set >> bit_of(t, port, 0)) & ((1u << t.vcs) - 1);
}

/// Calls work(port, vc) for the members of a set (a function of a word).
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

/// Ports that have virtual channels in a set (a function of a word).
template <class T, int W, class Set>
FLITLAB_INLINE u32 ports_with(const T& t, const Item<W>& router, RouterControl& control, Set&& set_of) {
  u32 ports = 0;
  for (u32 port = 0; port < t.ports; ++port)
    ports |= u32{vcs_of(t, set_of(word_of(t, router, control, port)), port) != 0} << port;
  return ports;
}

/// What a phase sees: the plan, one replica's items, its run parameters, the worker's counters.
template <int W, bool Traced, class T>
struct View : ViewBase<W, Traced, T> {
  Items<W> routers;
  Items<W> terminals;
};

}  // namespace flitlab::vc
