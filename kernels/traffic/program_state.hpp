#pragma once
/// Message-passing programs: the calls of every terminal, shared by all replicas, and how far a terminal has come in
/// them. The host has expanded collectives and matched every send with its receive (host/programs), so nothing is
/// searched for at run time: a message is known at its receiver by its slot.
#include "kernels/common/fields.hpp"
#include "kernels/common/layout.hpp"

namespace flitlab {

enum class CallKind : u8 {
  kCompute,   ///< amount: cycles
  kSend,      ///< amount: bytes; the program goes on when all packets have been handed to the network interface
  kIsend,     ///< as kSend, but the program goes on at once
  kReceive,   ///< amount: packets; the program goes on when they have arrived
  kIreceive,  ///< does nothing; where the program waits for it there is a kReceive of the same slot
  kWait,      ///< amount: call of this rank, a kIsend, whose packets must have been handed over
};

struct ProgramCall {
  u32 amount;
  u32 slot;       ///< messages: number of the message at its receiver
  u32 peer : 24;  ///< messages: the other rank
  CallKind kind : 8;
};
static_assert(sizeof(ProgramCall) == 12);

/// How messages are cut into packets.
struct PacketFormat {
  u32 payload_bytes = 240;  ///< most of a message that a packet carries
  u32 header_bytes = 16;    ///< what software adds to each packet
  u32 flit_bytes = 32;

  /// A message of 0 bytes is one packet.
  FLITLAB_HD u32 packets(u32 bytes) const { return bytes ? (bytes - 1) / payload_bytes + 1 : 1; }
  FLITLAB_HD u32 flits(u32 payload) const { return (payload + header_bytes + flit_bytes - 1) / flit_bytes; }
};

/// Most packets of a message: they are counted in 16 bits.
inline constexpr u32 kMostMessagePackets = 65535;

struct ProgramTable {
  u32 terminals = 0;
  const u32* first = nullptr;          ///< [terminals + 1] first call of each terminal; null: no programs
  const ProgramCall* calls = nullptr;  ///< terminal after terminal
  u32 slots = 0;                       ///< most messages that a terminal receives
  PacketFormat format;
  u32 send_overhead = 0;  ///< processor's time for a message, before its first packet can leave, cycles
  u32 recv_overhead = 0;  ///< processor's time for a message that has arrived, cycles
};

/// Calls `f(array, elements)` for every array that a table points to.
template <class F>
void for_each_array(ProgramTable& t, F f) {
  f(t.calls, t.first ? t.first[t.terminals] : 0);
  f(t.first, t.first ? t.terminals + std::size_t{1} : 0);
}

struct ProgramControl {
  FLITLAB_MEMBERS(ProgramControl,
    (u32, next, "", "call that the program makes next, counted from the terminal's first"),
    (u32, sending, "", "call whose packets are being handed over; equals `next` if there is none"),
    (u32, handed, "packets", "of it that have been handed over"),
    (Cycle, busy_until, "cycle", "the next call is not made before"),
    (Cycle, finished, "cycle", "cycle in which the program ended"),
    (u8, draining, "", "1: after a kSend, the next call is not made before all packets have been handed over"),
    (u8, done, "", "1: the program has ended"),
    (u16, pad))
};
static_assert(sizeof(ProgramControl) == 24);

/// Of a terminal; `t` is a TerminalSize.
struct ProgramFields {
  FLITLAB_FIELDS(ProgramFields,
    (ProgramControl, control, t.programs(), "", "how far the program has come", "program"),
    (u16, arrived, t.programs() * t.messages, "packets", "[message] of each message that have arrived",
      "program_arrived"))
};

}  // namespace flitlab
