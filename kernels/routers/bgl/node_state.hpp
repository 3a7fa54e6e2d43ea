#pragma once
/// State of a Blue Gene/L node: its records, and the fields that consist of them. The unit of flow control, the flit,
/// is a chunk of 32 bytes; a cycle is the time in which a link carries one byte.
#include "kernels/common/fields.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/packet.hpp"
#include "kernels/traffic/terminal_state.hpp"

namespace flitlab::bgl {

inline constexpr u32 kDirections = 6;      ///< x+, x-, y+, y-, z+, z-: as the hint bits, and as Topology's ports
inline constexpr u32 kMaxVcs = 8;          ///< per link
inline constexpr u32 kInjectionFifos = 8;  ///< 6 normal, then 2 of high priority
inline constexpr u32 kNormalFifos = 6;
inline constexpr u32 kReceptionFifos = 14;  ///< two groups of one per direction and one of high priority
inline constexpr u32 kFullPacket = 8;       ///< chunks of the longest packet
inline constexpr u32 kChunkBytes = 32;
inline constexpr u32 kProcessorCycles = 4;      ///< of a processor in a cycle
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
  FLITLAB_MEMBERS(Queue,
    (u16, route, "", "Route of the packet at the head"),
    (u16, until, "cycle",
      "the head arrives: cycle in which its tail has left; it is not yet ready: from when on it is"),
    (u8, first, "", "the head's place in the ring"),
    (u8, packets, "packets", "in the queue"),
    (u8, held, "chunks", "of its packets"),
    (u8, direction, "", "in which the head is leaving, or wants to", 4),
    (u8, vc, "", "on which the head is leaving, or wants to", 4))
};
static_assert(sizeof(Queue) == 8);

/// VCs of all links by what tokens there are, as sets like those of queues: a byte for each direction.
struct Levels {
  FLITLAB_MEMBERS(Levels,
    (u64, open, "", "VCs with tokens for a packet of full size"),
    (u64, roomy, "", "VCs with tokens for two of them"),
    (u64[3], fuller, "", "VCs in range 1, 2, or 3 of four, or above it"))
};

/// What software has for its node in a cycle.
struct SoftwareMail {
  FLITLAB_MEMBERS(SoftwareMail,
    (u64, taken, "", "a nibble for each reception FIFO: chunks that it has taken"),
    (u64, put, "", "injection FIFOs that a packet has been put into, as bits"))
};

struct NodeControl {
  FLITLAB_MEMBERS(NodeControl,
    (u64, waiting, "", "queues whose head asks for a link"),
    (u64[kDirections], wanting, "", "of these, and of others, those that may go in each direction"),
    (u64, here, "", "queues whose head has arrived and asks for its reception FIFO"),
    (u64, entering, "", "queues whose head is not yet ready to ask"),
    (u64, leaving, "", "queues whose head is on its way to a sender"),
    (u64, arriving, "", "queues whose head is on its way to a reception FIFO"),
    (u64, bypassing, "", "of those, heads that came through the bypass channel: their tokens are back already"),
    (u32, fault, "", "Fault bits"),
    (u32, address, "", "of the node"),
    (u8[14], reception_room, "chunks", "free in the reception FIFOs"),
    (u8, links, "", "directions whose link can take a packet, as bits"),
    (u8, sending, "", "directions whose sender has a packet, the tail of which has not left the node yet"))
};
static_assert(sizeof(NodeControl) == 120);

/// Fields of a node. VC sets are bits. Most of what neighbours write lies among what the node itself uses: memory is
/// what limits a large machine's speed.
struct NodeFields {
  FLITLAB_FIELDS(NodeFields,
    (NodeControl, control, 1, "", "sets of queues"),
    (u32, neighbour, kDirections, "", "[direction] node there; a port's channels end at the opposite port"),
    (u32, head, kDirections * t.head_slots, "",
      "[direction][head slot] heads on their way here: VC + 1 where it comes to ask, its route in the 28 bits above"),
    (u64, owed, kDirections * t.acks, "chunks",
      "[direction] a byte for each VC: tokens for the neighbour that wait for a token packet"),
    (u64, returned, kDirections * t.defer, "chunks",
      "[direction] a byte for each VC: tokens that the node gets when the link can take its next packet"),
    (Cycle, engaged, kDirections * t.defer, "cycle",
      "[direction] until when, as far as is known here, the link to a receiver takes no packet"),
    (u16, tail_leaves, kDirections, "cycle",
      "[direction] lower half of the cycle in which the tail of what a link carries has left the node"),
    (u16, head_comes, kDirections * t.head_slots, "cycle",
      "[direction][head slot] lower half of the cycle in which a head asks"),
    (u8, sender_takes, kDirections, "", "[direction] the queue that what a link carries comes from"),
    (Levels, levels, 1, "", "sets of VCs by what tokens there are"),
    (u8, tokens, kDirections * t.vcs, "chunks", "[direction][VC] free in the neighbours' buffers"),
    (u8, tail, kDirections * t.vcs, "", "[direction][VC] ring places of the next packets there"),
    (u32, busy, kDirections, "cycles", "[direction] in which a link has been occupied, modulo 2^32"),
    (Queue, queue, kDirections * t.vcs + kInjectionFifos, "", "[direction][VC], then the injection FIFOs"),
    (SoftwareMail, from_software, t.software_mask + 1, "", "[cycle] what software has for the node"),
    (u32, tokens_back, (t.slot_mask + 1) * kDirections, "chunks",
      "[slot][direction] a nibble for each VC: tokens that the node gets in a cycle"),
    (Packet, ring, kDirections * t.rings, "", "[direction][place] descriptors in the receivers' VCs"),
    (u64, blocked, t.gap, "", "with the gap: queues whose head had nowhere to go when it last asked"))
};

struct InjectionFields {
  FLITLAB_FIELDS(InjectionFields,
    (Packet, ring, kInjectionFifos * t.injection_ring, "", "[FIFO][place] descriptors in the injection FIFOs",
      "injection_ring"))
};

/// The sending end of a link that may spoil packets. Sequence numbers are modulo 256.
struct LinkSender {
  FLITLAB_MEMBERS(LinkSender,
    (Cycle, line_free, "cycle", "cycle from which on the wires can take a packet"),
    (Cycle, timeout, "cycle", "cycle in which all that is kept is sent again, unless an acknowledgment comes before"),
    (Cycle, alarm, "cycle", "when the calendar makes it look at that"),
    (u32, crc, "", "of all packets that have been acknowledged"),
    (u8, next, "", "sequence number of the next new packet"),
    (u8, oldest, "", "sequence number of the oldest one kept"),
    (u8, again, "", "sequence number of the one to be sent again next"),
    (u8, repeating, "", "1: packets are being sent again"),
    (u8, kept, "chunks", "of packets that have not been acknowledged"),
    (u8[3], pad))
};
static_assert(sizeof(LinkSender) == 24);

struct LinkReceiver {
  FLITLAB_MEMBERS(LinkReceiver,
    (u32, crc, "", "of all packets that have been taken"),
    (u16, tail, "cycle", "lower half of the cycle in which all of the packet that is coming will be here"),
    (u8, expected, "", "sequence number of the next packet"),
    (u8, coming, "", "VC + 1 of the packet that is coming"),
    (u8, hit, "", "what happened to that packet on the wires"),
    (u8[3], pad))
};
static_assert(sizeof(LinkReceiver) == 12);

struct LinkEntry {
  FLITLAB_MEMBERS(LinkEntry,
    (Packet, packet, "", "its descriptor"),
    (u32, word, "", "what its receiver gets of the head"),
    (u32[3], pad))
};

/// What receivers are to say to the senders at the other ends, where acknowledgments are packets.
struct LinkBack {
  FLITLAB_MEMBERS(LinkBack,
    (u64, ever, "", "VCs that have returned tokens, as a set of queues"),
    (u64, lately, "", "of these, those of which the sender has been told since the round began"),
    (u64, overdue, "", "those of which it will be told once more"),
    (Cycle, round, "cycle", "when the next round begins: those not heard of in this one are overdue then"),
    (Cycle, alarm, "cycle", "when the calendar makes it look at that"),
    (u8, owes, "", "receivers that have taken a packet and not acknowledged it, as bits"),
    (u8[7], pad))
};
static_assert(sizeof(LinkBack) == 40);

/// With the protocol only.
struct LinkFields {
  FLITLAB_FIELDS(LinkFields,
    (LinkSender, sender, kDirections, "", "[direction] sending ends of links", "link_sender"),
    (LinkReceiver, receiver, kDirections, "", "[direction] receiving ends", "link_receiver"),
    (LinkEntry, kept, kDirections * t.kept_packets, "",
      "[direction][sequence number modulo the places] packets that have not been acknowledged; the receivers take them "
      "from here"),
    (u64, ghosts, 1, "", "queues from which a spoiled packet, or its copy, is leaving that is in no queue now"),
    (u32, acknowledged, (t.slot_mask + 1) * kDirections, "",
      "[slot][direction] mail: the sequence number before which all has been taken, and tokens of a VC"),
    (LinkBack, back, t.acks, "", "what receivers are to say to the other ends", "link_back"),
    (u8, given_back, kDirections * t.vcs * t.acks, "chunks",
      "[direction][VC] tokens that token packets have returned since the start, modulo 256"),
    (u8, taken_back, kDirections * t.vcs * t.acks, "chunks",
      "[direction][VC] of those of the other end, what is known here"),
    (u32, checksum, kInjectionFifos, "", "[FIFO] of what has left the injection FIFOs"))
};

/// Software of a node: one terminal.
struct SoftwareControl {
  FLITLAB_MEMBERS(SoftwareControl,
    (Cycle, next_put, "cycle", "pacing: cycle from which on it may put the next packet into a FIFO"),
    (Cycle, next_take, "cycle", "cycle from which on it may take the next packet out of a reception FIFO"),
    (Cycle, alarm, "cycle", "when the calendar wakes it for the next creation, or to look again how far that is"),
    (u16, arrived, "", "reception FIFOs that hold a packet"),
    (u8, put, "", "round-robin pointer over injection FIFOs"),
    (u8, take, "", "round-robin pointer over reception FIFOs"))
};
static_assert(sizeof(SoftwareControl) == 16);

struct InjectionFifo {
  FLITLAB_MEMBERS(InjectionFifo,
    (SourceCursor, cursor, "", "next packet of an infinite FIFO"),
    (u8, room, "chunks", "free"),
    (u8, tail, "", "ring place of the next packet"),
    (u16, pad))
};
static_assert(sizeof(InjectionFifo) == 20);

struct ReceptionFifo {
  FLITLAB_MEMBERS(ReceptionFifo,
    (u8, first, "", "ring place of the oldest packet"),
    (u8, packets, "packets", "held"),
    (u8, tail, "", "ring place of the next packet"),
    (u8, pad))
};

/// A processor that needs time for packets.
struct Processor {
  FLITLAB_MEMBERS(Processor,
    (Packet, packet, "", "that it puts into an injection FIFO, where there is room for it"),
    (Cycle, until, "cycle", "when it is done"),
    (u8, task, "", "0: none; 1: it puts a packet; 2: it takes one"),
    (u8, fifo, "", "into which, or out of which"),
    (u8[10], pad))
};

/// They lie before the fields of traces and programs.
struct SoftwareFields {
  FLITLAB_FIELDS(SoftwareFields,
    (SoftwareControl, control, 1, "", "what the processors do next", "software"),
    (InjectionFifo, injection, kInjectionFifos, "", "[FIFO] as software sees them"),
    (ReceptionFifo, reception, kReceptionFifos, "", "[FIFO] as software sees them"),
    (u32, space_mail, 2, "chunks", "[cycle] a nibble for each injection FIFO: what has left it"),
    (u64, arrival_mail, 2, "packets", "[cycle] a nibble for each reception FIFO: what has come"),
    (Processor, processor, t.processors, "", "[processor] what it is doing"))
};

/// They lie behind those.
struct ReceptionFields {
  FLITLAB_FIELDS(ReceptionFields,
    (Packet, ring, kReceptionFifos * t.reception_ring, "", "[FIFO][place] descriptors in the reception FIFOs",
      "reception_ring"))
};

/// Who has something to do when. 64 nodes share an item, so that a look at all of them is a look at a few cache lines.
struct CalendarFields {
  FLITLAB_FIELDS(CalendarFields,
    (u8, heads, (t.slot_mask + 1) * 64, "", "[slot][node] a head comes to it"),
    (u8, tokens, (t.slot_mask + 1) * 64, "", "[slot][node] tokens come"),
    (u64, heard, t.software_mask + 1, "", "[cycle] as bits: nodes that software has something for"),
    (u64, again, t.calendar_slots, "", "[cycle] nodes of which a link is free, or that look at their requests again"),
    (u64, queues, t.calendar_slots, "", "[cycle] nodes in whose queues something ends or begins"),
    (u64, software, t.calendar_slots, "", "[cycle] nodes whose software has something to do"),
    (u64, told, 2, "", "[cycle] the same, noted by the nodes for the next cycle: they work at the same time"))
};

}  // namespace flitlab::bgl
