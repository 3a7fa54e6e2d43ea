#pragma once
/// Lane state of plain routers: for each field, the elements of all routers of a lane block lie side by side. The scalar
/// state is in kernels/routers/vc/state.hpp. All routers of a block move flits at once, by operations on sets of
/// virtual channels. Heads of packets are rare, so the code handles them one by one. kernels/common/byte_vectors.hpp
/// has the operations on a block.
///
/// An element is 8 bits wide, or as many as a router has ports or virtual channels per port. Its bits are a set of
/// virtual channels of a port, or of ports. Counts for each virtual channel are kept in bit planes.
/// A chosen channel or port is stored as a set of one member, which needs no conversion to a number. Flits and credits
/// stay in rows of the sender (flits.hpp); a receiver reads the rows of the routers to which its ports lead.
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

/// How far counts go: packets of up to 7 flits with 3 packets and 15 flits per buffer; 255, 31 and 63; 4095, 255 and
/// 2047.
enum class Room : int { kTight, kRoomy, kHuge };

/// Sizes known at compile time: room for P ports, the last ones to terminals, and for V virtual channels per port; bit
/// planes of counts. Routers have exactly P ports if kExact is true; otherwise a plan may use fewer. It may always use
/// fewer virtual channels.
template <u32 P, u32 V, Room kRoom, bool kExact>
struct Sizes {
  static constexpr bool exact = kExact;
  static constexpr Room room = kRoom;
  static constexpr u32 ports = P, vcs = V, flats = P * V;
  static constexpr u32 left_planes = kRoom == Room::kTight ? 3 : kRoom == Room::kRoomy ? 8 : 12;
  static constexpr u32 packet_planes = kRoom == Room::kTight ? 2 : kRoom == Room::kRoomy ? 5 : 8;
  static constexpr u32 flit_planes = kRoom == Room::kTight ? 4 : kRoom == Room::kRoomy ? 6 : 11;
  /// Returns the descriptors that a packet queue has room for; it uses `ring` of them.
  static FLITLAB_INLINE u32 descriptors(u32 ring) { return kRoom == Room::kTight ? 4 : ring; }
  /// Return the ports of a router, and those that lead to other routers.
  template <class T>
  static FLITLAB_INLINE u32 ports_of(const T& t) {
    return kExact ? P : t.ports;
  }
  template <class T>
  static FLITLAB_INLINE u32 network_ports_of(const T& t) {
    return kExact ? P - 1 : t.network_ports;
  }
};
/// Whether terminals have lane state, too: in open-loop traffic. Other terminals have scalar state, and only their
/// flits and credits are here.
template <class T>
inline constexpr bool kLaneTerminals = std::is_base_of_v<OpenVcTable, T> || std::is_base_of_v<OpenLoopVcTable, T>;

template <class C, class S>
using FlitsOf = Flits<C, (S::vcs > 4)>;  // marks are bits 6 and 7

/// State of the routers of a lane block and of their terminals.
template <class C, class S>
struct Block {
  using B = typename C::Row;

  // Input ports.
  Counts<C, S::flit_planes> flits[S::ports];      ///< in the buffers; arrivals are added when flits leave
  Counts<C, S::left_planes> left[S::ports];       ///< flits of the front packets that have not left
  Counts<C, S::packet_planes> packets[S::ports];  ///< queued packets
  B filled[S::ports];                             ///< buffers that hold flits
  B credited[S::ports];                           ///< front packets whose output VC has credits
  B granted[S::ports];                            ///< front packets that own an output VC
  B pending[S::ports];                            ///< front packets that own an output VC from the next cycle on
  B heads[S::ports];                              ///< front packets that own an output VC and have not sent their heads
  B due[S::ports];                                ///< front packets that bid for an output VC
  B routed[S::ports];                             ///< members of `due` that have a route
  /// Members of `due` that found no free output VC; a released output VC wakes them.
  B asleep[S::ports];
  B fresh[S::ports];                                       ///< packets that came to the front in the previous cycle
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

  // Terminals.
  B valid;                                 ///< lanes that hold a router
  B queued;                                ///< terminals with packets in the source queue
  B left_to_send, send_vc, first_send_vc;  ///< as in PacketInInjection
  Counts<C, S::flit_planes> injection_credits;
  B injection_tail[S::vcs], arriving_first[S::vcs];
};

/// Location of flits and credits that arrive at a port of a block. The lanes in `mask` read the row of one port of the
/// senders, at an offset.
struct SenderRow {
  i32 at;    ///< elements from the block's start in the row of port 0
  u32 mask;  ///< index in Wiring::masks
};

/// Returns the packet queue of (port, VC) of a router, which has `ports` ports; with `port` = `ports`, the queue of
/// packets that reach its terminal.
template <class C, class S>
FLITLAB_INLINE std::size_t queue_of(u32 ports, u32 router, u32 port, u32 vc) {
  return (std::size_t{router / C::lanes} * ((ports + 1) * S::vcs) + port * S::vcs + vc) * C::lanes + router % C::lanes;
}

/// Connections of the plan for lanes of one width; the host makes them (wire.hpp).
struct Wiring {
  const u32* to;                 ///< [block][port][lane] first packet queue at the other end of an output port
  const u32* first;              ///< [block][port] first entry in `sender_rows`; one more at the end
  const SenderRow* sender_rows;  ///< entries, ordered by block and port
  const std::byte* masks;        ///< [mask][lane] an element of all ones for a lane that reads, else 0
};

/// Lane state of a replica: arrays, one after the other.
template <class C, class S>
struct State {
  using E = typename C::Element;
  u32 routers, blocks;
  u32 slots;           ///< arrival cycles that rows are kept for, a power of two
  u32 row;             ///< elements of a row: one port of all routers
  bool large;          ///< too large for a second-level cache
  u32 network_ports;
  std::size_t planes;  ///< elements from a plane of network ports' flits to the next (flits.hpp)
  Block<C, S>* block;
  E* flit_mail;               ///< [plane][slot][port][router] flits that leave network ports, by arrival cycle
  E* credit_mail;             ///< [slot][port][router] credits for the sender at the other end of an input port
  E* eject_flits;             ///< [plane][slot][router] flits for terminals
  E* eject_credits;           ///< [slot][router] credits from terminals
  E* inject_flits;            ///< [plane][slot][router] flits from terminals
  E* inject_credits;          ///< [slot][router] credits for terminals
  Cycle* next_creation;       ///< [router] copy of control.next.at, contiguous
  TerminalControl* terminal;  ///< [router] control state; Block replaces its member `lane`
  StoredDraws* stored_draws;  ///< [router] random draws for the next packets
  Packet* ring;               ///< [queue][position] descriptors
  Cycle* ready_at;            ///< [queue] as in InputVc
  u32* flits_sent;            ///< [router][port]
  u32* fault;                 ///< [router]

  /// Lays out the arrays from `base` on (aligned to a cache line; null: only measures). Returns the bytes.
  template <class T>
  FLITLAB_HD static std::size_t lay_out(State& s, std::byte* base, const T& t, u32 routers, u32 slots) {
    constexpr u32 kPlanes = FlitsOf<C, S>::planes;
    const u32 ports = S::ports_of(t), queues = (ports + 1) * S::vcs;
    s.routers = routers;
    s.slots = slots;
    s.network_ports = S::network_ports_of(t);
    s.blocks = blocks_of(routers, C::lanes);
    const u32 lanes = s.blocks * C::lanes;
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
    take(s.eject_flits, std::size_t{kPlanes} * slots * lanes);
    take(s.inject_flits, std::size_t{kPlanes} * slots * lanes);
    take(s.eject_credits, std::size_t{slots} * lanes);
    take(s.inject_credits, std::size_t{slots} * lanes);
    take(s.next_creation, lanes);
    take(s.terminal, lanes);
    take(s.stored_draws, C::draws_ahead ? lanes : 0);
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
    move(s.ring), move(s.ready_at), move(s.flits_sent), move(s.fault);
    return s;
  }

  FLITLAB_INLINE u32 slot(Cycle arrival) const { return arrival & (slots - 1); }
  FLITLAB_INLINE E* flit_row(u32 slot, u32 port) const {
    return flit_mail + (std::size_t{slot} * network_ports + port) * row + kMargin;
  }
  FLITLAB_INLINE E* credit_row(u32 slot, u32 port) const {
    return credit_mail + (std::size_t{slot} * network_ports + port) * row + kMargin;
  }
  /// Returns a block's row in one of the terminals' arrays.
  FLITLAB_INLINE typename C::Row& of_terminals(E* row_of_slots, u32 slot, u32 b) const {
    return *reinterpret_cast<typename C::Row*>(row_of_slots + (std::size_t{slot} * blocks + b) * C::lanes);
  }
  FLITLAB_INLINE E& terminal_element(E* row_of_slots, u32 slot, u32 index) const {
    return row_of_slots[std::size_t{slot} * blocks * C::lanes + index];
  }
  FLITLAB_INLINE FlitSlot<E, FlitsOf<C, S>::planes> terminal_flit(E* row_of_slots, u32 slot, u32 index) const {
    return {&terminal_element(row_of_slots, slot, index), std::size_t{slots} * blocks * C::lanes};
  }
  FLITLAB_INLINE FlitsOf<C, S> terminal_flits(E* row_of_slots, u32 slot, u32 b) const {
    return FlitsOf<C, S>::read([&](u32 plane) ->
                               typename C::Value { return of_terminals(row_of_slots, plane * slots + slot, b); });
  }
  FLITLAB_INLINE void put_terminal_flits(E* row_of_slots, u32 slot, u32 b, const FlitsOf<C, S>& flits) const {
    flits.write(
        [&](u32 plane, typename C::Value values) { of_terminals(row_of_slots, plane * slots + slot, b) = values; });
  }
};

}  // namespace flitlab::vc::lanes
