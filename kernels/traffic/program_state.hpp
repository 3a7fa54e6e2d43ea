#pragma once
/// State of message-passing programs: the calls of every rank, shared by all replicas, and the progress of each rank.
/// The host has expanded collectives and matched sends with receives (host/programs), so a receiver identifies a
/// message by its index and need not look it up. Only receives from any source or with any tag, and those that compete
/// with them for messages, are matched during the run (matching.hpp).
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
  kPost,      ///< posts a receive that is matched during the run; slot: its index among those of the terminal
  kMatch,     ///< as kPost, unless the receive has been posted; then blocks until its message has arrived
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

/// A message of a mailbox, which a receive gets during the run. A mailbox is a rank, perhaps with threads: ranks of the
/// same terminal that receive from it, too.
struct ProgramMessage {
  u32 packets;  ///< 0: the host has matched the message
  u32 mailbox;
  u32 source;  ///< mailbox of the sender
  u32 tag;
  u32 sender;  ///< messages of a sender to a mailbox have successive indices, in the order in which they leave
};

/// A receive that is matched during the run.
struct ProgramReceive {
  u32 mailbox;
  u32 source;  ///< mailbox of the sender; kNone: any
  u32 tag;     ///< kNone: any
};

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
  u32 ranks = 1;                       ///< ranks of each terminal
  const u32* processor = nullptr;      ///< [terminals * ranks] number of each rank's processor; null if none is shared
  u32 processors = 0;                  ///< most processors of a terminal; 0: ranks do not share processors
  u32 receives = 0;                    ///< most receives of a terminal that are matched during the run
  const u32* first_receive = nullptr;  ///< [terminals + 1] first receive of each terminal; null: `receives` is 0
  const ProgramReceive* receive = nullptr;  ///< those of all terminals
  const u32* first_message = nullptr;       ///< [terminals + 1] first message of each terminal; null: as above
  const ProgramMessage* message = nullptr;  ///< messages that each terminal receives, by slot
};

/// Calls `f(array, elements)` for every array that a table points to.
template <class F>
void for_each_array(ProgramTable& t, F f) {
  const std::size_t ranks = std::size_t{t.terminals} * t.ranks;
  f(t.calls, t.first ? t.first[ranks] : 0);
  f(t.first, t.first ? ranks + 1 : 0);
  f(t.processor, t.processor ? ranks : 0);
  f(t.receive, t.first_receive ? t.first_receive[t.terminals] : 0);
  f(t.message, t.first_message ? t.first_message[t.terminals] : 0);
  f(t.first_receive, t.first_receive ? t.terminals + std::size_t{1} : 0);
  f(t.first_message, t.first_message ? t.terminals + std::size_t{1} : 0);
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

/// A list of messages or receives, oldest first. An index is stored as index + 1; 0: none.
struct MatchList {
  FLITLAB_MEMBERS(MatchList,
    (u32, first, "", "index + 1 of the oldest; 0: the list is empty"),
    (u32, last, "", "index + 1 of the latest, if the list is not empty"))
};

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
      "program_processor_free"),
    (MatchList, unexpected, t.receives > 0, "", "messages that have arrived and that no receive has matched",
      "program_unexpected"),
    (MatchList, posted, t.receives > 0, "", "receives that are posted and have no message", "program_posted"),
    (u32, next_message, t.receives ? t.programs() * t.messages : 0, "",
      "[message] 0: it has not arrived; 1: it is the last one of its list, or matched; n + 2: message n is next",
      "program_next_message"),
    (u32, next_receive, t.receives, "", "[receive] n + 1: receive n is next in the list; 0: none",
      "program_next_receive"),
    (u32, match, t.receives, "", "[receive] 0: it is not posted; 1: it has no message; n + 2: it has message n",
      "program_match"))
};

}  // namespace flitlab
