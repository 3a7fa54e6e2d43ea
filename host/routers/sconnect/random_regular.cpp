// Random regular graphs.
#include <algorithm>
#include <set>

#include "host/routers/sconnect/build.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/sconnect/streams.hpp"

namespace flitlab {
namespace {

using Edge = std::pair<u32, u32>;

Edge sorted(u32 a, u32 b) { return {std::min(a, b), std::max(a, b)}; }

bool connected(u32 nodes, const std::vector<Edge>& edges) {
  std::vector<std::vector<u32>> next(nodes);
  for (const auto& [a, b] : edges) next[a].push_back(b), next[b].push_back(a);
  std::vector<bool> seen(nodes, false);
  std::vector<u32> found{0};
  seen[0] = true;
  for (std::size_t i = 0; i < found.size(); ++i)
    for (u32 n : next[found[i]])
      if (!seen[n]) seen[n] = true, found.push_back(n);
  return found.size() == nodes;
}

}  // namespace

std::vector<Edge> make_random_regular(u32 nodes, u32 degree, u64 seed) {
  if (degree >= nodes)
    throw ConfigError("topology.degree = " + std::to_string(degree) + " must be less than topology.nodes = " +
                      std::to_string(nodes) + ": two nodes have at most one channel between them.");
  if (nodes % 2 && degree % 2)
    throw ConfigError("topology.nodes = " + std::to_string(nodes) +
                      " with topology.degree = " + std::to_string(degree) +
                      ": their product, the number of channel ends, must be even. Make one " + "of them even.");
  if (degree < 2 && nodes > 2)
    throw ConfigError("topology.degree = " + std::to_string(degree) + " gives a disconnected graph. Use 2 or more.");
  // Exchanging the ends of two edges, again and again, can turn any graph with these degrees into any other. So many
  // random exchanges make almost all graphs equally likely. They start from a ring with chords.
  std::vector<Edge> edges;
  for (u32 chord = 1; chord <= degree / 2; ++chord)
    for (u32 n = 0; n < nodes; ++n) edges.push_back(sorted(n, (n + chord) % nodes));
  if (degree % 2)
    for (u32 n = 0; n < nodes / 2; ++n) edges.push_back({n, n + nodes / 2});
  std::set<Edge> there(edges.begin(), edges.end());
  const u32 count = static_cast<u32>(edges.size());
  u64 draw = 0;
  do {
    constexpr u32 kExchanges = 20;  // exchanges for each edge
    for (u32 i = 0; i < kExchanges * count; ++i) {
      const Random4 r = philox(seed, sconnect::stream::kFabric, 0, draw++);
      Edge &first = edges[below(r.word[0], count)], &second = edges[below(r.word[1], count)];
      auto [a, b] = first;
      auto [c, d] = second;
      if (r.word[2] & 1) std::swap(c, d);
      if (a == c || b == d || there.contains(sorted(a, c)) || there.contains(sorted(b, d))) continue;
      there.erase(first);
      there.erase(second);
      first = *there.insert(sorted(a, c)).first;
      second = *there.insert(sorted(b, d)).first;
    }
  } while (!connected(nodes, edges));
  std::sort(edges.begin(), edges.end());
  return edges;
}

}  // namespace flitlab
