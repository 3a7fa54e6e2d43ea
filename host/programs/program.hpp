#pragma once
/// Message-passing programs: their calls, with collectives expanded and sends matched with receives.
#include <vector>

#include "host/config/text_source.hpp"
#include "kernels/traffic/program_state.hpp"

namespace flitlab {

struct Program {
  std::vector<u32> first;          ///< [terminals + 1] index of the first call of each terminal
  std::vector<ProgramCall> calls;  ///< sorted by rank; rank n is terminal n
  u32 slots = 0;                   ///< largest number of messages that a rank receives
};

/// Reads a file of calls (docs/programs.md) for a network of `terminals` terminals. Throws ConfigError, with file and
/// line, for fields that are malformed or out of range, collectives that ranks do not make in the same order, sends and
/// receives that do not match, and a program that cannot end on any network because ranks wait for each other in a
/// cycle.
Program read_program(const TextSource& source, u32 terminals, const PacketFormat& format);

}  // namespace flitlab
