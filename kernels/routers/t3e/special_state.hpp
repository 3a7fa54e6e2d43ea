#pragma once
/// State of the special network (paper, section 8; manual, Special Routing): packets on their way, and what a PE has
/// asked for. Nothing is buffered: a packet is in the mail of a router, at one input port, or it is lost.
#include "kernels/common/layout.hpp"
#include "kernels/common/types.hpp"

namespace flitlab::t3e {

enum class SpecialKind : u8 {
  kPut,    ///< SPUT: writes a register of the node where it ends
  kGet,    ///< SGET: reads one
  kAnswer  ///< to an SGET
};

struct SpecialPacket {
  u64 data;    ///< to be written, or read
  u32 ticket;  ///< number of the SGET; its answer has the same
  u32 src;     ///< PE that sent the packet, or asked for the answer
  u16 number;  ///< RegisterNumber
  SpecialKind kind;
  std::int8_t delta[6];  ///< hops still to go: primary X, Y, Z, secondary X, Y, Z; negative: in the - direction
  u8 pad[7];
};
static_assert(sizeof(SpecialPacket) == 32);

/// An answer that has reached a PE.
struct SpecialAnswer {
  u64 value;
  u32 ticket;
  Cycle at;
};
static_assert(sizeof(SpecialAnswer) == 16);

/// Places of a PE's lists of requests and of answers. It sends one packet a clock and takes one, so a host that looks
/// every so many clocks keeps the one filled and the other from running over.
inline constexpr u32 kSpecialRing = 64;

/// Numbers of requests and answers since cycle 0; they are in the rings at these modulo kSpecialRing.
struct SpecialControl {
  u32 queued, sent, answered;
};

/// Of a router; S mail slots.
struct SpecialFields {
  Field<u64> mail;              ///< [S] byte p: 1 if a packet arrives at port p
  Field<u64> orientation;       ///< [S] byte p: a neighbour's R_ORIENT with kOrientMark
  Field<u32> busy;              ///< [1] output ports taken in this clock (bits)
  Field<SpecialPacket> packet;  ///< [S][8]
};
inline constexpr u8 kOrientMark = 0x80;

/// Of a terminal.
struct SpecialPeFields {
  Field<SpecialControl> control;  ///< [1]
  Field<u8> mail;                 ///< [S] 1 if an answer arrives
  Field<SpecialPacket> packet;    ///< [S]
  Field<SpecialPacket> queue;     ///< [kSpecialRing]
  Field<SpecialAnswer> answers;   ///< [kSpecialRing]
};

}  // namespace flitlab::t3e
