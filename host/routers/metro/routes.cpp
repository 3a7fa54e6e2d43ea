#include <algorithm>

#include "host/routers/metro/network.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

/// Routers that a message may have reached after some directions of its header, sorted. Equivalent ports may lead to
/// different routers.
using RouterSet = std::vector<u32>;

/// Result of following one direction from all routers of a set: a set of routers, or one endpoint. `ok` is false if the
/// direction does not exist, leads to several endpoints, or leads to routers that read different numbers of header
/// bits.
struct Step {
  RouterSet routers;
  u32 terminal = kNone;
  bool ok = true;
};

Step step(const MetroNetwork& n, const RouterSet& routers, u32 direction) {
  Step next;
  for (u32 r : routers) {
    const metro::RouterSetup& setup = n.setup[r];
    if (direction >= 1u << setup.log_radix) return {{}, kNone, false};
    const u32 dilation = 1u << setup.log_dilation;
    for (u32 k = 0; k < dilation; ++k) {
      const metro::Wire& wire = n.wire(r, n.inputs + direction * dilation + k);
      if (wire.item == kNone) continue;
      if (!wire.to_endpoint) {
        next.routers.push_back(wire.item);
      } else if (next.terminal == kNone || next.terminal == wire.item) {
        next.terminal = wire.item;
      } else {
        return {{}, kNone, false};
      }
    }
  }
  if (next.routers.empty() == (next.terminal == kNone)) return {{}, kNone, false};
  std::sort(next.routers.begin(), next.routers.end());
  next.routers.erase(std::unique(next.routers.begin(), next.routers.end()), next.routers.end());
  for (u32 r : next.routers)  // all routers of the set must read the same header bits
    if (n.setup[r].log_radix != n.setup[next.routers.front()].log_radix) return {{}, kNone, false};
  return next;
}

/// Returns for each destination the shortest sequence of directions from a source; empty if no path exists. Explores
/// sets of routers breadth first.
std::vector<std::vector<u32>> directions_from(const MetroNetwork& n, u32 source) {
  RouterSet start;
  for (u32 l = 0; l < n.links; ++l)
    if (n.leaving(source, l).item != kNone) start.push_back(n.leaving(source, l).item);
  std::sort(start.begin(), start.end());
  start.erase(std::unique(start.begin(), start.end()), start.end());
  std::vector<std::vector<u32>> found(n.terminals);
  struct Way {
    RouterSet routers;
    std::vector<u32> directions;
  };
  std::vector<Way> ways{{start, {}}};
  std::vector<RouterSet> seen{start};
  for (std::size_t w = 0; w < ways.size(); ++w) {
    const u32 depth = static_cast<u32>(ways[w].directions.size());
    if (depth == metro::kMaxStages) break;
    const u32 radix = ways[w].routers.empty() ? 0 : 1u << n.setup[ways[w].routers.front()].log_radix;
    for (u32 direction = 0; direction < radix; ++direction) {
      Step next = step(n, ways[w].routers, direction);
      if (!next.ok) continue;
      std::vector<u32> directions = ways[w].directions;
      directions.push_back(direction);
      if (next.terminal != kNone) {
        if (found[next.terminal].empty()) found[next.terminal] = std::move(directions);
      } else if (std::find(seen.begin(), seen.end(), next.routers) == seen.end()) {
        seen.push_back(next.routers);
        ways.push_back({std::move(next.routers), std::move(directions)});
      }
    }
  }
  return found;
}

/// Positions of the stages' directions in a header, in bits from the leading bit of its first word.
struct Packing {
  /// [stages + 1] first bit of each stage's direction; the last element is the end of the header.
  std::vector<u32> begin;
  bool straddling = false;
};

/// Returns a packing for routers that share header words. The direction of a stage has `bits[stage]` bits. They are in
/// one word, unless `straddles` is set and dividing them between two words shortens the header.
Packing packed(const std::vector<u32>& bits, u32 width, bool straddles) {
  Packing apart, dense{{}, true};
  u32 at = 0, dense_at = 0;
  for (u32 b : bits) {
    if (at % width + b > width) at += width - at % width;
    apart.begin.push_back(at);
    dense.begin.push_back(dense_at);
    at += b;
    dense_at += b;
  }
  apart.begin.push_back(at);
  dense.begin.push_back(dense_at);
  const auto words = [&](u32 end) { return (end + width - 1) / width; };
  return straddles && words(dense_at) < words(at) ? dense : apart;
}

/// Returns a packing in which each direction has `words_each` whole words. The direction is in the leading bits of the
/// first of these words.
Packing spaced(u32 stages, u32 width, u32 words_each) {
  Packing p;
  for (u32 s = 0; s <= stages; ++s) p.begin.push_back(s * words_each * width);
  return p;
}

/// Returns the number of bits of each stage's direction.
std::vector<u32> bits_of_stages(const MetroNetwork& n) {
  std::vector<u32> bits(n.stages);
  for (const metro::RouterSetup& setup : n.setup) bits[setup.stage] = setup.log_radix;
  return bits;
}

void add_header(MetroRoutes& routes, const Packing& packing, u32 width, const std::vector<u32>& directions,
                const std::vector<u32>& bits) {
  const std::size_t first = routes.words.size();
  const u32 stages = static_cast<u32>(directions.size());
  routes.words.resize(first + (packing.begin[stages] + width - 1) / width);
  for (u32 s = 0; s < stages; ++s)
    for (u32 k = 0; k < bits[s]; ++k) {
      const u32 position = packing.begin[s] + k, bit = directions[s] >> (bits[s] - 1 - k) & 1;
      routes.words[first + position / width] |= static_cast<u16>(bit << (width - 1 - position % width));
    }
  routes.start.push_back(static_cast<u32>(routes.words.size()));
}

}  // namespace

std::vector<u32> metro_directions(const MetroNetwork& n, u32 source, u32 destination) {
  return directions_from(n, source)[destination];
}

MetroRoutes make_metro_routes(MetroNetwork& n, u32 width, u32 header_words, bool straddles) {
  MetroRoutes routes;
  routes.by_pair = !n.levelled;
  routes.start.push_back(0);
  const bool shared = n.levelled && header_words == 0;  // routers take their bits from shared words
  const u32 own = std::max(header_words, 1u);
  const std::vector<u32> level_bits = n.levelled ? bits_of_stages(n) : std::vector<u32>{};
  const Packing packing = shared ? packed(level_bits, width, straddles) : spaced(metro::kMaxStages, width, own);
  // [stage] whether the router drops the word that holds its bits, because no later stage needs the word.
  std::vector<u8> swallows(metro::kMaxStages, 1);
  for (u32 s = 0; s < metro::kMaxStages; ++s) {
    const bool packs = shared && s < n.stages;
    const u32 last = packs ? (packing.begin[s] + level_bits[s] - 1) / width : (s + 1) * own - 1;
    routes.deciding_word[s] = last;
    routes.first_word[s] = static_cast<u16>(last + 1);
    if (packs) swallows[s] = s + 1 == n.stages || packing.begin[s + 1] / width > last;
  }
  for (metro::RouterSetup& setup : n.setup) {
    setup.swallow = header_words == 0 && swallows[setup.stage] ? ~u32{0} : 0;
    setup.header_bits = static_cast<u8>(packing.straddling ? width - packing.begin[setup.stage] % width : width);
  }
  if (n.levelled) {
    std::vector<u32> directions(n.stages);
    for (u32 d = 0; d < n.terminals; ++d) {
      u32 left = d;
      for (u32 s = n.stages; s-- > 0; left >>= level_bits[s]) directions[s] = left & ((1u << level_bits[s]) - 1);
      add_header(routes, packing, width, directions, level_bits);
    }
    return routes;
  }
  constexpr u32 kMost = 1024;
  if (n.terminals > kMost)
    throw ConfigError("topology.kind: fat trees and networks from a file have at most " + std::to_string(kMost) +
                      " endpoints, and this one has " + std::to_string(n.terminals) + ". Make it smaller.");
  for (u32 s = 0; s < n.terminals; ++s) {
    const std::vector<std::vector<u32>> ways = directions_from(n, s);
    for (u32 d = 0; d < n.terminals; ++d) {
      if (ways[d].empty())
        throw ConfigError("topology.file: no path leads from endpoint " + std::to_string(s) + " to endpoint " +
                          std::to_string(d) + " whichever equivalent ports are taken. Check the wires.");
      // Bits of each router on the path; equivalent routers have the same number of bits.
      std::vector<u32> bits;
      RouterSet reached;
      for (u32 l = 0; l < n.links; ++l)
        if (n.leaving(s, l).item != kNone) reached.push_back(n.leaving(s, l).item);
      for (u32 direction : ways[d]) {
        bits.push_back(n.setup[reached.front()].log_radix);
        reached = step(n, reached, direction).routers;
      }
      n.stages = std::max(n.stages, static_cast<u32>(bits.size()));
      add_header(routes, packing, width, ways[d], bits);
      routes.routers.push_back(static_cast<u8>(bits.size()));
    }
  }
  return routes;
}

}  // namespace flitlab
