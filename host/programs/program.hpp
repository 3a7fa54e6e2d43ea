#pragma once
/// Message-passing programs: read, collectives expanded, sends matched with receives.
#include <vector>

#include "host/config/text_source.hpp"
#include "kernels/traffic/program_state.hpp"

namespace flitlab {

struct Program {
  std::vector<u32> first;          ///< [terminals + 1] first call of each
  std::vector<ProgramCall> calls;  ///< rank after rank; a rank is a terminal
  u32 slots = 0;                   ///< most messages that a rank receives
};

/// Reads a file of calls (docs/programs.md) for a network of `terminals`. Throws ConfigError, with file and line, for
/// what is malformed or out of range, collectives that ranks do not make in the same order, sends and receives that
/// do not match, and a program that cannot end because ranks wait for one another, whatever the network does.
Program read_program(const TextSource& source, u32 terminals, const PacketFormat& format);

}  // namespace flitlab
