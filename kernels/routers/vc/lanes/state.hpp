#pragma once
/// Lane state of canonical routers: for each field, the elements of all routers of a lane block lie side by side. The
/// scalar state is in kernels/routers/vc/state.hpp. All routers of a block move flits at once, by operations on sets of
/// virtual channels. Heads of packets are rare, so the code handles them one by one. kernels/common/byte_vectors.hpp
/// has the operations on a block.
///
/// An element has 8, 16 or 32 bits, at least as many as a router has ports or virtual channels per port. It is mostly a
/// set of virtual channels of a port, or of ports; a few elements are numbers. Counts for each virtual channel are kept
/// in bit planes. A chosen channel or port is stored as a set of one member, which needs no conversion to a number.
/// Flits and credits stay in rows of the sender (flits.hpp); a receiver reads the rows of the routers to which its
/// ports lead. In a network without regular structure these would be many rows; there, a router's step ends by writing
/// each flit and credit to the row of its receiver (Wiring::other_end).
#include <type_traits>

#include "kernels/routers/vc/lanes/flits.hpp"
#include "kernels/routers/vc/lanes/stored_draws.hpp"
#include "kernels/routers/vc/state.hpp"

namespace flitlab::vc::lanes {

using namespace flitlab::lanes;

/// Unused elements at both ends of a row of flits or credits, where unaligned vectors may overlap.
inline constexpr u32 kMargin = 64;

FLITLAB_HD inline u32 blocks_of(u32 routers, u32 width) { return (routers + width - 1) / width; }
FLITLAB_HD inline u32 row_elements(u32 routers, u32 width) { return blocks_of(routers, width) * width + 2 * kMargin; }

/// How far counts go: packets of up to 7 flits with 3 packets and 15 flits per buffer; 255, 31 and 63; 65535, 255 and
/// 2047.
enum class Room : int { kTight, kRoomy, kHuge };

inline constexpr u32 kMostPorts = 32;  ///< of a router, those to terminals included
inline constexpr u32 kMostDelay = 7;   ///< of route computation and VC allocation, cycles

/// Sizes known at compile time: room for P ports, the last ones to terminals, and for V virtual channels per port; bit
/// planes of counts. If kExact is true, routers have exactly P ports, the last one to a terminal, delays of one cycle,
/// and the default allocators and arbiters. Otherwise a plan may use fewer ports. It may always use fewer virtual
/// channels.
template <u32 P, u32 V, Room kRoom, bool kExact>
struct Sizes {
  static constexpr bool exact = kExact;
  static constexpr Room room = kRoom;
  static constexpr u32 ports = P, vcs = V, flats = P * V;
  static constexpr u32 left_planes = kRoom == Room::kTight ? 3 : kRoom == Room::kRoomy ? 8 : 16;
  static constexpr u32 packet_planes = kRoom == Room::kTight ? 2 : kRoom == Room::kRoomy ? 5 : 8;
  static constexpr u32 flit_planes = kRoom == Room::kTight ? 4 : kRoom == Room::kRoomy ? 6 : 11;
  /// Returns the descriptors that a packet queue has room for; it uses `ring` of them.
  static FLITLAB_INLINE u32 descriptors(u32 ring) { return kRoom == Room::kTight ? 4 : ring; }
  /// Return the number of ports of a router, and the number of ports that lead to other routers.
  template <class T>
  static FLITLAB_INLINE u32 ports_of(const T& t) {
    return kExact ? P : t.ports;
  }
  template <class T>
  static FLITLAB_INLINE u32 network_ports_of(const T& t) {
    return kExact ? P - 1 : t.network_ports;
  }
  template <class T>
  static FLITLAB_INLINE u32 concentration_of(const T& t) {
    return kExact ? 1 : t.concentration;
  }

  static constexpr u32 most_delay = kExact ? 1 : kMostDelay;
  template <class T>
  static FLITLAB_INLINE u32 routing_delay_of(const T& t) {
    return kExact ? 1 : t.routing_delay;
  }
  template <class T>
  static FLITLAB_INLINE u32 allocation_delay_of(const T& t) {
    return kExact ? 1 : t.allocation_delay;
  }
  /// Return whether an allocator is the default one: separable, input-first, round robin, and without speculation.
  template <class T>
  static FLITLAB_INLINE bool plain_vc_allocator(const T& t) {
    return kExact || (t.vc_allocator == VcAllocator::kInputFirst && t.arbiter == ArbiterKind::kRoundRobin);
  }
  template <class T>
  static FLITLAB_INLINE bool plain_switch_allocator(const T& t) {
    return kExact || (t.switch_allocator == SwitchAllocator::kInputFirst && t.arbiter == ArbiterKind::kRoundRobin &&
                      !t.speculative);
  }
};
/// Whether terminals have lane state, too: in open loops, and on CPUs in closed loops. Others have scalar state, and
/// only their flits and credits are here.
template <class T>
inline constexpr bool kLaneTerminals =
    std::is_base_of_v<OpenVcTable, T> || std::is_base_of_v<LoopVcTable, T> || std::is_base_of_v<NoScriptVcTable, T>;

template <class C, class S>
using FlitsOf = Flits<C, (S::vcs > 4)>;  // marks are bits 6 and 7

/// State of a lane block's terminals, one of each router.
template <class C, class S>
struct Terminals {
  using B = typename C::Row;
  B valid;                                 ///< lanes that hold a router
  B queued;                                ///< terminals with packets in the source queue
  B left_to_send, send_vc, first_send_vc;  ///< as in PacketInInjection
  Counts<C, S::flit_planes> injection_credits;
  B injection_tail[S::vcs], arriving_first[S::vcs];
};

/// Closed loop: state of a lane block's terminals, one of each router, in addition to Terminals.
template <class C, class S>
struct Loops {
  using B = typename C::Row;
  Counts<C, S::flit_planes> held;          ///< as in EjectionVc
  Counts<C, S::left_planes> left;          ///< as in EjectionVc
  B first_take;                            ///< virtual channels from the round-robin pointer on
  B requests;                              ///< one message class: virtual channels whose front packet is a request
  B full;                                  ///< terminals that accept no request
  B queued;                                ///< terminals with replies that may leave
  B replied;                               ///< terminals that sent a flit of a reply last
  B left_to_send, send_vc, first_send_vc;  ///< of replies, as in PacketInInjection
};

/// State for allocators and arbiters that are not the default ones, and for narrow channels. Exact sizes have none;
/// they have the terminals here.
template <class C, class S, bool kExact = S::exact>
struct Options {
  using B = typename C::Row;
  B first_output[S::ports];             ///< output ports from an input's round-robin pointer on
  B input_matrix[S::ports][S::vcs];     ///< as in RouterFields
  B output_matrix[S::ports][S::ports];  ///< as in RouterFields
  B bids[S::ports];                     ///< packets that bid for an output VC in this cycle (for speculation)
  B occupied[S::ports];                 ///< as in PortState (numbers)
  B closed;                             ///< as in RouterControl
};
template <class C, class S>
struct Options<C, S, true> {
  Terminals<C, S> terminals;
};

/// State of the routers of a lane block. With exact sizes, it includes the state of their terminals.
template <class C, class S>
struct Block : Options<C, S> {
  using B = typename C::Row;

  // Input ports.
  Counts<C, S::flit_planes> flits[S::ports];      ///< in the buffers; arrivals are added when flits leave
  Counts<C, S::left_planes> left[S::ports];       ///< flits of the front packets that have not left
  Counts<C, S::packet_planes> packets[S::ports];  ///< queued packets
  B filled[S::ports];                             ///< buffers that hold flits
  B credited[S::ports];                           ///< front packets whose output VC has credits
  B granted[S::ports];                            ///< front packets that own an output VC
  /// Front packets that own an output VC from cycle c on, in row c modulo the delay of VC allocation.
  B pending[S::most_delay][S::ports];
  B heads[S::ports];   ///< front packets that own an output VC and have not sent their heads
  B due[S::ports];     ///< front packets that bid for an output VC
  B routed[S::ports];  ///< members of `due` that have a route
  /// Members of `due` that found no free output VC; a released output VC wakes them.
  B asleep[S::ports];
  B fresh[S::ports];  ///< packets that came to the front in the previous cycle, when a tail left
  /// Packets whose route is known from cycle c on, in row c modulo the delay of route computation.
  B in_routing[S::most_delay][S::ports];
  B first_vc[S::ports];                                    ///< VCs from the port's round-robin pointer on
  B out_port[S::ports][S::vcs], out_vc[S::ports][S::vcs];  ///< output port and VC of front packets, as sets of one
  B first[S::ports][S::vcs];  ///< position of the front packet in `ring`, or the one before if the VC is in `passed`
  B passed[S::ports];
  B pick_out[S::ports][S::vcs];  ///< round-robin pointer over output VCs
  B allowed[S::ports][S::vcs];   ///< output VCs that may be requested

  // Output ports.
  Counts<C, S::flit_planes> credits[S::ports];  ///< arrivals are added when flits leave
  B some_credits[S::ports];
  B taken[S::ports];        ///< output VCs that have an owner
  B first_input[S::ports];  ///< input ports from the round-robin pointer on
  B sent[S::ports];         ///< flits not yet added to `flits_sent`
  B owner[S::ports][S::vcs], pick_in[S::ports][S::vcs], tail[S::ports][S::vcs];  ///< as in OutputVc
};

/// Location of flits and credits that arrive at a port of a block. The lanes in
/// `mask` read the row of one port of the senders, at an offset. Rows are kept by the cycle in which flits and credits
/// leave, so that one row serves channels of different delays.
struct SenderRow {
  i32 at;    ///< elements from the block's start in the row of port 0
  u32 mask;  ///< index in Wiring::masks
  u32 link_delay, credit_delay;
};

/// Whether routers may write to rows of receivers. The 16 warps of a GPU that process 16 ports have too few registers.
template <class C, class S>
inline constexpr bool kMayWriteRows = !S::exact && (C::has_all_ports || S::ports <= 12);
/// Whether routers may have long routes (has_long_routes()). Kernels for exact sizes have too few registers, too.
template <class C, class S>
inline constexpr bool kLongRoutes = C::has_all_ports || kMayWriteRows<C, S>;

/// Where a router's flits and credits go, if they are written to rows of receivers.
struct OtherEnd {
  u32 at;  ///< elements from the start of the row of port 0; kNone: the port is not connected
  u16 link_delay, credit_delay;
};

/// Returns the VCs of an input port that are ready to send (RouterControl::ready).
template <class C, class S, class T>
FLITLAB_INLINE typename C::Value ready_vcs(const Block<C, S>& k, const T& t, u32 port) {
  typename C::Value ready = k.filled[port] & k.credited[port] & k.granted[port];
  if constexpr (!S::exact)
    for (u32 vc = 0; t.narrow && vc < t.vcs; ++vc) ready &= ~(nonzero(k.out_port[port][vc] & k.closed) & C::only(vc));
  return ready;
}

/// Returns the number of packet queues of a router and its terminals.
template <class S, class T>
FLITLAB_INLINE u32 queues_of(const T& t) {
  return (S::ports_of(t) + S::concentration_of(t)) * S::vcs;
}
/// Returns the packet queue of (port, VC) of a router; with `port` = ports + i, the queue of packets that reach its
/// terminal i.
template <class C, class S, class T>
FLITLAB_INLINE std::size_t queue_of(const T& t, u32 router, u32 port, u32 vc) {
  return (std::size_t{router / C::lanes} * queues_of<S>(t) + port * S::vcs + vc) * C::lanes + router % C::lanes;
}

/// Connections of the plan for lanes of one width; the host makes them (wire.hpp).
struct Wiring {
  const u32* to;                 ///< [block][port][lane] first packet queue at the other end of an output port
  const u32* first;              ///< [block][port] first entry in `sender_rows`; one more at the end
  const SenderRow* sender_rows;  ///< entries, ordered by block and port
  const std::byte* masks;        ///< [mask][lane] an element of all ones for a lane that reads, else 0
  const OtherEnd* other_end;     ///< [block][network port][lane]; null unless routers write to rows of receivers
  /// [block][network port][2][lane] PortChannel::flits and cycles, as elements; null if no channel is narrow.
  const std::byte* widths;
};

/// Lane state of a replica: arrays, one after the other.
template <class C, class S>
struct State {
  using E = typename C::Element;
  u32 routers, blocks;
  u32 slots;   ///< cycles that rows are kept for, a power of two
  u32 row;     ///< elements of a row: one port of all routers
  bool large;  ///< too large for a second-level cache
  u32 network_ports, concentration;
  std::size_t planes;  ///< elements from a plane of network ports' flits to the next (flits.hpp)
  Block<C, S>* block;
  E* flit_mail;    ///< [plane][slot][port][router] flits that leave network ports (slot_of_leaving())
  E* credit_mail;  ///< [slot][port][router] credits for the sender at the other end of an input port
                   ///< (Rows of receivers: flits and credits that arrive at a network port.)
  // Arrays of terminals, by arrival cycle: [block][terminal of a router][lane], written as [terminal].
  E* eject_flits;                   ///< [plane][slot][terminal] flits for terminals
  E* eject_credits;                 ///< [slot][terminal] credits from terminals
  E* inject_flits;                  ///< [plane][slot][terminal] flits from terminals
  E* inject_credits;                ///< [slot][terminal] credits for terminals
  Terminals<C, S>* some_terminals;  ///< [block][terminal of a router], unless Block holds them
  Loops<C, S>* loops;               ///< [block][terminal of a router] in a closed loop
  Cycle* next_creation;  ///< [terminal] cycle of its next packet; of terminals without lane state: of its next work
  Cycle* next_reply;     ///< [terminal] in a closed loop, cycle in which its next queued reply may leave
  TerminalControl* terminal;  ///< [terminal] control state; Terminals replace its member `lane`
  StoredDraws* stored_draws;  ///< [terminal] random draws for the next packets
  Packet* ring;               ///< [queue][position] descriptors
  Cycle* ready_at;            ///< [queue] as in InputVc
  u32* flits_sent;            ///< [router][port]
  u32* fault;                 ///< [router]

  /// Lays out the arrays from `base` on (aligned to a cache line; null: only measures). Returns the bytes.
  template <class T>
  FLITLAB_HD static std::size_t lay_out(State& s, std::byte* base, const T& t, u32 routers, u32 slots) {
    constexpr u32 kPlanes = FlitsOf<C, S>::planes;
    const u32 ports = S::ports_of(t), queues = queues_of<S>(t);
    s.concentration = S::concentration_of(t);
    s.routers = routers;
    s.slots = slots;
    s.network_ports = S::network_ports_of(t);
    s.blocks = blocks_of(routers, C::lanes);
    const u32 lanes = s.blocks * C::lanes, terminals = lanes * s.concentration;
    s.row = row_elements(routers, C::lanes);
    std::size_t at = 0;
    const auto take = [&]<class X>(X*& array, std::size_t elements) {
      array = base ? reinterpret_cast<X*>(base + at) : nullptr;
      at += (elements * sizeof(X) + 63) / 64 * 64;
    };
    take(s.block, s.blocks);
    s.planes = std::size_t{slots} * s.network_ports * s.row;
    take(s.flit_mail, kPlanes * s.planes);
    take(s.credit_mail, s.planes);
    take(s.some_terminals, S::exact ? 0 : s.blocks * s.concentration);
    take(s.eject_flits, std::size_t{kPlanes} * slots * terminals);
    take(s.inject_flits, std::size_t{kPlanes} * slots * terminals);
    take(s.eject_credits, std::size_t{slots} * terminals);
    take(s.inject_credits, std::size_t{slots} * terminals);
    const bool closed_loop = t.mode == TrafficMode::kRequestReply;
    take(s.loops, closed_loop ? s.blocks * s.concentration : 0);
    take(s.next_creation, terminals);
    take(s.next_reply, closed_loop ? terminals : 0);
    take(s.terminal, terminals);
    take(s.stored_draws, C::draws_ahead ? terminals : 0);
    take(s.ready_at, std::size_t{lanes} * queues);
    take(s.flits_sent, std::size_t{lanes} * ports);
    take(s.fault, lanes);
    take(s.ring, std::size_t{lanes} * queues * S::descriptors(t.ring));
    s.large = at > (std::size_t{2} << 20);
    return at;
  }

  /// Returns the state of the replica whose memory begins `bytes` after this one.
  FLITLAB_INLINE State moved(std::size_t bytes) const {
    State s = *this;
    const auto move = [bytes]<class T>(T*& array) {
      array = reinterpret_cast<T*>(reinterpret_cast<std::byte*>(array) + bytes);
    };
    move(s.block), move(s.flit_mail), move(s.credit_mail), move(s.eject_flits), move(s.eject_credits);
    move(s.inject_flits), move(s.inject_credits), move(s.next_creation), move(s.terminal), move(s.stored_draws);
    move(s.some_terminals), move(s.loops), move(s.next_reply);
    move(s.ring), move(s.ready_at), move(s.flits_sent), move(s.fault);
    return s;
  }

  FLITLAB_INLINE u32 slot(Cycle cycle) const { return cycle & (slots - 1); }
  /// slot_of_leaving() returns the slot into which network ports write flits or credits in a cycle, slot_of_arriving()
  /// the slot from which they read. `delay`: cycles on the channel. A slot has the number of the cycle in which its
  /// flits leave, because channels may have different delays. With exact sizes all have the same delay, and a slot has
  /// the number of the cycle in which its flits arrive; then flits, credits and terminals read one slot, which saves
  /// five registers on a GPU. So have rows of receivers, which are read with a delay of 0.
  FLITLAB_INLINE u32 slot_of_leaving(Cycle cycle, u32 delay) const { return slot(S::exact ? cycle + delay : cycle); }
  FLITLAB_INLINE u32 slot_of_arriving(Cycle cycle, u32 delay) const { return slot(S::exact ? cycle : cycle - delay); }
  FLITLAB_INLINE E* flit_row(u32 slot, u32 port) const {
    return flit_mail + (std::size_t{slot} * network_ports + port) * row + kMargin;
  }
  FLITLAB_INLINE E* credit_row(u32 slot, u32 port) const {
    return credit_mail + (std::size_t{slot} * network_ports + port) * row + kMargin;
  }
  /// Returns the state of terminal i of a block's routers.
  FLITLAB_INLINE Terminals<C, S>& terminals(u32 b, u32 i) const {
    if constexpr (S::exact)
      return block[b].terminals;
    else
      return some_terminals[row_of(b, i)];
  }
  /// Returns the row of terminal i of a block's routers in the arrays of terminals, and the place of one of them.
  FLITLAB_INLINE u32 row_of(u32 b, u32 i) const { return S::exact ? b : b * concentration + i; }
  FLITLAB_INLINE u32 place_of(u32 b, u32 i, u32 lane) const { return row_of(b, i) * C::lanes + lane; }
  /// Returns the number of terminal i of a router.
  FLITLAB_INLINE u32 terminal_of(u32 b, u32 i, u32 lane) const {
    return S::exact ? b * C::lanes + lane : (b * C::lanes + lane) * concentration + i;
  }
  FLITLAB_INLINE std::size_t slot_of_terminals(u32 slot) const {
    return std::size_t{slot} * (S::exact ? blocks : blocks * concentration) * C::lanes;
  }
  /// Returns a row of one of the terminals' arrays.
  FLITLAB_INLINE typename C::Row& of_terminals(E* row_of_slots, u32 slot, u32 row) const {
    return *reinterpret_cast<typename C::Row*>(row_of_slots + slot_of_terminals(slot) + std::size_t{row} * C::lanes);
  }
  FLITLAB_INLINE E& terminal_element(E* row_of_slots, u32 slot, u32 place) const {
    return row_of_slots[slot_of_terminals(slot) + place];
  }
  FLITLAB_INLINE FlitSlot<E, FlitsOf<C, S>::planes> terminal_flit(E* row_of_slots, u32 slot, u32 place) const {
    return {&terminal_element(row_of_slots, slot, place), slot_of_terminals(slots)};
  }
  FLITLAB_INLINE FlitsOf<C, S> terminal_flits(E* row_of_slots, u32 slot, u32 row) const {
    return FlitsOf<C, S>::read([&](u32 plane) ->
                               typename C::Value { return of_terminals(row_of_slots, plane * slots + slot, row); });
  }
  FLITLAB_INLINE void put_terminal_flits(E* row_of_slots, u32 slot, u32 row, const FlitsOf<C, S>& flits) const {
    flits.write(
        [&](u32 plane, typename C::Value values) { of_terminals(row_of_slots, plane * slots + slot, row) = values; });
  }
};

}  // namespace flitlab::vc::lanes
