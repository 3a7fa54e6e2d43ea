/// Sets of permitted turns (pairs of an input and an output channel) to which turns are added in random order. Each
/// result is compared with a search from scratch. Also compares queue orders with turns.
#include "host/routers/sconnect/turns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "host/routers/sconnect/make_tables.hpp"
#include "host/routers/sconnect/order.hpp"
#include "host/routers/sconnect/queues.hpp"
#include "kernels/common/philox.hpp"
#include "tests/support/sconnect/fabrics.hpp"
#include "tests/support/sconnect/walker.hpp"

namespace flitlab::sconnect_turns_test {
namespace {

using sconnect::kPorts;
using namespace testing;
using testing::sconnect_walker::expect_good;

TEST(SconnectTurns, AreAllowedUnlessTheyCloseACircle) {
  // Tries all turns of a fabric in random order, and checks each with a search from scratch.
  for (u64 seed = 0; seed < 10; ++seed) {
    const SconnectFabric f = make_sconnect_random(12, 4, seed, single_nodes());
    SconnectTurns turns(f);
    std::vector<std::pair<u32, u32>> all;
    for (u32 c = 0; c < f.tics * kPorts; ++c)
      for (u32 port = 0; port < 4; ++port)
        if (leads_to_tic(f.links[c])) all.emplace_back(c, port);
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
      const auto key = [&](const auto& t) { return philox(seed, 0, t.first, t.second).word[0]; };
      return key(a) < key(b);
    });
    std::map<u32, std::set<u32>> after;
    u32 refused = 0;
    for (const auto& [channel, port] : all) {
      const u32 next = f.links[channel].far * kPorts + port;
      std::set<u32> reached{next};
      std::vector<u32> stack{next};
      while (!stack.empty()) {
        const u32 at = stack.back();
        stack.pop_back();
        for (u32 c : after[at])
          if (reached.insert(c).second) stack.push_back(c);
      }
      const bool fits = !reached.contains(channel);
      EXPECT_EQ(turns.allow(channel, port), fits);
      EXPECT_EQ(turns.allowed(channel, port), fits);
      EXPECT_EQ(turns.possible(channel, port), fits);
      if (fits) after[channel].insert(next);
      refused += !fits;
    }
    EXPECT_GT(refused, 20u);
  }
}

TEST(SconnectQueues, KeepMoreShortestPathsThanTurns) {
  for (u64 seed : {1, 2}) {
    const SconnectFabric f = make_sconnect_random(64, 4, seed, single_nodes());
    const SconnectTables queues = given_sconnect_tables(f, sconnect_tables_by_queues(f)),
                         turns = given_sconnect_tables(f, sconnect_tables_by_turns(f));
    expect_good(f, queues);
    EXPECT_EQ(queues.kept, 1);
    EXPECT_LT(turns.kept, 1);
    EXPECT_EQ(queues.entry, sconnect_tables_by_queues(f));
  }
  const SconnectFabric f = make_sconnect_random(120, 3, 4, single_nodes());
  const SconnectTables queues = given_sconnect_tables(f, sconnect_tables_by_queues(f)),
                       turns = given_sconnect_tables(f, sconnect_tables_by_turns(f));
  expect_good(f, queues);
  EXPECT_GT(queues.kept, turns.kept);
  EXPECT_LT(queues.stretch, turns.stretch);
}

}  // namespace
}  // namespace flitlab::sconnect_turns_test
