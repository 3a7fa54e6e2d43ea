/// Bounds of the state fields of the virtual-channel router.
#include <algorithm>

#include "host/routers/vc/plan.hpp"

namespace flitlab {

std::vector<Bound> VcPlan::bounds() const {
  const vc::VcTable& t = table_;
  const u64 channels = u64{t.ports} * t.vcs;
  const Check port = below(t.ports), vc = below(t.vcs), position = below(t.ring),
              owner = below_or(channels, vc::kNoOwner);
  const Check flits = at_most(t.buffer_flits), next_vc = at_most(t.vcs),
              next_port = at_most(t.ports * t.crossbar_factor);
  // A word has the VCs of several whole ports; the last word may have fewer ports.
  const Check set = [t = &t](u64 bits, u32, u32 word) {
    const u32 first = word << t->set_shift, ports = std::min(t->ports - first, 1u << t->set_shift);
    return ports * t->vcs == 64 || bits >> ports * t->vcs == 0;
  };
  std::vector<Bound> bounds{{"router.flit_mail", flits_of(t.vcs)},
                            {"router.credit_mail", bytes_at_most(t.vcs)},
                            {"router.port.pick_vc", next_vc},
                            {"router.port.pick_input", next_port},
                            {"router.port.pick_output", next_port},
                            {"router.port.occupied", at_most(t.narrow ? 63 : 0)},
                            {"router.input.flits", flits},
                            {"router.input.first", position},
                            {"router.input.packets", at_most(t.ring)},
                            {"router.input.out_port", port},
                            {"router.input.out_vc", vc},
                            {"router.input.stage", at_most(static_cast<u64>(vc::VcState::kBody))},
                            {"router.input.pick", next_vc},
                            {"router.input.allowed", below(u64{1} << t.vcs)},
                            {"router.output.credits", flits},
                            {"router.output.owner", owner},
                            {"router.output.pick", at_most(channels)},
                            {"router.output.tail", position},
                            {"router.pick_of_port", next_vc},
                            {"router.connection.vc", next_vc},
                            {"router.queues.first", below(std::max(t.queue_flits, 1u))},
                            {"router.queues.flits", at_most(t.queue_flits)},
                            {"router.queues.credits", at_most(t.late_credits ? t.vcs * t.buffer_flits : 0)},
                            {"router.queues.pick_credit", next_vc},
                            {"router.queue", flits_of(t.vcs)},
                            {"router.owed", flits},
                            {"router.claim", owner}};
  for (const char* name : {"flits", "credits", "granted", "pending", "waiting", "bids", "taken"})
    bounds.push_back({std::string("router.control.") + name, set});
  bounds.push_back({"router.control.closed", [t = &t](u64 bits, u32, u32 word) {
                      const u32 first = word << t->set_shift,
                                last = std::min(first + (1u << t->set_shift), t->network_ports);
                      return !bits || (t->narrow && !t->queue_flits && first < last && bits >> (last - first) == 0);
                    }});
  // Route computation sets the number of flits that have not left.
  bounds.push_back(record_bound<vc::InputVc>(
      "router.input", [](const vc::InputVc& in, u32, u32) { return in.stage != vc::VcState::kRouting || !in.left; }));
  const u64 addresses = *std::max_element(topology_.address.begin(), topology_.address.end()) + u64{1};
  const PacketBounds packet{addresses, t.terminals, t.ports, std::max(t.message_classes, t.traffic.classes)};
  add_packet(bounds, "router.ring", packet);
  bounds.push_back({"router.ring.via", below(addresses)});
  add_source(bounds, t.traffic, t.mode, t.terminal_fields);
  bounds.push_back({"router.control.fault", at_most(0)});
  add_terminal_channels(bounds, t.vcs, t.buffer_flits, t.ring, t.mode, t.traffic, t.terminal_fields, packet);
  return bounds;
}

}  // namespace flitlab
