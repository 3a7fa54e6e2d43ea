#pragma once
/// The steps that turn the file of a message-passing program into the program that terminals run.
#include <vector>

#include "host/config/field_file.hpp"
#include "host/programs/program.hpp"

namespace flitlab {

/// A program that has been read, but whose sends and receives may not be matched yet. Before matching, `slot` of a send
/// or receive has the message's tag, and `amount` its bytes (kNone: a receive of any length). A kWait may then refer to
/// a kIreceive.
struct Draft {
  Program program;
  std::vector<u32> lines;  ///< [calls] number of the call's line in the file
};

/// First tag of messages of collectives. The tags in the file are smaller.
inline constexpr u32 kCollectiveTag = 0x80000000u;

/// Reads all lines, and replaces each collective by its sends, receives and computations.
Draft read_draft(FieldFile& file, u32 terminals, const PacketFormat& format);

/// Matches sends with receives: the k-th send with the k-th receive that has the same sender, receiver and tag. Assigns
/// to each message its slot at the receiver.
void match_messages(Draft& draft, const FieldFile& file, const PacketFormat& format);

/// Numbers the packets that each rank sends, in the order of its calls. Throws ConfigError if a rank sends too many.
void number_packets(Draft& draft, const FieldFile& file, const PacketFormat& format);

/// Runs a matched program without timing, and throws ConfigError if the program cannot end. A send does not wait for
/// its receiver, so the network does not decide whether a program ends.
void check_that_it_ends(const Draft& draft, const FieldFile& file);

}  // namespace flitlab
