#include <algorithm>

#include "host/routers/metro/network.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

/// Routers that a message may be at, in order.
using Places = std::vector<u32>;

/// Where the direction leads from all of them: routers, unless it is out of the network, to one endpoint alone.
struct Step {
  Places routers;
  u32 terminal = kNone;
  bool ok = true;
};

Step step(const MetroNetwork& n, const Places& places, u32 direction) {
  Step next;
  for (u32 r : places) {
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
  for (u32 r : next.routers)  // they read the same header
    if (n.setup[r].log_radix != n.setup[next.routers.front()].log_radix) return {{}, kNone, false};
  return next;
}

/// Goes through all sequences of directions, the shortest first.
std::vector<std::vector<u32>> directions_from(const MetroNetwork& n, u32 source) {
  Places start;
  for (u32 l = 0; l < n.links; ++l)
    if (n.leaving(source, l).item != kNone) start.push_back(n.leaving(source, l).item);
  std::sort(start.begin(), start.end());
  start.erase(std::unique(start.begin(), start.end()), start.end());
  std::vector<std::vector<u32>> found(n.terminals);
  struct Way {
    Places places;
    std::vector<u32> directions;
  };
  std::vector<Way> ways{{start, {}}};
  std::vector<Places> seen{start};
  for (std::size_t w = 0; w < ways.size(); ++w) {
    const u32 depth = static_cast<u32>(ways[w].directions.size());
    if (depth == metro::kMaxStages) break;
    const u32 radix = ways[w].places.empty() ? 0 : 1u << n.setup[ways[w].places.front()].log_radix;
    for (u32 direction = 0; direction < radix; ++direction) {
      Step next = step(n, ways[w].places, direction);
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

}  // namespace

std::vector<u32> metro_directions(const MetroNetwork& n, u32 source, u32 destination) {
  return directions_from(n, source)[destination];
}

MetroRoutes make_metro_routes(MetroNetwork& n, u32 width, u32 header_words) {
  MetroRoutes routes;
  routes.by_pair = !n.levelled;
  routes.start.push_back(0);
  std::vector<u8> swallows(metro::kMaxStages, 1);  // by stage
  const u32 own = std::max(header_words, 1u);
  for (u32 s = 0; s < metro::kMaxStages; ++s) {
    routes.first_word[s] = static_cast<u16>((s + 1) * own);
    routes.deciding_word[s] = (s + 1) * own - 1;
  }
  // Words that all routers take bits from: a router whose bits are the last of a word drops it.
  if (n.levelled && header_words == 0) {
    u32 used = 0, word = 0;
    std::vector<u32> bits(n.stages);
    for (const metro::RouterSetup& setup : n.setup) bits[setup.stage] = setup.log_radix;
    for (u32 s = 0; s < n.stages; ++s) {
      used += bits[s];
      swallows[s] = s + 1 == n.stages || used + bits[s + 1] > width;
      routes.deciding_word[s] = word;
      routes.first_word[s] = static_cast<u16>(word + 1);
      if (swallows[s]) {
        used = 0;
        ++word;
      }
    }
  }
  for (metro::RouterSetup& setup : n.setup) setup.swallow = header_words == 0 && swallows[setup.stage] ? ~u32{0} : 0;

  const auto add = [&](const std::vector<u32>& directions, const std::vector<u32>& bits) {
    u32 word = 0, used = 0;
    for (u32 s = 0; s < directions.size(); ++s) {
      word |= directions[s] << (width - used - bits[s]);
      used += bits[s];
      if (!swallows[s] && header_words == 0) continue;
      routes.words.push_back(static_cast<u16>(word));
      for (u32 i = 1; i < header_words; ++i) routes.words.push_back(0);
      word = used = 0;
    }
    routes.start.push_back(static_cast<u32>(routes.words.size()));
  };
  if (n.levelled) {
    std::vector<u32> radix(n.stages), bits(n.stages), directions(n.stages);
    for (const metro::RouterSetup& setup : n.setup) bits[setup.stage] = setup.log_radix;
    for (u32 d = 0; d < n.terminals; ++d) {
      u32 left = d;
      for (u32 s = n.stages; s-- > 0; left >>= bits[s]) directions[s] = left & ((1u << bits[s]) - 1);
      add(directions, bits);
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
        throw ConfigError("topology.file: no way leads from endpoint " + std::to_string(s) + " to endpoint " +
                          std::to_string(d) + " whichever of equivalent ports are taken. Check the wires.");
      // Bits of the routers on the way: those of any of the equivalent ones.
      std::vector<u32> bits;
      Places places;
      for (u32 l = 0; l < n.links; ++l)
        if (n.leaving(s, l).item != kNone) places.push_back(n.leaving(s, l).item);
      for (u32 direction : ways[d]) {
        bits.push_back(n.setup[places.front()].log_radix);
        places = step(n, places, direction).routers;
      }
      n.stages = std::max(n.stages, static_cast<u32>(bits.size()));
      add(ways[d], bits);
    }
  }
  return routes;
}

}  // namespace flitlab
