/// Deadlock search of the virtual-channel router: the waits-for graph of a state. Its members are the input VCs and, in
/// a closed loop, the terminals' reply queues. A request waits for room in a reply queue, and the reply queue waits for
/// the VCs of its replies.
#include <algorithm>

#include "host/plan/deadlock.hpp"
#include "host/routers/vc/plan.hpp"
#include "kernels/routers/vc/route.hpp"
#include "kernels/traffic/closed_loop.hpp"

namespace flitlab {
namespace {

class Search final : public WaitsFor {
 public:
  Search(const VcPlan& plan, const StateLayout& layout, const std::vector<std::byte>& state)
      : plan_(plan),
        t_(plan.table()),
        topology_(plan.topology()),
        routers_{const_cast<std::byte*>(state.data()), layout.kinds[0].item_bytes},
        terminals_{const_cast<std::byte*>(state.data()) + layout.kind_offset(1, 1), layout.kinds[1].item_bytes},
        input_vcs_(u64{t_.routers} * t_.ports * t_.vcs) {}

  u64 size() const override { return input_vcs_ + (t_.mode == TrafficMode::kRequestReply ? t_.terminals : 0); }

  std::string name(u64 i) const override {
    if (is_terminal(i)) return "terminal " + std::to_string(terminal_of(i)) + " reply queue";
    return "router " + plan_.router_name(router_of(i)) + " input " + plan_.port_name(port_of(i)) + " VC " +
           std::to_string(vc_of(i));
  }

  bool can_move(u64 i) const override {
    if (is_terminal(i)) return terminal_can_move(terminal_of(i));
    const u32 index = router_of(i), flat = flat_of(i);
    const Item<1> router = routers_[index];
    const vc::InputVc& in = router.at(t_.router_fields.input, flat);
    if (in.stage == vc::VcState::kIdle || in.stage == vc::VcState::kRouting) return true;
    if (flit_in_transit(index, port_of(i), vc_of(i))) return true;
    if (in.stage == vc::VcState::kWaiting) {
      const Packet& packet = router.at(t_.router_fields.ring, flat * t_.ring + in.first);
      if (t_.flow_control == vc::FlowControl::kStoreAndForward && in.flits < in.left) return false;
      for (u32 out : candidates(router, index, flat, in)) {
        const vc::OutputVc& o = router.at(t_.router_fields.output, out);
        const u32 adaptive = t_.class_mask[packet.message_class][t_.wraps && !t_.by_tables ? 2 : 1];
        const bool empty_only =
            t_.atomic_adaptive && ((adaptive >> out % t_.vcs) & 1) && out / t_.vcs < t_.network_ports;
        const u32 needed = empty_only ? t_.buffer_flits : credits_to_take(t_, packet.flits);
        if (o.owner == vc::kNoOwner && o.credits >= needed) return true;
        if (credit_in_transit(index, out / t_.vcs, out % t_.vcs)) return true;
        if (out / t_.vcs >= t_.network_ports && accepts(index, out)) return true;
      }
      return false;
    }
    const u32 out = in.out_port * t_.vcs + in.out_vc;
    if (!in.flits) return topology_.peer(index, port_of(i)).is_terminal;
    if (in.out_port >= t_.network_ports && accepts(index, out)) return true;
    return router.at(t_.router_fields.output, out).credits > 0 || credit_in_transit(index, in.out_port, in.out_vc);
  }

  std::vector<u64> waits_for(u64 i) const override {
    if (is_terminal(i)) return terminal_waits_for(terminal_of(i));
    const u32 index = router_of(i), flat = flat_of(i);
    const Item<1> router = routers_[index];
    const vc::InputVc& in = router.at(t_.router_fields.input, flat);
    std::vector<u64> waits;
    const auto downstream = [&](u32 out) {
      const Peer& peer = topology_.peer(index, out / t_.vcs);
      waits.push_back(peer.is_terminal ? input_vcs_ + peer.item : number(peer.item, peer.port * t_.vcs + out % t_.vcs));
    };
    const bool short_of_flits = in.stage == vc::VcState::kWaiting ? in.flits < in.left : !in.flits;
    if (short_of_flits && (in.stage != vc::VcState::kWaiting || t_.flow_control == vc::FlowControl::kStoreAndForward)) {
      const Peer& peer = topology_.peer(index, port_of(i));
      if (peer.is_terminal) return waits;
      const vc::OutputVc& feeding = routers_[peer.item].at(t_.router_fields.output, peer.port * t_.vcs + vc_of(i));
      if (feeding.owner != vc::kNoOwner) waits.push_back(number(peer.item, feeding.owner));
      return waits;
    }
    if (in.stage == vc::VcState::kWaiting) {
      for (u32 out : candidates(router, index, flat, in)) {
        const vc::OutputVc& o = router.at(t_.router_fields.output, out);
        if (o.owner != vc::kNoOwner)
          waits.push_back(number(index, o.owner));
        else
          downstream(out);
      }
      return waits;
    }
    downstream(in.out_port * t_.vcs + in.out_vc);
    return waits;
  }

 private:
  bool is_terminal(u64 i) const { return i >= input_vcs_; }
  u32 terminal_of(u64 i) const { return static_cast<u32>(i - input_vcs_); }
  u32 router_of(u64 i) const { return static_cast<u32>(i / (t_.ports * t_.vcs)); }
  u32 port_of(u64 i) const { return static_cast<u32>(i / t_.vcs % t_.ports); }
  u32 vc_of(u64 i) const { return static_cast<u32>(i % t_.vcs); }
  u64 number(u32 router, u32 flat) const { return u64{router} * t_.ports * t_.vcs + flat; }
  u32 flat_of(u64 i) const { return port_of(i) * t_.vcs + vc_of(i); }

  /// Returns whether a flit for an input VC is in transit, or in the queue of the output port that sends to it.
  bool flit_in_transit(u32 index, u32 port, u32 vc) const {
    const Peer& peer = topology_.peer(index, port);
    return in_inbox(routers_[index], t_.router_fields.flit_mail, port, vc) ||
           (!peer.is_terminal && in_queue(peer.item, peer.port, vc));
  }
  /// Returns whether a credit for an output VC is in transit, or the input port that it comes from owes it.
  bool credit_in_transit(u32 index, u32 port, u32 vc) const {
    const Peer& peer = topology_.peer(index, port);
    return in_inbox(routers_[index], t_.router_fields.credit_mail, port, vc) ||
           (!peer.is_terminal && owes(peer.item, peer.port, vc));
  }
  bool in_queue(u32 index, u32 port, u32 vc) const {
    if (!t_.queue_flits) return false;
    const Item<1> router = routers_[index];
    const vc::PortQueues& q = router.at(t_.router_fields.queues, port);
    for (u32 i = 0; i < q.flits; ++i)
      if ((router.at(t_.router_fields.queue, port * t_.queue_flits + (q.first + i) % t_.queue_flits) & kVcBits) ==
          vc + 1)
        return true;
    return false;
  }
  bool owes(u32 index, u32 port, u32 vc) const {
    return t_.late_credits && routers_[index].at(t_.router_fields.owed, port * t_.vcs + vc);
  }

  /// Returns whether a flit or credit for (port, vc) is in an inbox.
  bool in_inbox(const Item<1>& router, Field<u64> field, u32 port, u32 vc) const {
    for (u32 slot = 0; slot <= t_.slot_mask; ++slot) {
      const u64 word = router.at(field, slot * t_.port_words + port / 8);
      if ((static_cast<u32>(word >> (port % 8 * 8)) & kVcBits) == vc + 1) return true;
    }
    return false;
  }

  /// Returns the output VCs (port * vcs + vc) that the waiting packet of an input VC could take.
  std::vector<u32> candidates(const Item<1>& router, u32 index, u32 flat, const vc::InputVc& in) const {
    std::vector<u32> list;
    const auto add = [&](u32 port, u32 mask) {
      for (; mask; mask &= mask - 1) list.push_back(port * t_.vcs + lowest_bit(mask));
    };
    if (vc::forbids_turns(t_.algorithm) && in.out_port < t_.network_ports) {
      const Packet& packet = router.at(t_.router_fields.ring, flat * t_.ring + in.first);
      for (u64 set = vc::permitted_ports(t_, packet, t_.address[index]); set; set &= set - 1)
        add(lowest_bit(set), in.allowed);
      return list;
    }
    add(in.out_port, in.allowed);
    if (t_.parallel && in.out_port < t_.network_ports) {
      const Packet& packet = router.at(t_.router_fields.ring, flat * t_.ring + in.first);
      const bool to_via = vc::goes_via(t_) && !(packet.route_bits & vc::kPastIntermediate);
      const u8 entry = t_.next_port[std::size_t{index} * t_.routers + (to_via ? packet.via : packet.dst)];
      if (entry & kAnyParallel)
        for (u64 set = topology_.parallel_ports(index, in.out_port) & ~(u64{1} << in.out_port); set; set &= set - 1)
          add(lowest_bit(set), in.allowed);
    }
    if (vc::deroutes(t_.algorithm) && in.out_port < t_.network_ports) {
      Packet packet = router.at(t_.router_fields.ring, flat * t_.ring + in.first);
      struct NoOutputs {};  // which ports are permitted does not depend on them
      const NoOutputs none;
      const vc::HyperxRoutes<vc::VcTable, NoOutputs> routes{{t_, packet, none, index, flat / t_.vcs, flat % t_.vcs},
                                                            packet};
      for (u64 set = routes.permitted(); set; set &= set - 1) add(lowest_bit(set), routes.allowed(lowest_bit(set)));
      return list;
    }
    if (t_.shortest && in.out_port < t_.network_ports) {
      const Packet& packet = router.at(t_.router_fields.ring, flat * t_.ring + in.first);
      const u16* masks = t_.class_mask[packet.message_class];
      const bool escapes = t_.algorithm == vc::Algorithm::kMinimalAdaptive;
      const bool stays = escapes && flat / t_.vcs < t_.network_ports && (masks[0] >> flat % t_.vcs & 1);
      for (u64 set = stays ? 0 : t_.shortest[std::size_t{index} * t_.routers + packet.dst]; set; set &= set - 1) {
        const u32 port = lowest_bit(set);
        if (escapes || (t_.algorithm == vc::Algorithm::kAdaptive && t_.adapts))
          add(port, masks[escapes ? 1 : vc::class_by_ranks(t_, index, port, flat / t_.vcs, flat % t_.vcs)]);
      }
      if (escapes) add(t_.next_port[std::size_t{index} * t_.routers + packet.dst] & ~u32{kAnyParallel}, masks[0]);
      return list;
    }
    if (t_.algorithm == vc::Algorithm::kMinimalAdaptive) {
      const Packet& packet = router.at(t_.router_fields.ring, flat * t_.ring + in.first);
      const u32 here = t_.address[index], adaptive = t_.class_mask[packet.message_class][t_.wraps ? 2 : 1];
      const bool stays = t_.stay_on_escape && flat / t_.vcs < t_.network_ports && !(adaptive >> flat % t_.vcs & 1);
      for (u32 d = 0; d < t_.dims && !stays; ++d) {
        const u32 from = vc::coordinate(t_, here, d), to = vc::coordinate(t_, packet.dst, d);
        if (from == to) continue;
        add(vc::direction_port(t_, d, vc::goes_minus(t_, packet, d, from, to)), adaptive);
        if (t_.selection != vc::Selection::kMostCredits) break;
      }
    }
    return list;
  }

  const LoopControl& loop(u32 terminal) const { return terminals_[terminal].at(t_.terminal_fields.loop); }

  bool queue_is_full(u32 terminal) const {
    return u32{loop(terminal).replies} + loop(terminal).promised >= t_.traffic.reply_queue;
  }

  /// Returns whether the terminal at output VC `out` of a router accepts flits from this VC, now or later. It does not
  /// in one case: in a closed loop, with a full reply queue and a request at the front of the ejection buffer.
  bool accepts(u32 router, u32 out) const {
    if (t_.mode != TrafficMode::kRequestReply) return true;
    const u32 terminal = topology_.peer(router, out / t_.vcs).item, vc = out % t_.vcs;
    const Item<1> item = terminals_[terminal];
    const EjectionVc& held = item.at(t_.terminal_fields.held, vc);
    if (!held.flits || held.left || !queue_is_full(terminal)) return true;
    const u32 first = item.at(t_.terminal_fields.first, vc);
    return item.at(t_.terminal_fields.ring, vc * t_.ring + first).id & kReplyId;
  }

  /// Returns the injection VCs of a terminal. Each of them can carry the terminal's oldest reply.
  u32 reply_vcs(u32 terminal) const {
    if (loop(terminal).lane.left) return 1u << loop(terminal).lane.vc;
    const PacketInInjection& requests = terminals_[terminal].at(t_.terminal_fields.control).lane;
    if (t_.message_classes == 1 && requests.left) return 1u << requests.vc;
    return t_.message_mask[t_.message_classes - 1];
  }

  /// Returns the credits that an injection VC needs before a terminal can send the next flit of a reply: more than one
  /// only for a reply that has yet to start. Assumes the shortest reply.
  u32 credits_to_reply(u32 terminal) const {
    const PacketInInjection& requests = terminals_[terminal].at(t_.terminal_fields.control).lane;
    if (loop(terminal).lane.left || (t_.message_classes == 1 && requests.left)) return 1;
    const LengthTable& lengths = t_.traffic.replies;
    return std::max(1u, credits_to_take(t_, *std::min_element(lengths.flits, lengths.flits + lengths.count)));
  }

  bool terminal_can_move(u32 terminal) const {
    if (!queue_is_full(terminal)) return true;
    const Item<1> item = terminals_[terminal];
    for (u32 set = reply_vcs(terminal); set; set &= set - 1)
      if (item.at(t_.terminal_fields.output, lowest_bit(set)).credits >= credits_to_reply(terminal)) return true;
    for (u32 slot = 0; slot <= t_.slot_mask; ++slot)
      if (item.at(t_.terminal_fields.credit_mail, slot) || item.at(t_.terminal_fields.flit_mail, slot)) return true;
    const u32 router = topology_.terminal_router(terminal), port = topology_.terminal_port(terminal);
    for (u32 vc = 0; vc < t_.vcs; ++vc) {
      const EjectionVc& held = item.at(t_.terminal_fields.held, vc);
      if ((held.flits && held.left) || in_queue(router, port, vc) || owes(router, port, vc)) return true;
    }
    return false;
  }

  std::vector<u64> terminal_waits_for(u32 terminal) const {
    std::vector<u64> waits;
    const u32 router = terminal / t_.concentration, port = t_.network_ports + terminal % t_.concentration;
    if (loop(terminal).replies || loop(terminal).lane.left)
      for (u32 set = reply_vcs(terminal); set; set &= set - 1)
        waits.push_back(number(router, port * t_.vcs + lowest_bit(set)));
    for (u32 vc = 0; vc < t_.vcs; ++vc) {  // VCs on which the terminal has accepted only a part of a request
      if (!terminals_[terminal].at(t_.terminal_fields.held, vc).left) continue;
      const u16 owner = routers_[router].at(t_.router_fields.output, port * t_.vcs + vc).owner;
      if (owner != vc::kNoOwner) waits.push_back(number(router, owner));
    }
    return waits;
  }

  const VcPlan& plan_;
  const vc::VcTable& t_;
  const Topology& topology_;
  Items<1> routers_, terminals_;
  u64 input_vcs_;
};

}  // namespace

std::string VcPlan::find_deadlock(const std::vector<std::byte>& state) const {
  return describe_deadlock(Search(*this, layout_, state), table_.mode == TrafficMode::kRequestReply
                                                              ? "virtual channels and reply queues"
                                                              : "virtual channels");
}

}  // namespace flitlab
