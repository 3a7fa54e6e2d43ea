/// Barriers and eurekas of the T3E: hand-derived times, and that no PE passes a barrier before all PEs have joined.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "host/routers/t3e/plan.hpp"
#include "host/run/run.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/t3e/totals.hpp"
#include "tests/support/build.hpp"
#include "tests/support/fields.hpp"

namespace flitlab::t3e_barrier_test {
namespace {

using t3e::BarrierState;
using t3e::BarrierUnit;
using namespace testing;

Experiment machine(RawConfig changes) {
  changes["router.kind"] = std::string("t3e");
  if (!changes.contains("barrier.units")) changes["barrier.units"] = std::int64_t{1};
  return experiment(changes);
}

/// Returns the barrier units of all PEs: [PE][unit].
std::vector<BarrierUnit> units(const Network& net) { return field<BarrierUnit>(net, 1, "barrier"); }

/// All PEs join at once, again and again. The farthest PE is D hops from the root of the tree. A barrier takes 7 clocks
/// to the PE's router, 3 for each hop up and down, and 10 from the last router's pins to the PE. Data traffic has no
/// influence, because barrier packets go first.
TEST(T3eBarrier, TakesTheWayToTheRootAndBack) {
  struct Case {
    IntList shape;
    u32 depth;
  };
  for (const auto& [shape, depth] : {Case{{4, 4, 2}, 5}, Case{{8, 8, 8}, 12}, Case{{2, 2, 1}, 2}})
    for (double load : {0.0, 0.5}) {
      Network net(machine(Settings("topology.shape=", shape, " traffic.load=", load)));
      const u32 period = 7 + 3 * depth + 3 * depth + 10, pes = net.plan->topology().terminals;
      net.step(10 * period);
      EXPECT_LT(net.total(t3e::Count::kBarriers), 10u * pes) << load;  // the farthest PE is notified in the next clock
      net.step(1);
      EXPECT_EQ(net.total(t3e::Count::kBarriers), 10u * pes) << load;
      for (const BarrierUnit& unit : units(net)) EXPECT_EQ(unit.round, 10u);
      check_conservation(*net.engine, *net.plan, 0);
    }
}

/// Barriers take 2 D clocks more for each additional clock of the router's delay.
TEST(T3eBarrier, RouterDelayCountsAtEveryHop) {
  Network net(machine(Settings("barrier.router_delay=6 traffic.load=0.0")));
  net.step(10 * (7 + 6 * 5 + 6 * 5 + 7) + 1);
  EXPECT_EQ(net.total(t3e::Count::kBarriers), 10u * 32);
}

/// PEs join at random times. At any time the numbers of barriers that PEs have completed differ by at most one. No PE
/// has completed a barrier before every PE has joined it.
TEST(T3eBarrier, NoPePassesBeforeAllHaveJoined) {
  constexpr u32 kUnits = 32;
  Network net(machine(Settings("barrier.units=", kUnits, " barrier.work=150 traffic.load=0.4")));
  for (int interval = 0; interval < 400; ++interval) {
    net.step(13);
    const std::vector<BarrierUnit> all = units(net);
    for (u32 unit = 0; unit < kUnits; ++unit) {
      u32 least = ~0u, most = 0, joined = ~0u;
      for (u32 pe = 0; pe < 32; ++pe) {
        const BarrierUnit& u = all[pe * kUnits + unit];
        least = std::min(least, u.round);
        most = std::max(most, u.round);
        joined = std::min(joined, u.round + (u.state == BarrierState::kArm));
      }
      ASSERT_LE(most - least, 1u);
      ASSERT_LE(most, joined);
    }
  }
  EXPECT_GT(net.total(t3e::Count::kBarriers), 32u * kUnits * 5);
}

/// In eureka mode all PEs leave state S_BAR after one PE has signalled, not earlier. Rounds complete, and for every PE
/// in S_EUR there is a PE of the same round that has signalled, in S_ARM.
TEST(T3eBarrier, AEurekaReachesEveryPe) {
  Network net(machine(Settings("barrier.operation=eureka barrier.work=40 traffic.load=0.2")));
  u32 seen = 0;
  for (int interval = 0; interval < 500; ++interval) {
    net.step(7);
    u32 eurekas = 0, armed = 0, most = 0, least = ~0u;
    for (const BarrierUnit& unit : units(net)) {
      eurekas += unit.state == BarrierState::kEur;
      armed += unit.state == BarrierState::kArm;
      most = std::max(most, unit.round);
      least = std::min(least, unit.round);
    }
    seen += eurekas > 0;
    ASSERT_TRUE(!eurekas || armed > 0);
    ASSERT_LE(most - least, 1u);
  }
  EXPECT_GT(seen, 50u);
  EXPECT_GT(net.total(t3e::Count::kBarriers), 32u * 10);
}

/// The tree spans the machine: every node except the root is a child of its parent.
TEST(T3eBarrier, TheTreeSpansTheMachine) {
  for (u32 root : {0u, 37u}) {
    const t3e::Shape shape({8, 4, 3});
    const Topology topology = t3e::make_topology(shape);
    std::vector<u32> everybody(96);
    std::iota(everybody.begin(), everybody.end(), 0u);
    const auto tree = t3e::make_barrier_tree(shape, std::vector<u8>(96, 0), everybody, root);
    u32 children = 0;
    for (u32 n = 0; n < 96; ++n) {
      for (u32 port = 0; port < t3e::kDirections; ++port) children += tree[n].children >> port & 1;
      ASSERT_TRUE(tree[n].children >> t3e::kNodePort & 1);
      if (n == root) {
        EXPECT_EQ(tree[n].parent, t3e::kNoParent);
        continue;
      }
      const Peer& up = topology.peer(n, tree[n].parent);
      EXPECT_TRUE(tree[up.item].children >> up.port & 1);
    }
    EXPECT_EQ(children, 95u);
  }
}

}  // namespace
}  // namespace flitlab::t3e_barrier_test
