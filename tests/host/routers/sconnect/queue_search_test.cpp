/// The search for an order (ranks) of queues that avoids cyclic waits. Its result is compared with paths that the test
/// finds from scratch in the final order.
#include "host/routers/sconnect/queue_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "host/routers/sconnect/make_tables.hpp"
#include "host/routers/sconnect/order.hpp"
#include "host/routers/sconnect/queue_order.hpp"
#include "host/routers/sconnect/queues.hpp"
#include "kernels/common/philox.hpp"
#include "tests/support/sconnect/fabrics.hpp"
#include "tests/support/sconnect/walker.hpp"

namespace flitlab::sconnect_queue_search_test {
namespace {

using namespace testing;
using testing::sconnect_walker::expect_good;

std::vector<u32> random_ranks(const SconnectFabric& f, u64 seed) {
  std::vector<std::pair<u32, u32>> queues;
  for (u32 queue = 0; queue < kQueueBits * f.tics; ++queue)
    queues.emplace_back(philox(seed, 0, queue, 0).word[0], queue);
  std::sort(queues.begin(), queues.end());
  std::vector<u32> rank(queues.size());
  for (u32 i = 0; i < queues.size(); ++i) rank[queues[i].second] = i;
  return rank;
}

/// Returns whether a shortest path leads from a TIC through queues of increasing rank. Tries all paths.
bool has_rising_path(const SconnectFabric& f, const std::vector<u32>& rank, const std::vector<u32>& hops, u32 tic,
                     u32 after) {
  if (hops[tic] == 0) return true;
  for (u32 bit = 0; bit < kQueueBits; ++bit) {
    const u32 queue = kQueueBits * tic + bit;
    if (!has_queue(f, tic, bit) || rank[queue] <= after) continue;
    const u32 far = f.link(tic, bit / 2).far;
    if (hops[far] + 1 == hops[tic] && has_rising_path(f, rank, hops, far, rank[queue])) return true;
  }
  return false;
}

/// Checks that, in the final order, as many TICs with hosts are without a path as the search reports, and that the
/// search's labels describe paths.
void expect_right(const SconnectFabric& f, const SconnectQueueSearch& search) {
  std::vector<u32> rank = search.rank();
  for (u32& r : rank) ++r;
  const auto hosts = sconnect_hosts(f);
  u32 missing = 0;
  for (u32 d = 0; d < f.nodes; ++d) {
    const std::vector<u32> hops = sconnect_hops(f, hosts[d]);
    for (const auto& tics : hosts)
      for (u32 tic : tics) missing += !has_rising_path(f, rank, hops, tic, 0);
    for (u32 tic = 0; tic < f.tics; ++tic) {
      u32 at = tic, last = 0, steps = 0;
      for (; hops[at] && search.label(at, d) != SconnectQueueSearch::kNoQueue; ++steps) {
        const u32 queue = kQueueBits * at + search.label(at, d);
        EXPECT_GT(rank[queue], last);
        last = rank[queue];
        at = f.link(at, search.label(at, d) / 2).far;
      }
      if (search.label(tic, d) != SconnectQueueSearch::kNoQueue) {
        EXPECT_EQ(hops[at], 0u);
        EXPECT_EQ(steps, hops[tic]);
      }
    }
  }
  EXPECT_EQ(missing, search.missing());
}

TEST(SconnectQueueSearch, CountsPairsWithoutAPath) {
  for (u64 seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const bool dual = seed % 2;
    const SconnectFabric f = make_sconnect_random(14, dual ? 6 : 3, seed, dual ? dual_nodes(1) : single_nodes());
    SconnectQueueSearch search(f, random_ranks(f, seed));
    EXPECT_GT(search.missing(), 0u);
    expect_right(f, search);
    const u32 before = search.missing();
    search.run();
    EXPECT_LT(search.missing(), before);
    expect_right(f, search);
  }
}

TEST(SconnectQueueSearch, FindsWhatPlacingOneAfterTheOtherMisses) {
  for (const auto& [nodes, degree, seed, hosts] : {std::tuple{9u, 4u, 19u, 1u}, {16u, 6u, 4u, 1u}, {81u, 8u, 1u, 2u}}) {
    SCOPED_TRACE(std::to_string(nodes) + " nodes");
    const SconnectFabric f = make_sconnect_random(nodes, degree, seed, dual_nodes(hosts));
    const SconnectTables t = given_sconnect_tables(f, sconnect_tables_by_queues(f));
    expect_good(f, t);
    EXPECT_EQ(t.kept, 1);
    EXPECT_EQ(t.stretch, 1);
    for (u16 entry : t.entry) EXPECT_NE(entry, 0);  // TICs without hosts have paths, too
  }
}

}  // namespace
}  // namespace flitlab::sconnect_queue_search_test
