#include "host/programs/program.hpp"

#include "host/programs/draft.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

namespace {

/// Returns the program that terminals run. `by_rank`: gets the calls in the order of ranks, if it is not null.
Program read(const TextSource& source, u32 terminals, const PacketFormat& format, Program* by_rank) {
  FieldFile file(param::traffic.program_file.path, source);
  Draft draft = read_draft(file, terminals);
  match_messages(draft, file, format);
  check_that_it_ends(draft, file);
  if (by_rank) *by_rank = draft.program;
  arrange(draft, file, terminals);
  number_packets(draft, file, format);
  return std::move(draft.program);
}

}  // namespace

Program read_program(const TextSource& source, u32 terminals, const PacketFormat& format) {
  return read(source, terminals, format, nullptr);
}

Program read_calls(const TextSource& source, u32 terminals, const PacketFormat& format) {
  Program calls;
  read(source, terminals, format, &calls);
  return calls;
}

}  // namespace flitlab
