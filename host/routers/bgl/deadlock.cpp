/// Waits-for graph of a state of a Blue Gene/L torus, for the deadlock search. Its members are the queues of the nodes'
/// receivers. Links become free by themselves, and software takes all packets that arrive, so only a lack of tokens can
/// block a packet permanently.
#include "host/plan/deadlock.hpp"
#include "host/routers/bgl/plan.hpp"
#include "kernels/routers/bgl/arbitrate.hpp"

namespace flitlab {
namespace {

class Search final : public WaitsFor {
 public:
  Search(const BglPlan& plan, const StateLayout& layout, const std::vector<std::byte>& state)
      : plan_(plan),
        view_{{plan.table(), nullptr, nullptr, {}},
              {const_cast<std::byte*>(state.data()), layout.kinds[0].item_bytes},
              {},
              {}} {}

  u64 size() const override { return u64{t().routers} * kPerNode; }

  std::string name(u64 i) const override {
    return "node " + plan_.router_name(node_of(i)) + " receiver " + plan_.port_name(queue_of(i) / 8) + " VC " +
           std::to_string(queue_of(i) % 8);
  }

  bool can_move(u64 i) const override {
    const auto node = view_.nodes[node_of(i)];
    if (!(node.at(t().node_fields.control).waiting >> queue_of(i) & 1)) return true;
    bool free = false;
    for_each_way(i, [&](u32 direction, u32 vc) {
      free |= bgl::enterable(view_, node, direction, bgl::stays_in_ring(queue_of(i), direction, vc)) >> vc & 1;
      const Peer& peer = plan_.topology().peer(node_of(i), direction);
      free |= changes_by_itself(view_.nodes[peer.item], node, peer.port, direction, vc);
    });
    return free;
  }

  std::vector<u64> waits_for(u64 i) const override {
    std::vector<u64> waits;
    for_each_way(i, [&](u32 direction, u32 vc) {
      const Peer& peer = plan_.topology().peer(node_of(i), direction);
      waits.push_back(u64{peer.item} * kPerNode + bgl::queue_of(peer.port, vc));
    });
    return waits;
  }

 private:
  static constexpr u32 kPerNode = bgl::kInjectionQueue;

  const bgl::Table& t() const { return plan_.table(); }
  static u32 node_of(u64 i) { return static_cast<u32>(i / kPerNode); }
  static u32 queue_of(u64 i) { return static_cast<u32>(i % kPerNode); }
  const bgl::Queue& state(u64 i) const { return bgl::queue_at(view_, view_.nodes[node_of(i)], queue_of(i)); }

  /// Returns whether packets or tokens are in transit between the sender `direction` of node `here` and the queue at
  /// the other end of its link.
  bool changes_by_itself(const Item<1>& there, const Item<1>& here, u32 receiver, u32 direction, u32 vc) const {
    if (t().protocol) {
      const bgl::LinkSender& sender = bgl::sender_at(view_, here, direction);
      if (sender.oldest != sender.next) return true;
    }
    const auto& f = t().node_fields;
    if (t().protocol && t().acks) {  // a token count that was lost will be sent again
      const auto& links = t().link_fields;
      const u8 given = there.at(links.given_back, receiver * t().vcs + vc);
      if (given != here.at(links.taken_back, direction * t().vcs + vc)) return true;
    }
    for (u32 slot = 0; slot < t().head_slots; ++slot)
      if ((there.at(f.head, receiver * t().head_slots + slot) & 0xF) == vc + 1) return true;
    for (u32 slot = 0; slot <= t().slot_mask; ++slot)
      if (here.at(f.tokens_back, slot * bgl::kDirections + direction) >> 4 * vc & 0xF) return true;
    if (t().acks && there.at(f.owed, receiver) >> 8 * vc & 0xFF) return true;
    return t().defer && here.at(f.returned, direction) >> 8 * vc & 0xFF;
  }

  /// Calls `take(direction, vc)` for every direction and VC by which the head of a queue may leave. Skips links to dead
  /// nodes.
  template <class F>
  void for_each_way(u64 i, F take) const {
    const auto f = [&](u32 direction, u32 vc) {
      if (plan_.topology().peer(node_of(i), direction).item != kNone) take(direction, vc);
    };
    const u16 route = state(i).route;
    const u32 hints = route & bgl::kHints;
    const bool high = route & bgl::kHighPriority;
    if (route & bgl::kDynamic && !high)
      for (u32 left = hints; left; left &= left - 1)
        for (u32 vc = 0; vc < t().dynamic_vcs; ++vc) f(lowest_bit(left), vc);
    const u32 direction = bgl::escape_direction(t().order, hints);
    f(direction, high ? t().high_vc : bgl::escape_vc(t(), t().address[node_of(i)], route, direction));
  }

  const BglPlan& plan_;
  bgl::View<1, false, bgl::Table> view_;
};

}  // namespace

std::string BglPlan::find_deadlock(const std::vector<std::byte>& state) const {
  return describe_deadlock(Search(*this, layout_, state), "virtual channels");
}

}  // namespace flitlab
