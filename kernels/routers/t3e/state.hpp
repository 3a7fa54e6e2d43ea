#pragma once
/// State and plan of the T3E's router. One cycle is one 75 MHz system clock, in which a link carries one flit.
#include "kernels/common/counters.hpp"
#include "kernels/common/events.hpp"
#include "kernels/common/fault.hpp"
#include "kernels/common/fields.hpp"
#include "kernels/common/inbox.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/packet.hpp"
#include "kernels/common/peer.hpp"
#include "kernels/common/select.hpp"
#include "kernels/common/view.hpp"
#include "kernels/engines/engine_cost.hpp"
#include "kernels/routers/t3e/barrier_state.hpp"
#include "kernels/routers/t3e/special_state.hpp"
#include "kernels/traffic/terminal_state.hpp"
#include "kernels/traffic/traffic.hpp"

namespace flitlab::t3e {

/// Directions, in the order in which deterministic packets take them and in which R_CHAN and R_VCSEL are numbered
/// (manual, Tables 9 and 17): +X +Y +Z -X -Y -Z. The number of a port is the number of the direction in which the port
/// leads by the nodes' coordinates. Whether the port is called X0 or X1 depends on the wiring (Table::wired).
inline constexpr u32 kDirections = 6;
inline constexpr u32 kMinusZ = 5;
inline constexpr u32 kNodePort = 6;  ///< port to the PE
inline constexpr u32 kIoPort = 7;    ///< port to an I/O device, at the nodes in io.nodes
inline constexpr u32 kPorts = 8;
FLITLAB_HD constexpr bool is_terminal_port(u32 port) { return port >= kNodePort; }

FLITLAB_HD constexpr u32 opposite(u32 direction) { return select(direction < 3, direction + 3, direction - 3); }
FLITLAB_HD constexpr u32 dimension_of(u32 direction) { return select(direction < 3, direction, direction - 3); }
/// Returns the port of a direction, or the direction of a port, where + and - of the dimensions in `turned` (bits) are
/// exchanged.
FLITLAB_HD constexpr u32 oriented(u32 turned, u32 direction) {
  if (!turned) return direction;  // the common case
  return direction < kDirections && (turned >> dimension_of(direction) & 1) ? opposite(direction) : direction;
}

/// Virtual channels of a link: request 0 and 1, response 0 and 1, then the adaptive ones (paper, sections 3.3 and 5).
/// The ports of PE and I/O device have only the first four.
inline constexpr u32 kDeterministicVcs = 4;
inline constexpr u32 kMaxVcs = 8;

inline constexpr u32 kLongestPacket = 10;  ///< flits; paper, section 1

/// Returns the bit of a VC in a 64-bit set of a router's VCs: eight bits per port.
FLITLAB_HD constexpr u32 bit_of(u32 port, u32 vc) { return port * 8 + vc; }
inline constexpr u8 kNoVc = 0xFF;
/// Returns `vc` if the condition holds, else kNoVc.
FLITLAB_HD constexpr u8 vc_if(bool condition, u32 vc) { return static_cast<u8>(vc | (u32{condition} - 1)); }

/// A physical node number as in R_PWHO (manual, Table 4): X in bits 2:0, Y in 12:8, Z in 19:16.
FLITLAB_HD constexpr u32 pack_address(u32 x, u32 y, u32 z) { return x | y << 8 | z << 16; }
FLITLAB_HD constexpr u32 ordinate(u32 address, u32 dim) { return (address >> (dim * 8)) & 0xFF; }

/// A routing tag: an entry of R_NET_LUT, which routes a packet to its destination. The manual's Table 12 is lost, so
/// the bit positions are flitlab's: X_ADR 2:0, X_SGN 3, Y_ADR 8:4, Y_SGN 9, Z_ADR 13:10, Z_SGN 14, INITIAL_HOP 16:15
/// (0, 1, 2: +X, +Y, +Z; 3: no initial hop), FINAL_HOP 17, ADAPT 18.
using Tag = u32;
inline constexpr u32 kNoHop = 3;
FLITLAB_HD constexpr u32 tag_address(Tag tag) { return pack_address(tag & 7, tag >> 4 & 31, tag >> 10 & 15); }
FLITLAB_HD constexpr u32 tag_signs(Tag tag) { return (tag >> 3 & 1) | (tag >> 9 & 1) << 1 | (tag >> 14 & 1) << 2; }
FLITLAB_HD constexpr u32 tag_initial(Tag tag) { return tag >> 15 & 3; }
FLITLAB_HD constexpr u32 tag_final(Tag tag) { return tag >> 17 & 1; }
FLITLAB_HD constexpr u32 tag_adapt(Tag tag) { return tag >> 18 & 1; }

/// Bits of Packet::route_bits: the packet's copy of its routing tag. The address in the tag is copied to Packet::dst.
inline constexpr u32 kSignBits = 0x07;  ///< bit d: dimension d is travelled in the - direction
inline constexpr u32 kInitialShift = 3;
inline constexpr u32 kInitialBits = 0x18;  ///< the initial hop still to be made, or kNoHop
inline constexpr u32 kFinalBit = 0x20;     ///< a final hop is still to be made
inline constexpr u32 kAdaptBit = 0x40;

/// Registers that the routing function reads for every packet.
struct Registers {
  FLITLAB_MEMBERS(Registers,
    (u32, pwho, "", "R_PWHO: physical number of this node"),
    (Tag, override_tag, "", "R_LUT_OVERRIDE: the tag of mode 3"),
    (u16, lwho, "", "R_LWHO and L_WHOAMI: logical number of this PE"),
    (u8, lut_mode, "", "R_LUT_OVERRIDE: mode 0 to 3 of the R_NET_LUT"),
    (u8, turned, "", "R_ORIENT exclusive or wiring: dimensions whose + leads to lower coordinates (bits)"),
    (u16[6], vcsel, "", "[direction] R_VCSEL: SELECT in bits 7:0, DATELINE in bit 8 (bit 32 in the machine)"),
    (u8[8], chan, "", "[channel] R_CHAN: IGNORE_NORMAL 1, IGNORE_SPCL 2, NO_ADAPT 4, NO_FAST 8"))
};
static_assert(sizeof(Registers) == 32);

/// Registers that only software and special packets use.
struct SoftwareRegisters {
  FLITLAB_MEMBERS(SoftwareRegisters,
    (u64, sget_return, "", "R_SGET_RTRN: deltas of the answer to an SGET"),
    (u64, scratch, "", "R_SW: free for software"))
};
inline constexpr u32 kLutRegisters = 544;  ///< R_NET_LUT registers of a node
inline constexpr u16 kDateline = 0x100;
inline constexpr u8 kIgnoreNormal = 1;
inline constexpr u8 kIgnoreSpecial = 2;
inline constexpr u8 kNoAdapt = 4;
inline constexpr u8 kNoFast = 8;

/// State of the packet at the front of an input VC.
enum class FrontState : u8 {
  kIdle,        ///< no packet
  kRequesting,  ///< requesting outputs: no flit has left
  kFlowing,     ///< a flit has left, by out_port and out_vc
  kStopped      ///< the packet may not or cannot continue; its flits are dropped
};

struct RouterControl {
  FLITLAB_MEMBERS(RouterControl,
    (u64, ready, "", "input VCs with flits that may move (set of bit_of)"),
    (u64, asked, "", "requested deterministic output VCs without an owner (set of bit_of)"),
    (u32, buffered, "flits", "flits in input buffers, including flits that may not move yet"),
    (u32, fault, "", "Fault bits"))
};
static_assert(sizeof(RouterControl) == 24);

/// Input port p and output port p together. A round-robin pointer is one past the last VC served.
struct PortState {
  FLITLAB_MEMBERS(PortState,
    (u8, asking, "", "input: the VC with the right to request, or kNoVc"),
    (u8, pick, "", "input: round-robin pointer over VCs"),
    (u8, sending, "", "output: the output VC that holds the port, or kNoVc"),
    (u8, pick_out, "", "output: round-robin pointer over VCs"),
    (u32, flits_sent, "flits", "flits sent on the output port since the last statistics reset"))
};
static_assert(sizeof(PortState) == 8);

struct InputVc {
  FLITLAB_MEMBERS(InputVc,
    (u16, flits, "flits", "buffered flits that may move"),
    (u16, left, "flits", "flits of the front packet still to leave"),
    (u8, first, "", "position of the front packet among the descriptors"),
    (u8, packets, "packets", "packets whose head has arrived and whose tail has not left"),
    (FrontState, stage, "", "state of the front packet"),
    (u8, out_port, "", "kRequesting: requested deterministic port; kFlowing: output port in use"),
    (u8, out_vc, "", "kRequesting: requested deterministic output VC; kFlowing: output VC in use"),
    (u8, wish, "", "ports on which the packet may request an adaptive channel (bits)"),
    (u8, adaptive_port, "", "kRequesting: port of a won, still unused adaptive VC, or kNoVc"),
    (u8, adaptive_vc, "", "kRequesting: that adaptive VC"),
    (u8[4], pad))
};
static_assert(sizeof(InputVc) == 16);

struct OutputVc {
  FLITLAB_MEMBERS(OutputVc,
    (u64, asked_by, "", "deterministic VC: input VCs with pending requests (set of bit_of)"),
    (u16, credits, "flits", "free slots downstream"),
    (u8, owner, "", "input VC (bit_of) that has won it, or kNoVc"),
    (u8, pick, "", "round-robin pointer over input VCs"),
    (u8, tail, "", "position of the next packet among the descriptors downstream"),
    (u8[3], pad))
};
static_assert(sizeof(OutputVc) == 16);

/// Fields of a router.
struct RouterFields {
  FLITLAB_FIELDS(RouterFields,
    (RouterControl, control, 1, "", "sets of VCs, flit count, fault"),
    (Registers, registers, 1, "", "registers that the routing function reads for every packet"),
    (u64, flit_mail, t.slot_mask + 1, "", "[slot] byte p: flit arriving at input port p"),
    (u64, credit_mail, t.slot_mask + 1, "", "[slot] byte p: credit arriving at output port p"),
    (PortState, port, kPorts, "", "[port] input port and output port together"),
    (InputVc, input, kPorts * t.link_vcs, "", "[port][VC] input VCs"),
    (OutputVc, output, kPorts * t.link_vcs, "", "[port][VC] output VCs"),
    (Packet, ring, descriptor_start(t, kPorts, 0), "",
      "[port][position] packet descriptors, of deterministic, then of adaptive VCs; the upstream sender writes one "
      "with each head flit"))
};

struct TableFields {
  FLITLAB_FIELDS(TableFields,
    (Tag, lut, kLutRegisters, "", "R_NET_LUT of the node"),
    (SoftwareRegisters, software, 1, "", "registers that only software and special packets use"))
};

/// The plan. Members that terminals use have the same names in every model.
struct Table {
  static constexpr EngineCost cost{.cpu_ns = 145, .loads = 178, .blocks = 13, .bytes = 2300, .block_items = 256};

  static constexpr bool kSmall = true;
  static constexpr u32 concentration = 1;
  static constexpr u32 network_ports = kDirections;
  static constexpr u32 port_words = 1;
  static constexpr u32 ports = kPorts;
  static constexpr u32 vcs = kDeterministicVcs;  ///< VCs of the PE's port
  static constexpr u32 message_classes = 2;

  u32 routers, terminals;
  u32 link_vcs;      ///< VCs of a link
  u32 buffer_flits;  ///< buffer of a deterministic VC, flits
  u32 adaptive_buffer_flits;
  u32 ring, most_adaptive_packets;  ///< most packets, or parts, in a deterministic VC; in an adaptive VC
  u32 slot_mask;     ///< number of inbox slots per port, minus 1; the slot of a cycle is cycle & slot_mask
  u32 wait;          ///< clocks from a flit's arrival to its first arbitration
  u32 link_delay;    ///< clocks from departure to arrival at the next router
  u32 eject_delay;   ///< clocks from departure to arrival at the PE
  u32 inject_delay;  ///< clocks from the PE to the router's buffer
  u32 credit_delay;  ///< clocks from a flit's departure to its credit's arrival upstream
  TrafficMode mode;
  u8 short_circuit;
  u8 any_direction;  ///< 1: adaptive packets may request any direction that they still have to travel
  u8 ordered_requests;
  const u32* io_node;   ///< [terminals - routers] nodes of the I/O devices
  u32 io_interval;      ///< clocks per flit through an I/O port
  u32 error_threshold;  ///< a 32-bit draw below this corrupts a flit on a link; 0: no errors
  u32 barrier_units;    ///< barrier units in use; 0: no barrier network
  u32 barrier_wait;     ///< clocks from a barrier packet's arrival to the router's next message
  u32 barrier_eject;    ///< clocks from a router to its PE, for a barrier packet
  u32 barrier_work;     ///< mean clocks from a completion to the PE's next action
  BarrierProgram barrier_program;
  u32 special;                        ///< 1: the special network is emulated
  u32 special_delay;                  ///< clocks per router, for a special packet
  u32 special_eject;                  ///< clocks from the pins of the last router to its PE
  u8 orient_inverts;                  ///< 1: R_ORIENT's bit of a dimension is inverted over a link of like ports
  const u8* wired;                    ///< [routers] value of R_ORIENT for which + leads to higher coordinates
  Cycle break_cycle;                  ///< first cycle in which flits that arrive over `broken` links are lost
  const u8* broken;                   ///< [routers] directions whose links break (bits)
  u32 lut_entries;                    ///< R_NET_LUT registers in use per node
  const Peer* peers;                  ///< [routers][8] far ends of the ports
  const Registers* registers;         ///< [routers] initial values
  const Tag* lut;                     ///< [routers][lut_entries] initial values
  const SoftwareRegisters* software;  ///< [routers] initial values
  const BarrierRegister* barrier;     ///< [units][routers] initial values
  const u32* full_select;  ///< [routers][6] SELECT bits, one per ordinate; null: the bits in R_VCSEL are used
  TrafficTable traffic;
  RouterFields router_fields;
  TerminalFields terminal_fields;
  TableFields table_fields;
  BarrierFields barrier_fields;
  BarrierPeFields barrier_pe_fields;
  SpecialFields special_fields;
  SpecialPeFields special_pe_fields;
};

/// Calls `f(array, elements)` for every array that a table points to, except the arrays of the traffic.
template <class F>
void for_each_array(Table& t, F f) {
  const std::size_t n = t.routers;
  f(t.peers, n * kPorts);
  f(t.registers, n);
  f(t.lut, n * t.lut_entries);
  f(t.software, n);
  f(t.wired, n);
  f(t.full_select, t.full_select ? n * kDirections : 0);
  f(t.barrier, n * t.barrier_units);
  f(t.io_node, t.terminals - n);
  f(t.broken, n);
}

/// Returns whether a port is connected by a working link. A broken link carries no special or barrier packets, whatever
/// R_CHAN holds.
template <class T>
FLITLAB_HD constexpr bool link_works(const T& t, u32 index, u32 port, Cycle now) {
  return t.peers[index * kPorts + port].item != kNone && !(now >= t.break_cycle && (t.broken[index] >> port & 1));
}

/// Returns the value that a neighbour over a link of dimension `dim` stores in its R_ORIENT when R_ORIENT of this node
/// becomes `orient`. `wired`, `neighbour_wired`: Table::wired of the two nodes. Links join + to - by coordinates, so a
/// link joins like ports exactly where the two wirings differ.
FLITLAB_HD constexpr u32 propagated_orientation(u32 orient, u32 dim, u32 wired, u32 neighbour_wired, bool inverts) {
  return inverts ? orient ^ ((wired ^ neighbour_wired) & 1u << dim) : orient;
}

/// Returns the node of a terminal. A PE's terminal has its node's number; I/O devices come after the PEs.
template <class T>
FLITLAB_HD constexpr u32 node_of(const T& t, u32 terminal) {
  return terminal < t.routers ? terminal : t.io_node[terminal - t.routers];
}
template <class T>
FLITLAB_HD constexpr u32 port_of(const T& t, u32 terminal) {
  return terminal < t.routers ? kNodePort : kIoPort;
}

/// Return the sizes of an input VC: of its buffer, in flits, and of its circular buffer of descriptors, in packets.
template <class T>
FLITLAB_HD constexpr u32 buffer_of(const T& t, u32 vc) {
  return select(vc < kDeterministicVcs, t.buffer_flits, t.adaptive_buffer_flits);
}
template <class T>
FLITLAB_HD constexpr u32 most_packets_of(const T& t, u32 vc) {
  return select(vc < kDeterministicVcs, t.ring, t.most_adaptive_packets);
}
/// Returns the index of an input VC's first descriptor in RouterFields::ring.
template <class T>
FLITLAB_HD constexpr u32 descriptor_start(const T& t, u32 port, u32 vc) {
  const u32 of_port = kDeterministicVcs * t.ring + (t.link_vcs - kDeterministicVcs) * t.most_adaptive_packets;
  const u32 deterministic = vc < kDeterministicVcs ? vc : kDeterministicVcs;
  return port * of_port + deterministic * t.ring + (vc - deterministic) * t.most_adaptive_packets;
}

/// Returns the field offsets in a router of the published machine.
constexpr RouterFields published_fields() {
  struct Sizes {
    u32 slot_mask = 7, link_vcs = 5;
    u32 ring = 1, most_adaptive_packets = 1;  // any number: no field lies behind the descriptors
  };
  return lay_out_fields<RouterFields>(Sizes{});
}

/// The published machine, whose parameters are known at compile time: the constants hide the members of the same name.
struct PublishedTable : Table {
  PublishedTable() = default;
  explicit PublishedTable(const Table& table) : Table(table) {}

  static constexpr u32 link_vcs = 5;
  static constexpr u32 slot_mask = 7;
  static constexpr u32 wait = 3;
  static constexpr u32 link_delay = 3;
  static constexpr u32 credit_delay = 3;
  static constexpr u32 buffer_flits = 12;
  static constexpr u32 adaptive_buffer_flits = 22;
  static constexpr u8 any_direction = 0;
  static constexpr u32 barrier_units = 0;
  static constexpr u32 io_interval = 1;
  static constexpr u32 error_threshold = 0;
  static constexpr u32 special = 0;
  static constexpr const u32* full_select = nullptr;
  static constexpr RouterFields router_fields = published_fields();

  /// Returns whether these constants, and the layout of the fields, match a table.
  static bool fits(const Table& t) {
    return t.link_vcs == link_vcs && t.slot_mask == slot_mask && t.wait == wait && t.link_delay == link_delay &&
           t.credit_delay == credit_delay && t.buffer_flits == buffer_flits &&
           t.adaptive_buffer_flits == adaptive_buffer_flits && t.any_direction == any_direction && t.io_interval == 1 &&
           t.barrier_units == 0 && t.error_threshold == 0 && t.special == 0 && !t.full_select &&
           t.router_fields == router_fields;
  }
};

template <int W, bool Traced, class T>
struct View : ViewBase<W, Traced, T> {
  Items<W> routers;
  Items<W> terminals;
  Items<W> tables;
};

}  // namespace flitlab::t3e
