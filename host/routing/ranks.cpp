#include "host/routing/ranks.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

#include "host/topology/metrics.hpp"
#include "kernels/common/bits.hpp"

namespace flitlab {
namespace {

constexpr u32 kBetweenGroups = 256;  ///< cost of a channel between groups; more than the hops of any route in a group

std::size_t index_of(const Topology& t, u32 router, u32 port) { return std::size_t{router} * t.network_ports + port; }

/// Calls work(port, router at the other end) for every network port of a router.
template <class Work>
void for_each_port(const Topology& t, u32 router, Work work) {
  for (u32 p = 0; p < t.network_ports; ++p)
    if (const u32 next = t.peer(router, p).item; next != kNone) work(p, next);
}

/// Returns the cost of the cheapest route from each router to `destination`.
std::vector<u32> costs_to(const Topology& t, u32 destination) {
  if (t.group.empty()) return hops_from(t, destination);  // channels exist in both directions
  std::vector<u32> cost(t.routers, kNone);
  using Entry = std::pair<u32, u32>;  // cost, router
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  open.push({cost[destination] = 0, destination});
  while (!open.empty()) {
    const u32 at = open.top().first, r = open.top().second;
    open.pop();
    if (at > cost[r]) continue;
    for_each_port(t, r, [&](u32, u32 next) {
      const u32 through = at + (t.group[r] == t.group[next] ? 1 : kBetweenGroups);
      if (through < cost[next]) open.push({cost[next] = through, next});
    });
  }
  return cost;
}

/// Returns the routers in the order of a breadth-first tree: a root that is as near to all others as possible, then the
/// others by their distance from it. `rank`: [routers] position in this order.
std::vector<u32> tree_order(const Topology& t, std::vector<u32>& rank) {
  u32 root = 0, least = kNone;
  for (u32 r = 0; r < t.routers; ++r) {
    const std::vector<u32> hops = hops_from(t, r);
    if (const u32 most = *std::max_element(hops.begin(), hops.end()); most < least) least = most, root = r;
  }
  const std::vector<u32> hops = hops_from(t, root);
  std::vector<u32> order(t.routers);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return hops[a] < hops[b]; });
  rank.resize(t.routers);
  for (u32 i = 0; i < t.routers; ++i) rank[order[i]] = i;
  return order;
}

/// Chooses one of several ports for each entry of a table, so that equal traffic between all terminals spreads evenly
/// over the channels.
class Spread {
 public:
  explicit Spread(const Topology& t) : t_(t), use_(std::size_t{t.routers} * t.network_ports) {
    table.port.assign(std::size_t{t.routers} * t.routers, 0);
  }

  /// Sets the entries for a destination. `ports`: [router] permitted ports. `cost`: [router] cost of the rest of the
  /// route, which falls with every hop.
  void add(u32 destination, const std::vector<u64>& ports, const std::vector<u32>& cost) {
    const u32 sources = t_.terminal_routers();
    std::vector<u32> order(t_.routers), flow(t_.routers, 0);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return cost[a] > cost[b]; });
    for (u32 r : order) {
      if (r == destination) continue;
      flow[r] += r < sources && destination < sources;
      const u32 port = least_used(r, ports[r]);
      use_[index_of(t_, r, port)] += flow[r];
      flow[t_.peer(r, port).item] += flow[r];
      const bool several = bit_count64(t_.parallel_ports(r, port)) > 1;
      table.port[std::size_t{r} * t_.routers + destination] = static_cast<u8>(port | (several ? kAnyParallel : 0u));
    }
  }

  RouteTable table;

 private:
  u32 least_used(u32 router, u64 ports) const {
    u32 best = kNone;
    for (; ports; ports &= ports - 1) {
      const u32 port = lowest_bit(ports);
      if (lowest_bit(t_.parallel_ports(router, port)) != port) continue;  // counted at the first of parallel channels
      if (best == kNone || load(router, port) < load(router, best)) best = port;
    }
    return best;
  }
  double load(u32 router, u32 port) const {
    return use_[index_of(t_, router, port)] / static_cast<double>(bit_count64(t_.parallel_ports(router, port)));
  }

  const Topology& t_;
  std::vector<u32> use_;  ///< routes over each channel
};

}  // namespace

Ranks tree_ranks(const Topology& t) {
  std::vector<u32> place;
  tree_order(t, place);
  Ranks ranks(std::size_t{t.routers} * t.network_ports);
  for (u32 r = 0; r < t.routers; ++r)
    for_each_port(t, r, [&](u32 p, u32 next) {
      const bool up = place[next] < place[r];
      ranks[index_of(t, r, p)] = static_cast<u16>(up ? t.routers - 1 - place[r] : t.routers + place[r]);
    });
  return ranks;
}

std::vector<u64> shortest_ports(const Topology& t) {
  std::vector<u64> ports(std::size_t{t.routers} * t.routers);
  for (u32 d = 0; d < t.routers; ++d) {
    const std::vector<u32> cost = costs_to(t, d);
    for (u32 r = 0; r < t.routers; ++r)
      for_each_port(t, r, [&](u32 p, u32 next) {
        const u32 hop = t.group.empty() || t.group[r] == t.group[next] ? 1 : kBetweenGroups;
        if (cost[next] + hop == cost[r]) ports[std::size_t{r} * t.routers + d] |= u64{1} << p;
      });
  }
  return ports;
}

RouteTable shortest_table(const Topology& t, const Ranks& ranks, const std::vector<u64>& ports) {
  Spread spread(t);
  std::vector<u64> lowest(t.routers);
  for (u32 d = 0; d < t.routers; ++d) {
    for (u32 r = 0; r < t.routers; ++r) {
      u32 least = kNone;
      lowest[r] = 0;
      for (u64 set = ports[std::size_t{r} * t.routers + d]; set; set &= set - 1) {
        const u32 rank = ranks[index_of(t, r, lowest_bit(set))];
        if (rank > least) continue;
        if (rank < least) lowest[r] = 0;
        least = rank;
        lowest[r] |= set & (0 - set);
      }
    }
    spread.add(d, lowest, costs_to(t, d));
  }
  return std::move(spread.table);
}

RouteTable up_down_table(const Topology& t) {
  std::vector<u32> place;
  const std::vector<u32> order = tree_order(t, place);
  Spread spread(t);
  for (u32 d = 0; d < t.routers; ++d) {
    std::vector<u32> hops(t.routers, kNone);
    std::vector<u64> ports(t.routers, 0);
    // Offers a router the routes over its neighbours on one side.
    const auto offer = [&](u32 r, bool up) {
      for_each_port(t, r, [&](u32 p, u32 next) {
        if ((place[next] < place[r]) != up || hops[next] == kNone || hops[next] + 1 > hops[r]) return;
        if (hops[next] + 1 < hops[r]) ports[r] = 0;
        hops[r] = hops[next] + 1;
        ports[r] |= u64{1} << p;
      });
    };
    hops[d] = 0;
    for (auto r = order.rbegin(); r != order.rend(); ++r)
      if (*r != d) offer(*r, false);
    for (u32 r : order)
      if (hops[r] == kNone) offer(r, true);
    spread.add(d, ports, hops);
  }
  return std::move(spread.table);
}

std::vector<u8> hops_of(const Topology& t, const RouteTable& table) {
  std::vector<u8> hops(std::size_t{t.routers} * t.routers, 0);
  std::vector<u32> route;
  for (u32 d = 0; d < t.routers; ++d)
    for (u32 from = 0; from < t.routers; ++from) {
      route.clear();
      u32 r = from;
      const auto at = [&](u32 router) -> u8& { return hops[std::size_t{router} * t.routers + d]; };
      for (; r != d && !at(r); r = t.peer(r, lowest_bit(ports_toward(t, table, r, d))).item) route.push_back(r);
      for (u32 known = r == d ? 0 : at(r); !route.empty(); route.pop_back())
        at(route.back()) = static_cast<u8>(std::min(++known, 255u));
    }
  return hops;
}

u32 end_of_part_one(const Topology& t, const RouteTable& table, u32 from, u32 via, bool by_group) {
  u32 r = from;
  while (r != via && !(by_group && t.group[r] == t.group[via]))
    r = t.peer(r, lowest_bit(ports_toward(t, table, r, via))).item;
  return r;
}

u32 classes_of_routes(const Topology& t, const Ranks& ranks, const PortsToward& ports) {
  const u32 sources = t.terminal_routers();
  u32 most = 0;
  std::vector<u8> changes(std::size_t{t.routers} * t.network_ports);  // of class, after a channel
  for (u32 d = 0; d < sources; ++d) {
    // Depth first: a router's channels need the numbers of the channels after them.
    std::vector<u8> known(t.routers, 0);
    std::vector<u32> stack;
    for (u32 from = 0; from < t.routers; ++from) {
      if (from != d) stack.push_back(from);
      while (!stack.empty()) {
        const u32 r = stack.back();
        const std::size_t before = stack.size();
        const u64 set = known[r] ? 0 : ports(r, d);
        for (u64 s = set; s; s &= s - 1)
          if (const u32 next = t.peer(r, lowest_bit(s)).item; next != d && !known[next]) stack.push_back(next);
        if (stack.size() > before) continue;
        stack.pop_back();
        known[r] = 1;
        for (u64 s = set; s; s &= s - 1) {
          const std::size_t channel = index_of(t, r, lowest_bit(s));
          const u32 next = t.peer(r, lowest_bit(s)).item;
          u32 after = 0;
          for (u64 then = next == d ? 0 : ports(next, d); then; then &= then - 1) {
            const std::size_t to = index_of(t, next, lowest_bit(then));
            after = std::max(after, changes[to] + u32{ranks[to] <= ranks[channel]});
          }
          changes[channel] = static_cast<u8>(std::min(after, 254u));
          if (r < sources) most = std::max(most, after);
        }
      }
    }
  }
  return most + 1;
}

u32 classes_via(const Topology& t, const Ranks& ranks, const RouteTable& table, bool by_group) {
  const u32 n = t.routers, sources = t.terminal_routers();
  // The ports of parallel channels may have different ranks; the families give them equal ones.
  const auto next_port = [&](u32 r, u32 d) { return lowest_bit(ports_toward(t, table, r, d)); };
  // For each router where the second part begins: by the channel before it, the most changes of class so far.
  std::vector<std::vector<std::pair<u16, u32>>> arrivals(n);          // rank of the channel, changes
  std::vector<u32> most_at(std::size_t{n} * t.network_ports, kNone);  // by the channel
  for (u32 s = 0; s < sources; ++s)
    for (u32 via = 0; via < sources; ++via) {
      u32 changes = 0, r = s;
      std::size_t before = kNone;
      const u32 end = end_of_part_one(t, table, s, via, by_group);
      while (r != end) {
        const std::size_t channel = index_of(t, r, next_port(r, via));
        if (before != kNone) changes += ranks[channel] <= ranks[before];
        before = channel;
        r = t.peer(r, next_port(r, via)).item;
      }
      if (before == kNone) continue;
      u32& most = most_at[before];
      most = most == kNone ? changes : std::max(most, changes);
    }
  for (u32 r = 0; r < n; ++r)
    for_each_port(t, r, [&](u32 p, u32 next) {
      const std::size_t channel = index_of(t, r, p);
      if (most_at[channel] != kNone) arrivals[next].emplace_back(ranks[channel], most_at[channel]);
    });
  u32 most = 0;
  for (u32 d = 0; d < sources; ++d)
    for (u32 middle = 0; middle < n; ++middle) {
      if (middle == d) {
        for (const auto& [rank, changes] : arrivals[middle]) most = std::max(most, changes);
        continue;
      }
      u32 changes = 0;
      const std::size_t first = index_of(t, middle, next_port(middle, d));
      std::size_t before = first;
      for (u32 r = t.peer(middle, next_port(middle, d)).item; r != d; r = t.peer(r, next_port(r, d)).item) {
        const std::size_t channel = index_of(t, r, next_port(r, d));
        changes += ranks[channel] <= ranks[before];
        before = channel;
      }
      if (middle < sources) most = std::max(most, changes);
      for (const auto& [rank, so_far] : arrivals[middle])
        most = std::max(most, so_far + u32{ranks[first] <= rank} + changes);
    }
  return most + 1;
}

}  // namespace flitlab
