/// Loads of channels, derived by hand and by following every path of a random graph. Also tests balanced tables.
#include "host/routers/sconnect/loads.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "host/routers/sconnect/make_tables.hpp"
#include "host/routers/sconnect/order.hpp"
#include "host/routers/sconnect/queues.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/routers/sconnect/route.hpp"
#include "tests/support/sconnect/fabrics.hpp"
#include "tests/support/sconnect/walker.hpp"

namespace flitlab::sconnect_loads_test {
namespace {

using sconnect::kPorts;
using namespace testing;
using testing::sconnect_walker::expect_good;

TEST(SconnectLoads, OfALineByHand) {
  // A line of four nodes: in each direction 1 x 3, 2 x 2 and 3 x 1 pairs cross its channels.
  const SconnectFabric f = make_sconnect_mesh({4}, single_nodes());
  const SconnectTables t = shortest_sconnect_tables(f);
  const SconnectLoads loads(f, t.entry);
  ASSERT_EQ(loads.serial().size(), 6u);
  for (u32 channel : loads.serial()) {
    const u32 a = channel / kPorts, b = f.links[channel].far;
    EXPECT_DOUBLE_EQ(loads.of(channel), a + b == 3 ? 4 : 3);
  }
  EXPECT_DOUBLE_EQ(loads.busiest(), 1.2);
  EXPECT_DOUBLE_EQ(t.busiest, 1.2);
}

/// Returns the channel loads over all paths of every pair, weighted by their probability.
std::vector<double> naive_loads(const SconnectFabric& f, const std::vector<u16>& entry) {
  std::vector<double> load(std::size_t{f.tics} * kPorts);
  const auto hosts = sconnect_hosts(f);
  for (u32 d = 0; d < f.nodes; ++d) {
    const std::function<void(u32, u32, double)> go = [&](u32 tic, u32 vc, double chance) {
      const u32 options = sconnect::allowed(entry[std::size_t{tic} * f.nodes + d], vc);
      if (!leads_to_tic(f.link(tic, lowest_bit(options) / 2))) return;
      for (u32 bit = 0; bit < 2 * kPorts; ++bit) {
        if (!(options >> bit & 1)) continue;
        load[tic * kPorts + bit / 2] += chance / bit_count(options);
        go(f.link(tic, bit / 2).far, bit % 2, chance / bit_count(options));
      }
    };
    for (u32 s = 0; s < f.nodes; ++s)
      for (u32 tic : hosts[s])
        if (s != d) go(tic, 0, 1);
  }
  return load;
}

TEST(SconnectLoads, AreThoseOfAllPaths) {
  for (u64 seed = 0; seed < 4; ++seed) {
    const bool dual = seed % 2;
    const SconnectFabric f = make_sconnect_random(20, dual ? 6 : 4, seed, dual ? dual_nodes(1) : single_nodes());
    const SconnectTables t = shortest_sconnect_tables(f);
    SconnectLoads loads(f, t.entry);
    const std::vector<double> naive = naive_loads(f, t.entry);
    for (u32 channel = 0; channel < naive.size(); ++channel) EXPECT_NEAR(loads.of(channel), naive[channel], 1e-9);
    for (u32 d = 0; d < f.nodes; ++d) loads.add(d, -1);
    for (u32 channel : loads.serial()) EXPECT_NEAR(loads.of(channel), 0, 1e-9);
  }
}

TEST(SconnectLoads, OfTablesByQueuesAreBalanced) {
  // With all options that the order of queues allows, without balancing, the busiest channel has 1.52 and 1.56 times
  // the mean load.
  for (u64 seed : {1, 2}) {
    const SconnectFabric f = make_sconnect_random(81, 8, seed, dual_nodes(2));
    const SconnectTables t = given_sconnect_tables(f, sconnect_tables_by_queues(f));
    expect_good(f, t);
    EXPECT_EQ(t.kept, 1);
    EXPECT_LT(t.busiest, 1.2);
  }
}

}  // namespace
}  // namespace flitlab::sconnect_loads_test
