#pragma once
/// State of the special network (paper, section 8; manual, Special Routing): packets in transit and the requests of
/// PEs. Special packets are not buffered: each packet in transit is in the inbox of one input port of a router, or of a
/// PE.
#include "kernels/common/fields.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/types.hpp"

namespace flitlab::t3e {

enum class SpecialKind : u8 {
  kPut,    ///< SPUT: writes a register of the node where the packet ends
  kGet,    ///< SGET: reads a register of that node
  kAnswer  ///< answer to an SGET
};

struct SpecialPacket {
  FLITLAB_MEMBERS(SpecialPacket,
    (u64, data, "", "value to be written, or read"),
    (u32, ticket, "", "number of the SGET, also in its answer"),
    (u32, src, "", "PE that sent the packet or, for an answer, the SGET"),
    (u16, number, "", "RegisterNumber"),
    (SpecialKind, kind, "", "SpecialKind"),
    (std::int8_t[6], delta, "", "hops still to go: primary X, Y, Z, secondary X, Y, Z; negative: in the - direction"),
    (u8[7], pad))
};
static_assert(sizeof(SpecialPacket) == 32);

/// An answer to an SGET that has reached a PE.
struct SpecialAnswer {
  FLITLAB_MEMBERS(SpecialAnswer,
    (u64, value, "", "value of the register"),
    (u32, ticket, "", "number of the SGET"),
    (Cycle, at, "cycle", "cycle of arrival"))
};
static_assert(sizeof(SpecialAnswer) == 16);

/// Entries of a PE's circular buffers of requests and of answers. A PE sends and receives at most one packet per clock.
/// A host that calls SpecialFeed::exchange every kSpecialQueue clocks therefore keeps the requests supplied and the
/// answers from overflowing.
inline constexpr u32 kSpecialQueue = 64;

/// Counts of requests and answers since cycle 0. Entry n is at position n modulo kSpecialQueue of its circular buffer.
struct SpecialControl {
  FLITLAB_MEMBERS(SpecialControl,
    (u32, queued, "", "requests that the host has queued"),
    (u32, sent, "", "requests that the PE has sent"),
    (u32, answered, "", "answers received"))
};

/// Fields of a router, if the special network is emulated.
struct SpecialFields {
  FLITLAB_FIELDS(SpecialFields,
    (u64, mail, t.special * (t.slot_mask + 1), "", "[slot] byte p: 1 if a packet arrives at port p", "special_mail"),
    (u64, orientation, t.special * (t.slot_mask + 1), "", "[slot] byte p: R_ORIENT propagated to port p",
      "special_orientation"),
    (u32, wave, t.special, "", "number of the last write into R_ORIENT that has reached the node, modulo 16",
      "special_wave"),
    (u32, busy, t.special, "", "output ports taken in this clock, as bits", "special_busy"),
    (SpecialPacket, packet, t.special * (t.slot_mask + 1) * t.ports, "", "[slot][port] packets arriving",
      "special_packet"))
};

/// Byte that propagates R_ORIENT to a neighbour: a mark, the number of the write in four bits, the value in three.
inline constexpr u8 kOrientMark = 0x80;
inline constexpr u32 kWriteNumbers = 16;
FLITLAB_HD constexpr u8 orientation_byte(u32 wave, u32 orient) {
  return static_cast<u8>(kOrientMark | (wave % kWriteNumbers) << 3 | orient);
}

/// Fields of a terminal, if the special network is emulated.
struct SpecialPeFields {
  FLITLAB_FIELDS(SpecialPeFields,
    (SpecialControl, control, t.special, "", "counts of requests and answers", "special"),
    (u8, mail, t.special * (t.slot_mask + 1), "", "[slot] 1 if an answer arrives", "special_mail"),
    (SpecialPacket, packet, t.special * (t.slot_mask + 1), "", "[slot] answers arriving", "special_packet"),
    (SpecialPacket, queue, t.special * kSpecialQueue, "", "[position] requests that the host has queued",
      "special_queue"),
    (SpecialAnswer, answers, t.special * kSpecialQueue, "", "[position] answers received", "special_answers"))
};

}  // namespace flitlab::t3e
