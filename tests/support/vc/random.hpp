#pragma once
/// Random networks of virtual-channel routers.
#include <random>

#include "tests/support/build.hpp"

namespace flitlab::testing {

inline RawConfig random_vc(std::mt19937& random) {
  const auto draw = [&](u32 from, u32 to) { return integer(from + random() % (to + 1 - from)); };
  RawConfig c{{"router.kind", word("vc")}, {"run.seed", draw(0, 999)}};
  c["topology.kind"] = word("mesh");
  c["topology.shape"] = IntList{draw(1, 4), draw(2, 4)};
  c["router.vcs"] = draw(1, 5);
  c["router.buffer_flits"] = draw(1, 8);
  c["traffic.load"] = 0.05 + 0.1 * (random() % 10);
  return c;
}

}  // namespace flitlab::testing
