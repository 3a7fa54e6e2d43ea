#pragma once
/// State of the special network (paper, section 8; manual, Special Routing): packets on their way, and what a PE has
/// asked for. Nothing is buffered: a packet is in the mail of a router, at one input port, or it is lost.
#include "kernels/common/fields.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/types.hpp"

namespace flitlab::t3e {

enum class SpecialKind : u8 {
  kPut,    ///< SPUT: writes a register of the node where it ends
  kGet,    ///< SGET: reads one
  kAnswer  ///< to an SGET
};

struct SpecialPacket {
  FLITLAB_MEMBERS(SpecialPacket,
    (u64, data, "", "what is to be written, or has been read"),
    (u32, ticket, "", "number of the SGET; its answer has the same"),
    (u32, src, "", "PE that sent the packet, or asked for the answer"),
    (u16, number, "", "RegisterNumber"),
    (SpecialKind, kind, "", "SpecialKind"),
    (std::int8_t[6], delta, "", "hops still to go: primary X, Y, Z, secondary X, Y, Z; negative: in the - direction"),
    (u8[7], pad))
};
static_assert(sizeof(SpecialPacket) == 32);

/// An answer that has reached a PE.
struct SpecialAnswer {
  FLITLAB_MEMBERS(SpecialAnswer,
    (u64, value, "", "of the register that was read"),
    (u32, ticket, "", "number of the SGET"),
    (Cycle, at, "cycle", "when it arrived"))
};
static_assert(sizeof(SpecialAnswer) == 16);

/// Places of a PE's lists of requests and of answers. It sends one packet a clock and takes one, so a host that looks
/// every so many clocks keeps the one filled and the other from running over.
inline constexpr u32 kSpecialRing = 64;

/// Numbers of requests and answers since cycle 0; they are in the rings at these modulo kSpecialRing.
struct SpecialControl {
  FLITLAB_MEMBERS(SpecialControl,
    (u32, queued, "", "requests that the PE has been given"),
    (u32, sent, "", "of these, requests sent"),
    (u32, answered, "", "answers that have come"))
};

/// Of a router; with the special network only.
struct SpecialFields {
  FLITLAB_FIELDS(SpecialFields,
    (u64, mail, t.special * (t.slot_mask + 1), "", "[slot] byte p: 1 if a packet arrives at port p", "special_mail"),
    (u64, orientation, t.special * (t.slot_mask + 1), "", "[slot] byte p: R_ORIENT as port p hears it",
      "special_orientation"),
    (u32, wave, t.special, "", "number of the last write into R_ORIENT that the node has heard of, modulo 16",
      "special_wave"),
    (u32, busy, t.special, "", "output ports taken in this clock, as bits", "special_busy"),
    (SpecialPacket, packet, t.special * (t.slot_mask + 1) * t.ports, "", "[slot][port] packets arriving",
      "special_packet"))
};

/// R_ORIENT told to a neighbour: a mark, the number of the write in four bits, the value in three.
inline constexpr u8 kOrientMark = 0x80;
inline constexpr u32 kWaves = 16;
FLITLAB_HD constexpr u8 orient_mail(u32 wave, u32 orient) {
  return static_cast<u8>(kOrientMark | (wave % kWaves) << 3 | orient);
}

/// Of a terminal of such a router.
struct SpecialPeFields {
  FLITLAB_FIELDS(SpecialPeFields,
    (SpecialControl, control, t.special, "", "numbers of requests and answers", "special"),
    (u8, mail, t.special * (t.slot_mask + 1), "", "[slot] 1 if an answer arrives", "special_mail"),
    (SpecialPacket, packet, t.special * (t.slot_mask + 1), "", "[slot] answers arriving", "special_packet"),
    (SpecialPacket, queue, t.special * kSpecialRing, "", "[place] requests that the PE has been given",
      "special_queue"),
    (SpecialAnswer, answers, t.special * kSpecialRing, "", "[place] answers that have come", "special_answers"))
};

}  // namespace flitlab::t3e
