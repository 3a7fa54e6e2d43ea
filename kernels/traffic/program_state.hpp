#pragma once
/// State of message-passing programs: the calls of every terminal, shared by all replicas, and the progress of each
/// terminal. The host has expanded collectives and matched every send with its receive (host/programs), so a receiver
/// identifies a message by its index and need not look it up.
#include "kernels/common/fields.hpp"
#include "kernels/common/layout.hpp"

namespace flitlab {

enum class CallKind : u8 {
  kCompute,   ///< amount: cycles
  kSend,      ///< amount: bytes; blocks until all packets have been passed to the network interface
  kIsend,     ///< as kSend, but the program continues at once
  kReceive,   ///< amount: packets; blocks until they have arrived
  kIreceive,  ///< no effect: a kReceive of the same message stands where the program waits for it
  kWait,      ///< amount: index of this rank's kIsend whose packets must have been passed to the network interface
};

struct ProgramCall {
  u32 amount;
  u32 slot;       ///< messages: index of the message at its receiver
  u32 peer : 24;  ///< messages: rank of the sender or receiver at the other end
  CallKind kind : 8;
  u32 before = 0;  ///< packets that this rank sends in the calls before this one
};
static_assert(sizeof(ProgramCall) == 16);

/// How messages are divided into packets.
struct PacketFormat {
  u32 payload_bytes = 240;  ///< most bytes of a message in a packet
  u32 header_bytes = 16;    ///< bytes that software adds to each packet
  u32 flit_bytes = 32;

  /// Returns the packets of a message; a message of 0 bytes is one packet.
  FLITLAB_HD u32 packets(u32 bytes) const { return bytes ? (bytes - 1) / payload_bytes + 1 : 1; }
  FLITLAB_HD u32 flits(u32 payload) const { return (payload + header_bytes + flit_bytes - 1) / flit_bytes; }
};

/// Most packets of a message, because they are counted in 16 bits.
inline constexpr u32 kMostMessagePackets = 65535;

struct ProgramTable {
  u32 terminals = 0;
  const u32* first = nullptr;          ///< [terminals + 1] first call of each terminal; null: no programs
  const ProgramCall* calls = nullptr;  ///< calls of all terminals, ordered by terminal
  u32 slots = 0;                       ///< most messages that one terminal receives
  PacketFormat format;
  u32 send_overhead = 0;  ///< processor time for a message before its first packet can leave, cycles
  u32 recv_overhead = 0;  ///< processor time for a message that has arrived, cycles
  /// Whether packets go through the queue for traces (replay.hpp), which every model has. Otherwise the model's
  /// software puts them into the network.
  u8 queued = 0;
};

/// Calls `f(array, elements)` for every array that a table points to.
template <class F>
void for_each_array(ProgramTable& t, F f) {
  f(t.calls, t.first ? t.first[t.terminals] : 0);
  f(t.first, t.first ? t.terminals + std::size_t{1} : 0);
}

struct ProgramControl {
  FLITLAB_MEMBERS(ProgramControl,
    (u32, next, "", "next call of the program, counted from the terminal's first"),
    (u32, sending, "", "call whose packets are being passed to the network interface; `next`: no call"),
    (u32, handed, "packets", "packets of that call passed to the network interface"),
    (Cycle, busy_until, "cycle", "first cycle in which the next call may be made"),
    (Cycle, finished, "cycle", "cycle in which the program ended"),
    (u8, draining, "", "1: a kSend blocks the program until its packets have been passed on"),
    (u8, done, "", "1: the program has ended"),
    (u16, pad))
};
static_assert(sizeof(ProgramControl) == 24);

/// Fields of a terminal; `t` is a TerminalSize.
struct ProgramFields {
  FLITLAB_FIELDS(ProgramFields,
    (ProgramControl, control, t.programs(), "", "progress of the program", "program"),
    (u16, arrived, t.programs() * t.messages, "packets", "[message] packets of each message that have arrived",
      "program_arrived"),
    (Cycle, latest, t.queued_program * t.messages, "cycle", "[message] arrival of the latest packet of each message",
      "program_latest"))
};

}  // namespace flitlab
