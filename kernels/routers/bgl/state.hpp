#pragma once
/// Plan table of Blue Gene/L's torus and access to its state. A node has six senders, six receivers with virtual
/// channels, injection FIFOs, and software. node_state.hpp defines the state.
#include "kernels/common/counters.hpp"
#include "kernels/common/events.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/peer.hpp"
#include "kernels/common/view.hpp"
#include "kernels/engines/engine_cost.hpp"
#include "kernels/routers/bgl/choices.hpp"
#include "kernels/routers/bgl/node_state.hpp"
#include "kernels/traffic/terminal_state.hpp"

namespace flitlab::bgl {

inline constexpr u32 kMostDead = 8;  ///< dead nodes

/// Hint bits that the configuration sets for packets between two addresses.
struct GivenHints {
  u32 from, to;
  u32 hints;
};

/// The plan. Members that packet sources read have the same names in every model's table.
struct Table {
  static constexpr bool kNoProgram = true;  ///< programs do not use the queue for traces: software runs them

  static constexpr EngineCost cost{.cpu_ns = 10, .loads = 84, .blocks = 9, .bytes = 450, .block_items = 512};

  u32 routers, terminals;
  u32 dims;
  u32 vcs;  ///< VCs of a link: dynamic, then escape, then high-priority
  u32 dynamic_vcs;
  u32 escape_vcs;  ///< 1: bubble; 2: dateline pair
  u32 high_vc;
  u8 dynamic_set;                        ///< set of the dynamic VCs, a bit for each
  u8 bubble_set;                         ///< set of the VCs with the bubble rule
  u8 full_size_set;                      ///< set of the VCs on which every packet counts as a full one
  Order order;                           ///< order of a packet's directions on the escape VCs
  u8 buffer[kMaxVcs];                    ///< `[vc]`: buffer size, chunks
  u16 ring[kMaxVcs];                     ///< `[vc]`: number of descriptors in its circular buffer
  u16 ring_start[kMaxVcs];               ///< `[vc]`: index of its first descriptor in the receiver
  u32 rings;                             ///< number of descriptors of all VCs of a receiver
  u32 injection_ring, reception_ring;    ///< number of descriptors of a FIFO
  u32 injection_flits, reception_flits;  ///< size of a FIFO, chunks
  u32 slot_mask;                         ///< number of arrival cycles in an inbox, minus 1
  u32 head_slots;                        ///< inbox slots for heads of a link, a power of two
  u32 software_mask;                     ///< number of cycles in the inbox for software's actions, minus 1
  u32 calendar_slots;                    ///< number of cycles that the calendar covers, a power of two
  u32 paths;                             ///< transfer buses from a receiver to the senders
  u32 hop_delay;                         ///< cycles from a head's departure to its first request in the next node
  u32 fifo_delay;                        ///< further cycles until the first request if the head enters its VC's FIFO
  u32 injection_delay;                   ///< cycles from software's put to the first request
  u32 token_delay;                       ///< cycles from a tail's departure until the sender has the tokens
  u32 overhead;                          ///< link cycles of a packet beyond its chunks
  u32 ack_cycles;                        ///< link cycles of a token packet
  u8 bypass;
  u8 jsq;
  u8 gap;            ///< 1: one-cycle gap in the receivers' arbitration (router.arbitration_gap)
  u8 statistics;     ///< 1: count tokens that free blocked packets
  u8 acks;           ///< 1: token packets occupy links; 0: their time is charged to packets
  u8 defer;          ///< 1: tokens for a busy link arrive when the link is free, because they are unusable earlier
  u8 register_ties;  ///< 1: a node sends all packets half-way round a dimension in one direction
  u8 infinite_fifos;
  u32 fifos;                      ///< normal injection FIFOs in use
  u32 slq_threshold;              ///< a 32-bit draw below this makes arbiters serve the longest queue; kNone: always
  u32 network_threshold;          ///< a draw below this makes senders prefer packets in the network
  u32 dynamic_threshold;          ///< a draw below this makes a packet dynamic
  u32 priority_threshold;         ///< a draw below this gives a packet high priority
  u32 reception_groups;           ///< groups of reception FIFOs in use
  u32 put_interval;               ///< software's cycles for each chunk put
  u32 take_interval;              ///< software's cycles for each packet taken
  u32 processors;                 ///< processors of a node; 0: software takes no time
  u16 handling[kFullPacket + 1];  ///< `[n]`: processor's time for a packet of n chunks, cycles
  u32 start_spread;               ///< cycles within which software puts its first packet
  u32 fill_root;                  ///< broadcast: sending node
  u32 fill_dims;                  ///< 1: a line, 2: a plane
  u32 fill_dim[2];                ///< dimensions of the line or plane
  u32 fill_packets;               ///< packets of each colour
  u8 protocol;                    ///< 1: sequence numbers, acknowledgments, retransmission
  u8 crc_bits;
  u32 kept_chunks;                     ///< capacity of a sender's retransmission FIFO
  u32 kept_packets;                    ///< slots of that FIFO, a power of two
  u32 timeout;                         ///< cycles without an acknowledgment until retransmission
  u32 hit_threshold[kFullPacket + 1];  ///< `[n]`: probability of an error in a packet of n chunks, times 2^32
  u32 header_threshold;                ///< probability of an error in a packet's header, times 2^32
  u32 acknowledgment_threshold;        ///< probability of an error in an acknowledgment, times 2^32
  u32 idle_acks;                       ///< cycles without tokens after which a VC's token count is repeated
  TrafficMode mode;
  u32 radix[3], mask[3];
  u8 shift[3];
  const Peer* peers;   ///< `[router][port]`: far end of the port's link
  u32 ports;           ///< ports of a router in `peers`
  const u32* address;  ///< `[router]`: packed coordinates
  u32 dead_count;
  u32 dead[kMostDead];      ///< addresses of dead nodes; no peers lead to them
  u8 exits[kMostDead];      ///< `[dead node]`: directions in which blocked packets leave its layers (hints.hpp)
  const GivenHints* given;  ///< hint bits of pairs, sorted by addresses
  u32 given_count;          ///< number of pairs in `given`
  TrafficTable traffic;
  NodeFields node_fields;
  InjectionFields injection_fields;
  TerminalFields terminal_fields;
  SoftwareFields software_fields;
  ReceptionFields reception_fields;
  CalendarFields calendar_fields;
  LinkFields link_fields;
};

/// Returns the layout of a node's fields in the published machine.
constexpr NodeFields published_fields() {
  struct Sizes {
    u32 vcs = 4, slot_mask = 31, head_slots = 1, software_mask = 3, gap = 0, acks = 1, defer = 1;
    u32 rings = 1;  // any number: no field of the published machine follows them
  };
  return lay_out_fields<NodeFields>(Sizes{});
}

// Every visit of a node uses these fields, so they should fit into ten cache lines.
static_assert(published_fields().queue.offset + kDirections * 4 * sizeof(Queue) <= 10 * 64);

/// Table of the published machine, with compile-time constants that hide the members of Table of the same name.
struct PublishedTable : Table {
  PublishedTable() = default;
  explicit PublishedTable(const Table& table) : Table(table) {}

  static constexpr u32 dims = 3, vcs = 4, dynamic_vcs = 2, escape_vcs = 1, high_vc = 3;
  static constexpr u8 dynamic_set = 0b0011, bubble_set = 0b1100, full_size_set = 0b1100;
  static constexpr Order order = Order::kDimension;
  static constexpr u32 slot_mask = 31, head_slots = 1, software_mask = 3, calendar_slots = 512, paths = 2;
  static constexpr u8 gap = 0, statistics = 0, protocol = 0, acks = 1, defer = 1;
  static constexpr NodeFields node_fields = published_fields();

  /// Returns whether these constants, and the layout of a node's fields, match `t`.
  static bool fits(const Table& t) {
    return t.node_fields == node_fields && t.dims == dims && t.vcs == vcs && t.dynamic_vcs == dynamic_vcs &&
           t.escape_vcs == escape_vcs && t.full_size_set == full_size_set && t.order == order &&
           t.slot_mask == slot_mask && t.head_slots == head_slots && t.software_mask == software_mask &&
           t.calendar_slots == calendar_slots && t.paths == paths && !t.gap && !t.statistics && !t.protocol && t.acks &&
           t.defer;
  }
};

/// Calls `f(array, elements)` for every array that a table points to, except the arrays of the traffic.
template <class F>
void for_each_array(Table& t, F f) {
  f(t.peers, std::size_t{t.routers} * t.ports);
  f(t.address, std::size_t{t.routers});
  f(t.given, std::size_t{t.given_count});
}

template <class T>
FLITLAB_HD constexpr u32 coordinate(const T& t, u32 address, u32 dim) {
  return address >> t.shift[dim] & t.mask[dim];
}

template <int W, bool Traced, class T>
struct View : ViewBase<W, Traced, T> {
  Items<W> nodes;
  Items<W> terminals;
  Items<W> calendar;
};

template <class T, int W>
FLITLAB_INLINE Queue& queue_in(const T& t, const Item<W>& node, u32 queue) {
  return node.at(t.node_fields.queue, (queue >> 3) * t.vcs + (queue & 7));
}
template <class V, int W>
FLITLAB_INLINE Queue& queue_at(const V& v, const Item<W>& node, u32 queue) {
  return queue_in(v.t, node, queue);
}

/// Clears a queue's mark for the arbitration gap, because its head is no longer the one that was blocked.
template <class V, int W>
FLITLAB_INLINE void clear_blocked(const V& v, const Item<W>& node, u32 queue) {
  if (v.t.gap) node.at(v.t.node_fields.blocked) &= ~bit(queue);
}

/// Returns the descriptor at an index of a queue's circular buffer.
template <class V, int W>
FLITLAB_INLINE Packet& packet_at(const V& v, const Item<W>& node, u32 queue, u32 position) {
  const auto& t = v.t;
  if (queue >= kInjectionQueue)
    return node.at(t.injection_fields.ring, (queue - kInjectionQueue) * t.injection_ring + position);
  return node.at(t.node_fields.ring, (queue >> 3) * t.rings + t.ring_start[queue & 7] + position);
}

template <class T>
FLITLAB_HD constexpr u32 ring_of(const T& t, u32 queue) {
  return queue >= kInjectionQueue ? t.injection_ring : t.ring[queue & 7];
}

/// Returns the reception FIFO of packets with this route from a receiver.
FLITLAB_HD inline u32 reception_fifo(u32 receiver, u16 route) {
  return (route & kSecondGroup ? 7 : 0) + (route & kHighPriority ? 6 : receiver);
}

/// Returns the tokens that a packet takes on a VC.
template <class T>
FLITLAB_HD constexpr u32 token_cost(const T& t, u32 vc, u32 chunks) {
  return t.full_size_set >> vc & 1 ? kFullPacket : chunks;
}

/// Returns whether cycle `at` is now or past. The lower half of `at` suffices if `at` is within 2^15 cycles of `now`.
FLITLAB_HD constexpr bool is_due(Cycle at, Cycle now) { return at <= now; }
FLITLAB_HD constexpr bool is_due(u16 at, Cycle now) {
  return static_cast<std::int16_t>(static_cast<u16>(at - static_cast<u16>(now))) <= 0;
}

}  // namespace flitlab::bgl
