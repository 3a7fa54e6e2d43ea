#include "host/routers/sconnect/metrics.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "host/routers/sconnect/order.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/sconnect/streams.hpp"

namespace flitlab {
namespace {

using sconnect::kPorts;
using sconnect::LinkKind;

/// Graph of sites (nodes and switches) and the serial channels between them.
struct Sites {
  std::vector<u32> node;               ///< [sites] kNone: a switch
  std::vector<std::vector<u32>> next;  ///< [sites] sites to which the site's channels lead

  explicit Sites(const SconnectFabric& f) {
    std::vector<u32> site(f.tics, kNone);
    for (u32 tic = 0; tic < f.tics; ++tic) {
      if (site[tic] != kNone) continue;
      std::vector<u32> stack{tic};
      site[tic] = static_cast<u32>(node.size());
      while (!stack.empty()) {
        const u32 at = stack.back();
        stack.pop_back();
        for (u32 port = 0; port < kPorts; ++port) {
          const sconnect::Link& l = f.link(at, port);
          if (l.kind != LinkKind::kParallel || site[l.far] != kNone) continue;
          site[l.far] = site[tic];
          stack.push_back(l.far);
        }
      }
      node.push_back(f.node_of[tic]);
    }
    next.resize(node.size());
    for (u32 tic = 0; tic < f.tics; ++tic)
      for (u32 port = 0; port < kPorts; ++port)
        if (f.link(tic, port).kind == LinkKind::kSerial) next[site[tic]].push_back(site[f.link(tic, port).far]);
  }

  /// Returns the distance in channels from a site to every site.
  std::vector<u32> channels_from(u32 begin) const {
    std::vector<u32> channels(node.size(), kNone), queue{begin};
    channels[begin] = 0;
    for (std::size_t head = 0; head < queue.size(); ++head)
      for (u32 n : next[queue[head]])
        if (channels[n] == kNone) {
          channels[n] = channels[queue[head]] + 1;
          queue.push_back(n);
        }
    return channels;
  }
};

/// A division of the sites into two halves, numbered 0 and 1.
class Halves {
 public:
  Halves(const Sites& sites, u32 start) : sites_(sites), side_(sites.node.size()) {
    std::vector<u32> order(side_.size());
    std::iota(order.begin(), order.end(), 0);
    for (u32 i = static_cast<u32>(order.size()); i > 1; --i)
      std::swap(order[i - 1], order[below(philox(start, sconnect::stream::kFabric, 2, i).word[0], i)]);
    u32 nodes = 0;
    for (u32 s : order) side_[s] = sites.node[s] == kNone ? s & 1 : nodes++ & 1;
    most_uneven_ = nodes % 2;
  }

  /// Moves every site once to the other half, in the order of gain, and then undoes the moves that came after the best
  /// division. Returns false if no division was better than the initial one.
  bool pass() {
    const u32 count = static_cast<u32>(side_.size());
    std::vector<std::int64_t> gain(count, 0);
    std::int64_t uneven = 0;  // number of nodes in half 0 minus number of nodes in half 1
    std::set<std::pair<std::int64_t, u32>> open[2];
    for (u32 s = 0; s < count; ++s) {
      for (u32 n : sites_.next[s]) gain[s] += side_[s] != side_[n] ? 1 : -1;
      open[side_[s]].insert({-gain[s], s});
      if (sites_.node[s] != kNone) uneven += side_[s] ? 1 : -1;
    }
    std::int64_t gained = 0, best = 0;
    std::size_t kept = 0;
    std::vector<u32> moved;
    while (!open[0].empty() || !open[1].empty()) {
      // Move a site from the larger half. If the halves are equal, take the move with the higher gain.
      u32 from = uneven > 0;
      if (uneven == 0 && !open[0].empty() && !open[1].empty()) from = *open[1].begin() < *open[0].begin();
      if (open[from].empty()) from = !from;
      const u32 s = open[from].begin()->second;
      open[from].erase(open[from].begin());
      gained += gain[s];
      if (sites_.node[s] != kNone) uneven += from ? -2 : 2;
      side_[s] = !from;
      gain[s] = 0;
      moved.push_back(s);
      for (u32 n : sites_.next[s]) {
        if (!open[side_[n]].erase({-gain[n], n})) continue;
        gain[n] += side_[n] == side_[s] ? -2 : 2;
        open[side_[n]].insert({-gain[n], n});
      }
      if (gained <= best || std::abs(uneven) > most_uneven_) continue;
      best = gained;
      kept = moved.size();
    }
    for (std::size_t i = kept; i < moved.size(); ++i) side_[moved[i]] = !side_[moved[i]];
    return best > 0;
  }

  /// Returns the number of channels between the halves.
  u32 cut() const {
    u32 ends = 0;
    for (u32 s = 0; s < side_.size(); ++s)
      for (u32 n : sites_.next[s]) ends += side_[s] != side_[n];
    return ends / 2;
  }

 private:
  const Sites& sites_;
  std::vector<u8> side_;
  std::int64_t most_uneven_ = 0;
};

/// Returns the bisection of a mesh or hypercube; 0 if there is no simple formula.
u32 known_bisection(const SconnectFabric& f) {
  if (f.kind != "mesh" && f.kind != "hypercube") return 0;
  const u32 longest = *std::max_element(f.shape.begin(), f.shape.end());
  if (longest % 2 == 0) return f.nodes / longest;
  const bool cube = std::all_of(f.shape.begin(), f.shape.end(), [&](u32 k) { return k == longest || k == 1; });
  return cube ? (f.nodes - 1) / (longest - 1) : 0;
}

}  // namespace

u32 searched_bisection(const SconnectFabric& f) {
  const Sites sites(f);
  constexpr u32 kStarts = 16;
  u32 least = kNone;
  for (u32 start = 0; start < kStarts; ++start) {
    Halves halves(sites, start);
    while (halves.pass()) {
    }
    least = std::min(least, halves.cut());
  }
  return least;
}

SconnectMetrics sconnect_metrics(const SconnectFabric& f) {
  SconnectMetrics m;
  const Sites sites(f);
  const auto hosts = sconnect_hosts(f);
  u64 channels = 0, hops = 0, pairs = 0, tic_pairs = 0;
  for (u32 s = 0; s < sites.node.size(); ++s) {
    if (sites.node[s] == kNone) continue;
    const std::vector<u32> far = sites.channels_from(s);
    for (u32 o = 0; o < far.size(); ++o) {
      if (o == s || sites.node[o] == kNone) continue;
      ++pairs;
      channels += far[o];
      m.diameter = std::max(m.diameter, far[o]);
    }
    const std::vector<u32> to = sconnect_hops(f, hosts[sites.node[s]]);
    for (u32 n = 0; n < f.nodes; ++n)
      for (u32 tic : hosts[n]) {
        if (n == sites.node[s]) continue;
        ++tic_pairs;
        hops += to[tic];
      }
  }
  m.mean_channels = static_cast<double>(channels) / static_cast<double>(pairs);
  m.mean_hops = static_cast<double>(hops) / static_cast<double>(tic_pairs);
  m.bisection = known_bisection(f);
  m.bisection_exact = m.bisection > 0;
  if (!m.bisection_exact) m.bisection = searched_bisection(f);
  return m;
}

}  // namespace flitlab
