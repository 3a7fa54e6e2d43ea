#pragma once
/// Random configurations of bufferless routers.
#include <algorithm>
#include <random>

#include "tests/support/build.hpp"

namespace flitlab::testing {

inline RawConfig random_bless(std::mt19937& random) {
  const auto draw = [&](u32 from, u32 to) { return integer(from + random() % (to + 1 - from)); };
  RawConfig c = Settings("router.kind=bless run.seed=", draw(0, 999));
  switch (random() % 4) {
    case 0: c["topology.shape"] = IntList{draw(2, 5), draw(1, 5)}; break;
    case 1:
      c["topology.kind"] = word("mesh");
      c["topology.shape"] = IntList{draw(2, 5), draw(1, 4)};
      break;
    case 2:
      c["topology.kind"] = word(random() % 2 ? "mesh" : "torus");
      c["topology.shape"] = IntList{draw(1, 3), 2, draw(2, 4)};
      break;
    default: c["topology.kind"] = word("ring"); c["topology.shape"] = IntList{draw(2, 8)};
  }
  c["topology.channel_delay"] = draw(1, 4);
  c["router.delay"] = draw(1, 3);
  c["router.ejection_width"] = draw(1, 3);
  constexpr const char* kPatterns[] = {"uniform", "uniform", "hot_spot", "random_permutation", "tornado"};
  const IntList& shape = std::get<IntList>(c["topology.shape"]);
  const bool wide = *std::max_element(shape.begin(), shape.end()) > 2;  // tornado goes almost half-way round
  c["traffic.pattern"] = word(kPatterns[random() % (wide ? 5 : 3)]);
  if (c["traffic.pattern"] == word("hot_spot")) c["traffic.hot_fraction"] = 0.5;
  const Lengths lengths[] = {{{1, 1.0}}, {{4, 1.0}}, {{1, 1.0}, {5, 1.0}, {9, 1.0}}};
  c["traffic.packet_flits"] = lengths[random() % 3];
  c["traffic.load"] = 0.02 + 0.14 * (random() % 8);
  return c;
}

}  // namespace flitlab::testing
