#pragma once
/// Message-passing programs: the calls that each rank makes. Collectives have been expanded to sends and receives, and
/// sends have been matched with receives.
#include <vector>

#include "host/config/text_source.hpp"
#include "kernels/traffic/program_state.hpp"

namespace flitlab {

struct Program {
  std::vector<u32> first;          ///< [terminals + 1] index in `calls` of the first call of each terminal
  std::vector<ProgramCall> calls;  ///< calls of all ranks, sorted by rank; rank n runs on terminal n
  u32 slots = 0;                   ///< number of messages that a rank receives; the largest number over all ranks
};

/// Reads the text of a program (docs/programs.md) for a network with `terminals` terminals. Throws ConfigError, with
/// file and line, if a field is malformed or out of range; if ranks do not make the same collectives in the same order;
/// if sends and receives do not match; or if the program cannot end on any network, because ranks wait for each other
/// in a cycle.
Program read_program(const TextSource& source, u32 terminals, const PacketFormat& format);

}  // namespace flitlab
