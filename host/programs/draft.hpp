#pragma once
/// Steps from a program's file to the program that terminals run.
#include <vector>

#include "host/config/field_file.hpp"
#include "host/programs/program.hpp"

namespace flitlab {

/// A program whose messages may not be matched yet. Before matching, a send or receive has its tag in `slot` and its
/// bytes in `amount` (kNone: a receive of any length), and a kWait may refer to a kIreceive.
struct Draft {
  Program program;
  std::vector<u32> lines;  ///< [calls] line in the file
};

/// First tag of collectives. Tags in the file are below it.
inline constexpr u32 kCollectiveTag = 0x80000000u;

/// Reads all lines and expands collectives.
Draft read_draft(FieldFile& file, u32 terminals, const PacketFormat& format);

/// Matches sends with receives: the k-th send with the k-th receive of the same sender, receiver and tag. Assigns the
/// slots of messages.
void match_messages(Draft& draft, const FieldFile& file, const PacketFormat& format);

/// Runs a matched program without timing. Throws ConfigError if it cannot end. No send waits for its receiver, so
/// whether a program ends does not depend on the network.
void check_that_it_ends(const Draft& draft, const FieldFile& file);

}  // namespace flitlab
