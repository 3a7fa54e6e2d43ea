/// Waits-for graph of a T3E's state, for the deadlock search. Its members are input VCs. Output ports, and an input
/// port's right to request one, are not members, because they pass to another VC if their holder cannot move. PEs
/// always accept arriving flits.
#include "host/plan/deadlock.hpp"
#include "host/routers/t3e/plan.hpp"

namespace flitlab {
namespace {

using t3e::FrontState;
using t3e::InputVc;
using t3e::OutputVc;

class DeadlockSearch final : public WaitsFor {
 public:
  DeadlockSearch(const T3ePlan& plan, const StateLayout& layout, const std::vector<std::byte>& state)
      : plan_(plan), t_(plan.table()), routers_{const_cast<std::byte*>(state.data()), layout.kinds[0].item_bytes} {}

  u64 size() const override { return u64{t_.routers} * t3e::kPorts * t_.link_vcs; }

  std::string name(u64 i) const override {
    return "router " + plan_.router_name(router_of(i)) + " input " + plan_.port_name(port_of(i)) + " VC " +
           std::to_string(vc_of(i));
  }

  bool can_move(u64 i) const override {
    const InputVc& in = input(i);
    if (in.stage == FrontState::kIdle || in_transit(router(i), t_.router_fields.flit_mail, port_of(i), vc_of(i)))
      return true;
    if (!in.flits) return t3e::is_terminal_port(port_of(i));
    if (in.stage == FrontState::kStopped) return true;
    if (in.stage == FrontState::kFlowing) return has_room(i, in.out_port, in.out_vc, 1);
    if (is_free(i, in.out_port, in.out_vc) && has_room(i, in.out_port, in.out_vc, 1)) return true;
    bool free = false;
    for_each_adaptive(i,
                      [&](u32 port, u32 vc) { free |= is_free(i, port, vc) && has_room(i, port, vc, front(i).flits); });
    return free;
  }

  std::vector<u64> waits_for(u64 i) const override {
    const InputVc& in = input(i);
    std::vector<u64> waits;
    if (!in.flits) {  // the VC is empty and waits for the rest of its packet
      const Peer& peer = plan_.topology().peer(router_of(i), port_of(i));
      const OutputVc& feeding = output(routers_[peer.item], peer.port, vc_of(i));
      if (feeding.owner != t3e::kNoVc) waits.push_back(number(peer.item, feeding.owner / 8, feeding.owner % 8));
      return waits;
    }
    const auto wait_for = [&](u32 port, u32 vc) {
      const OutputVc& out = output(router(i), port, vc);
      const Peer& peer = plan_.topology().peer(router_of(i), port);
      if (!is_free(i, port, vc))
        waits.push_back(number(router_of(i), out.owner / 8, out.owner % 8));
      else if (peer.item == kNone)
        waits.push_back(i);  // the link is open, so an adaptive channel on it can never be granted
      else if (!peer.is_terminal)
        waits.push_back(number(peer.item, peer.port, vc));
    };
    wait_for(in.out_port, in.out_vc);
    if (in.stage == FrontState::kRequesting) for_each_adaptive(i, wait_for);
    return waits;
  }

 private:
  u64 number(u32 router, u32 port, u32 vc) const { return (u64{router} * t3e::kPorts + port) * t_.link_vcs + vc; }
  u32 router_of(u64 i) const { return static_cast<u32>(i / t_.link_vcs / t3e::kPorts); }
  u32 port_of(u64 i) const { return static_cast<u32>(i / t_.link_vcs % t3e::kPorts); }
  u32 vc_of(u64 i) const { return static_cast<u32>(i % t_.link_vcs); }

  Item<1> router(u64 i) const { return routers_[router_of(i)]; }
  const InputVc& input(u64 i) const {
    return router(i).at(t_.router_fields.input, port_of(i) * t_.link_vcs + vc_of(i));
  }
  const OutputVc& output(const Item<1>& router, u32 port, u32 vc) const {
    return router.at(t_.router_fields.output, port * t_.link_vcs + vc);
  }
  const Packet& front(u64 i) const {
    return router(i).at(t_.router_fields.ring, t3e::descriptor_start(t_, port_of(i), vc_of(i)) + input(i).first);
  }

  bool in_transit(const Item<1>& router, Field<u64> field, u32 port, u32 vc) const {
    for (u32 slot = 0; slot <= t_.slot_mask; ++slot)
      if ((byte_of_port(router.at(field, slot), port) & kVcBits) == vc + 1) return true;
    return false;
  }

  /// Returns whether an output VC is free or owned by input VC `i`.
  bool is_free(u64 i, u32 port, u32 vc) const {
    const u8 owner = output(router(i), port, vc).owner;
    return owner == t3e::kNoVc || owner == t3e::bit_of(port_of(i), vc_of(i));
  }
  /// Returns whether an output VC has `flits` credits, or a credit for it is in transit.
  bool has_room(u64 i, u32 port, u32 vc, u32 flits) const {
    return t3e::is_terminal_port(port) || output(router(i), port, vc).credits >= flits ||
           in_transit(router(i), t_.router_fields.credit_mail, port, vc);
  }

  template <class F>
  void for_each_adaptive(u64 i, F f) const {
    for (u32 set = input(i).wish; set; set &= set - 1)
      for (u32 vc = t3e::kDeterministicVcs; vc < t_.link_vcs; ++vc) f(lowest_bit(set), vc);
  }

  const T3ePlan& plan_;
  const t3e::Table& t_;
  Items<1> routers_;
};

}  // namespace

std::string T3ePlan::find_deadlock(const std::vector<std::byte>& state) const {
  return describe_deadlock(DeadlockSearch(*this, layout_, state), "virtual channels");
}

}  // namespace flitlab
