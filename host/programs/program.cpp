#include "host/programs/program.hpp"

#include "host/programs/draft.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

Program read_program(const TextSource& source, u32 terminals, const PacketFormat& format) {
  FieldFile file(param::traffic.program_file.path, source);
  Draft draft = read_draft(file, terminals, format);
  match_messages(draft, file, format);
  number_packets(draft, file, format);
  check_that_it_ends(draft, file);
  return std::move(draft.program);
}

}  // namespace flitlab
