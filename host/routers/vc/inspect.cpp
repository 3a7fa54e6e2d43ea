/// Inspection of a state of the virtual-channel router, on the host.
#include "host/routers/vc/plan.hpp"

namespace flitlab {
namespace {

const char* state_name(vc::VcState stage) {
  switch (stage) {
    case vc::VcState::kIdle: return "idle";
    case vc::VcState::kRouting: return "routing";
    case vc::VcState::kWaiting: return "waiting";
    case vc::VcState::kHead: return "head";
    case vc::VcState::kBody: return "body";
  }
  return "";
}

}  // namespace

std::vector<PortSnapshot> VcPlan::inspect_router(const std::vector<std::byte>& state, u32 index) const {
  const vc::VcTable& t = table_;
  const Item<1> router = Items<1>{const_cast<std::byte*>(state.data()), layout_.kinds[0].item_bytes}[index];
  std::vector<PortSnapshot> ports(t.ports);
  for (u32 p = 0; p < t.ports; ++p) {
    const Peer& peer = topology_.peer(index, p);
    ports[p].name = port_name(p);
    ports[p].peer = peer.item;
    ports[p].to_terminal = peer.is_terminal;
    if (vc::has_speedup(t)) {
      const vc::PortQueues& q = router.at(t.router_fields.queues, p);
      if (q.flits || q.credits)
        ports[p].note = std::to_string(q.flits) + (q.flits == 1 ? " flit" : " flits") + " in the output queue, " +
                        std::to_string(q.credits) + (q.credits == 1 ? " credit" : " credits") + " to return";
    }
    for (u32 v = 0; v < t.vcs; ++v) {
      const vc::InputVc& in = router.at(t.router_fields.input, p * t.vcs + v);
      const vc::OutputVc& out = router.at(t.router_fields.output, p * t.vcs + v);
      VcSnapshot s;
      s.stage = state_name(in.stage);
      s.flits = in.flits;
      if (peer.item != kNone) s.capacity = t.buffer_flits;
      s.packets = in.packets;
      s.left = in.stage >= vc::VcState::kWaiting ? in.left : 0u;
      if (in.packets) {
        const Packet& packet = router.at(t.router_fields.ring, (p * t.vcs + v) * t.ring + in.first);
        s.src = packet.src;
        s.id = packet.id;
        if (in.stage == vc::VcState::kRouting) s.left = packet.flits;
        s.dst_router = topology_.router_at(packet.dst);
      }
      if (in.stage >= vc::VcState::kWaiting) s.out_port = in.out_port;
      if (in.stage >= vc::VcState::kHead) s.out_vc = in.out_vc;
      s.credits = out.credits;
      if (out.owner != vc::kNoOwner) {
        s.owner_port = out.owner / t.vcs;
        s.owner_vc = out.owner % t.vcs;
      }
      ports[p].vcs.push_back(std::move(s));
    }
  }
  return ports;
}

TerminalSnapshot VcPlan::inspect_terminal(const std::vector<std::byte>& state, u32 index) const {
  TerminalSnapshot s = terminal_snapshot(state, layout_, table_.terminal_fields, index, table_.vcs);
  if (table_.traffic.classes > 1)
    for (u32 c = 0; c < table_.traffic.classes; ++c) {
      const ClassSource& source = item_of(state, layout_, 1, index).at(table_.terminal_fields.source, c);
      if (source.lane.left) {
        s.vc = source.lane.vc;
        break;
      }
    }
  return s;
}

std::vector<u32> VcPlan::channel_flits(const std::vector<std::byte>& state) const {
  const vc::VcTable& t = table_;
  const Items<1> routers{const_cast<std::byte*>(state.data()), layout_.kinds[0].item_bytes};
  std::vector<u32> flits;
  for (u32 r = 0; r < t.routers; ++r)
    for (u32 p = 0; p < t.network_ports; ++p)
      if (topology_.peer(r, p).item != kNone) flits.push_back(routers[r].at(t.router_fields.port, p).flits_sent);
  return flits;
}

}  // namespace flitlab
