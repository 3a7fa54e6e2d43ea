#include "host/routers/t3e/vc_balance.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "kernels/common/error.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/t3e/streams.hpp"

namespace flitlab::t3e {
namespace {

struct Route {
  u32 source, length;
  bool constrained;
};

/// Calls `f` for every route that stays within a subring of size `subring`, or, if `subring` is the ring's size, for
/// every route of the ring that takes this direction.
template <class F>
void for_each_route(const VcTable& table, u32 subring, F f) {
  const u32 ring = table.ring;
  // Hops from a node to the dateline; a route with more hops passes through it. A route that starts at the dateline
  // never passes through it.
  const auto before = [&](u32 s) { return s == table.dateline ? ring : (table.dateline + ring - s) % ring; };
  for (u32 s = 0; s < ring; ++s) {
    if (subring < ring) {
      for (u32 length = 1; s % subring + length < subring; ++length) f(Route{s, length, false});
      continue;
    }
    for (u32 length = 1; length <= ring / 2; ++length)
      if (length < ring / 2 || (table.half_way >> s % 2 & 1)) f(Route{s, length, before(s) < length});
  }
}

/// Routes on the links at one level of the traffic model: the ring, or all subrings of one size.
struct Level {
  u32 subring;
  /// [ring] number of VC0 routes minus number of VC1 routes on the link that leaves the node.
  std::vector<int> difference;
  int most = 0;  ///< number of routes on the busiest link
};

Level count_routes(const VcTable& table, u32 subring) {
  Level level{subring, std::vector<int>(table.ring, 0), 0};
  std::vector<int> routes(table.ring, 0);
  for_each_route(table, subring, [&](const Route& r) {
    const u8 vc = r.constrained ? 0 : table.bit(r.source, (r.source + r.length) % table.ring);
    for (u32 i = 0; i < r.length; ++i) {
      const u32 link = (r.source + i) % table.ring;
      const bool crossed = r.constrained && i >= (table.dateline + table.ring - r.source) % table.ring;
      ++routes[link];
      level.difference[link] += vc || crossed ? -1 : 1;
    }
  });
  level.most = *std::max_element(routes.begin(), routes.end());
  return level;
}

Balance balance_of(const Level& level) {
  Balance b{level.subring, 0, 0};
  for (int d : level.difference) {
    const double x = std::abs(d) / static_cast<double>(level.most);
    b.average += x / static_cast<double>(level.difference.size());
    b.maximum = std::max(b.maximum, x);
  }
  return b;
}

/// Random numbers of one restart, in the order in which they are drawn.
class Draws {
 public:
  Draws(u64 seed, u32 restart) : seed_(seed), restart_(restart) {}
  u32 next() {
    if (used_ == 4) {
      block_ = philox(seed_, t3e::stream::kAnnealing, restart_, counter_++);
      used_ = 0;
    }
    return block_.word[used_++];
  }

 private:
  u64 seed_;
  u32 restart_, counter_ = 0, used_ = 4;
  Random4 block_{};
};

/// One run of simulated annealing. A link's energy is the square of its balance, times the weight of its level. Two
/// penalties are added: for each link whose balance exceeds the wanted maximum, and for each level whose mean balance
/// exceeds the wanted average.
void anneal(VcTable& table, const std::vector<bool>& fixed, const std::vector<Balance>& goals,
            const std::vector<double>& weight, Draws draws, u32 steps) {
  constexpr double kTooMuch = 0.5, kTooMuchOnAverage = 0.2, kHot = 0.3, kCold = 0.0005;
  std::vector<Level> levels;
  std::vector<std::vector<double>> energy;  // [level][|difference|]
  std::vector<double> sum;                  // [level] sum of the balances of all links
  struct Use {
    u32 level;
    Route route;
  };
  // [entry of the VC table] unconstrained routes that use the entry.
  std::vector<std::vector<Use>> uses(table.bits.size());
  for (u32 l = 0; l < goals.size(); ++l) {
    levels.push_back(count_routes(table, goals[l].subring));
    energy.emplace_back();
    for (int d = 0; d <= levels[l].most; ++d) {
      const double balance = d / static_cast<double>(levels[l].most);
      energy[l].push_back(weight[l] * (balance * balance + kTooMuch * std::max(0.0, balance - goals[l].maximum)));
    }
    sum.push_back(balance_of(levels[l]).average * table.ring);
    for_each_route(table, goals[l].subring, [&](const Route& r) {
      if (!r.constrained)
        uses[&table.bit(r.source, (r.source + r.length) % table.ring) - table.bits.data()].push_back({l, r});
    });
  }
  std::vector<u32> free;
  for (u32 e = 0; e < uses.size(); ++e)
    if (!fixed[e] && !uses[e].empty()) free.push_back(e);
  if (free.empty()) return;
  const auto punishment = [&] {
    double p = 0;
    for (u32 l = 0; l < goals.size(); ++l) p += std::max(0.0, sum[l] - goals[l].average * table.ring);
    return kTooMuchOnAverage * p;
  };
  double temperature = kHot;
  const double cooling = std::pow(kCold / kHot, 1.0 / steps);
  for (u32 step = 0; step < steps; ++step, temperature *= cooling) {
    const u32 entry = free[below(draws.next(), static_cast<u32>(free.size()))];
    const auto move = [&](int by) {
      double change = -punishment();
      for (const Use& use : uses[entry]) {
        Level& level = levels[use.level];
        for (u32 i = 0; i < use.route.length; ++i) {
          int& d = level.difference[(use.route.source + i) % table.ring];
          const int before = std::abs(d);
          d += by;
          const int after = std::abs(d);
          change += energy[use.level][static_cast<u32>(after)] - energy[use.level][static_cast<u32>(before)];
          sum[use.level] += (after - before) / static_cast<double>(level.most);
        }
      }
      return change + punishment();
    };
    const int by = table.bits[entry] ? 2 : -2;
    const double change = move(by);
    if (change > 0 && unit_interval(draws.next()) >= std::exp(-change / temperature))
      move(-by);
    else
      table.bits[entry] ^= 1;
  }
}

}  // namespace

VcTable time_of_crossing(u32 ring, bool limited, u32 half_way, u32 dateline) {
  if (!std::has_single_bit(ring) || ring < 4 || ring > 256)
    throw ConfigError("ring = " + std::to_string(ring) + ": it must be a power of two from 4 to 256.");
  VcTable table{ring, limited ? std::min(ring, 8u) : ring, half_way, dateline, {}};
  table.bits.assign(std::size_t{ring} * table.entries, 0);
  return table;
}

std::vector<bool> constrained_entries(const VcTable& table) {
  std::vector<bool> fixed(table.bits.size(), false);
  for_each_route(table, table.ring, [&](const Route& r) {
    if (r.constrained) fixed[r.source * table.entries + (r.source + r.length) % table.ring % table.entries] = true;
  });
  return fixed;
}

Balance vc_balance(const VcTable& table, u32 subring) {
  if (!std::has_single_bit(subring) || subring < 4 || subring > table.ring)
    throw ConfigError("subring = " + std::to_string(subring) + ": it must be a power of two from 4 to the ring's " +
                      std::to_string(table.ring) + ".");
  return balance_of(count_routes(table, subring));
}

VcTable optimise(const VcTable& blank, const std::vector<Balance>& goals, u64 seed, u32 restarts, u32 steps) {
  const std::vector<bool> fixed = constrained_entries(blank);
  if (!restarts || !steps) throw ConfigError("optimise: give at least one restart and one step.");
  std::vector<Balance> levels;
  for (u32 m = blank.ring; m >= 4; m /= 2) levels.push_back({m, 0, 0});
  for (const Balance& goal : goals) {
    const auto at =
        std::find_if(levels.begin(), levels.end(), [&](const Balance& l) { return l.subring == goal.subring; });
    if (at == levels.end())
      throw ConfigError("goals: subring " + std::to_string(goal.subring) + " is not a power of two from 4 to " +
                        std::to_string(blank.ring) + ".");
    *at = goal;
  }
  std::vector<double> weight(levels.size(), 1.0);
  VcTable best = blank;
  double least = 0;
  for (u32 restart = 0; restart < restarts; ++restart) {
    VcTable table = blank;
    anneal(table, fixed, levels, weight, Draws(seed, restart), steps);
    double excess = 0;
    for (u32 l = 0; l < levels.size(); ++l) {
      const Balance b = vc_balance(table, levels[l].subring);
      const double over = std::max(0.0, b.average - levels[l].average) + std::max(0.0, b.maximum - levels[l].maximum);
      if (over > 0) weight[l] *= 1.05;
      excess += over;
    }
    if (restart == 0 || excess < least) {
      least = excess;
      best = std::move(table);
    }
    if (least == 0) break;
  }
  return best;
}

const VcTable& machine_table(u32 ring, bool limited, u32 half_way, u32 dateline, u64 seed) {
  // Table 1 of the paper: size of the subring, average and maximum balance. First for tables with 8 entries per source,
  // then for full tables.
  static const std::map<u32, std::array<std::vector<Balance>, 2>> kPublished{
      {4, {}},
      {8, {{{{8, .031, .25}, {4, .125, .25}}, {{8, .031, .25}, {4, .125, .25}}}}},
      {16,
       {{{{16, .137, .563}, {8, .063, .313}, {4, .125, .25}}, {{16, .133, .563}, {8, .063, .313}, {4, .125, .25}}}}},
      {32,
       {{{{32, .220, .875}, {16, .246, .609}, {8, .488, 1}, {4, .594, 1}},
         {{32, .173, .797}, {16, .062, .25}, {8, .031, .063}, {4, .125, .25}}}}}};
  if (!kPublished.contains(ring))
    throw ConfigError("ring = " + std::to_string(ring) + ": machines have tables for rings of 4, 8, 16 and 32.");
  static std::map<std::tuple<u32, bool, u32, u32, u64>, VcTable> found;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const auto key = std::tuple{ring, limited, half_way, dateline, seed};
  const auto at = found.find(key);
  if (at != found.end()) return at->second;
  std::vector<Balance> goals = kPublished.at(ring)[!limited];
  for (Balance& goal : goals) goal.average += 0.0005, goal.maximum += 0.0005;  // the paper rounds to three decimals
  const u32 restarts = limited ? 200 : 60, steps = limited ? 20'000 : 100'000;
  const VcTable blank = time_of_crossing(ring, limited, half_way, dateline);
  return found.emplace(key, optimise(blank, goals, seed, restarts, steps)).first->second;
}

}  // namespace flitlab::t3e
