#pragma once
/// The steps that turn the file of a message-passing program into the program that terminals run.
#include <vector>

#include "host/config/field_file.hpp"
#include "host/programs/program.hpp"

namespace flitlab {

/// Whether a call is one of the two ends of a message or of a dependency.
inline bool is_receive(const ProgramCall& c) {
  return c.kind == CallKind::kReceive || c.kind == CallKind::kIreceive || c.kind == CallKind::kAfter;
}
inline bool is_send(const ProgramCall& c) {
  return c.kind == CallKind::kSend || c.kind == CallKind::kIsend || c.kind == CallKind::kSignal;
}

/// Where a rank runs.
struct Place {
  u32 terminal;
  u32 processor;  ///< kNone: one of its own
};

/// `peer` of a receive from any source, and `slot` of a receive with any tag, before matching.
inline constexpr u32 kAnyRank = (1u << 24) - 1, kAnyTag = kNone;

/// What a rank receives.
struct Mailbox {
  u32 matched = 0;                       ///< messages that the host has matched: slots 0 to matched - 1
  std::vector<ProgramMessage> messages;  ///< messages that are matched during the run, from slot `matched` on
  std::vector<ProgramReceive> receives;  ///< receives that are matched during the run

  u32 slots() const { return matched + static_cast<u32>(messages.size()); }
};

/// A program that has been read, in the order of ranks: `first` has an entry for each rank, and `peer` is a rank.
/// Before matching, `slot` of a send or receive has the message's tag, and `amount` its bytes (kNone: a receive of any
/// length). A kWait may then refer to a kIreceive.
struct Draft {
  Program program;
  std::vector<u32> lines;          ///< [calls] number of the call's line in the file
  std::vector<Place> places;       ///< [ranks]; empty: rank n runs on terminal n
  std::vector<u32> threads;        ///< [ranks] the rank of which it is a thread; empty: there are no threads
  std::vector<Mailbox> mailboxes;  ///< [ranks] set by match_messages(). A thread's has only what the host has matched

  /// Returns the rank that receives what other ranks send to `rank`.
  u32 mailbox(u32 rank) const { return threads.empty() ? rank : threads[rank]; }
};

/// First tag of messages of collectives. The tags in the file are smaller.
inline constexpr u32 kCollectiveTag = 0x80000000u;

/// Reads all lines, and replaces each collective by its sends, receives and computations.
Draft read_draft(FieldFile& file, u32 terminals);

/// Matches sends with receives: the k-th send with the k-th receive that has the same sender, receiver and tag. Assigns
/// to each message its slot at the receiver. A rank that receives from any source or with any tag, and a rank of a
/// program with threads, gets its messages during the run, except those of collectives: their sends have the rank's
/// slots, and their receives become kPost and kMatch.
void match_messages(Draft& draft, const FieldFile& file, const PacketFormat& format);

/// Numbers the packets that each terminal sends, in the order of its calls. Throws ConfigError if one sends too many.
void number_packets(Draft& draft, const FieldFile& file, const PacketFormat& format);

/// Puts the calls in the order of terminals, replaces peers by their terminals, and turns messages between ranks of a
/// terminal into signals. Throws ConfigError for a dependency between ranks of different terminals.
void arrange(Draft& draft, const FieldFile& file, u32 terminals);

/// Runs a matched program without timing, and throws ConfigError if the program cannot end. A send does not wait for
/// its receiver, so the network does not decide whether a program ends. If messages are matched during the run, it may
/// decide; then the check assumes that any message suits any receive of its mailbox.
void check_that_it_ends(const Draft& draft, const FieldFile& file);

}  // namespace flitlab
