/// Collectives as flows of data: messages carry sets of data, and at the end each member must have the data that the
/// collective specifies.
#include "host/programs/collectives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

#include "tests/support/program.hpp"

namespace flitlab::programs_collectives_test {
namespace {

/// A piece of data: its contributor and, for alltoall only, its receiver.
using Piece = std::pair<u32, u32>;
using Known = std::multiset<Piece>;

struct Step {
  CallKind kind;
  u32 other;
  u64 amount;
};

std::vector<std::vector<Step>> steps_of(const Collective& c, u32 members) {
  std::vector<std::vector<Step>> steps(members);
  for (u32 me = 0; me < members; ++me)
    expand(c, members, me, [&](CallKind kind, u32 other, u64 amount) { steps[me].push_back({kind, other, amount}); });
  return steps;
}

/// Carries out all steps in any possible order. `give(from, to, amount, known)` returns the data of a message; `take`
/// adds it to the receiver's data. Returns false if the steps wait for one another.
template <class Give, class Take>
bool carry_out(const std::vector<std::vector<Step>>& steps, std::vector<Known>& known, Give give, Take take) {
  const u32 n = static_cast<u32>(steps.size());
  std::map<std::pair<u32, u32>, std::vector<std::pair<u64, Known>>> in_flight;
  std::map<std::pair<u32, u32>, std::size_t> taken;
  std::vector<std::size_t> next(n, 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (u32 me = 0; me < n; ++me)
      for (; next[me] < steps[me].size(); ++next[me], moved = true) {
        const Step& s = steps[me][next[me]];
        if (s.kind == CallKind::kSend) {
          in_flight[{me, s.other}].push_back({s.amount, give(me, s.other, s.amount, known[me])});
        } else if (s.kind == CallKind::kReceive) {
          auto& from = in_flight[{s.other, me}];
          std::size_t& k = taken[{s.other, me}];
          if (k == from.size()) break;
          EXPECT_EQ(from[k].first, s.amount);
          take(known[me], from[k++].second);
        }
      }
  }
  for (u32 me = 0; me < n; ++me)
    if (next[me] < steps[me].size()) return false;
  for (const auto& [pair, list] : in_flight) EXPECT_EQ(taken[pair], list.size());
  return true;
}

const auto everything = [](u32, u32, u64, const Known& known) { return known; };
const auto add = [](Known& known, const Known& more) { known.insert(more.begin(), more.end()); };
const auto replace = [](Known& known, const Known& more) { known = more; };
/// Returns the data of a member that combines contributions. The member must count each contribution only once.
const auto combine_or_replace = [](Known& known, const Known& more) {
  if (std::includes(more.begin(), more.end(), known.begin(), known.end()))
    known = more;
  else
    add(known, more);
};

std::vector<Known> own(u32 n) {
  std::vector<Known> known(n);
  for (u32 i = 0; i < n; ++i) known[i] = {{i, 0}};
  return known;
}

Known all(u32 n) {
  Known known;
  for (u32 i = 0; i < n; ++i) known.insert({i, 0});
  return known;
}

class Collectives : public ::testing::TestWithParam<u32> {
 protected:
  const u32 n = GetParam();
};

TEST_P(Collectives, BarrierIncludesAllMembers) {
  const auto steps = steps_of({CollectiveKind::kBarrier}, n);
  auto known = own(n);
  ASSERT_TRUE(carry_out(steps, known, everything, add));
  for (u32 me = 0; me < n; ++me) {
    EXPECT_EQ(std::set<Piece>(known[me].begin(), known[me].end()).size(), n);
    EXPECT_EQ(steps[me].size(), 2u * static_cast<u32>(std::bit_width(n - 1)));
  }
}

TEST_P(Collectives, BroadcastReachesEachMemberOnce) {
  for (u32 root : {0u, n / 2, n - 1}) {
    const auto steps = steps_of({CollectiveKind::kBroadcast, root, 100}, n);
    std::vector<Known> known(n);
    known[root] = {{root, 0}};
    ASSERT_TRUE(carry_out(steps, known, everything, add));
    u32 sends = 0;
    for (u32 me = 0; me < n; ++me) {
      EXPECT_EQ(known[me], (Known{{root, 0}})) << me;
      u32 own_blocks = 0;
      for (const Step& s : steps[me]) own_blocks += s.kind == CallKind::kSend;
      EXPECT_LE(own_blocks, static_cast<u32>(std::bit_width(n - 1)));
      sends += own_blocks;
    }
    EXPECT_EQ(sends, n - 1);
  }
}

TEST_P(Collectives, ReduceCombinesEachContributionOnce) {
  for (u32 root : {0u, n / 2, n - 1}) {
    const auto steps = steps_of({CollectiveKind::kReduce, root, 100, 7}, n);
    auto known = own(n);
    ASSERT_TRUE(carry_out(steps, known, everything, add));
    EXPECT_EQ(known[root], all(n));
    u32 combines = 0;
    for (const auto& own_blocks : steps)
      for (const Step& s : own_blocks) combines += s.kind == CallKind::kCompute && s.amount == 7;
    EXPECT_EQ(combines, n - 1);
  }
}

TEST_P(Collectives, AllreduceGivesAllMembersTheWholeSum) {
  const auto steps = steps_of({CollectiveKind::kAllreduce, 0, 100, 7}, n);
  auto known = own(n);
  ASSERT_TRUE(carry_out(steps, known, everything, combine_or_replace));
  const u32 rounds = static_cast<u32>(std::bit_width(n) - 1);
  u32 combines = 0;
  for (u32 me = 0; me < n; ++me) {
    EXPECT_EQ(known[me], all(n)) << me;  // a multiset, so each member is counted once
    EXPECT_LE(steps[me].size(), 3 * rounds + 3);
    for (const Step& s : steps[me]) combines += s.kind == CallKind::kCompute && s.amount == 7;
  }
  const u32 doubling = 1u << rounds;
  EXPECT_EQ(combines, doubling * rounds + (n - doubling));
}

TEST_P(Collectives, AllgatherGivesAllMembersEveryBlock) {
  const auto steps = steps_of({CollectiveKind::kAllgather, 0, 100}, n);
  auto known = own(n);
  // The size of a message in bytes gives its number of blocks: first the sender's own block, then received blocks in
  // the order of positions.
  std::vector<std::vector<u32>> blocks(n);
  for (u32 i = 0; i < n; ++i) blocks[i] = {i};
  std::vector<Known> unused(n);
  const bool doubling = std::has_single_bit(n);
  ASSERT_TRUE(carry_out(
      steps, known,
      [&](u32 from, u32, u64 bytes, const Known& own_blocks) {
        EXPECT_EQ(bytes % 100, 0u);
        EXPECT_LE(bytes / 100, own_blocks.size());
        if (doubling) return own_blocks;
        Known sent;
        for (u32 k = 0; k < bytes / 100; ++k) {
          const Piece piece{(from + k) % n, 0};
          EXPECT_EQ(own_blocks.count(piece), 1u);
          sent.insert(piece);
        }
        return sent;
      },
      add));
  for (u32 me = 0; me < n; ++me) EXPECT_EQ(known[me], all(n)) << me;
  u64 sent = 0;
  for (const Step& s : steps[0]) sent += s.kind == CallKind::kSend ? s.amount : 0;
  EXPECT_EQ(sent, u64{100} * (n - 1));
}

TEST_P(Collectives, AlltoallGivesEachWhatIsForIt) {
  const auto steps = steps_of({CollectiveKind::kAlltoall, 0, 100}, n);
  std::vector<Known> known(n);
  ASSERT_TRUE(carry_out(
      steps, known,
      [](u32 from, u32 to, u64 bytes, const Known&) {
        EXPECT_EQ(bytes, 100u);
        return Known{{from, to}};
      },
      add));
  for (u32 me = 0; me < n; ++me) {
    Known own_blocks;
    for (u32 from = 0; from < n; ++from)
      if (from != me) own_blocks.insert({from, me});
    EXPECT_EQ(known[me], own_blocks) << me;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Collectives, ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 31, 32, 33));

TEST(CollectivesOfPrograms, RunOneAfterAnotherOnGroups) {
  std::string text = "ranks,7\ngroup,1,5,0,3\ngroup,9,1,2,4,6\n";
  for (const char* call :
       {"alltoall,300", "allreduce,8,50", "broadcast,2,1000", "allgather,90", "reduce,6,8,20", "barrier"})
    for (u32 rank = 0; rank < 7; ++rank) text += std::to_string(rank) + "," + call + "\n";
  for (u32 rank : {0, 3, 5}) text += std::to_string(rank) + ",broadcast,5,100,1\n";
  for (u32 rank : {1, 2, 4, 6}) text += std::to_string(rank) + ",allreduce,100,,9\n";
  for (u32 rank = 0; rank < 7; ++rank) text += std::to_string(rank) + ",barrier\n";
  testing::FixedDelay net(testing::program(text, 10), 20);
  for (Cycle end : net.ends()) EXPECT_NE(end, kNever);
  for (u32 rank = 0; rank < 7; ++rank) EXPECT_GT(net.control(rank).finished, 200u);
}

TEST(CollectivesOfPrograms, GroupsKeepToTheirRanksAndOrder) {
  // In group 5,0,3 the root, rank 5, is member 0. Its children in a binomial tree are members 2 and 1, which are ranks
  // 3 and 0.
  const Program p =
      testing::program("group,1,5,0,3\n5,broadcast,5,100,1\n0,broadcast,5,100,1\n3,broadcast,5,100,1\n", 6);
  ASSERT_EQ(p.first[6] - p.first[5], 2u);
  EXPECT_EQ(p.calls[p.first[5]].peer, 3u);
  EXPECT_EQ(p.calls[p.first[5] + 1].peer, 0u);
}

}  // namespace
}  // namespace flitlab::programs_collectives_test
