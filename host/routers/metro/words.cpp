/// Description of a router as text: words on its wires and states of its connections.
#include "host/plan/columns.hpp"
#include "host/routers/metro/plan.hpp"
#include "kernels/routers/metro/word.hpp"

namespace flitlab {
namespace {

std::string word_name(metro::Word word) {
  const metro::Kind kind = metro::kind_of(word);
  const std::string name(word_of(kind));
  const bool bears_bits = kind == metro::Kind::kData || kind == metro::Kind::kStatus || kind == metro::Kind::kBlocked;
  return bears_bits ? name + " " + std::to_string(metro::payload_of(word)) : name;
}

}  // namespace

void MetroPlan::describe_router(const std::vector<std::byte>& state, u32 index, Cycle now,
                                std::vector<PortSnapshot>& ports) const {
  const metro::Table& t = table_;
  const Item<1> node = item_of(state, layout_, 0, index);

  const auto connection = [&](u32 port, const VcSnapshot& vc) -> std::string {
    if (port >= t.inputs) return vc.owner_port == kNone ? "" : ", connected to " + port_name(vc.owner_port);
    const metro::ForwardPort& f = node.at(t.router_fields.forward, port);
    if (vc.out_port != kNone)
      return ", connected to " + port_name(vc.out_port) + (vc.stage == "reverse" ? ", turned" : "");
    if (vc.stage == "discard") return ", released: blocked in this router or in a later one";
    const bool refused = vc.stage == "blocked" || vc.stage == "answer";
    return refused ? ", blocked: no backward port free in direction " + std::to_string(f.direction) : "";
  };

  for (u32 p = 0; p < ports.size(); ++p) {
    VcSnapshot& vc = ports[p].vcs[0];
    vc.name = p < t.inputs ? "forward" : "backward";
    if (ports[p].peer == kNone) continue;
    const metro::Word word = node.at(t.router_fields.mail, (now & t.slot_mask) * t.ports() + p);
    vc.note = word_name(word) + " arrives" + connection(p, vc);
  }
}

}  // namespace flitlab
