/// Delays of channels between TICs whose routing cycles begin at different clocks.
#include <gtest/gtest.h>

#include <set>

#include "host/routers/sconnect/build.hpp"
#include "tests/support/sconnect/fabrics.hpp"

namespace flitlab::sconnect_delay_test {
namespace {

using sconnect::kSerial;
using sconnect::Link;
using sconnect::LinkKind;

/// A message that is sent in clock 1 of a cycle and takes 12 clocks arrives in clock 13. That is in time for clock 1 or
/// later of the second cycle after, and for clock 0 of the third one.
TEST(SconnectDelay, CoversTheDelayFromTurnToTurn) {
  EXPECT_EQ(sconnect_cycles(12, 1, 1), 2u);
  EXPECT_EQ(sconnect_cycles(12, 1, 6), 2u);
  EXPECT_EQ(sconnect_cycles(12, 1, 7), 1u);
  EXPECT_EQ(sconnect_cycles(12, 1, 0), 3u);
  EXPECT_EQ(sconnect_cycles(7, 0, 0), 2u);
  EXPECT_EQ(sconnect_cycles(6, 0, 8), 1u);  // never in the cycle in which it was sent
  EXPECT_EQ(sconnect_cycles(6, 0, 4), 1u);
  EXPECT_EQ(sconnect_cycles(360, 8, 0), 62u);
}

/// The TICs of a node or switch begin their routing cycles together. All phases occur. A message is read in the first
/// turn of its port after its arrival.
TEST(SconnectDelay, WaitsForTheFirstTurn) {
  SconnectNodes nodes = testing::dual_nodes();
  for (u32 delay : {9u, 12u, 17u, 100u}) {
    nodes.delay = delay;
    nodes.phase_seed = delay;
    const SconnectFabric f = make_sconnect_random(60, 7, 1, nodes);
    std::set<u32> phases, waits;
    for (u32 tic = 0; tic < f.tics; ++tic) {
      phases.insert(f.phase[tic]);
      EXPECT_EQ(f.phase[tic], f.phase[tic ^ 1]);
      for (u32 p = 0; p < kSerial; ++p) {
        const Link& l = f.link(tic, p);
        if (l.kind == LinkKind::kNone) continue;
        const u32 clocks = 6 * l.delay + f.phase[l.far] + l.port - f.phase[tic] - p;
        EXPECT_GE(clocks, delay);
        waits.insert(clocks - delay);
        EXPECT_EQ(l.round, l.delay + f.link(l.far, l.port).delay + 2);
      }
    }
    EXPECT_EQ(phases, (std::set<u32>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(waits, (std::set<u32>{0, 1, 2, 3, 4, 5}));
    nodes.phase_seed = delay + 1;
    EXPECT_NE(make_sconnect_random(60, 7, 1, nodes).phase, f.phase);
  }
}

}  // namespace
}  // namespace flitlab::sconnect_delay_test
