#include <algorithm>

#include "host/routers/t3e/plan.hpp"
#include "kernels/routers/t3e/registers.hpp"

namespace flitlab {
namespace t3e {
namespace {

/// Returns a check of a field [port][VC] of a link's VCs: a number is at most `most(vc)`.
Check by_vc(u32 link_vcs, std::function<u64(u32 vc)> most) {
  return [=](u64 number, u32, u32 channel) { return number <= most(channel % link_vcs); };
}

/// Returns a check that a number is bit_of() of a VC of any port, or kNoVc.
Check channel_or_none(u32 link_vcs) {
  return [=](u64 bit, u32, u32) { return bit == kNoVc || (bit < 8 * kPorts && bit % 8 < link_vcs); };
}

/// Returns whether the input VC that uses an output VC also owns it, for all output VCs in use.
bool owners_agree(const Item<1>& router, const Table& t) {
  const auto output = [&](u32 port, u32 vc) -> const OutputVc& {
    return router.at(t.router_fields.output, port * t.link_vcs + vc);
  };
  for (u32 port = 0; port < kPorts; ++port) {
    const u32 sending = router.at(t.router_fields.port, port).sending;
    if (sending != kNoVc && output(port, sending).owner == kNoVc) return false;
    for (u32 vc = 0; vc < t.link_vcs; ++vc) {
      const InputVc& in = router.at(t.router_fields.input, port * t.link_vcs + vc);
      if (in.stage == FrontState::kFlowing && output(in.out_port, in.out_vc).owner != bit_of(port, vc)) return false;
      if (in.adaptive_port != kNoVc && output(in.adaptive_port, in.adaptive_vc).owner != bit_of(port, vc)) return false;
    }
  }
  return true;
}

void add_registers(std::vector<Bound>& bounds) {
  const u64 tag = kTagBits;
  bounds.push_back({"router.registers.pwho", subset(register_bits(kPwho))});
  bounds.push_back({"router.registers.override_tag", subset(tag)});
  bounds.push_back({"router.registers.lwho", subset(register_bits(kLwho))});
  bounds.push_back({"router.registers.lut_mode", at_most(3)});
  bounds.push_back({"router.registers.turned", subset(register_bits(kOrient))});
  bounds.push_back({"router.registers.vcsel", subset(0xFF | kDateline)});
  bounds.push_back({"router.registers.chan", at_most(15)});
  bounds.push_back({"tables.lut", subset(tag)});
  bounds.push_back({"router.special_wave", below(kWriteNumbers)});
  bounds.push_back({"router.special_packet.number", below(kRegisterCount)});
  bounds.push_back({"terminal.special_packet.number", below(kRegisterCount)});
  bounds.push_back({"terminal.special_queue.number", below(kRegisterCount)});
  bounds.push_back({"terminal.special_packet.kind", at_most(static_cast<u64>(SpecialKind::kAnswer))});
  bounds.push_back({"terminal.special_queue.kind", at_most(static_cast<u64>(SpecialKind::kAnswer))});
  bounds.push_back({"router.special_packet.kind", at_most(static_cast<u64>(SpecialKind::kAnswer))});
  bounds.push_back({"terminal.barrier.state", at_most(static_cast<u64>(BarrierState::kEur))});
}

}  // namespace
}  // namespace t3e

std::vector<Bound> T3ePlan::bounds() const {
  using namespace t3e;
  const Table& t = table_;
  const u32 vcs = t.link_vcs;
  u64 channels = 0;
  for (u32 port = 0; port < kPorts; ++port) channels |= ((u64{1} << vcs) - 1) << bit_of(port, 0);
  const Check position = by_vc(vcs, [&t](u32 vc) { return most_packets_of(t, vc) - u64{1}; });
  const Check flits = by_vc(vcs, [&t](u32 vc) { return u64{buffer_of(t, vc)}; });
  std::vector<Bound> bounds{{"router.control.ready", subset(channels)},
                            {"router.control.asked", subset(channels)},
                            {"router.flit_mail", flits_of(vcs)},
                            {"router.credit_mail", bytes_at_most(vcs)},
                            {"router.port.asking", below_or(vcs, kNoVc)},
                            {"router.port.pick", at_most(8)},
                            {"router.port.sending", below_or(vcs, kNoVc)},
                            {"router.port.pick_out", at_most(8)},
                            {"router.input.flits", flits},
                            {"router.input.first", position},
                            {"router.input.packets", by_vc(vcs, [&t](u32 vc) { return u64{most_packets_of(t, vc)}; })},
                            {"router.input.stage", at_most(static_cast<u64>(FrontState::kStopped))},
                            {"router.input.out_port", below(kPorts)},
                            {"router.input.out_vc", below(vcs)},
                            {"router.input.wish", subset((1u << kDirections) - 1)},
                            {"router.input.adaptive_port", below_or(kDirections, kNoVc)},
                            {"router.input.adaptive_vc", below(vcs)},
                            {"router.output.asked_by", subset(channels)},
                            {"router.output.credits", flits},
                            {"router.output.owner", channel_or_none(vcs)},
                            {"router.output.pick", at_most(8 * kPorts)},
                            {"router.output.tail", position}};
  const PacketBounds packet{u64{register_bits(t3e::kPwho)} + 1, t.terminals, kPorts, Table::message_classes};
  add_packet(bounds, "router.ring", packet);
  bounds.push_back(item_bound("router", [&t](const Item<1>& router, u32) { return owners_agree(router, t); }));
  add_registers(bounds);
  add_source(bounds, t.traffic, t.mode, t.terminal_fields);
  bounds.push_back({"router.control.fault", at_most(0)});
  add_terminal_channels(bounds, t.vcs, t.buffer_flits, t.ring, t.mode, t.traffic, t.terminal_fields, packet);
  return bounds;
}

}  // namespace flitlab
