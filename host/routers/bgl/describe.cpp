/// Description of a node in the paper's terms: names of virtual channels, packets that the tokens of each channel
/// allow, and for the head of each queue the reason why it has not left.
#include "host/routers/bgl/plan.hpp"
#include "host/routers/bgl/reasons.hpp"
#include "kernels/routers/bgl/tokens.hpp"

namespace flitlab {
namespace {

/// Returns the tokens of a VC, and the packets that may enter the VC by the rules of enterable(), as text.
std::string tokens_note(const bgl::Table& t, u32 vc, u32 tokens) {
  const std::string count = std::to_string(tokens) + " of " + std::to_string(t.buffer[vc]) + " tokens: ";
  if (tokens < bgl::kFullPacket) return count + "closed";
  if (!(t.bubble_set >> vc & 1)) return count + "a full packet may enter";
  return count + (tokens < 2 * bgl::kFullPacket ? "a packet may advance along its ring, but not enter"
                                                : "a full packet may enter and leave the bubble");
}

}  // namespace

void BglPlan::describe_router(const std::vector<std::byte>& state, u32 router, Cycle now,
                              std::vector<PortSnapshot>& ports) const {
  const BglReasons reasons(*this, state, router, now);
  for (u32 p = 0; p < ports.size(); ++p)
    for (u32 v = 0; v < ports[p].vcs.size(); ++v) {
      VcSnapshot& vc = ports[p].vcs[v];
      const bool injection = p == topology_.network_ports;
      vc.name = injection ? "FIFO " + std::to_string(v) : bgl_vc_name(table_, v);
      if (!injection && ports[p].peer != kNone) vc.note = tokens_note(table_, v, vc.credits);
      if (vc.packets) vc.note += "\n" + reasons.of(injection ? bgl::kInjectionQueue + v : bgl::queue_of(p, v));
    }
}

}  // namespace flitlab
