#pragma once
/// Message-passing programs: the calls that each rank makes. Collectives have been expanded to sends and receives, and
/// sends have been matched with receives, except for those that are matched during the run.
#include <vector>

#include "host/config/text_source.hpp"
#include "kernels/traffic/program_state.hpp"

namespace flitlab {

struct Program {
  std::vector<u32> first;          ///< [terminals * ranks + 1] index in `calls` of the first call of each rank
  std::vector<ProgramCall> calls;  ///< calls of all ranks, ordered by terminal and rank
  u32 slots = 0;                   ///< number of messages that a terminal receives; the largest number over all
  u32 ranks = 1;                   ///< ranks of each terminal
  std::vector<u32> processor;      ///< [terminals * ranks] processor of each rank at its terminal
  u32 processors = 0;              ///< processors of a terminal, the largest number; 0: ranks do not share them
  u32 receives = 0;                ///< receives of a terminal that are matched during the run, the largest number
  // If there are such receives: tables as in ProgramTable.
  std::vector<u32> first_receive, first_message;
  std::vector<ProgramReceive> receive;
  std::vector<ProgramMessage> message;
};

/// Reads the text of a program (docs/programs.md) for a network with `terminals` terminals. Throws ConfigError, with
/// file and line, if a field is malformed or out of range; if ranks do not make the same collectives in the same order;
/// if sends and receives do not match; or if the program cannot end on any network, because ranks wait for each other
/// in a cycle.
Program read_program(const TextSource& source, u32 terminals, const PacketFormat& format);

/// Reads and checks a program as read_program() does, and returns its calls in the order of ranks: `first` has an entry
/// for each rank, and `peer` is a rank.
Program read_calls(const TextSource& source, u32 terminals, const PacketFormat& format);

}  // namespace flitlab
