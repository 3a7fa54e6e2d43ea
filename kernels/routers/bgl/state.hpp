#pragma once
/// A Blue Gene/L node: six senders, six receivers with their virtual channels, the injection FIFOs, and what the
/// processors' software holds. Here are the tables of the plan; the state is in node_state.hpp.
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

/// Hint bits that a configuration gives for packets between two addresses.
struct GivenHints {
  u32 from, to;
  u32 hints;
};

/// The plan. Names that sources use are those of every model's table.
struct Table {
  static constexpr EngineCost cost{.cpu_ns = 10, .loads = 84, .blocks = 9, .bytes = 450};

  u32 routers, terminals;
  u32 dims;
  u32 vcs;  ///< per link: dynamic ones, then escape ones, then the one of high priority
  u32 dynamic_vcs;
  u32 escape_vcs;  ///< 1: bubble; 2: dateline pair
  u32 high_vc;
  u8 dynamic_set;           ///< VCs as bits
  u8 bubble_set;            ///< VCs that the bubble rule holds for
  u8 full_size_set;         ///< VCs on which every packet is accounted for as one of full size
  Order order;              ///< of directions on the escape VCs
  u8 buffer[kMaxVcs];       ///< chunks
  u16 ring[kMaxVcs];        ///< packets
  u16 ring_start[kMaxVcs];  ///< of a VC among its receiver's
  u32 rings;                ///< descriptors of a receiver
  u32 injection_ring, reception_ring;
  u32 injection_flits, reception_flits;  ///< chunks of a FIFO
  u32 slot_mask;                         ///< S - 1
  u32 head_slots;                        ///< H, a power of two
  u32 software_mask;                     ///< P - 1
  u32 calendar_slots;
  u32 paths;            ///< transfer buses from a receiver to the senders
  u32 hop_delay;        ///< head's leave to its first request in the next node, cycles
  u32 fifo_delay;       ///< more until it may ask from a VC's FIFO
  u32 injection_delay;  ///< from software to the first request
  u32 token_delay;      ///< from a tail's leave to the sender's knowledge of the free space
  u32 overhead;         ///< link cycles of a packet beyond its chunks
  u32 ack_cycles;       ///< of a token packet that has the link to itself
  u8 bypass;
  u8 jsq;
  u8 gap;            ///< the one-cycle gap in the receivers' arbitration
  u8 statistics;     ///< 1: count tokens that free blocked packets
  u8 acks;           ///< 1: tokens come in packets of their own, which take links
  u8 defer;          ///< 1: tokens that come while the link is taken wait for its end, since nobody can use them before
  u8 register_ties;  ///< a node sends all packets half-way round a dimension in one direction
  u8 infinite_fifos;
  u32 fifos;                      ///< normal injection FIFOs in use
  u32 slq_threshold;              ///< 32-bit draws below this make a cycle SLQ; kNone: every
  u32 network_threshold;          ///< ... favour packets that are in the network
  u32 dynamic_threshold;          ///< ... make a packet dynamic
  u32 priority_threshold;         ///< ... make it one of high priority
  u32 reception_groups;           ///< in use
  u32 put_interval;               ///< cycles of software per chunk put
  u32 take_interval;              ///< cycles of software per packet taken
  u32 processors;                 ///< that need time for packets; 0: software takes none
  u16 handling[kFullPacket + 1];  ///< cycles of a processor for a packet of n chunks
  u32 start_spread;               ///< cycles in which nodes' software begins
  u32 fill_root;                  ///< broadcast: who sends
  u32 fill_dims;                  ///< 1: a line, 2: a plane
  u32 fill_dim[2];
  u32 fill_packets;  ///< of each colour
  u8 protocol;       ///< links have sequence numbers, acknowledgments and so on
  u8 crc_bits;
  u32 kept_chunks;                     ///< that a sender keeps until they are acknowledged
  u32 kept_packets;                    ///< a power of two that these are not more than
  u32 timeout;                         ///< cycles
  u32 hit_threshold[kFullPacket + 1];  ///< probabilities that a packet of n chunks is hit, as parts of 2^32
  u32 header_threshold;                ///< that its header is
  u32 acknowledgment_threshold;        ///< that an acknowledgment is
  u32 idle_acks;                       ///< cycles after which a VC that returns no tokens is heard of again
  TrafficMode mode;
  u32 radix[3], mask[3];
  u8 shift[3];
  const Peer* peers;   ///< [routers][ports]
  u32 ports;           ///< of a router in `peers`
  const u32* address;  ///< [routers]
  u32 dead_count;
  u32 dead[kMostDead];      ///< addresses of dead nodes; no peers lead to them
  u8 exits[kMostDead];      ///< directions in which packets that they block leave their layers of nodes
  const GivenHints* given;  ///< [given_count] in the order of their addresses
  u32 given_count;
  TrafficTable traffic;
  NodeFields node_fields;
  InjectionFields injection_fields;
  TerminalFields terminal_fields;
  SoftwareFields software_fields;
  ReceptionFields reception_fields;
  CalendarFields calendar_fields;
  LinkFields link_fields;
};

/// Places of the fields in a node of the published machine.
constexpr NodeFields published_fields() {
  struct Sizes {
    u32 vcs = 4, slot_mask = 31, head_slots = 1, software_mask = 3, gap = 0, acks = 1, defer = 1;
    u32 rings = 1;  // however many: nothing of the published machine lies behind them
  };
  return place_fields<NodeFields>(Sizes{});
}

static_assert(published_fields().queue.offset + kDirections * 4 * sizeof(Queue) <= 10 * 64);  // what a visit needs

/// The machine as published, its numbers known at compile time: the constants hide the members of the same name.
struct PublishedTable : Table {
  PublishedTable() = default;
  explicit PublishedTable(const Table& table) : Table(table) {}

  static constexpr u32 dims = 3, vcs = 4, dynamic_vcs = 2, escape_vcs = 1, high_vc = 3;
  static constexpr u8 dynamic_set = 0b0011, bubble_set = 0b1100, full_size_set = 0b1100;
  static constexpr Order order = Order::kDimension;
  static constexpr u32 slot_mask = 31, head_slots = 1, software_mask = 3, calendar_slots = 512, paths = 2;
  static constexpr u8 gap = 0, statistics = 0, protocol = 0, acks = 1, defer = 1;
  static constexpr NodeFields node_fields = published_fields();

  /// Whether these constants describe a table; its layout is compared, not assumed.
  static bool fits(const Table& t) {
    return t.node_fields == node_fields && t.dims == dims && t.vcs == vcs && t.dynamic_vcs == dynamic_vcs &&
           t.escape_vcs == escape_vcs && t.full_size_set == full_size_set && t.order == order &&
           t.slot_mask == slot_mask && t.head_slots == head_slots && t.software_mask == software_mask &&
           t.calendar_slots == calendar_slots && t.paths == paths && !t.gap && !t.statistics && !t.protocol && t.acks &&
           t.defer;
  }
};

/// Calls `f(array, elements)` for every array that a table points to, but for those of the traffic.
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

/// A queue has another head, or none, whose turn the gap does not hold up.
template <class V, int W>
FLITLAB_INLINE void forget_gap(const V& v, const Item<W>& node, u32 queue) {
  if (v.t.gap) node.at(v.t.node_fields.blocked) &= ~bit(queue);
}

/// Descriptor at a place of a queue's ring.
template <class V, int W>
FLITLAB_INLINE Packet& packet_at(const V& v, const Item<W>& node, u32 queue, u32 place) {
  const auto& t = v.t;
  if (queue >= kInjectionQueue)
    return node.at(t.injection_fields.ring, (queue - kInjectionQueue) * t.injection_ring + place);
  return node.at(t.node_fields.ring, (queue >> 3) * t.rings + t.ring_start[queue & 7] + place);
}

template <class T>
FLITLAB_HD constexpr u32 ring_of(const T& t, u32 queue) {
  return queue >= kInjectionQueue ? t.injection_ring : t.ring[queue & 7];
}

/// The reception FIFO that a packet goes to from a receiver.
FLITLAB_HD inline u32 reception_fifo(u32 receiver, u16 route) {
  return (route & kSecondGroup ? 7 : 0) + (route & kHighPriority ? 6 : receiver);
}

/// Tokens that a packet takes on a VC.
template <class T>
FLITLAB_HD constexpr u32 token_cost(const T& t, u32 vc, u32 chunks) {
  return t.full_size_set >> vc & 1 ? kFullPacket : chunks;
}

/// Whether cycle `at` has come; of near ones the lower half is enough.
FLITLAB_HD constexpr bool has_come(Cycle at, Cycle now) { return at <= now; }
FLITLAB_HD constexpr bool has_come(u16 at, Cycle now) {
  return static_cast<std::int16_t>(static_cast<u16>(at - static_cast<u16>(now))) <= 0;
}

}  // namespace flitlab::bgl
