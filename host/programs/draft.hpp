#pragma once
/// A program on its way from the file to the interpreter.
#include <vector>

#include "host/config/field_file.hpp"
#include "host/programs/program.hpp"

namespace flitlab {

/// Until it is matched a message's call has its tag in `slot` and its bytes in `amount` (kNone: a receive that takes
/// any number), and a kWait may be for a kIreceive too.
struct Draft {
  Program program;
  std::vector<u32> lines;  ///< [calls] line of the file
};

/// Tags of the file are below this one; those of collectives are not.
inline constexpr u32 kCollectiveTag = 0x80000000u;

/// Reads all lines.
Draft read_draft(FieldFile& file, u32 terminals, const PacketFormat& format);

/// Finds the receive of every send: the k-th of a sender, a receiver and a tag. Gives messages their slots.
void match_messages(Draft& draft, const FieldFile& file, const PacketFormat& format);

/// Runs a matched program without a clock. Since no send waits for its receiver, its order does not depend on time, and
/// what cannot end here cannot end in any network.
void check_that_it_ends(const Draft& draft, const FieldFile& file);

}  // namespace flitlab
