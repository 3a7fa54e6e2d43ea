/// The matrix arbiter against a list of requesters in the order of their last grants.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "kernels/common/philox.hpp"
#include "kernels/routers/vc/arbitrate.hpp"
#include "tests/support/build.hpp"

namespace flitlab::vc_arbiter_test {
namespace {

TEST(MatrixArbiter, ServesTheLeastRecentlyServed) {
  constexpr u32 n = 7;
  alignas(16) std::byte memory[64] = {};
  const Item<1> item{memory};
  const Field<u32> matrix{0};
  for (u32 i = 0; i < n; ++i) item.at(matrix, i) = ~0u << i << 1;
  std::vector<u32> order{0, 1, 2, 3, 4, 5, 6};  // requesters; the front one has waited longest since its last grant
  for (u32 round = 0; round < 5000; ++round) {
    const u32 set = philox(1, 0, 0, round).word[0] & ((1u << n) - 1);
    if (!set) continue;
    const u32 naive = *std::find_if(order.begin(), order.end(), [&](u32 i) { return (set >> i) & 1; });
    const u32 winner = vc::matrix_winner(item, matrix, 0, set);
    ASSERT_EQ(winner, naive);
    vc::matrix_update(item, matrix, 0, n, winner);
    order.erase(std::find(order.begin(), order.end(), winner));
    order.push_back(winner);
  }
}

/// The round-robin pointer over outputs belongs to the allocator, not to the arbiter. So past saturation an
/// output-first allocator delivers about the same with any arbiter.
TEST(Arbiters, OutputFirstIsFairWithEveryArbiter) {
  std::map<std::string, double> delivered;
  for (const char* arbiter : {"round_robin", "matrix"}) {
    testing::Network net(testing::experiment(
        "topology.kind=mesh router.switch_allocator=separable_output_first router.arbiter=", arbiter,
        " traffic.load=1.0"));
    net.step(6000);
    delivered[arbiter] = static_cast<double>(net.total(Total::kFlitsDelivered));
  }
  EXPECT_NEAR(delivered["matrix"], delivered["round_robin"], 0.05 * delivered["round_robin"]);
}

/// Eight terminals of a router send single flits to the last one (which is one of them) without pause. With fixed
/// priority the first one gets the whole output. With a random arbiter each gets an eighth of 20,000 flits, with a
/// standard deviation of 47.
TEST(Arbiters, FixedPriorityStarvesAndRandomDoesNot) {
  for (const char* arbiter : {"fixed_priority", "random"}) {
    testing::Network net(testing::experiment(
        "topology.kind=mesh topology.shape=[1] topology.concentration=8 traffic.packet_flits=1 router.arbiter=",
        arbiter, " traffic.pattern=hot_spot traffic.hot_terminals=[7] traffic.hot_fraction=1.0 traffic.load=1.0"));
    net.step(20000);
    const auto state = net.engine->state(0);
    const auto sent = [&](u32 t) { return net.plan->inspect_terminal(state, t).sent; };
    if (std::string(arbiter) == "random") {
      for (u32 t = 0; t < 8; ++t) EXPECT_NEAR(sent(t), 2500, 250) << t;
    } else {
      EXPECT_GT(sent(0), 19900u);
      for (u32 t = 1; t < 8; ++t) EXPECT_LT(sent(t), 40u) << t;
    }
  }
}

/// Seven terminals of a router send packets of four flits to the eighth without pause, and each gets its share of the
/// output.
TEST(Arbiters, NoTerminalStarvesUnderAnyAllocator) {
  for (const char* allocator : {"separable_input_first", "separable_output_first", "islip", "wavefront"}) {
    testing::Network net(testing::experiment(
        "topology.kind=mesh topology.shape=[1] topology.concentration=8 router.vc_allocator=", allocator,
        " router.switch_allocator=", allocator,
        " traffic.pattern=hot_spot traffic.hot_terminals=[0] traffic.hot_fraction=1.0 traffic.load=1.0"));
    net.step(20000);
    const auto state = net.engine->state(0);
    u32 least = ~0u, most = 0;
    for (u32 t = 0; t < 8; ++t) {
      const u32 sent = net.plan->inspect_terminal(state, t).sent;
      least = std::min(least, sent);
      most = std::max(most, sent);
    }
    EXPECT_GT(least, 400u) << allocator;  // an even share is 625
    // After a gap in the sequence of requesters a wavefront allocator grants the first requester more often than the
    // others.
    EXPECT_LT(most, std::string(allocator) == "wavefront" ? 1800u : 700u) << allocator;
  }
}

}  // namespace
}  // namespace flitlab::vc_arbiter_test
