#pragma once
/// Routes of the second virtual-channel router in networks without a grid (naive.hpp). The plan gives one port and one
/// layer for each pair of routers, and ranks of channels; everything else is computed here.
#include <tuple>

#include "tests/support/vc/naive_parts.hpp"

namespace flitlab::testing::vc_naive {

/// An output port, and the virtual channels that a packet may take at it.
struct Choice {
  u32 port;
  List vcs;
};

inline u32 sum_of_credits(const std::vector<OutputVc>& output, const List& vcs) {
  u32 sum = 0;
  for (u32 vc : vcs) sum += output[vc].credits;
  return sum;
}
inline List takeable(const std::vector<OutputVc>& output, const List& vcs, u32 credits) {
  List list;
  for (u32 vc : vcs)
    if (output[vc].owner == kNone && output[vc].credits >= credits) list.push_back(vc);
  return list;
}

class TableRoutes {
 public:
  using Outputs = std::vector<std::vector<OutputVc>>;

  TableRoutes(const Rules& rules, const VcPlan& plan) : rules_(rules), plan_(plan), top_(plan.topology()) {
    if (top_.grid) return;
    for (u32 to = 0; to < top_.routers; ++to) find_costs(to);
  }

  /// Returns whether a packet that waits for a virtual channel chooses its route again in every cycle.
  bool choose_anew() const {
    if (rules_.adaptive() || rules_.deroutes() || rules_.algorithm == "table") return true;
    if (rules_.algorithm == "adaptive") return rules_.selection != "two_random";
    for (u32 from = 0; from < top_.routers; ++from)
      for (u32 to = 0; to < top_.routers; ++to)
        if (from != to && ports_toward(from, to).size() > 1) return true;
    return false;
  }

  /// Returns the next hop of a packet whose head is in router `r`. `vcs`: virtual channels of its message class.
  Choice choose(Packet& packet, u32 r, const Outputs& output, const List& vcs) const {
    const u32 last = packet.destination / top_.concentration;
    if (rules_.goes_via()) decide(packet, r, output, vcs);
    const u32 to = rules_.goes_via() && !packet.second_leg ? packet.via : last;
    if (r == to) {
      const u32 c = std::min(packet.vc_class + packet.from_another_group, plan_.route_layers() - 1);
      return {top_.terminal_port(packet.destination), rules_.ejects_by_class ? share(vcs, c) : vcs};
    }
    if (rules_.deroutes()) return weighted(packet, r, to, output, vcs);
    if (rules_.adaptive()) return with_escape(packet, r, to, output, vcs);
    if (rules_.algorithm == "adaptive" || rules_.algorithm == "nearest_common_ancestor") {
      const List ports = rotated(shortest(r, to), packet, r, true);
      if (rules_.selection == "two_random") {
        const List all = shortest(r, to);
        const u64 first = mix64(packet.hash() + r), second = mix64(first);
        const u32 a = all[first % all.size()], b = all[second % all.size()];
        const u32 chosen = sum_of_credits(output[a], vcs) >= sum_of_credits(output[b], vcs) ? a : b;
        return {chosen, vcs_at(packet, r, chosen, to, vcs)};
      }
      const u32 port = rules_.algorithm == "adaptive" ? freest(packet, r, to, ports, output, vcs) : kNone;
      const u32 chosen = port == kNone ? ports.front() : port;
      return {chosen, vcs_at(packet, r, chosen, to, vcs)};
    }
    if (rules_.algorithm == "minimal" && !rules_.children.empty()) {
      const List ports = shortest(r, to);
      u32 below = 1;  // terminals below a child of this router
      for (u32 level = 0; level < rank(r, ports.front()) && ports.size() > 1; ++level)
        below *= level ? rules_.children[level - 1] : top_.concentration;
      const u32 chosen = ports[packet.destination / below % ports.size()];
      return {chosen, vcs_at(packet, r, chosen, to, vcs)};
    }
    const List ports = rotated(ports_toward(r, to), packet, r, false);
    const u32 port = freest(packet, r, to, ports, output, vcs), chosen = port == kNone ? ports.front() : port;
    return {chosen, vcs_at(packet, r, chosen, to, vcs)};
  }

  /// Records that the head of a packet leaves router `r` on a virtual channel.
  void note_hop(Packet& packet, u32 r, u32 port, u32 vc, const List& vcs) const {
    if (rules_.algorithm == "table") return;
    if (rules_.adaptive()) packet.escaped = vc == vcs.front();
    if (rules_.deroutes()) {
      const u32 next = top_.peer(r, port).item, last = packet.destination / top_.concentration;
      packet.last_dimension = dimension(r, next);
      if (coordinate(next, packet.last_dimension) != coordinate(last, packet.last_dimension))
        packet.detours.push_back(packet.last_dimension);
      return;
    }
    packet.from_another_group = !top_.group.empty() && top_.group[r] != top_.group[top_.peer(r, port).item];
    packet.vc_class = class_at(packet, r, port);
    packet.last_rank = rank(r, port);
  }

 private:
  u32 rank(u32 r, u32 port) const { return plan_.table().rank[r * top_.network_ports + port]; }
  u32 class_at(const Packet& packet, u32 r, u32 port) const {
    return packet.last_rank == kNone ? 0 : packet.vc_class + (rank(r, port) <= packet.last_rank);
  }
  /// Returns the virtual channels that a packet may take at a port on the way to router `to`: equal shares of all.
  List vcs_at(const Packet& packet, u32 r, u32 port, u32 to, const List& vcs) const {
    const u32 from = packet.source / top_.concentration;
    const u32 c =
        rules_.algorithm == "table" ? plan_.table().layer[from * top_.routers + to] : class_at(packet, r, port);
    return share(vcs, c);
  }
  List share(const List& vcs, u32 c) const {
    const u32 n = static_cast<u32>(vcs.size()), classes = plan_.route_layers();
    return List(vcs.begin() + c * n / classes, vcs.begin() + (c + 1) * n / classes);
  }

  /// Returns the ports of the plan's table: one, or all that lead to the same router.
  List ports_toward(u32 r, u32 to) const {
    const u32 entry = plan_.table().next_port[r * top_.routers + to], named = entry & ~u32{kAnyParallel};
    if (!(entry & kAnyParallel)) return {named};
    List ports;
    for (u32 p = 0; p < top_.network_ports; ++p)
      if (top_.peer(r, p).item == top_.peer(r, named).item) ports.push_back(p);
    return ports;
  }
  u32 hops(u32 from, u32 to) const {
    u32 count = 0;
    for (u32 r = from; r != to; ++count) r = top_.peer(r, ports_toward(r, to).front()).item;
    return count;
  }

  u32 cost(u32 a, u32 b) const { return top_.group.empty() || top_.group[a] == top_.group[b] ? 1 : 1000; }
  /// Finds the least costs of routes to a router: a channel between groups costs more than any route in a group.
  void find_costs(u32 to) {
    std::vector<u32> costs(top_.routers, 1u << 30);
    costs[to] = 0;
    for (u32 round = 0; round < top_.routers; ++round)
      for (u32 r = 0; r < top_.routers; ++r)
        for (u32 p = 0; p < top_.network_ports; ++p)
          if (const u32 next = top_.peer(r, p).item; next != kNone)
            costs[r] = std::min(costs[r], costs[next] + cost(r, next));
    costs_.push_back(costs);
  }
  List shortest(u32 r, u32 to) const {
    List ports;
    for (u32 p = 0; p < top_.network_ports; ++p)
      if (const u32 next = top_.peer(r, p).item; next != kNone && costs_[to][next] + cost(r, next) == costs_[to][r])
        ports.push_back(p);
    return ports;
  }

  /// Returns ports in the order of preference, beginning with the one that a hash selects.
  static List rotated(List ports, const Packet& packet, u32 r, bool by_router) {
    const u64 hash = by_router ? mix64(packet.hash() + r) : packet.hash();
    std::rotate(ports.begin(), ports.begin() + static_cast<std::ptrdiff_t>(hash % ports.size()), ports.end());
    return ports;
  }
  u32 needed(const Packet& packet) const { return rules_.room_for(packet.flits); }
  /// Returns the port with a free virtual channel and the most credits; kNone if no port has a free one.
  u32 freest(const Packet& packet, u32 r, u32 to, const List& ports, const Outputs& output, const List& vcs) const {
    u32 best = kNone, most = 0;
    for (u32 p : ports) {
      const List mine = vcs_at(packet, r, p, to, vcs);
      if (takeable(output[p], mine, needed(packet)).empty()) continue;
      const u32 credits = sum_of_credits(output[p], mine);
      if (best == kNone || credits > most) best = p, most = credits;
    }
    return best;
  }

  Choice with_escape(const Packet& packet, u32 r, u32 to, const Outputs& output, const List& vcs) const {
    const List adaptive(vcs.begin() + 1, vcs.end());
    u32 best = kNone;
    const u32 room = rules_.adaptive_room_for(packet.flits);  // wormhole: only into an empty buffer
    for (u32 p : rotated(shortest(r, to), packet, r, true)) {
      if (packet.escaped || takeable(output[p], adaptive, room).empty()) continue;
      if (best == kNone || sum_of_credits(output[p], adaptive) > sum_of_credits(output[best], adaptive)) best = p;
    }
    if (best != kNone) return {best, takeable(output[best], adaptive, room)};
    return {ports_toward(r, to).front(), {vcs.front()}};
  }

  u32 coordinate(u32 r, u32 d) const {
    for (u32 i = 0; i < d; ++i) r /= rules_.hyperx[i];
    return r % rules_.hyperx[d];
  }
  /// Returns the first dimension in which two routers differ.
  u32 dimension(u32 a, u32 b) const {
    u32 d = 0;
    while (coordinate(a, d) == coordinate(b, d)) ++d;
    return d;
  }
  /// Chooses a port by its weight: queued flits times hops, if the packet goes on from there without detours.
  Choice weighted(const Packet& packet, u32 r, u32 to, const Outputs& output, const List& vcs) const {
    u32 most = 0, left = 0;  // hops of the longest route, and of this packet's
    for (u32 d = 0; d < rules_.hyperx.size(); ++d) {
      most += rules_.hyperx[d] > 1;
      left += coordinate(r, d) != coordinate(to, d);
    }
    const u32 n = static_cast<u32>(vcs.size());
    const u32 classes = rules_.algorithm == "dimwar" ? 2 : rules_.algorithm == "dal" ? 2 * most : std::max(n, most);
    Choice best{kNone, {}};
    std::tuple<bool, u64, bool> least;
    for (u32 p = 0; p < top_.network_ports; ++p) {
      const u32 next = top_.peer(r, p).item;
      if (next == kNone) continue;
      const u32 d = dimension(r, next);
      const bool aligns = coordinate(next, d) == coordinate(to, d);
      if (coordinate(r, d) == coordinate(to, d)) continue;
      if (rules_.algorithm == "dimwar" && (d != dimension(r, to) || (!aligns && packet.last_dimension == d))) continue;
      if (rules_.algorithm == "dal" && !aligns && contains(packet.detours, d)) continue;
      if (rules_.algorithm == "omniwar" && !aligns && packet.hops + 1 + left > classes) continue;
      const u32 c = rules_.algorithm == "dimwar" ? aligns : packet.hops;
      const List mine(vcs.begin() + c * n / classes, vcs.begin() + (c + 1) * n / classes);
      const List& seen = rules_.by_class ? mine : vcs;
      const u64 queued = std::size(seen) * rules_.buffer - sum_of_credits(output[p], seen);
      const std::tuple key(takeable(output[p], mine, needed(packet)).empty(), queued * (left + !aligns), !aligns);
      if (best.port == kNone || key < least) {
        least = key;
        best = {p, mine};
      }
    }
    return best;
  }

  /// Decides between the shortest route and the one over the intermediate router.
  void decide(Packet& packet, u32 r, const Outputs& output, const List& vcs) const {
    const u32 last = packet.destination / top_.concentration, from = packet.source / top_.concentration;
    const auto same_group = [&](u32 a, u32 b) { return top_.group[a] == top_.group[b]; };
    if (rules_.by_group ? same_group(r, packet.via) : r == packet.via) {
      packet.second_leg = packet.decided = true;
      packet.on_shortest = false;
      return;
    }
    if (rules_.algorithm == "valiant") return;
    const bool again = rules_.algorithm == "par" && packet.on_shortest && r != from && same_group(r, from);
    if (packet.decided && (!again || packet.decided_at == r)) return;
    packet.decided = true;
    packet.decided_at = r;
    const auto queue = [&](u32 to) -> std::int64_t {
      if (r == to) return 0;
      std::int64_t least = 1 << 30;
      for (u32 p : ports_toward(r, to)) {
        const List seen = rules_.by_class ? vcs_at(packet, r, p, to, vcs) : vcs;
        least = std::min(least, std::int64_t{rules_.buffer} * std::ssize(seen) - sum_of_credits(output[p], seen));
      }
      return least;
    };
    packet.on_shortest = packet.second_leg =
        r == last || queue(last) * hops(r, last) <=
                         queue(packet.via) * (hops(r, packet.via) + hops(packet.via, last)) + rules_.threshold;
  }

  const Rules& rules_;
  const VcPlan& plan_;
  const Topology& top_;
  std::vector<std::vector<u32>> costs_;  ///< [destination][router] least cost of a route
};

}  // namespace flitlab::testing::vc_naive
