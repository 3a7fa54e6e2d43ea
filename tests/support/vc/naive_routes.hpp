#pragma once
/// Routes of the second virtual-channel router (naive.hpp): Dally & Towles chapters 8 to 11 and 14.
#include "kernels/common/philox.hpp"
#include "kernels/common/streams.hpp"
#include "tests/support/vc/naive_tables.hpp"

namespace flitlab::testing::vc_naive {

class Routes {
 public:
  Routes(const Rules& rules, const VcPlan& plan)
      : rules_(rules), plan_(plan), top_(plan.topology()), tables_(rules, plan) {
    if (!top_.grid) return;
    for (u32 r = 0; r < top_.routers; ++r) {
      List coordinates;
      for (u32 rest = r, d = 0; d < top_.shape.size(); rest /= top_.shape[d++])
        coordinates.push_back(rest % top_.shape[d]);
      coordinates_.push_back(coordinates);
    }
  }

  /// Returns the virtual channels of a class of packets. All classes have equal shares, or share all.
  List message_vcs(u32 message_class) const {
    if (!rules_.first_vc.empty()) return range(rules_.first_vc.at(message_class), rules_.last_vc.at(message_class) + 1);
    if (rules_.message_classes == 1) return range(0, rules_.vcs);
    const auto first = [&](u32 m) { return m * rules_.vcs / rules_.message_classes; };
    return range(first(message_class), first(message_class + 1));
  }

  /// Makes the random choices of a route, which are made at the source.
  void plan_route(Packet& packet, u64 seed) const {
    const u32 from = packet.source / top_.concentration, to = packet.destination / top_.concentration;
    const Random4 random = philox(seed, stream::kRouting, packet.source, packet.id);
    if (rules_.algorithm == "o1turn") packet.highest_first = random.word[0] % 2 == 1;
    if (rules_.goes_via()) packet.via = below(random.word[0], top_.terminals / top_.concentration);
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
  bool choose_anew() const { return top_.grid ? rules_.adaptive() || turns() : tables_.choose_anew(); }

  /// Returns the next hop of a packet whose head is in router `r`. `output[port][vc]`: output virtual channels of the
  /// router.
  Choice choose(Packet& packet, u32 r, const std::vector<std::vector<OutputVc>>& output) const {
    const u32 last = packet.destination / top_.concentration;
    if (!top_.grid) return tables_.choose(packet, r, output, message_vcs(packet.message_class));
    if (r == packet.via) packet.second_leg = true;
    const u32 to = packet.via == kNone || packet.second_leg ? last : packet.via;
    if (r == to) return {top_.terminal_port(packet.destination), message_vcs(packet.message_class)};
    if (turns()) return by_turns(packet, r, to, output);
    const bool may_adapt = !rules_.stays_on_escape || packet.last.dimension == kNone || !packet.last.by_class;
    if (rules_.adaptive() && may_adapt)
      if (const Choice choice = adaptive(packet, r, to, output); !choice.vcs.empty()) return choice;
    return dimension_order(packet, r, to);
  }

  /// Records that the head of a packet leaves router `r`.
  void note_hop(Packet& packet, u32 r, u32 port, u32 vc) const {
    if (port >= top_.network_ports) return;
    ++packet.hops;
    if (!top_.grid) return tables_.note_hop(packet, r, port, vc, message_vcs(packet.message_class));
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
    if (rules_.adaptive_vcs) vcs.resize(std::min<std::size_t>(vcs.size(), rules_.adaptive_vcs));
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

  bool turns() const {
    const std::string& a = rules_.algorithm;
    return a == "west_first" || a == "north_last" || a == "negative_first" || a == "odd_even";
  }
  /// Returns whether a packet may go a step in a dimension, by the turns that the algorithm forbids. A packet has not
  /// made a turn yet while it is at its source.
  bool may_go(const Packet& packet, u32 r, u32 to, u32 d, bool down) const {
    const List &at = coordinates_[r], &target = coordinates_[to];
    bool others = false, other_minus = false;
    for (u32 other = 0; other < at.size(); ++other) {
      if (other == d || at[other] == target[other]) continue;
      others = true;
      other_minus |= target[other] < at[other];
    }
    if (rules_.algorithm == "negative_first") return down || !other_minus;
    if (rules_.algorithm == "west_first") return (d == 0 && down) || at[0] <= target[0];
    if (rules_.algorithm == "north_last") return !(d == 1 && !down) || !others;
    const bool odd = at[0] % 2 == 1, in_first_column = at[0] == coordinates_[packet.source / top_.concentration][0];
    if (!others) return true;
    if (d == 0 && down) return true;
    if (d == 0) return target[0] % 2 == 1 || target[0] > at[0] + 1;  // else it could not turn in its last column
    if (target[0] < at[0]) return !odd;  // it will turn west here or in an even column that it is in now
    return odd || in_first_column;       // a turn from east
  }
  Choice by_turns(const Packet& packet, u32 r, u32 to, const std::vector<std::vector<OutputVc>>& output) const {
    const List vcs = message_vcs(packet.message_class);
    u32 first = kNone, best = kNone;
    for (u32 d = 0; d < top_.shape.size(); ++d) {
      const bool down = coordinates_[to][d] < coordinates_[r][d];
      if (coordinates_[to][d] == coordinates_[r][d] || !may_go(packet, r, to, d, down)) continue;
      const u32 p = port_of(d, down);
      if (first == kNone) first = p;
      if (takeable(output[p], vcs, rules_.room_for(packet.flits)).empty()) continue;
      if (best == kNone || sum_of_credits(output[p], vcs) > sum_of_credits(output[best], vcs)) best = p;
    }
    return {best == kNone ? first : best, vcs};
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
    if (rules_.assignment == "two_datelines") {
      // The whole way in this dimension decides, and a draw where it touches neither dateline.
      const u32 entered = goes_on(packet, d) ? packet.last.entered : from, behind_middle = top_.shape[d] / 2.0 + 0.5;
      if (crosses(down, entered, target)) return {port, high};
      if (entered < behind_middle ? target >= behind_middle : target < behind_middle) return {port, low};
      return {port, packet.hash() >> (31 - d) & 1 ? high : low};
    }
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

  /// Returns the productive port that has a free adaptive virtual channel and the most credits, or only the first
  /// productive port. If it has no free one, the list of virtual channels is empty.
  Choice adaptive(const Packet& packet, u32 r, u32 to, const std::vector<std::vector<OutputVc>>& output) const {
    const List vcs = adaptive_vcs(packet.message_class);
    if (rules_.selection != "most_credits") {
      const Choice escape = dimension_order(packet, r, to);
      List list;
      if (rules_.selection == "first_or_escape")
        list = takeable(output[escape.port], escape.vcs, rules_.room_for(packet.flits));
      for (u32 vc : takeable(output[escape.port], vcs, rules_.adaptive_room_for(packet.flits))) list.push_back(vc);
      return {escape.port, list};
    }
    Choice best{0, {}};
    u32 most = 0;
    for (u32 d = 0; d < top_.shape.size(); ++d) {
      if (coordinates_[r][d] == coordinates_[to][d]) continue;
      const u32 port = port_of(d, minus(packet, d, coordinates_[r][d], coordinates_[to][d]));
      const List free = takeable(output[port], vcs, rules_.adaptive_room_for(packet.flits));
      const u32 credits = sum_of_credits(output[port], vcs);
      if (free.empty() || (!best.vcs.empty() && credits <= most)) continue;
      best = {port, free};
      most = credits;
    }
    return best;
  }

  const Rules& rules_;
  const VcPlan& plan_;
  const Topology& top_;
  const TableRoutes tables_;
  std::vector<List> coordinates_;  ///< [router] coordinates; empty without a grid
};

}  // namespace flitlab::testing::vc_naive
