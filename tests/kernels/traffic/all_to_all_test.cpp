/// All-to-all traffic: in every round a terminal sends to each other terminal once, in the configured order.
#include "kernels/traffic/all_to_all.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "host/routers/t3e/plan.hpp"
#include "host/routers/vc/plan.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"

namespace flitlab::traffic_all_to_all_test {
namespace {

using namespace testing;

constexpr Order kOrders[] = {Order::kRandom, Order::kRotated, Order::kSame};

TrafficTable all_to_all(u32 terminals, Order order, u32 in_a_row = 1) {
  TrafficTable t;
  t.pattern = Pattern::kAllToAll;
  t.terminals = terminals;
  t.order = order;
  t.in_a_row = in_a_row;
  return t;
}

/// Returns the destinations of `count` packets of a terminal, from packet `first` on.
std::vector<u32> destinations(const TrafficTable& t, u32 terminal, u32 first, u32 count, u64 seed = 1) {
  ReplicaRow row;
  row.seed = seed;
  std::vector<u32> to;
  for (u32 n = first; n < first + count; ++n) to.push_back(packet_destination(t, row, terminal, n));
  return to;
}

/// Checks three rounds of a terminal that sends to the terminals `others` (ascending).
void expect_permutations(const TrafficTable& t, u32 terminal, const std::vector<u32>& others) {
  const u32 packets = static_cast<u32>(others.size()) * t.in_a_row;
  for (u32 round = 0; round < 3; ++round) {
    const std::vector<u32> to = destinations(t, terminal, round * packets, packets);
    std::vector<u32> turns;
    for (u32 i = 0; i < packets; ++i) {
      if (i % t.in_a_row) {
        ASSERT_EQ(to[i], to[i - 1]);
      } else {
        turns.push_back(to[i]);
      }
    }
    std::sort(turns.begin(), turns.end());
    ASSERT_EQ(turns, others) << "terminal " << terminal << " of " << t.terminals << ", round " << round;
  }
}

TEST(AllToAll, EveryRoundIsAPermutationOfTheOthers) {
  for (u32 terminals : {2, 3, 4, 5, 17, 64, 100, 512, 1000})
    for (Order order : kOrders)
      for (u32 in_a_row : {1, 3})
        for (u32 terminal : {0u, 1u, terminals / 2, terminals - 1}) {
          std::vector<u32> others(terminals);
          std::iota(others.begin(), others.end(), 0u);
          others.erase(others.begin() + terminal);
          expect_permutations(all_to_all(terminals, order, in_a_row), terminal, others);
        }
}

/// The terminals of a group send to its other members, whatever their numbers. A terminal that is alone in its group or
/// in no group never sends.
TEST(AllToAll, GroupsKeepToThemselves) {
  const std::vector<std::vector<u32>> groups{{7, 2, 11, 3, 5}, {0}, {12, 4}, {1, 10, 6, 8}};  // 9 is in no group
  std::vector<TrafficGroup> group_of(13, TrafficGroup{0, 0, 0});
  std::vector<u32> members;
  for (const auto& group : groups) {
    const u32 first = static_cast<u32>(members.size()), count = static_cast<u32>(group.size());
    for (u32 rank = 0; rank < count; ++rank) group_of[group[rank]] = {first, count, rank};
    members.insert(members.end(), group.begin(), group.end());
  }
  for (Order order : kOrders) {
    TrafficTable t = all_to_all(13, order, 2);
    t.group = group_of.data();
    t.member = members.data();
    for (const auto& group : groups)
      for (u32 terminal : group) {
        EXPECT_EQ(never_sends(t, terminal), group.size() == 1);
        if (group.size() == 1) continue;
        std::vector<u32> others = group;
        others.erase(std::find(others.begin(), others.end(), terminal));
        std::sort(others.begin(), others.end());
        expect_permutations(t, terminal, others);
      }
    EXPECT_TRUE(never_sends(t, 9));
    t.injection = Injection::kAllAtOnce;
    t.batch_packets = 6;
    EXPECT_EQ(batch_size(t, 7), 6u * 4);
    EXPECT_EQ(batch_size(t, 4), 6u);
    EXPECT_EQ(batch_size(t, 1), 6u * 3);
    if (order == Order::kRotated) {  // rotated by rank: terminal 11 is the third of five
      EXPECT_EQ(destinations(t, 11, 0, 8), (std::vector<u32>{3, 3, 5, 5, 7, 7, 2, 2}));
    }
    if (order == Order::kSame) {
      EXPECT_EQ(destinations(t, 11, 0, 8), (std::vector<u32>{7, 7, 2, 2, 3, 3, 5, 5}));
    }
  }
}

TEST(AllToAll, RotatedAndSameByHand) {
  using List = std::vector<u32>;
  const TrafficTable rotated = all_to_all(5, Order::kRotated), same = all_to_all(5, Order::kSame);
  EXPECT_EQ(destinations(rotated, 0, 0, 9), (List{1, 2, 3, 4, 1, 2, 3, 4, 1}));
  EXPECT_EQ(destinations(rotated, 3, 0, 9), (List{4, 0, 1, 2, 4, 0, 1, 2, 4}));
  EXPECT_EQ(destinations(same, 0, 0, 9), (List{1, 2, 3, 4, 1, 2, 3, 4, 1}));
  EXPECT_EQ(destinations(same, 3, 0, 9), (List{0, 1, 2, 4, 0, 1, 2, 4, 0}));
  EXPECT_EQ(destinations(same, 4, 0, 9), (List{0, 1, 2, 3, 0, 1, 2, 3, 0}));
  EXPECT_EQ(destinations(all_to_all(3, Order::kRotated, 3), 1, 0, 8), (List{2, 2, 2, 0, 0, 0, 2, 2}));
}

TEST(AllToAll, RandomOrdersDependOnRoundTerminalAndSeed) {
  const TrafficTable t = all_to_all(64, Order::kRandom);
  const std::vector<u32> first = destinations(t, 5, 0, 63);
  EXPECT_EQ(destinations(t, 5, 0, 63), first);
  EXPECT_NE(destinations(t, 5, 63, 63), first);
  EXPECT_NE(destinations(t, 5, 0, 63, 2), first);
  EXPECT_NE(destinations(t, 5, 0, 63, u64{1} << 32 | 1), first);
  std::vector<u32> other = destinations(t, 6, 0, 63);  // otherwise terminals 5 and 6 have the same destinations
  std::replace(other.begin(), other.end(), 5u, 6u);
  EXPECT_NE(other, first);
}

/// Chi-square of the 24 orders of four destinations over 24000 rounds: with 23 degrees of freedom it exceeds 60 once in
/// 30000 cases.
TEST(AllToAll, AllRandomOrdersAreEquallyLikely) {
  const TrafficTable t = all_to_all(5, Order::kRandom);
  std::map<std::vector<u32>, u32> times;
  for (u32 round = 0; round < 24000; ++round) ++times[destinations(t, 2, round * 4, 4)];
  EXPECT_EQ(times.size(), 24u);
  double chi = 0;
  for (const auto& [order, n] : times) chi += (n - 1000.0) * (n - 1000.0) / 1000;
  EXPECT_LT(chi, 60);
}

/// In a random order of n numbers, on average one number is followed by its successor; the variance is one.
TEST(AllToAll, LongRandomOrdersHaveNoRuns) {
  for (u32 others : {100, 511, 1000}) {
    const TrafficTable t = all_to_all(others + 1, Order::kRandom);
    u32 runs = 0;
    for (u32 round = 0; round < 1000; ++round) {
      const std::vector<u32> to = destinations(t, 0, round * others, others);
      for (u32 k = 1; k < others; ++k) runs += to[k] == to[k - 1] + 1;
    }
    EXPECT_NEAR(runs / 1000.0, 1, 5 / std::sqrt(1000.0)) << others;
  }
}

/// In a given round, 10000 terminals choose a share of 1 - 1/e of the terminals, as independent draws do, within 5 *
/// 0.3 / sqrt(10000).
TEST(AllToAll, RandomOrdersOfTerminalsAreIndependent) {
  const u32 terminals = 10000;
  const TrafficTable t = all_to_all(terminals, Order::kRandom);
  for (u32 turn : {0u, 1u, 777u, terminals - 2}) {
    std::set<u32> chosen;
    for (u32 terminal = 0; terminal < terminals; ++terminal) chosen.insert(destinations(t, terminal, turn, 1)[0]);
    EXPECT_NEAR(static_cast<double>(chosen.size()) / terminals, 1 - std::exp(-1.0), 0.015);
  }
}

/// Numbers of packets and terminals may use the whole range of their types.
TEST(AllToAll, HoldsForAMillionTerminals) {
  const u32 terminals = 1u << 20, last = terminals - 1;
  for (Order order : kOrders) {
    const TrafficTable t = all_to_all(terminals, order);
    std::vector<bool> seen(terminals, false);
    for (u32 to : destinations(t, last, 0, terminals - 1)) {
      ASSERT_LT(to, last);
      ASSERT_FALSE(seen[to]);
      seen[to] = true;
    }
    for (u32 n : {0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFEu}) {
      EXPECT_LT(destinations(t, last, n, 1)[0], last);
      EXPECT_NE(destinations(t, 3, n, 1)[0], 3u);
    }
  }
}

/// Returns `[source][destination]`: number of packets delivered.
std::vector<std::vector<u32>> deliveries(Network& net, u32 cycles) {
  const u32 terminals = net.plan->topology().terminals, routers = net.plan->topology().routers;
  std::vector<std::vector<u32>> count(terminals, std::vector<u32>(terminals, 0));
  for (u32 cycle = 0; cycle < cycles; cycle += 10) {
    net.step(10);
    const auto events = net.engine->take_events(0);
    for (u32 to = 0; to < terminals; ++to)
      for (const Event& event : events[routers + to])
        if (event.kind == EventKind::kDelivered) ++count[event.src][to];
  }
  return count;
}

TEST(AllToAll, ABatchGoesFromEachToEachOther) {
  for (const char* order : {"random", "rotated", "same"}) {
    Network net(
        experiment(
            "topology.kind=mesh topology.shape=[3,4] traffic.mode=batch traffic.pattern=all_to_all traffic.order=",
            order, " traffic.rounds=2 traffic.in_a_row=3 traffic.packet_flits=[[1,1.0],[4,1.0]]"),
        {"cpu", 1, true, 1});
    const auto count = deliveries(net, 4000);
    for (u32 from = 0; from < 12; ++from)
      for (u32 to = 0; to < 12; ++to) EXPECT_EQ(count[from][to], from == to ? 0u : 6u) << order;
    EXPECT_EQ(net.total(Total::kPacketsCreated), 12u * 11 * 6);
    EXPECT_EQ(net.total(Total::kPacketsDelivered), 12u * 11 * 6);
  }
}

TEST(AllToAll, ToARegionSendAllTerminalsOutside) {
  for (const char* order : {"random", "rotated", "same"}) {
    Network net(experiment("topology.kind=mesh topology.shape=[3,4] traffic.mode=batch traffic.pattern=all_to_region "
                           "traffic.hot_shape=[2,2] traffic.order=",
                           order, " traffic.rounds=2 traffic.in_a_row=3"),
                {"cpu", 1, true, 1});
    const auto count = deliveries(net, 4000);
    const std::set<u32> inside{0, 1, 3, 4};
    for (u32 from = 0; from < 12; ++from)
      for (u32 to = 0; to < 12; ++to)
        EXPECT_EQ(count[from][to], !inside.count(from) && inside.count(to) ? 6u : 0u) << order;
    EXPECT_EQ(net.total(Total::kPacketsDelivered), 8u * 4 * 6);
  }
}

/// A T3E with partitions of 5, 1 and 10 PEs; the other PEs are idle.
TEST(AllToAll, ABatchStaysInItsPartition) {
  Network net(experiment("router.kind=t3e topology.partitions=[0,4,8,0,16,9] traffic.mode=batch "
                         "traffic.pattern=all_to_all traffic.in_a_row=2"),
              {"cpu", 1, true, 1});
  const auto count = deliveries(net, 3000);
  const TrafficTable& t = dynamic_cast<const T3ePlan&>(*net.plan).table().traffic;
  std::multiset<u32> sizes;
  for (u32 from = 0; from < 32; ++from) {
    sizes.insert(t.group[from].count);
    for (u32 to = 0; to < 32; ++to) {
      const bool fellows = t.group[from].count && t.group[from].first == t.group[to].first && t.group[to].count;
      EXPECT_EQ(count[from][to], fellows && from != to ? 2u : 0u) << from << " to " << to;
    }
  }
  EXPECT_EQ(sizes.count(1), 1u);
  EXPECT_EQ(sizes.count(5), 5u);
  EXPECT_EQ(sizes.count(10), 10u);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 2u * (5 * 4 + 10 * 9));
}

/// Open and closed loops repeat rounds without end. In a rotated order packet n goes to the terminal n % 15 + 1 further
/// on.
TEST(AllToAll, OtherModesGoRoundAndRound) {
  for (const char* mode : {"open", "request_reply"}) {
    Network net(experiment("traffic.mode=", mode,
                           " traffic.pattern=all_to_all traffic.order=rotated traffic.packet_flits=1 traffic.load=0.2"),
                {"cpu", 1, true, 1});
    u32 last = 0;
    for (int i = 0; i < 200; ++i) {
      net.step(5);
      const auto events = net.engine->take_events(0);
      for (u32 to = 0; to < 16; ++to)
        for (const Event& event : events[16 + to])
          if (event.kind == EventKind::kDelivered && event.id < 0x80000000u) {
            ASSERT_EQ(to, (event.src + 1 + event.id % 15) % 16) << mode;
            last = std::max(last, event.id);
          }
    }
    EXPECT_GT(last, 3u * 15) << mode;
  }
}

/// All-to-all traffic works with two terminals.
TEST(AllToAll, TwoSendToEachOther) {
  Network net(experiment("topology.shape=[2] topology.kind=ring traffic.mode=batch traffic.pattern=all_to_all"));
  net.step(200);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 2u);
}

TEST(AllToAll, BadInputIsNamed) {
  const auto refused = [](RawConfig changes, const std::vector<std::string>& parts) {
    try {
      make_plan(experiment(changes));
      ADD_FAILURE() << "accepted: " << parts.front();
    } catch (const ConfigError& error) {
      const std::string text = error.what();
      for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
  };
  const RawConfig open = Settings("traffic.pattern=all_to_all");
  const RawConfig batch = Settings("traffic.pattern=all_to_all traffic.mode=batch");
  const auto with = [](RawConfig config, const char* path, Value value) {
    config[path] = value;
    return config;
  };
  refused(Settings("traffic.order=same"), {"traffic.order = \"same\" has no effect",
                                           "traffic.pattern = \"all_to_all\" or \"all_to_region\"", "is \"uniform\""});
  refused(Settings("traffic.mode=batch traffic.rounds=2"),
          {"traffic.rounds = 2 has no effect",
           "traffic.pattern = \"all_to_all\" or \"all_to_region\", and traffic.pattern is \"uniform\""});
  refused(with(open, "traffic.rounds", integer(2)),
          {"traffic.rounds = 2 has no effect", "traffic.mode = \"batch\", and traffic.mode is \"open\""});
  refused(with(batch, "traffic.batch_packets", integer(7)),
          {"traffic.batch_packets = 7 has no effect",
           "traffic.pattern other than \"all_to_all\" or \"all_to_region\", and traffic.pattern is \"all_to_all\""});
  refused(with(open, "traffic.batch_packets", integer(7)), {"traffic.mode = \"batch\", and traffic.mode is \"open\""});
  refused(with(open, "traffic.order", word("rotate")), {"did you mean \"rotated\"", "random, rotated, same"});
  refused(with(open, "traffic.in_a_row", integer(0)), {"traffic.in_a_row = 0", "1 to 1000000 packets"});
  refused(with(with(batch, "traffic.rounds", integer(1000000)), "traffic.in_a_row", integer(1000000)),
          {"traffic.rounds = 1000000", "traffic.in_a_row = 1000000", "15000000000000 packets", "at most 1000000000",
           "Lower one of them"});
  refused(with(open, "topology.shape", IntList{1}),
          {"\"all_to_all\"", "every terminal is alone", "Enlarge the network"});
  refused(Settings("router.kind=t3e traffic.pattern=all_to_all topology.partitions=[0,0,5,0]"),
          {"\"all_to_all\"", "every terminal is alone", "partitions"});
  const RawConfig region = Settings("traffic.pattern=all_to_region topology.shape=[4,4]");
  refused(with(region, "traffic.hot_shape", IntList{5, 1}), {"traffic.hot_shape = [5, 1]", "at most [4, 4]"});
  refused(with(region, "traffic.hot_shape", IntList{4, 4}), {"traffic.hot_shape = [4, 4]", "the whole network"});
  refused(Settings("router.kind=t3e traffic.pattern=all_to_region topology.partitions=[0,0,5,0]"),
          {"\"all_to_region\"", "whole"});
}

}  // namespace
}  // namespace flitlab::traffic_all_to_all_test
