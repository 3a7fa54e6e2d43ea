#pragma once
/// State of message-passing programs: the calls of every rank, shared by all replicas, and the progress of each rank.
/// The host has expanded collectives and matched every send with its receive (host/programs), so a receiver identifies
/// a message by its index and need not look it up.
///
/// A terminal has one rank, or several. Ranks of a terminal exchange messages without the network. The host gives all
/// terminals the same number of ranks; those that it adds make no calls.
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
  kSignal,    ///< message to a rank of the same terminal; amount: 1 if it takes the overhead of a send, 0 if no time
  kAfter,     ///< as kReceive of a kSignal, without the overhead of a receive
};

struct ProgramCall {
  u32 amount;
  u32 slot;       ///< messages: index of the message at its receiver
  u32 peer : 24;  ///< messages: terminal of the sender or receiver at the other end
  CallKind kind : 8;
  u32 before = 0;  ///< packets that this terminal sends in the calls before this one, in the order of the table
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

/// Most bytes of a message.
inline constexpr u32 kMostMessageBytes = kNone - 1;

struct ProgramTable {
  u32 terminals = 0;
  const u32* first = nullptr;          ///< [terminals * ranks + 1] first call of each rank; null: no programs
  const ProgramCall* calls = nullptr;  ///< calls of all ranks, ordered by terminal and rank
  u32 slots = 0;                       ///< most messages that one terminal receives
  PacketFormat format;
  u32 send_overhead = 0;  ///< processor time for a message before its first packet can leave, cycles
  u32 recv_overhead = 0;  ///< processor time for a message that has arrived, cycles
  /// Whether packets go through the queue for traces (replay.hpp), which every model has. Otherwise the model's
  /// software puts them into the network.
  u8 queued = 0;
  u32 ranks = 1;                   ///< ranks of each terminal
  const u32* processor = nullptr;  ///< [terminals * ranks] number of each rank's processor; null if none is shared
  u32 processors = 0;              ///< most processors of a terminal; 0: ranks do not share processors
};

/// Calls `f(array, elements)` for every array that a table points to.
template <class F>
void for_each_array(ProgramTable& t, F f) {
  const std::size_t ranks = std::size_t{t.terminals} * t.ranks;
  f(t.calls, t.first ? t.first[ranks] : 0);
  f(t.first, t.first ? ranks + 1 : 0);
  f(t.processor, t.processor ? ranks : 0);
}

struct ProgramControl {
  FLITLAB_MEMBERS(ProgramControl,
    (u32, next, "", "next call of the program, counted from the rank's first"),
    (u32, sending, "", "call whose packets are being passed to the network interface; `next`: no call"),
    (u32, handed, "packets", "packets of that call passed to the network interface"),
    (Cycle, busy_until, "cycle", "first cycle in which the next call may be made"),
    (Cycle, finished, "cycle", "cycle in which the program ended"),
    (u8, draining, "", "1: a kSend blocks the program until its packets have been passed on; 2: a kSignal is under way"),
    (u8, done, "", "1: the program has ended"),
    (u16, pad))
};
static_assert(sizeof(ProgramControl) == 24);

/// Fields of a terminal; `t` is a TerminalSize.
struct ProgramFields {
  FLITLAB_FIELDS(ProgramFields,
    (ProgramControl, control, t.programs() * t.ranks, "", "[rank of the terminal] progress of the program", "program"),
    (u32, arrived, t.programs() * t.messages, "packets", "[message] packets of each message that have arrived",
      "program_arrived"),
    (Cycle, latest, t.queued_program * t.messages, "cycle", "[message] arrival of the latest packet of each message",
      "program_latest"),
    (u32, served, t.ranks > 1, "", "rank whose message is being passed to the network interface", "program_served"),
    (Cycle, processor_free, t.processors, "cycle", "[processor] first cycle in which a rank may use it",
      "program_processor_free"))
};

}  // namespace flitlab
