#pragma once
/// Random configurations of adaptive routers.
#include <random>
#include <string>

#include "tests/support/build.hpp"

namespace flitlab::testing {

/// Returns the edges of a connected graph: a random tree and additional edges, some of them parallel.
inline std::string random_graph(std::mt19937& random) {
  const u32 n = 3 + random() % 12;
  std::string text;
  for (u32 i = 1; i < n; ++i) text += std::to_string(i) + "," + std::to_string(random() % i) + "\n";
  for (u32 extra = random() % (2 * n); extra; --extra) {
    const u32 a = random() % n, b = (a + 1 + random() % (n - 1)) % n;
    text += std::to_string(a) + "," + std::to_string(b) + "\n";
  }
  return text;
}

inline RawConfig random_adaptive(std::mt19937& random, const std::string& graph) {
  const auto draw = [&](u32 from, u32 to) { return integer(from + random() % (to + 1 - from)); };
  RawConfig c = Settings("router.kind=adaptive run.seed=", draw(0, 999));
  switch (random() % 5) {
    case 0: c["topology.shape"] = IntList{draw(2, 5), draw(2, 5)}; break;
    case 1:
      c["topology.kind"] = word("mesh");
      c["topology.shape"] = IntList{draw(1, 4), draw(1, 4), 2};
      break;
    case 2:
      c["topology.kind"] = word("hypercube");
      c["topology.dimensions"] = draw(1, 4);
      break;
    case 3:
      c["topology.kind"] = word("ring");
      c["topology.shape"] = IntList{draw(2, 8)};
      break;
    default: c["topology.kind"] = word("graph"); c["topology.file"] = graph;
  }
  c["topology.concentration"] = draw(1, 4);
  c["topology.channel_delay"] = draw(1, 4);
  c["router.channel_buffers"] = draw(0, 1);
  c["router.spare_buffers"] = draw(1, 5);
  c["router.ejection"] = draw(0, 3);
  c["router.priorities"] = random() % 2 ? IntList{1} : IntList{5, 0, 2, 1};
  c["traffic.load"] = 0.02 + 0.14 * (random() % 8);
  return c;
}

}  // namespace flitlab::testing
