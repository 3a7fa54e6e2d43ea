#pragma once
/// The state of plain routers with a byte of each router side by side, and what is the same as in the state that
/// everybody else sees (kernels/routers/vc/state.hpp). What flits do, all routers of a block do at once, by sets of
/// virtual channels; what packets' heads do is rare, and is done router by router. A crew works on a block
/// (kernels/common/byte_vectors.hpp).
///
/// Sets of virtual channels are bits of a byte, one byte for each port. A count of each is kept in planes. Channels and
/// ports that are chosen are sets of one, so that nothing has to be numbered. Mail stays with its sender (flits.hpp);
/// receivers look it up at the routers that their ports lead to.
#include <type_traits>

#include "kernels/routers/vc/lanes/ahead.hpp"
#include "kernels/routers/vc/lanes/flits.hpp"
#include "kernels/routers/vc/state.hpp"

namespace flitlab::vc::lanes {

using namespace flitlab::lanes;

/// A round of mail ends and begins with bytes that nobody reads, but for vectors that overlap.
inline constexpr u32 kMargin = 64;

FLITLAB_HD inline u32 blocks_of(u32 routers, u32 width) { return (routers + width - 1) / width; }
FLITLAB_HD inline u32 row_bytes(u32 routers, u32 width) { return blocks_of(routers, width) * width + 2 * kMargin; }

/// Numbers of a plan's sizes that are known at compile time: P ports, of which the last leads to a terminal, room for V
/// virtual channels each, of which a plan may use fewer, and the planes of counts. Roomy ones have planes for packets
/// of up to 255 flits, 31 to a buffer, and buffers of up to 63 flits; others for 7, 3 and 15.
template <u32 P, u32 V, bool kRoomy>
struct Sizes {
  static constexpr bool roomy = kRoomy;
  static constexpr u32 ports = P, network_ports = P - 1, vcs = V, flats = P * V;
  static constexpr u32 queues = flats + V;  ///< of packets: a router's, and those that arrive at its terminal
  static constexpr u32 left_planes = kRoomy ? 8 : 3, packet_planes = kRoomy ? 5 : 2, flit_planes = kRoomy ? 6 : 4;
  /// Descriptors that a queue takes room for; `ring` of them are used.
  static FLITLAB_INLINE u32 places(u32 ring) { return kRoomy ? ring : 4; }
};
/// Whether terminals are in lanes too: in an open loop. Others stay as everybody sees them, and only their mail is
/// here.
template <class T>
inline constexpr bool kTerminalsInLanes = std::is_base_of_v<OpenVcTable, T>;

template <class C, class S>
using FlitsOf = Flits<C, (S::vcs > 4)>;

/// The routers that a crew works on, and their terminals.
template <class C, class S>
struct Block {
  using B = typename C::Row;

  // Input ports.
  Counts<C, S::flit_planes> flits[S::ports];      ///< in the buffers, but for those that arrive in this cycle
  Counts<C, S::left_planes> left[S::ports];       ///< flits of the front packets not yet sent on
  Counts<C, S::packet_planes> packets[S::ports];  ///< queued
  B filled[S::ports];                             ///< buffers that hold flits
  B credited[S::ports];                           ///< front packets whose output VC has credits
  B granted[S::ports];                            ///< front packets that own an output VC
  B pending[S::ports];                            ///< the same, from the next cycle on
  B heads[S::ports];                              ///< front packets that own an output VC and have not sent their heads
  B due[S::ports];                                ///< front packets that bid for an output VC
  B routed[S::ports];                             ///< of these, those that have a route
  /// Of those that are due, those that no output VC was free for; one that is freed wakes them.
  B asleep[S::ports];
  B fresh[S::ports];                                       ///< packets that have moved to the front in the last cycle
  B first_vc[S::ports];                                    ///< who is asked first by the port's arbiter
  B out_port[S::ports][S::vcs], out_vc[S::ports][S::vcs];  ///< of front packets, as sets of one
  B first[S::ports][S::vcs];  ///< place of the front packet in the ring, or the one before if it is in `passed`
  B passed[S::ports];
  B pick_out[S::ports][S::vcs];  ///< output VC that is asked for first
  B allowed[S::ports][S::vcs];   ///< output VCs that may be asked for

  // Output ports.
  Counts<C, S::flit_planes> credits[S::ports];  ///< but for those that arrive in this cycle
  B some_credits[S::ports];
  B taken[S::ports];        ///< output VCs that have an owner
  B first_input[S::ports];  ///< who is asked first by the port's arbiter
  B sent[S::ports];         ///< flits since they were last added to `flits_sent`
  B owner[S::ports][S::vcs], pick_in[S::ports][S::vcs], tail[S::ports][S::vcs];  ///< as in OutputVc

  // Terminals.
  B valid;                                 ///< lanes that are routers
  B queued;                                ///< whose source queue is not empty
  B left_to_send, send_vc, first_send_vc;  ///< InjectionLane
  Counts<C, S::flit_planes> injection_credits;
  B injection_tail[S::vcs], arriving_first[S::vcs];
};

/// Where the mail of routers that a port leads to is found: of the lanes in `mask`, that of the routers so much
/// further, from one of their ports.
struct Pull {
  i32 at;    ///< bytes from the block's place in the row of port 0
  u32 mask;  ///< number of a vector in a list of them
};

/// The queue of packets of (port, VC) of a router; with `port` = ports, of packets that arrive at its terminal.
template <class C, class S>
FLITLAB_INLINE std::size_t queue_of(u32 router, u32 port, u32 vc) {
  return (std::size_t{router / C::lanes} * S::queues + port * S::vcs + vc) * C::lanes + router % C::lanes;
}

/// What a plan adds for lanes of a width; made by the host.
struct Wiring {
  const u32* to;     ///< [block][port][lane] the first of the queues that an output port leads to
  const u32* first;  ///< [block][port] of its pulls; one more at the end
  const Pull* pull;  ///< those of a block's port one after the other
  const u8* masks;   ///< [number][lane]
};

/// The memory of a replica: arrays, one after the other.
template <class C, class S>
struct State {
  u32 routers, blocks;
  u32 slots;           ///< of mail: a power of two
  u32 row;             ///< bytes of a round of mail of one port
  bool large;          ///< more than what a second-level cache holds
  std::size_t planes;  ///< bytes from a plane of network ports' flits to the next (flits.hpp)
  Block<C, S>* block;
  u8* flit_mail;              ///< [plane][slot][port][router] that leaves network ports, by slot of arrival
  u8* credit_mail;            ///< [slot][port][router] for the sender at the other end of an input port
  u8* eject_mail;             ///< [plane][slot][router] flits for terminals
  u8* eject_credits;          ///< [slot][router] credits of terminals
  u8* inject_mail;            ///< [plane][slot][router] flits of terminals
  u8* inject_credits;         ///< [slot][router] credits for terminals
  Cycle* next_creation;       ///< [router] control.next.at, in one piece
  TerminalControl* terminal;  ///< [router] but for `lane` and what stands above
  Ahead* ahead;               ///< [router] what is known of packets to come
  Packet* ring;               ///< [queue][place]
  Cycle* ready_at;            ///< [queue] as in InputVc
  u32* flits_sent;            ///< [router][port]
  u32* fault;                 ///< [router]

  /// Lays out the arrays from `base` on, which starts a cache line; null only measures. Returns the bytes.
  FLITLAB_HD static std::size_t place(State& s, std::byte* base, u32 routers, u32 slots, u32 ring) {
    constexpr u32 kPlanes = FlitsOf<C, S>::planes;
    s.routers = routers;
    s.slots = slots;
    s.blocks = blocks_of(routers, C::lanes);
    const u32 lanes = s.blocks * C::lanes;
    s.row = row_bytes(routers, C::lanes);
    std::size_t at = 0;
    const auto take = [&]<class T>(T*& array, std::size_t elements) {
      array = base ? reinterpret_cast<T*>(base + at) : nullptr;
      at += (elements * sizeof(T) + 63) / 64 * 64;
    };
    take(s.block, s.blocks);
    s.planes = std::size_t{slots} * S::network_ports * s.row;
    take(s.flit_mail, kPlanes * s.planes);
    take(s.credit_mail, s.planes);
    take(s.eject_mail, std::size_t{kPlanes} * slots * lanes);
    take(s.inject_mail, std::size_t{kPlanes} * slots * lanes);
    take(s.eject_credits, std::size_t{slots} * lanes);
    take(s.inject_credits, std::size_t{slots} * lanes);
    take(s.next_creation, lanes);
    take(s.terminal, lanes);
    take(s.ahead, C::draws_ahead ? lanes : 0);
    take(s.ready_at, std::size_t{lanes} * S::queues);
    take(s.flits_sent, std::size_t{lanes} * S::ports);
    take(s.fault, lanes);
    take(s.ring, std::size_t{lanes} * S::queues * S::places(ring));
    s.large = at > (std::size_t{2} << 20);
    return at;
  }

  /// That of another replica, so many bytes further on.
  FLITLAB_INLINE State moved(std::size_t bytes) const {
    State s = *this;
    const auto move = [bytes]<class T>(T*& array) {
      array = reinterpret_cast<T*>(reinterpret_cast<std::byte*>(array) + bytes);
    };
    move(s.block), move(s.flit_mail), move(s.credit_mail), move(s.eject_mail), move(s.eject_credits);
    move(s.inject_mail), move(s.inject_credits), move(s.next_creation), move(s.terminal), move(s.ahead);
    move(s.ring), move(s.ready_at), move(s.flits_sent), move(s.fault);
    return s;
  }

  FLITLAB_INLINE u32 slot(Cycle arrival) const { return arrival & (slots - 1); }
  FLITLAB_INLINE u8* flit_row(u32 slot, u32 port) const {
    return flit_mail + (std::size_t{slot} * S::network_ports + port) * row + kMargin;
  }
  FLITLAB_INLINE u8* credit_row(u32 slot, u32 port) const {
    return credit_mail + (std::size_t{slot} * S::network_ports + port) * row + kMargin;
  }
  /// A vector of one of the terminals' arrays.
  FLITLAB_INLINE typename C::Row& of_terminals(u8* mail, u32 slot, u32 b) const {
    return *reinterpret_cast<typename C::Row*>(mail + (std::size_t{slot} * blocks + b) * C::lanes);
  }
  FLITLAB_INLINE u8& terminal_byte(u8* mail, u32 slot, u32 index) const {
    return mail[std::size_t{slot} * blocks * C::lanes + index];
  }
  FLITLAB_INLINE FlitPlace<FlitsOf<C, S>::planes> terminal_flit(u8* mail, u32 slot, u32 index) const {
    return {&terminal_byte(mail, slot, index), std::size_t{slots} * blocks * C::lanes};
  }
  FLITLAB_INLINE FlitsOf<C, S> terminal_flits(u8* mail, u32 slot, u32 b) const {
    return FlitsOf<C, S>::read([&](u32 plane) ->
                               typename C::Value { return of_terminals(mail, plane * slots + slot, b); });
  }
  FLITLAB_INLINE void put_terminal_flits(u8* mail, u32 slot, u32 b, const FlitsOf<C, S>& flits) const {
    flits.write([&](u32 plane, typename C::Value bytes) { of_terminals(mail, plane * slots + slot, b) = bytes; });
  }
};

}  // namespace flitlab::vc::lanes
