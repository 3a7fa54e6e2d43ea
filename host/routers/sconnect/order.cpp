#include "host/routers/sconnect/order.hpp"

#include <algorithm>
#include <numeric>

#include "host/plan/interrupt.hpp"
#include "kernels/routers/sconnect/route.hpp"

namespace flitlab {

using sconnect::kPorts;
using sconnect::Link;
using sconnect::LinkKind;
using sconnect::option;

std::vector<std::vector<u32>> sconnect_hosts(const SconnectFabric& f) {
  std::vector<std::vector<u32>> hosts(f.nodes);
  for (u32 tic = 0; tic < f.tics; ++tic)
    for (u32 port = 0; port < kPorts; ++port)
      if (f.link(tic, port).kind == LinkKind::kHost &&
          (hosts[f.node_of[tic]].empty() || hosts[f.node_of[tic]].back() != tic))
        hosts[f.node_of[tic]].push_back(tic);
  return hosts;
}

std::vector<u32> sconnect_hops(const SconnectFabric& f, const std::vector<u32>& to) {
  std::vector<u32> hops(f.tics, kNone), queue = to;
  queue.reserve(f.tics);
  for (u32 tic : to) hops[tic] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head)
    for (u32 port = 0; port < kPorts; ++port) {
      const Link& l = f.link(queue[head], port);
      if (!leads_to_tic(l) || hops[l.far] != kNone) continue;
      hops[l.far] = hops[queue[head]] + 1;
      queue.push_back(l.far);
    }
  return hops;
}

namespace {

std::vector<u32> from_highest(const std::vector<u64>& keys) {
  std::vector<u32> tics(keys.size());
  std::iota(tics.begin(), tics.end(), 0);
  std::sort(tics.begin(), tics.end(), [&](u32 a, u32 b) { return rises(keys, b, a); });
  return tics;
}

/// Returns hops + 1, or kNone for kNone.
u32 after_hop(u32 hops) { return hops == kNone ? kNone : hops + 1; }

}  // namespace

SconnectPaths::SconnectPaths(const SconnectFabric& fabric, const SconnectOrder& order)
    : fabric_(fabric),
      order_(order),
      hosts_(sconnect_hosts(fabric)),
      by_first_(from_highest(order.first)),
      by_second_(from_highest(order.second)),
      on0_(fabric.tics),
      on1_(fabric.tics) {}

void SconnectPaths::find(u32 destination) {
  direct_ = sconnect_hops(fabric_, hosts_[destination]);
  for (u32 tic : by_second_) {
    u32 best = direct_[tic] == 0 ? 0 : kNone;
    for (u32 port = 0; port < kPorts; ++port) {
      const Link& l = fabric_.link(tic, port);
      if (leads_to_tic(l) && rises(order_.second, tic, l.far)) best = std::min(best, after_hop(on1_[l.far]));
    }
    on1_[tic] = best == direct_[tic] ? best : kNone;
  }
  for (u32 tic : by_first_) {
    u32 best = on1_[tic];
    for (u32 port = 0; port < kPorts; ++port) {
      const Link& l = fabric_.link(tic, port);
      if (!leads_to_tic(l)) continue;
      best = std::min(best, after_hop(on1_[l.far]));  // if on1_ is known, it is the length of a shortest path
      if (rises(order_.first, tic, l.far)) best = std::min(best, after_hop(on0_[l.far]));
    }
    on0_[tic] = best;
  }
}

u16 SconnectPaths::entry(u32 tic) const {
  sconnect::Options entry = 0;
  for (u32 port = 0; port < kPorts; ++port) {
    const Link& l = fabric_.link(tic, port);
    if (direct_[tic] == 0) {
      if (l.kind == LinkKind::kHost) entry |= option(port, 0);
      continue;
    }
    if (!leads_to_tic(l) || on0_[tic] == kNone) continue;
    if (rises(order_.first, tic, l.far) && after_hop(on0_[l.far]) == on0_[tic]) entry |= option(port, 0);
    if ((on1_[tic] == kNone || rises(order_.second, tic, l.far)) && after_hop(on1_[l.far]) == on0_[tic])
      entry |= option(port, 1);
  }
  return static_cast<u16>(entry);
}

SconnectLengths sconnect_lengths(const SconnectFabric& f, const SconnectOrder& order) {
  SconnectPaths ways(f, order);
  SconnectLengths sum;
  std::vector<bool> source(f.tics, false);
  for (const auto& tics : sconnect_hosts(f))
    for (u32 tic : tics) source[tic] = true;
  for (u32 d = 0; d < f.nodes; ++d) {
    check_interrupt();
    ways.find(d);
    for (u32 tic = 0; tic < f.tics; ++tic) {
      if (!source[tic]) continue;
      sum.ways += std::min(ways.on0(tic), kNoPath);
      sum.direct += ways.direct(tic);
    }
  }
  return sum;
}

u32 sconnect_centre(const SconnectFabric& f) {
  const auto farthest = [](const std::vector<u32>& hops) {
    return static_cast<u32>(std::max_element(hops.begin(), hops.end()) - hops.begin());
  };
  const u32 one_end = farthest(sconnect_hops(f, {0}));
  const std::vector<u32> to_one = sconnect_hops(f, {one_end});
  const u32 other_end = farthest(to_one), half = to_one[other_end] / 2;
  const std::vector<u32> to_other = sconnect_hops(f, {other_end});
  for (u32 tic = 0; tic < f.tics; ++tic)
    if (to_one[tic] == half && to_other[tic] == to_one[other_end] - half) return tic;
  return 0;
}

std::vector<SconnectOrder> sconnect_orders(const SconnectFabric& f) {
  // Keys are spaced so that other keys fit between them.
  constexpr u64 kMiddle = u64{1} << 62, kSpace = u64{1} << 32;
  std::vector<SconnectOrder> orders;
  const auto add = [&](const std::vector<u32>& height) {
    SconnectOrder order{std::vector<u64>(f.tics), std::vector<u64>(f.tics)};
    for (u32 tic = 0; tic < f.tics; ++tic) {
      // Among TICs of equal height, the number of the TIC decides; the second order uses the reverse of that.
      const u64 key = (u64{height[tic]} * f.tics + tic) * kSpace / f.tics;
      order.first[tic] = kMiddle + key;
      order.second[tic] = kMiddle - key;
    }
    orders.push_back(std::move(order));
  };
  constexpr u32 kRoots = 4;
  for (u32 i = 0; i < std::min(kRoots, f.tics); ++i) {
    const u32 root = i == 0 ? sconnect_centre(f) : static_cast<u32>(u64{i} * f.tics / kRoots);
    std::vector<u32> height = sconnect_hops(f, {root});
    const u32 deepest = *std::max_element(height.begin(), height.end());
    for (u32& h : height) h = deepest - h;
    add(height);
  }
  return orders;
}

}  // namespace flitlab
