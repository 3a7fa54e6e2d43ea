#pragma once
/// State of a Blue Gene/L node: its structs and fields. A flit is a chunk of 32 bytes; a cycle is the time in which a
/// link carries one byte.
#include "kernels/common/fields.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/packet.hpp"
#include "kernels/traffic/terminal_state.hpp"

namespace flitlab::bgl {

inline constexpr u32 kDirections = 6;      ///< x+, x-, y+, y-, z+, z-: order of hint bits and of Topology's ports
inline constexpr u32 kMaxVcs = 8;          ///< virtual channels of a link
inline constexpr u32 kInjectionFifos = 8;  ///< 6 normal, then 2 of high priority
inline constexpr u32 kNormalFifos = 6;
inline constexpr u32 kReceptionFifos = 14;  ///< two groups of seven: one for each direction and one of high priority
inline constexpr u32 kFullPacket = 8;       ///< chunks of the longest packet
inline constexpr u32 kChunkBytes = 32;
inline constexpr u32 kProcessorCycles = 4;      ///< processor cycles in a cycle
inline constexpr u32 kReception = kDirections;  ///< Queue::direction of a head at its destination

/// A queue is a receiver's VC or an injection FIFO. A set of queues is a 64-bit word: a byte for each receiver with
/// a bit for each VC, then a byte for the injection FIFOs.
inline constexpr u32 kInjectionQueue = 8 * kDirections;
FLITLAB_HD constexpr u32 queue_of(u32 receiver, u32 vc) { return 8 * receiver + vc; }
FLITLAB_HD constexpr u64 bit(u32 queue) { return u64{1} << queue; }

/// Returns a set of directions with each bit moved to the lowest bit of the direction's byte.
FLITLAB_HD constexpr u64 spread(u32 directions) {
  return (u64{directions & 0x3F} * 0x0000000810204081ull & 0x0000010101010101ull);
}

/// Header fields that the arbiters use: Packet::route_bits and dst_port as one word.
enum Route : u16 {
  kHints = 0x3F,       ///< hint bits: directions in which the packet may still go
  kDynamic = 1u << 6,  ///< may use the dynamic VCs
  kHighPriority = 1u << 7,
  kDeposit = 1u << 8,      ///< broadcast along a line: every node on the way keeps a copy
  kSecondGroup = 1u << 9,  ///< goes to the second group of reception FIFOs
  kCrossed = 1u << 10,     ///< has crossed the dateline in x; the next two bits: in y and z; then the length
};

FLITLAB_HD inline u16 route_of(const Packet& packet) {
  return static_cast<u16>(packet.route_bits | packet.dst_port << 8);
}
FLITLAB_HD inline void set_route(Packet& packet, u16 route) {
  packet.route_bits = static_cast<u8>(route);
  packet.dst_port = static_cast<u8>(route >> 8);
}

/// The upper three bits of a route word: the packet's chunks - 1.
inline constexpr u32 kLengthShift = 13;
FLITLAB_HD constexpr u32 chunks_of(u16 route) { return (route >> kLengthShift) + 1u; }

struct Queue {
  FLITLAB_MEMBERS(Queue,
    (u16, route, "", "Route of the packet at the head"),
    (u16, until, "cycle",
      "lower half; if the head goes to reception: its tail has left; if not yet ready: it can request"),
    (u8, first, "", "index of the head in the circular buffer"),
    (u8, packets, "packets", "in the queue"),
    (u8, held, "chunks", "of all its packets"),
    (u8, direction, "", "in which the head leaves or last requested to leave", 4),
    (u8, vc, "", "on which the head leaves or last requested to leave", 4))
};
static_assert(sizeof(Queue) == 8);

/// Sets of VCs by available tokens: a byte for each direction with a bit for each VC.
struct Levels {
  FLITLAB_MEMBERS(Levels,
    (u64, open, "", "VCs with tokens for a full packet"),
    (u64, roomy, "", "VCs with tokens for two full packets"),
    (u64[3], fuller, "", "[i] VCs whose tokens are in range i + 1 of four (0 to 3) or above"))
};

/// Inbox for those actions of software that reach the node in the same cycle.
struct SoftwareActions {
  FLITLAB_MEMBERS(SoftwareActions,
    (u64, taken, "", "a nibble for each reception FIFO: chunks that software took"),
    (u64, put, "", "set of injection FIFOs into which software put a packet"))
};

struct NodeControl {
  FLITLAB_MEMBERS(NodeControl,
    (u64, waiting, "", "queues whose head requests a link"),
    (u64[kDirections], wanting, "", "[direction] queues whose head may go there; valid for queues in waiting only"),
    (u64, here, "", "queues whose head is at its destination and requests its reception FIFO"),
    (u64, entering, "", "queues whose head is not yet ready to request"),
    (u64, leaving, "", "queues whose head is moving to a sender"),
    (u64, arriving, "", "queues whose head is moving to a reception FIFO"),
    (u64, bypassing, "", "of leaving and arriving: heads on the bypass channel, whose tokens were returned at once"),
    (u32, fault, "", "Fault bits"),
    (u32, address, "", "packed coordinates of the node"),
    (u8[14], reception_room, "chunks", "[FIFO] free in the reception FIFOs"),
    (u8, links, "", "set of directions whose link can take a packet"),
    (u8, sending, "", "set of directions whose sender has a packet whose tail has not left the node"))
};
static_assert(sizeof(NodeControl) == 120);

/// Fields of a node. Most fields that neighbours write lie beside the fields that the node itself uses, because memory
/// bandwidth limits the speed of large machines.
struct NodeFields {
  FLITLAB_FIELDS(NodeFields,
    (NodeControl, control, 1, "", "sets of queues"),
    (u32, neighbour, kDirections, "", "[direction] neighbouring node; links end at the opposite port"),
    (u32, head, kDirections * t.head_slots, "",
      "[direction][head slot] inbox for heads: VC + 1 here in 4 bits, then the route; 0: no head"),
    (u64, owed, kDirections * t.acks, "chunks",
      "[direction] a byte for each VC: tokens to be returned to the neighbour by a token packet"),
    (u64, returned, kDirections * t.defer, "chunks",
      "[direction] a byte for each VC: tokens that the node receives when its link is free"),
    (Cycle, engaged, kDirections * t.defer, "cycle",
      "[direction] end of the link's time for the packet that arrived last"),
    (u16, tail_leaves, kDirections, "cycle",
      "[direction] lower half of the cycle in which the tail of the packet on the link has left"),
    (u16, head_comes, kDirections * t.head_slots, "cycle",
      "[direction][head slot] lower half of the cycle of a head's first request"),
    (u8, sender_takes, kDirections, "", "[direction] queue of the packet on the link"),
    (Levels, levels, 1, "", "sets of VCs by available tokens"),
    (u8, tokens, kDirections * t.vcs, "chunks", "[direction][VC] free in the neighbours' buffers"),
    (u8, tail, kDirections * t.vcs, "", "[direction][VC] index of the next packet in the neighbour's circular buffer"),
    (u32, busy, kDirections, "cycles", "[direction] in which the link was busy, modulo 2^32"),
    (Queue, queue, kDirections * t.vcs + kInjectionFifos, "", "[direction][VC], then the injection FIFOs"),
    (SoftwareActions, from_software, t.software_mask + 1, "", "[cycle] inbox for software's actions"),
    (u32, tokens_back, (t.slot_mask + 1) * kDirections, "chunks",
      "[slot][direction] inbox, a nibble for each VC: tokens that arrive in the slot's cycle"),
    (Packet, ring, kDirections * t.rings, "", "[direction][index] descriptors in the receivers' VCs"),
    (u64, blocked, t.gap, "", "with the arbitration gap: queues whose head could go nowhere when last examined"))
};

struct InjectionFields {
  FLITLAB_FIELDS(InjectionFields,
    (Packet, ring, kInjectionFifos * t.injection_ring, "", "[FIFO][index] descriptors in the injection FIFOs",
      "injection_ring"))
};

/// Sending end of a link with the protocol. Sequence numbers are modulo 256.
struct LinkSender {
  FLITLAB_MEMBERS(LinkSender,
    (Cycle, line_free, "cycle", "cycle from which the link can take a packet"),
    (Cycle, timeout, "cycle", "when all kept packets are retransmitted, unless an acknowledgment arrives earlier"),
    (Cycle, alarm, "cycle", "when the calendar wakes the node to check the time-out"),
    (u32, crc, "", "of all acknowledged packets"),
    (u8, next, "", "sequence number of the next new packet"),
    (u8, oldest, "", "sequence number of the oldest kept packet"),
    (u8, again, "", "sequence number of the packet to be retransmitted next"),
    (u8, repeating, "", "1: retransmission is in progress"),
    (u8, kept, "chunks", "of packets not yet acknowledged"),
    (u8[3], pad))
};
static_assert(sizeof(LinkSender) == 24);

struct LinkReceiver {
  FLITLAB_MEMBERS(LinkReceiver,
    (u32, crc, "", "of all accepted packets"),
    (u16, tail, "cycle", "lower half of the cycle in which the arriving packet is complete"),
    (u8, expected, "", "sequence number of the next packet"),
    (u8, coming, "", "VC + 1 of the arriving packet; 0: no packet"),
    (u8, hit, "", "Hit of that packet"),
    (u8[3], pad))
};
static_assert(sizeof(LinkReceiver) == 12);

struct LinkEntry {
  FLITLAB_MEMBERS(LinkEntry,
    (Packet, packet, "", "descriptor of the kept packet"),
    (u32, word, "", "head word that its receiver gets"),
    (u32[3], pad))
};

/// Acknowledgments and token counts that a node's receivers have to send back, if acknowledgments are packets. Time is
/// divided into rounds of `idle_acks` cycles. If a VC that has ever returned tokens returns none during a round, the
/// receiver repeats the token count of that VC.
struct LinkBack {
  FLITLAB_MEMBERS(LinkBack,
    (u64, ever, "", "set of queues: VCs that have ever returned tokens"),
    (u64, lately, "", "of these: VCs whose count was sent since the round began"),
    (u64, overdue, "", "VCs whose count has to be repeated"),
    (Cycle, round, "cycle", "when the next round begins; VCs in ever and not in lately become overdue then"),
    (Cycle, alarm, "cycle", "when the calendar wakes the node to check the round"),
    (u8, owes, "", "set of receivers that have accepted a packet and not acknowledged it"),
    (u8[7], pad))
};
static_assert(sizeof(LinkBack) == 40);

/// Fields of a node that exist only with the link protocol.
struct LinkFields {
  FLITLAB_FIELDS(LinkFields,
    (LinkSender, sender, kDirections, "", "[direction] sending ends of links", "link_sender"),
    (LinkReceiver, receiver, kDirections, "", "[direction] receiving ends", "link_receiver"),
    (LinkEntry, kept, kDirections * t.kept_packets, "",
      "[direction][sequence number modulo their count] packets not yet acknowledged; receivers copy them from here"),
    (u64, ghosts, 1, "", "queues from which a corrupted packet, or invalid copy, still moves after its removal"),
    (u32, acknowledged, (t.slot_mask + 1) * kDirections, "",
      "[slot][direction] inbox: the next expected sequence number, and tokens of a VC"),
    (LinkBack, back, t.acks, "", "acknowledgments to be sent", "link_back"),
    (u8, given_back, kDirections * t.vcs * t.acks, "chunks",
      "[direction][VC] tokens that this node's token packets have returned since the start, modulo 256"),
    (u8, taken_back, kDirections * t.vcs * t.acks, "chunks",
      "[direction][VC] the neighbour's given_back, as received last"),
    (u32, checksum, kInjectionFifos, "", "[FIFO] of the packets that left the injection FIFOs"))
};

/// Software of a node: one terminal.
struct SoftwareControl {
  FLITLAB_MEMBERS(SoftwareControl,
    (Cycle, next_put, "cycle", "pacing: earliest cycle in which it may put the next packet into a FIFO"),
    (Cycle, next_take, "cycle", "earliest cycle in which it may take the next packet out of a reception FIFO"),
    (Cycle, alarm, "cycle", "when the calendar wakes it for the next creation, or to set a later alarm"),
    (u16, arrived, "", "set of reception FIFOs that hold a packet"),
    (u8, put, "", "round-robin pointer over injection FIFOs"),
    (u8, take, "", "round-robin pointer over reception FIFOs"))
};
static_assert(sizeof(SoftwareControl) == 16);

struct InjectionFifo {
  FLITLAB_MEMBERS(InjectionFifo,
    (SourceCursor, cursor, "", "next packet of an infinite FIFO; broadcast: index of the next packet of its colour"),
    (u8, room, "chunks", "free"),
    (u8, tail, "", "index of the next packet in the circular buffer"),
    (u16, pad))
};
static_assert(sizeof(InjectionFifo) == 20);

struct ReceptionFifo {
  FLITLAB_MEMBERS(ReceptionFifo,
    (u8, first, "", "index of the oldest packet in the circular buffer"),
    (u8, packets, "packets", "in the FIFO"),
    (u8, tail, "", "index of the next packet in the circular buffer"),
    (u8, pad))
};

/// A processor of a node whose software needs time for packets.
struct Processor {
  FLITLAB_MEMBERS(Processor,
    (Packet, packet, "", "that it puts into an injection FIFO with space reserved for it"),
    (Cycle, until, "cycle", "when its task ends"),
    (u8, task, "", "0: idle; 1: puts a packet; 2: takes a packet"),
    (u8, fifo, "", "FIFO of the task"),
    (u8[10], pad))
};

/// Fields of a terminal, before the fields of traces and programs.
struct SoftwareFields {
  FLITLAB_FIELDS(SoftwareFields,
    (SoftwareControl, control, 1, "", "software's timers and FIFO pointers", "software"),
    (InjectionFifo, injection, kInjectionFifos, "", "[FIFO] injection FIFOs as seen by software"),
    (ReceptionFifo, reception, kReceptionFifos, "", "[FIFO] reception FIFOs as seen by software"),
    (u32, space_mail, 2, "chunks", "[cycle] inbox, a nibble for each injection FIFO: chunks that left it"),
    (u64, arrival_mail, 2, "packets", "[cycle] inbox, a nibble for each reception FIFO: packets that arrived"),
    (Processor, processor, t.processors, "", "[processor] current task"))
};

/// Fields of a terminal, after the fields of traces and programs.
struct ReceptionFields {
  FLITLAB_FIELDS(ReceptionFields,
    (Packet, ring, kReceptionFifos * t.reception_ring, "", "[FIFO][index] descriptors in the reception FIFOs",
      "reception_ring"))
};

/// The calendar: the nodes that have an event in a cycle, and the nodes whose software has one. 64 nodes share an item,
/// so that a test of all nodes reads only a few cache lines.
struct CalendarFields {
  FLITLAB_FIELDS(CalendarFields,
    (u8, heads, (t.slot_mask + 1) * 64, "", "[slot][node] a head arrives"),
    (u8, tokens, (t.slot_mask + 1) * 64, "", "[slot][node] tokens or acknowledgments arrive"),
    (u64, heard, t.software_mask + 1, "", "[cycle] set of nodes for which software has put or taken packets"),
    (u64, again, t.calendar_slots, "", "[cycle] set of nodes where a link becomes free or requests are repeated"),
    (u64, queues, t.calendar_slots, "", "[cycle] set of nodes where a transfer ends or a head becomes ready"),
    (u64, software, t.calendar_slots, "", "[cycle] set of nodes whose software has work"),
    (u64, told, 2, "", "[cycle] the same, entered by the nodes for the next cycle, in parallel to software"))
};

}  // namespace flitlab::bgl
