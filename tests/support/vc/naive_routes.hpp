#pragma once
/// Routes of the second virtual-channel router (naive.hpp): Dally & Towles chapters 8 to 11 and 14.
#include "kernels/common/philox.hpp"
#include "kernels/common/streams.hpp"
#include "tests/support/vc/naive_parts.hpp"

namespace flitlab::testing::vc_naive {

/// An output port, and the virtual channels that a packet may take at it.
struct Choice {
  u32 port;
  List vcs;
};

class Routes {
 public:
  Routes(const Rules& rules, const VcPlan& plan) : rules_(rules), plan_(plan), top_(plan.topology()) {
    if (rules.algorithm == "table") return;
    for (u32 r = 0; r < top_.routers; ++r) {
      List coordinates;
      for (u32 rest = r, d = 0; d < top_.shape.size(); rest /= top_.shape[d++])
        coordinates.push_back(rest % top_.shape[d]);
      coordinates_.push_back(coordinates);
    }
  }

  /// Returns the virtual channels of a message class. All classes have equal shares.
  List message_vcs(u32 message_class) const {
    const auto first = [&](u32 m) { return m * rules_.vcs / rules_.message_classes; };
    return range(first(message_class), first(message_class + 1));
  }

  /// Makes the random choices of a route, which are made at the source.
  void plan_route(Packet& packet, u64 seed) const {
    const u32 from = packet.source / top_.concentration, to = packet.destination / top_.concentration;
    const Random4 random = philox(seed, stream::kRouting, packet.source, packet.id);
    if (rules_.algorithm == "o1turn") packet.highest_first = random.word[0] % 2 == 1;
    if (rules_.algorithm == "valiant") packet.via = below(random.word[0], top_.routers);
    if (rules_.algorithm != "romm") return;
    List via;  // routers of the box between source and destination, drawn uniformly
    for (u32 d = 0; d < top_.shape.size(); ++d) {
      const u32 low = std::min(coordinates_[from][d], coordinates_[to][d]),
                high = std::max(coordinates_[from][d], coordinates_[to][d]);
      const u64 draw = mix64((u64{random.word[d % 4]} << 32) + d);
      via.push_back(low + below(static_cast<u32>(draw), high - low + 1));
    }
    packet.via = static_cast<u32>(std::find(coordinates_.begin(), coordinates_.end(), via) - coordinates_.begin());
  }

  /// Returns whether a packet that waits for a virtual channel chooses its route again in every cycle.
  bool choose_anew() const { return rules_.adaptive() || rules_.algorithm == "table"; }

  /// Returns the next hop of a packet whose head is in router `r`. `output[port][vc]`: output virtual channels of the
  /// router.
  Choice choose(Packet& packet, u32 r, const std::vector<std::vector<OutputVc>>& output) const {
    const u32 last = packet.destination / top_.concentration;
    if (r == packet.via) packet.second_leg = true;
    const u32 to = packet.via == kNone || packet.second_leg ? last : packet.via;
    if (r == to) return {top_.terminal_port(packet.destination), message_vcs(packet.message_class)};
    if (rules_.algorithm == "table") return by_table(packet, r, to, output);
    if (rules_.adaptive())
      if (const Choice choice = adaptive(packet, r, to, output); !choice.vcs.empty()) return choice;
    return dimension_order(packet, r, to);
  }

  /// Records that the head of a packet leaves router `r`.
  void note_hop(Packet& packet, u32 r, u32 port, u32 vc) const {
    if (port >= top_.network_ports) return;
    ++packet.hops;
    if (coordinates_.empty()) return;
    LastHop hop;
    hop.dimension = rules_.hypercube ? port : port / 2;
    hop.vc = vc;
    hop.by_class = !rules_.adaptive() || !contains(adaptive_vcs(packet.message_class), vc);
    hop.second_leg = packet.second_leg;
    hop.entered = goes_on(packet, hop.dimension) && hop.by_class ? packet.last.entered : coordinates_[r][hop.dimension];
    packet.last = hop;
  }

 private:
  bool minus(const Packet& packet, u32 d, u32 from, u32 to) const {
    if (!rules_.rings) return to < from;
    const u32 radix = top_.shape[d], up = (to + radix - from) % radix, down = radix - up;
    return down < up || (down == up && (packet.hash() >> d) % 2 == 1);
  }
  u32 port_of(u32 d, bool minus) const { return rules_.hypercube ? d : 2 * d + minus; }
  static bool crosses(bool minus, u32 from, u32 to) { return minus ? to > from : to < from; }

  /// Returns whether the packet's last hop was in dimension `d`, on the same side of the intermediate router, by
  /// virtual channels of a dateline class.
  static bool goes_on(const Packet& packet, u32 d) {
    return packet.last.dimension == d && packet.last.by_class && packet.last.second_leg == packet.second_leg;
  }

  List adaptive_vcs(u32 message_class) const {
    List vcs = message_vcs(message_class);
    vcs.erase(vcs.begin(), vcs.begin() + std::min<std::ptrdiff_t>(rules_.rings ? 2 : 1, std::ssize(vcs)));
    return vcs;
  }

  /// Returns the virtual channels of routing class `c` of `classes` of a message class: equal shares, or one escape
  /// channel per class.
  List class_vcs(u32 message_class, u32 c, u32 classes) const {
    const List all = message_vcs(message_class);
    if (rules_.adaptive()) return {all.at(c)};
    const u32 n = static_cast<u32>(all.size());
    return List(all.begin() + c * n / classes, all.begin() + (c + 1) * n / classes);
  }

  Choice dimension_order(const Packet& packet, u32 r, u32 to) const {
    const u32 dims = static_cast<u32>(top_.shape.size());
    u32 d = packet.highest_first ? dims - 1 : 0;
    while (coordinates_[r][d] == coordinates_[to][d]) packet.highest_first ? --d : ++d;
    const u32 from = coordinates_[r][d], target = coordinates_[to][d];
    const bool down = minus(packet, d, from, target);
    const u32 port = port_of(d, down);
    const u32 legs = rules_.algorithm == "valiant" || rules_.algorithm == "romm" ? 2 : 1;
    if (!rules_.rings) {
      if (rules_.algorithm == "o1turn") return {port, class_vcs(packet.message_class, packet.highest_first, 2)};
      return {port, class_vcs(packet.message_class, packet.second_leg, legs)};
    }
    if (rules_.assignment == "any") return {port, message_vcs(packet.message_class)};
    const List low = class_vcs(packet.message_class, 2 * packet.second_leg, 2 * legs);
    const List high = class_vcs(packet.message_class, 2 * packet.second_leg + 1, 2 * legs);
    const bool still_to_cross = crosses(down, from, target);
    if (rules_.assignment == "by_crossing")
      return {port, crosses(down, goes_on(packet, d) ? packet.last.entered : from, target) ? high : low};
    if (still_to_cross) return {port, low};
    if (rules_.assignment == "dateline") return {port, high};
    // Balanced: a packet may use both classes, unless it has crossed the dateline or has been in the high class.
    const bool straight = packet.last.dimension == d;
    const bool has_crossed = straight && (down ? from + 1 == top_.shape[d] : from == 0);
    if (has_crossed || (straight && contains(high, packet.last.vc))) return {port, high};
    List both = low;
    both.insert(both.end(), high.begin(), high.end());
    return {port, both};
  }

  static u32 sum_of_credits(const std::vector<OutputVc>& output, const List& vcs) {
    u32 sum = 0;
    for (u32 vc : vcs) sum += output[vc].credits;
    return sum;
  }
  static List takeable(const std::vector<OutputVc>& output, const List& vcs, u32 credits) {
    List list;
    for (u32 vc : vcs)
      if (output[vc].owner == kNone && output[vc].credits >= credits) list.push_back(vc);
    return list;
  }

  /// Returns the productive port that has a free adaptive virtual channel and the most credits. Without such a
  /// port, the list of virtual channels is empty.
  Choice adaptive(const Packet& packet, u32 r, u32 to, const std::vector<std::vector<OutputVc>>& output) const {
    const List vcs = adaptive_vcs(packet.message_class);
    Choice best{0, {}};
    u32 most = 0;
    for (u32 d = 0; d < top_.shape.size(); ++d) {
      if (coordinates_[r][d] == coordinates_[to][d]) continue;
      const u32 port = port_of(d, minus(packet, d, coordinates_[r][d], coordinates_[to][d]));
      const List free = takeable(output[port], vcs, rules_.wormhole() ? rules_.buffer : packet.flits);
      const u32 credits = sum_of_credits(output[port], vcs);
      if (free.empty() || (!best.vcs.empty() && credits <= most)) continue;
      best = {port, free};
      most = credits;
    }
    return best;
  }

  Choice by_table(const Packet& packet, u32 r, u32 to, const std::vector<std::vector<OutputVc>>& output) const {
    const vc::VcTable& table = plan_.table();
    const u32 from = packet.source / top_.concentration, entry = table.next_port[r * top_.routers + to];
    const u32 named = entry & ~u32{kAnyParallel};
    const List vcs = class_vcs(packet.message_class, table.layer[from * top_.routers + to], plan_.route_layers());
    if (!(entry & kAnyParallel)) return {named, vcs};
    List ports;
    for (u32 p = 0; p < top_.network_ports; ++p)
      if (top_.peer(r, p).item == top_.peer(r, named).item) ports.push_back(p);
    std::rotate(ports.begin(), ports.begin() + packet.hash() % ports.size(), ports.end());
    u32 best = kNone;
    for (u32 p : ports) {
      if (takeable(output[p], vcs, rules_.wormhole() ? 0 : packet.flits).empty()) continue;
      if (best == kNone || sum_of_credits(output[p], vcs) > sum_of_credits(output[best], vcs)) best = p;
    }
    return {best == kNone ? ports.front() : best, vcs};
  }

  const Rules& rules_;
  const VcPlan& plan_;
  const Topology& top_;
  std::vector<List> coordinates_;  ///< [router] coordinates; empty for a graph
};

}  // namespace flitlab::testing::vc_naive
