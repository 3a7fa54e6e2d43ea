#pragma once
/// State of a Blue Gene/L node: six senders, six receivers with their virtual channels, the injection FIFOs, and what
/// the processors' software holds. The unit of flow control, the flit, is a chunk of 32 bytes; a cycle is the time in
/// which a link carries one byte.
#include "kernels/common/counters.hpp"
#include "kernels/common/events.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/packet.hpp"
#include "kernels/common/peer.hpp"
#include "kernels/traffic/terminal_state.hpp"

namespace flitlab::bgl {

inline constexpr u32 kDirections = 6;      ///< x+, x-, y+, y-, z+, z-: as the hint bits, and as Topology's ports
inline constexpr u32 kMaxVcs = 8;          ///< per link
inline constexpr u32 kInjectionFifos = 8;  ///< 6 normal, then 2 of high priority
inline constexpr u32 kNormalFifos = 6;
inline constexpr u32 kReceptionFifos = 14;  ///< two groups of one per direction and one of high priority
inline constexpr u32 kFullPacket = 8;       ///< chunks of the longest packet
inline constexpr u32 kChunkBytes = 32;
inline constexpr u32 kReception = kDirections;  ///< "direction" of a packet that has arrived

/// A queue of packets in a node is a receiver's virtual channel or an injection FIFO. Sets of them are words with a
/// byte for each receiver (a bit for each VC) and one for the injection FIFOs.
inline constexpr u32 kInjectionQueue = 8 * kDirections;
FLITLAB_HD constexpr u32 queue_of(u32 receiver, u32 vc) { return 8 * receiver + vc; }
FLITLAB_HD constexpr u64 bit(u32 queue) { return u64{1} << queue; }

/// A bit for each direction as the lowest bit of a byte for each.
FLITLAB_HD constexpr u64 spread(u32 directions) {
  return (u64{directions & 0x3F} * 0x0000000810204081ull & 0x0000010101010101ull);
}

/// What arbiters need of a packet, from the header: Packet::route_bits and dst_port as one word.
enum Route : u16 {
  kHints = 0x3F,       ///< directions in which it may still go
  kDynamic = 1u << 6,  ///< may use the dynamic VCs
  kHighPriority = 1u << 7,
  kDeposit = 1u << 8,      ///< broadcast along a line: a copy stays at every node it passes
  kSecondGroup = 1u << 9,  ///< for the second group of reception FIFOs
  kCrossed = 1u << 10,     ///< has crossed the dateline in x; the next two bits: in y, in z; then its length
};

FLITLAB_HD inline u16 route_of(const Packet& packet) {
  return static_cast<u16>(packet.route_bits | packet.dst_port << 8);
}
FLITLAB_HD inline void set_route(Packet& packet, u16 route) {
  packet.route_bits = static_cast<u8>(route);
  packet.dst_port = static_cast<u8>(route >> 8);
}

/// Packets of 1 to 8 chunks: the upper bits of a route word.
inline constexpr u32 kLengthShift = 13;
FLITLAB_HD constexpr u32 chunks_of(u16 route) { return (route >> kLengthShift) + 1u; }

struct Queue {
  u16 route;         ///< of the packet at the head
  u16 until;         ///< the head arrives: cycle in which its tail has left; it is not yet ready: from when on it is
  u8 first;          ///< the head's place in the ring
  u8 packets;        ///< in the queue
  u8 held;           ///< chunks of them
  u8 direction : 4;  ///< in which the head is leaving, or wants to
  u8 vc : 4;         ///< on which
};
static_assert(sizeof(Queue) == 8);

/// VCs of all links by what tokens there are, as sets like those of queues: a byte for each direction.
struct Levels {
  u64 open;       ///< for a packet of full size
  u64 roomy;      ///< for two
  u64 fuller[3];  ///< in range 1, 2, or 3 of four, or above it
};

/// What software has for its node in a cycle.
struct SoftwareMail {
  u64 taken;  ///< a nibble for each reception FIFO: chunks that it has taken
  u64 put;    ///< injection FIFOs that a packet has been put into, as bits
};

struct NodeControl {
  u64 waiting;               ///< queues whose head asks for a link
  u64 wanting[kDirections];  ///< of these, and of others, those that may go in each direction
  u64 here;                  ///< queues whose head has arrived and asks for its reception FIFO
  u64 entering;              ///< queues whose head is not yet ready to ask
  u64 leaving;               ///< queues whose head is on its way to a sender
  u64 arriving;              ///< queues whose head is on its way to a reception FIFO
  u64 bypassing;             ///< of those, heads that came through the bypass channel: their tokens are back already
  u32 fault;
  u32 address;            ///< of the node
  u8 reception_room[14];  ///< chunks free in the reception FIFOs
  u8 links;               ///< directions whose link can take a packet, as bits
  u8 sending;             ///< directions whose sender has a packet, the tail of which has not left the node yet
};
static_assert(sizeof(NodeControl) == 120);

/// Fields of a node; V virtual channels of a link, S slots of the cycles ahead. VC sets are bits. Most of what
/// neighbours write lies among what the node itself uses: memory is what limits a large machine's speed.
struct NodeFields {
  Field<NodeControl> control;  ///< [1]
  Field<u32> neighbour;        ///< [6] node in each direction; a port's channels end at the opposite port
  Field<u32> head;  ///< [6][H] heads on their way here: VC + 1 where it comes to ask, its route in the 28 bits above
  Field<u64> returned;     ///< [6] a byte for each VC: tokens that the node gets when the link can take its next packet
  Field<Cycle> engaged;    ///< [6] until when, as far as is known here, the link to a receiver takes no packet
  Field<u16> tail_leaves;  ///< [6] lower half of the cycle in which the tail of what a link carries has left the node
  Field<u16> head_comes;   ///< [6][H] lower half of the cycle in which a head asks
  Field<u8> sender_takes;  ///< [6] the queue that what a link carries comes from
  Field<Levels> levels;    ///< [1]
  Field<u8> tokens;        ///< [6][V] free chunks in the neighbours' buffers
  Field<u8> tail;          ///< [6][V] ring places of the next packets there
  Field<u32> busy;         ///< [6] cycles in which a link has been occupied, modulo 2^32
  Field<Queue> queue;      ///< [6][V], then [8] injection FIFOs
  Field<SoftwareMail> from_software;  ///< [P] by cycle
  Field<u32> tokens_back;             ///< [S][6] a nibble for each VC: tokens that the node gets in a cycle
  Field<Packet> ring;                 ///< [6][sum of R] descriptors in the receivers' VCs
  Field<u64> blocked;                 ///< [1] with the gap: queues whose head had nowhere to go when it last asked

  bool operator==(const NodeFields&) const = default;
};

/// The sending end of a link that may spoil packets. Sequence numbers are modulo 256.
struct LinkSender {
  Cycle line_free;  ///< cycle from which on the wires can take a packet
  Cycle timeout;    ///< cycle in which all that is kept is sent again, unless an acknowledgment comes before
  Cycle alarm;      ///< when the calendar makes it look at that
  u32 crc;          ///< of all packets that have been acknowledged
  u8 next;          ///< sequence number of the next new packet
  u8 oldest;        ///< of the oldest one kept
  u8 again;         ///< of the one to be sent again next
  u8 repeating;
  u8 kept;  ///< chunks
  u8 pad[3];
};
static_assert(sizeof(LinkSender) == 24);

struct LinkReceiver {
  u32 crc;      ///< of all packets that have been taken
  u16 tail;     ///< cycle in which all of the packet that is coming will be here
  u8 expected;  ///< sequence number
  u8 coming;    ///< VC + 1 of the packet that is coming
  u8 hit;       ///< and what happened to it on the wires
  u8 pad[3];
};
static_assert(sizeof(LinkReceiver) == 12);

struct LinkEntry {
  Packet packet;
  u32 word;  ///< what its receiver gets of the head
  u32 pad[3];
};

struct LinkFields {
  Field<LinkSender> sender;      ///< [6]
  Field<LinkReceiver> receiver;  ///< [6]
  Field<LinkEntry> kept;         ///< [6][K] packets that have not been acknowledged, by sequence number modulo K; the
                                 ///< receivers take them from here
  Field<u64> ghosts;        ///< [1] queues from which a spoiled packet, or its copy, is leaving that is in no queue now
  Field<u16> acknowledged;  ///< [S][6] mail: 256 + the sequence number before which all has been taken
  Field<u32> checksum;      ///< [8] of what has left the injection FIFOs
};

/// Software of a node: one terminal.
struct SoftwareControl {
  Cycle next_put;   ///< pacing: cycle from which on it may put the next packet into a FIFO
  Cycle next_take;  ///< cycle from which on it may take the next packet out of a reception FIFO
  Cycle alarm;      ///< when the calendar wakes it for the next creation, or to look again how far that is
  u16 arrived;      ///< reception FIFOs that hold a packet
  u8 put;           ///< round-robin pointer over injection FIFOs
  u8 take;          ///< round-robin pointer over reception FIFOs
};
static_assert(sizeof(SoftwareControl) == 16);

struct InjectionFifo {
  SourceCursor cursor;  ///< next packet of an infinite FIFO
  u8 room;              ///< chunks
  u8 tail;              ///< ring place of the next packet
  u16 pad;
};
static_assert(sizeof(InjectionFifo) == 20);

struct ReceptionFifo {
  u8 first;  ///< ring place of the oldest packet
  u8 packets;
  u8 tail;
  u8 pad;
};

struct SoftwareFields {
  Field<SoftwareControl> control;  ///< [1]
  Field<InjectionFifo> injection;  ///< [8]
  Field<ReceptionFifo> reception;  ///< [14]
  Field<u32> space_mail;           ///< [2] a nibble for each injection FIFO: chunks that have left it
  Field<u64> arrival_mail;         ///< [2] a nibble for each reception FIFO: packets that have come
  Field<Packet> reception_ring;    ///< [14][E] descriptors
};

/// Who has something to do when. 64 nodes share an item, so that a look at all of them is a look at a few cache lines.
struct CalendarFields {
  Field<u8> heads;      ///< [S][64] a head comes to a node
  Field<u8> tokens;     ///< [S][64] tokens come
  Field<u64> heard;     ///< [P] as bits: nodes that software has something for
  Field<u64> again;     ///< [slots] nodes of which a link is free, or that look at their requests again
  Field<u64> queues;    ///< [slots] nodes in whose queues something ends or begins
  Field<u64> software;  ///< [slots] nodes whose software has something to do
  Field<u64> told;      ///< [2] the same, noted by the nodes for the next cycle: they work at the same time
};

enum class Order : u8 { kDimension, kDirection };

inline constexpr u32 kMostDead = 8;  ///< dead nodes

/// Hint bits that a configuration gives for packets between two addresses.
struct GivenHints {
  u32 from, to;
  u32 hints;
};

/// The plan. Names that sources use are those of every model's table.
struct Table {
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
  u8 bypass;
  u8 jsq;
  u8 gap;         ///< the one-cycle gap in the receivers' arbitration
  u8 statistics;  ///< 1: count tokens that free blocked packets
  u8 defer;       ///< 1: tokens that come while the link is taken wait for its end, since nobody can use them before
  u8 infinite_fifos;
  u32 fifos;               ///< normal injection FIFOs in use
  u32 slq_threshold;       ///< 32-bit draws below this make a cycle SLQ; kNone: every
  u32 network_threshold;   ///< ... favour packets that are in the network
  u32 dynamic_threshold;   ///< ... make a packet dynamic
  u32 priority_threshold;  ///< ... make it one of high priority
  u32 reception_groups;    ///< in use
  u32 put_interval;        ///< cycles of software per chunk put
  u32 take_interval;       ///< cycles of software per packet taken
  u32 fill_root;           ///< broadcast: who sends
  u32 fill_dims;           ///< 1: a line, 2: a plane
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
  Field<Packet> injection_ring_field;  ///< of a node: [8][I] descriptors in the injection FIFOs
  TerminalFields terminal_fields;
  SoftwareFields software_fields;
  CalendarFields calendar_fields;
  LinkFields link_fields;  ///< with the protocol only
};

/// Places of the fields in a node of the published machine, but for the last one.
constexpr NodeFields published_fields() {
  constexpr u32 vcs = 4, queues = kDirections * vcs + kInjectionFifos;
  NodeFields f{};
  f.neighbour.offset = sizeof(NodeControl);
  f.head.offset = f.neighbour.offset + 4 * kDirections;
  f.returned.offset = f.head.offset + 4 * kDirections;
  f.engaged.offset = f.returned.offset + 8 * kDirections;
  f.tail_leaves.offset = f.engaged.offset + 4 * kDirections;
  f.head_comes.offset = f.tail_leaves.offset + 2 * kDirections;
  f.sender_takes.offset = f.head_comes.offset + 2 * kDirections;
  f.levels.offset = (f.sender_takes.offset + kDirections + 7) / 8 * 8;
  f.tokens.offset = f.levels.offset + sizeof(Levels);
  f.tail.offset = f.tokens.offset + kDirections * vcs;
  f.busy.offset = (f.tail.offset + kDirections * vcs + 3) / 4 * 4;
  f.queue.offset = f.busy.offset + 4 * kDirections;
  f.from_software.offset = (f.queue.offset + queues * sizeof(Queue) + 7) / 8 * 8;
  f.tokens_back.offset = f.from_software.offset + 4 * sizeof(SoftwareMail);
  f.ring.offset = (f.tokens_back.offset + 32 * 4 * kDirections + 15) / 16 * 16;
  return f;
}

static_assert(published_fields().queue.offset + kDirections * 4 * sizeof(Queue) == 9 * 64);  // what a visit needs

/// The machine as published, its numbers known at compile time: the constants hide the members of the same name.
struct PublishedTable : Table {
  PublishedTable() = default;
  explicit PublishedTable(const Table& table) : Table(table) {}

  static constexpr u32 dims = 3, vcs = 4, dynamic_vcs = 2, escape_vcs = 1, high_vc = 3;
  static constexpr u8 dynamic_set = 0b0011, bubble_set = 0b1100, full_size_set = 0b1100;
  static constexpr Order order = Order::kDimension;
  static constexpr u32 slot_mask = 31, head_slots = 1, software_mask = 3, calendar_slots = 512, paths = 2;
  static constexpr u8 gap = 0, statistics = 0, protocol = 0, defer = 1;
  static constexpr NodeFields node_fields = published_fields();

  /// Whether these constants describe a table; its layout is compared, not assumed.
  static bool fits(const Table& t) {
    NodeFields fields = t.node_fields;
    fields.blocked = {};  // unused
    return fields == node_fields && t.dims == dims && t.vcs == vcs && t.dynamic_vcs == dynamic_vcs &&
           t.escape_vcs == escape_vcs && t.full_size_set == full_size_set && t.order == order &&
           t.slot_mask == slot_mask && t.head_slots == head_slots && t.software_mask == software_mask &&
           t.calendar_slots == calendar_slots && t.paths == paths && !t.gap && !t.statistics && !t.protocol && t.defer;
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
struct View {
  using Table = T;
  static constexpr int width = W;
  static constexpr bool traced = Traced;
  T t;
  Items<W> nodes;
  Items<W> terminals;
  Items<W> calendar;
  const ReplicaRow* row;
  CounterShard* shard;
  EventLog log;
};

template <class V, int W>
FLITLAB_INLINE Queue& queue_at(const V& v, const Item<W>& node, u32 queue) {
  return node.at(v.t.node_fields.queue, (queue >> 3) * v.t.vcs + (queue & 7));
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
    return node.at(t.injection_ring_field, (queue - kInjectionQueue) * t.injection_ring + place);
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
