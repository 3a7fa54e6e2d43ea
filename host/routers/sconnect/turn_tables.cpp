/// Routing tables that use permitted turns only (turns.hpp), computed destination by destination.
#include <algorithm>
#include <numeric>

#include "host/plan/interrupt.hpp"
#include "host/routers/sconnect/make_tables.hpp"
#include "host/routers/sconnect/order.hpp"
#include "host/routers/sconnect/turns.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/sconnect/route.hpp"
#include "kernels/routers/sconnect/streams.hpp"

namespace flitlab {

using sconnect::kOnVc1;
using sconnect::kPorts;
using sconnect::option;

namespace {

constexpr u32 kNowhere = kNone - 1;
constexpr u32 kAttempts = 8;

/// One attempt to fill the tables, with destinations in a given order.
class Filling {
 public:
  explicit Filling(const SconnectFabric& fabric)
      : f_(fabric),
        on0_(fabric),
        on1_(fabric),
        hosts_(sconnect_hosts(fabric)),
        entry_(sconnect_host_entries(fabric)),
        tree_(tree_sconnect_tables(fabric).entry) {
    // Permit the turns of the spanning tree first: up on virtual channel 0, down on virtual channel 1.
    for (u32 tic = 0; tic < f_.tics; ++tic)
      for (u32 d = 0; d < f_.nodes; ++d) {
        const u32 bits = tree_[std::size_t{tic} * f_.nodes + d], bit = lowest_bit(bits);
        if (!leads_to_tic(f_.link(tic, bit / 2))) continue;
        const u32 far = f_.link(tic, bit / 2).far, on = lowest_bit(u32{tree_[std::size_t{far} * f_.nodes + d]});
        if (leads_to_tic(f_.link(far, on / 2)) && on % 2 == bit % 2)
          (bit % 2 ? on1_ : on0_).allow(tic * kPorts + bit / 2, on / 2);
      }
  }

  /// Permits all turns except those from a hop away from the root into a hop toward it. Turns that would close a cycle
  /// with the turns of the spanning tree stay rejected.
  void allow_up_and_down(u32 root) {
    const std::vector<u32> depth = sconnect_hops(f_, {root});
    const auto up = [&](u32 channel) {
      const u32 from = channel / kPorts, to = f_.links[channel].far;
      return depth[from] != depth[to] ? depth[from] > depth[to] : from > to;
    };
    for (u32 channel = 0; channel < f_.links.size(); ++channel) {
      if (!leads_to_tic(f_.links[channel])) continue;
      for (u32 port = 0; port < kPorts; ++port) {
        const u32 next = f_.links[channel].far * kPorts + port;
        if (leads_to_tic(f_.links[next]) && f_.links[next].far != channel / kPorts && (up(channel) || !up(next)))
          for (SconnectTurns* turns : {&on0_, &on1_}) turns->allow(channel, port);
      }
    }
  }

  void fill(const std::vector<u32>& destinations) {
    for (u32 d : destinations) check_interrupt(), reach(d);
    for (u32 d : destinations) check_interrupt(), add_alternates(d);
  }
  u64 hops() const { return hops_; }
  /// Returns the sum of the path lengths to a destination.
  u64 hops_to(u32 d) const {
    const auto first = levels_.begin() + static_cast<std::ptrdiff_t>(d) * f_.tics;
    return std::accumulate(first, first + f_.tics, u64{0});
  }
  const std::vector<u16>& entry() const { return entry_; }

 private:
  u16& entry(u32 tic, u32 d) { return entry_[std::size_t{tic} * f_.nodes + d]; }

  /// Returns the options of a TIC for messages that arrive on a virtual channel, if they lead to other TICs.
  u32 onward(u32 tic, u32 d, u32 vc) {
    if (home_[tic]) return 0;
    return sconnect::allowed(entry(tic, d), vc);
  }

  /// Returns whether a message that leaves a TIC by `port` on virtual channel `vc` can make every turn that the next
  /// TIC's entry requires. `commit`: permits these turns.
  bool turns(u32 tic, u32 port, u32 vc, u32 d, bool commit) {
    const u32 channel = tic * kPorts + port;
    SconnectTurns& graph = vc ? on1_ : on0_;
    // Turns from virtual channel 0 to 1 close no cycle, because no turn leads back.
    for (u32 set = onward(f_.links[channel].far, d, vc); set; set &= set - 1) {
      const u32 bit = lowest_bit(set);
      if (bit % 2 != vc) continue;
      if (commit ? !graph.allow(channel, bit / 2) : !graph.possible(channel, bit / 2)) return false;
    }
    return true;
  }

  /// Returns whether all the turns that `turns()` checks are permitted already.
  bool known(u32 tic, u32 port, u32 vc, u32 d) {
    const u32 channel = tic * kPorts + port;
    const SconnectTurns& graph = vc ? on1_ : on0_;
    for (u32 set = onward(f_.links[channel].far, d, vc); set; set &= set - 1)
      if (const u32 bit = lowest_bit(set); bit % 2 == vc && !graph.allowed(channel, bit / 2)) return false;
    return true;
  }

  /// Returns whether a TIC can use an option. If so, permits the turns that it needs.
  bool can_use(u32 tic, u32 port, u32 vc, u32 d) {
    const u32 x = f_.link(tic, port).far;
    // A message on virtual channel 1 stays on it for the rest of its path.
    if (vc && !home_[x] && !(entry(x, d) & kOnVc1)) return false;
    return turns(tic, port, vc, d, false) && turns(tic, port, vc, d, true);
  }

  /// Gives a TIC its first option, over a neighbour that is nearest to the destination; prefers turns that are
  /// permitted already. Returns false if no option is possible.
  bool settle(u32 tic, u32 d, u32 level) {
    for (u32 vc : {1u, 0u})
      for (bool fresh : {false, true})
        for (u32 i = 0; i < kPorts; ++i) {
          const u32 port = (i + tic + d + attempt_) % kPorts;
          const sconnect::Link& link = f_.link(tic, port);
          if (!leads_to_tic(link) || level_[link.far] + 1 != level) continue;
          if (!fresh && !known(tic, port, vc, d)) continue;
          if (!can_use(tic, port, vc, d)) continue;
          entry(tic, d) = static_cast<u16>(option(port, vc));
          return true;
        }
    return false;
  }

  /// Returns whether a TIC's paths to a destination lead through another TIC.
  bool leads_through(u32 tic, u32 other, u32 d) {
    if (tic == other) return true;
    if (home_[tic]) return false;
    for (u32 set = entry(tic, d); set; set &= set - 1)
      if (leads_through(f_.link(tic, lowest_bit(set) / 2).far, other, d)) return true;
    return false;
  }

  /// Gives a TIC without an option an option over a neighbour. If necessary it changes the neighbour's path. Returns
  /// whether that succeeds.
  bool repair(u32 tic, u32 d) {
    for (u32 port = 0; port < kPorts; ++port) {
      const sconnect::Link& link = f_.link(tic, port);
      if (!leads_to_tic(link) || level_[link.far] == kNowhere) continue;
      const u32 x = link.far;
      if (can_use(tic, port, 0, d)) {
        take(tic, port, 0, d);
        return true;
      }
      const u16 before = entry(x, d);
      for (u32 q = 0; q < kPorts && !home_[x]; ++q) {
        const sconnect::Link& on = f_.link(x, q);
        if (!leads_to_tic(on) || on.far == tic || level_[on.far] == kNowhere || before >> 2 * q & 3) continue;
        if (leads_through(on.far, x, d)) continue;
        for (u32 vc : {1u, 0u}) {
          if (!vc && !on0_.possible(tic * kPorts + port, q)) continue;
          if ((before & kOnVc1) && !vc) continue;  // the TIC needs virtual channel 1, because messages arrive on it
          if (!fits_behind(x, q, vc, d, false) || !can_use(x, q, vc, d) || !fits_behind(x, q, vc, d, true)) continue;
          take(x, q, vc, d);
          if (can_use(tic, port, 0, d)) {
            take(tic, port, 0, d);
            return true;
          }
          entry(x, d) = before;
        }
      }
    }
    return false;
  }

  void take(u32 tic, u32 port, u32 vc, u32 d) {
    entry(tic, d) = static_cast<u16>(option(port, vc));
    level_[tic] = level_[f_.link(tic, port).far] + 1;
  }

  void start(u32 d) {
    home_.assign(f_.tics, false);
    for (u32 tic : hosts_[d]) home_[tic] = true;
  }

  void reach(u32 d) {
    start(d);
    u32 missing = 1;
    for (attempt_ = 0; missing && attempt_ < kAttempts; ++attempt_) missing = spread(d);
    if (missing) use_tree(d);
    levels_.resize(std::size_t{f_.nodes} * f_.tics);
    std::copy(level_.begin(), level_.end(), levels_.begin() + std::size_t{d} * f_.tics);
    for (u32 level : level_) hops_ += level;
  }

  /// Fills the entries for a destination, starting next to it. Returns the number of TICs without a path.
  u32 spread(u32 d) {
    level_.assign(f_.tics, kNowhere);
    std::vector<u32> next = hosts_[d], near;
    for (u32 tic : next) level_[tic] = 0;
    u32 missing = f_.tics - static_cast<u32>(hosts_[d].size());
    for (u32 tic = 0; tic < f_.tics; ++tic)
      if (!home_[tic]) entry(tic, d) = 0;
    // A TIC without a shortest path may get a longer one.
    for (u32 level = 1; missing; ++level) {
      near.clear();
      for (u32 tic : next)
        for (u32 port = 0; port < kPorts; ++port)
          if (const sconnect::Link& link = f_.link(tic, port); leads_to_tic(link) && level_[link.far] == kNowhere)
            near.push_back(link.far);
      std::sort(near.begin(), near.end());
      near.erase(std::unique(near.begin(), near.end()), near.end());
      next.clear();
      for (u32 tic : near)
        if (settle(tic, d, level)) next.push_back(tic);
      for (u32 tic : next) level_[tic] = level;
      missing -= static_cast<u32>(next.size());
      if (next.empty()) break;
    }
    for (bool found = true; missing && found;) {
      found = false;
      for (u32 tic = 0; tic < f_.tics; ++tic)
        if (level_[tic] == kNowhere && repair(tic, d)) {
          found = true;
          --missing;
        }
    }
    return missing;
  }

  /// Uses the spanning tree's paths, whose turns are always permitted.
  void use_tree(u32 d) {
    for (u32 tic = 0; tic < f_.tics; ++tic)
      if (!home_[tic]) entry(tic, d) = tree_[std::size_t{tic} * f_.nodes + d];
    for (u32 tic = 0; tic < f_.tics; ++tic) {
      level_[tic] = 0;
      for (u32 at = tic; !home_[at]; ++level_[tic]) at = f_.link(at, lowest_bit(u32{entry(at, d)}) / 2).far;
    }
  }

  /// Returns whether all messages that arrive at a TIC on `vc` can make the turn into `port`. `commit`: permits these
  /// turns.
  bool fits_behind(u32 tic, u32 port, u32 vc, u32 d, bool commit) {
    SconnectTurns& graph = vc ? on1_ : on0_;
    for (u32 p = 0; p < kPorts; ++p) {
      const sconnect::Link& back = f_.link(tic, p);
      if (!leads_to_tic(back) || home_[back.far]) continue;
      if (!(entry(back.far, d) & option(back.port, vc))) continue;
      const u32 channel = back.far * kPorts + back.port;
      if (commit ? !graph.allow(channel, port) : !graph.possible(channel, port)) return false;
    }
    return true;
  }

  /// Adds options over other neighbours that are equally near, where turns can be permitted.
  void add_alternates(u32 d) {
    start(d);
    const u32* level = levels_.data() + std::size_t{d} * f_.tics;
    for (u32 tic = 0; tic < f_.tics; ++tic) {
      if (home_[tic]) continue;
      for (u32 port = 0; port < kPorts; ++port) {
        const sconnect::Link& link = f_.link(tic, port);
        if (!leads_to_tic(link) || level[link.far] + 1 != level[tic] || entry(tic, d) >> 2 * port & 3) continue;
        for (u32 vc : {1u, 0u}) {
          if (!fits_behind(tic, port, vc, d, false) || !can_use(tic, port, vc, d)) continue;
          if (!fits_behind(tic, port, vc, d, true)) continue;
          entry(tic, d) |= static_cast<u16>(option(port, vc));
          break;
        }
      }
    }
  }

  const SconnectFabric& f_;
  SconnectTurns on0_, on1_;
  std::vector<std::vector<u32>> hosts_;
  std::vector<u16> entry_;
  std::vector<char> home_;
  std::vector<u32> level_, levels_;
  std::vector<u16> tree_;
  u32 attempt_ = 0;
  u64 hops_ = 0;
};

}  // namespace

std::vector<u16> sconnect_tables_by_turns(const SconnectFabric& f) {
  std::vector<u16> best;
  u64 least = ~u64{0};
  // The first attempt starts with the spanning tree's turns only, which suits small fabrics. Other attempts add turns
  // up and down from some roots. Destinations with long paths come first in the next attempt.
  constexpr u32 kRoots = 2, kTimes = 2;
  for (u32 root = 0; root <= kRoots; ++root) {
    std::vector<u32> destinations(f.nodes);
    std::iota(destinations.begin(), destinations.end(), 0u);
    for (u32 time = 0; time < (root ? kTimes : 1); ++time) {
      Filling filling(f);
      if (root) filling.allow_up_and_down(below(philox(root, sconnect::stream::kFabric, 1, 0).word[0], f.tics));
      filling.fill(destinations);
      std::stable_sort(destinations.begin(), destinations.end(),
                       [&](u32 a, u32 b) { return filling.hops_to(a) > filling.hops_to(b); });
      if (filling.hops() >= least) continue;
      least = filling.hops();
      best = filling.entry();
    }
  }
  return best;
}

}  // namespace flitlab
