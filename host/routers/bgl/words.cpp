/// A node in the machine's words: its virtual channels by name, and what their tokens allow.
#include "host/routers/bgl/plan.hpp"
#include "kernels/routers/bgl/tokens.hpp"

namespace flitlab {
namespace {

std::string vc_name(const bgl::Table& t, u32 vc) {
  if (vc < t.dynamic_vcs) return "dynamic " + std::to_string(vc);
  if (vc == t.high_vc) return "priority";
  return t.escape_vcs == 1 ? "bubble" : "escape " + std::to_string(vc - t.dynamic_vcs);
}

/// As enterable() decides it.
std::string tokens_note(const bgl::Table& t, u32 vc, u32 tokens) {
  const std::string count = std::to_string(tokens) + " of " + std::to_string(t.buffer[vc]) + " tokens: ";
  if (tokens < bgl::kFullPacket) return count + "closed";
  if (!(t.bubble_set >> vc & 1)) return count + "a full packet may enter";
  return count + (tokens < 2 * bgl::kFullPacket ? "a packet may go on along its ring, none may enter"
                                                : "a full packet may enter and leave the bubble");
}

}  // namespace

void BglPlan::describe_router(const std::vector<std::byte>& /*state*/, u32 /*router*/, Cycle /*now*/,
                              std::vector<PortSnapshot>& ports) const {
  for (u32 p = 0; p < ports.size(); ++p)
    for (u32 v = 0; v < ports[p].vcs.size(); ++v) {
      VcSnapshot& vc = ports[p].vcs[v];
      if (p == topology_.network_ports) {
        vc.name = "FIFO " + std::to_string(v);
      } else {
        vc.name = vc_name(table_, v);
        if (ports[p].peer != kNone) vc.note = tokens_note(table_, v, vc.credits);
      }
    }
}

}  // namespace flitlab
