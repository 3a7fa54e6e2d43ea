/// Notes on a router's ports and VCs in the machine's terms: VC sets, datelines, adaptive channels and the
/// short-circuit path.
#include "host/routers/t3e/plan.hpp"
#include "kernels/routers/t3e/route.hpp"

namespace flitlab {
namespace {

/// The members of a view that choose() reads (kernels/routers/t3e/route.hpp).
struct TableView {
  const t3e::Table& t;
};

std::string vc_name(const t3e::Table& t, u32 vc) {
  if (vc < t3e::kDeterministicVcs) return (vc < 2 ? "request " : "response ") + std::to_string(vc % 2);
  return t.link_vcs - t3e::kDeterministicVcs == 1 ? "adaptive"
                                                  : "adaptive " + std::to_string(vc - t3e::kDeterministicVcs);
}

}  // namespace

void T3ePlan::describe_router(const std::vector<std::byte>& state, u32 index, Cycle /*now*/,
                              std::vector<PortSnapshot>& ports) const {
  const t3e::Table& t = table_;
  const Item<1> item = router(state, index);
  const t3e::Registers& registers = item.at(t.router_fields.registers);
  const u32 buffered = item.at(t.router_fields.control).buffered;

  const auto dateline_note = [&](u32 port, u32 vc, const Packet& packet) -> std::string {
    const t3e::Choice choice = t3e::choose(TableView{t}, registers, index, packet, port, vc);
    if (choice.stopped) return "stopped: on set 1 at a dateline, or the channel has IGNORE_NORMAL";
    if (t3e::is_terminal_port(choice.port)) return "has arrived";
    const std::string to = port_name(t3e::oriented(registers.turned, choice.port));
    const bool straight =
        vc < t3e::kDeterministicVcs && !t3e::is_terminal_port(port) && t3e::opposite(port) == choice.port;
    if (!straight) return "turns into " + to + " on " + vc_name(t, choice.vc) + " by its SELECT bit";
    if (choice.vc % 2 == 0) return "on to " + to + " on set 0, before a dateline or on a way without one";
    return vc % 2 ? "on to " + to + " on set 1, beyond the dateline or on a way without one"
                  : "on to " + to + " past the dateline: set 0 becomes 1";
  };

  for (u32 p = 0; p < ports.size(); ++p) {
    if (!t3e::is_terminal_port(p) && ports[p].peer != kNone)
      ports[p].note = !t.short_circuit ? "no short-circuit path"
                      : buffered ? "short-circuit path closed: " + std::to_string(buffered) + " flits in input buffers"
                                 : "short-circuit path open";
    for (u32 v = 0; v < ports[p].vcs.size(); ++v) {
      VcSnapshot& vc = ports[p].vcs[v];
      vc.name = vc_name(t, v);
      const t3e::InputVc& in = item.at(t.router_fields.input, p * t.link_vcs + v);
      if (in.stage != t3e::FrontState::kRequesting) continue;
      vc.note = dateline_note(p, v, item.at(t.router_fields.ring, t3e::descriptor_start(t, p, v) + in.first));
      std::string ports;
      for (u32 d = 0; d < t3e::kDirections; ++d)
        if (in.wish >> d & 1) ports += " " + port_name(t3e::oriented(registers.turned, d));
      if (!ports.empty()) vc.note += "; or adaptively" + ports;
    }
  }
}

}  // namespace flitlab
