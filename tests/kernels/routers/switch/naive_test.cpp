/// The single switch against an event-driven second implementation: the times of every message must agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <set>

#include "kernels/common/philox.hpp"
#include "kernels/routers/switch/streams.hpp"
#include "tests/support/switch/switch.hpp"

namespace flitlab::switch_naive_test {
namespace {

using namespace testing;

struct Message {
  u32 src, id;
  SwitchTimes seen;              ///< times of the message in the emulator
  u64 ready = 0;                 ///< earliest cycle in which the message could be switched if it were alone
  u64 moved = 0, delivered = 0;  ///< times that the second implementation expects
};

struct Rules {
  u32 ports, room;
  bool stored, held;
  u64 seed;
};

/// Returns the messages of each input in order, and sets `ready` of every message.
std::vector<std::deque<Message*>> queues(std::vector<Message>& all, const Rules& rules) {
  std::vector<std::deque<Message*>> inputs(rules.ports);
  for (Message& m : all) inputs[m.src].push_back(&m);
  for (auto& queue : inputs) {
    u64 end = 0;  // end of the last message that the channel has carried
    for (Message* m : queue) {
      const u64 begin = std::max<u64>(end, m->seen.created);
      end = begin + m->seen.flits;
      m->ready = rules.stored ? end : begin;
    }
  }
  return inputs;
}

void simulate(std::vector<Message>& all, const Rules& rules) {
  auto inputs = queues(all, rules);
  std::vector<u64> gate(rules.ports, 0);            // [input] earliest cycle in which its next message is switched
  std::vector<std::vector<u64>> ends(rules.ports);  // [output] end cycles of the messages that it holds
  std::set<u64> times;
  for (const auto& queue : inputs)
    if (!queue.empty()) times.insert(queue.front()->ready);
  for (; !times.empty(); times.erase(times.begin())) {
    const u64 now = *times.begin();
    for (u32 o = 0; o < rules.ports; ++o) {
      std::vector<std::pair<std::pair<u64, u64>, u32>> waiting;  // (waiting since, random draw), input
      for (u32 i = 0; i < rules.ports; ++i) {
        if (inputs[i].empty() || inputs[i].front()->seen.dst != o) continue;
        const u64 since = std::max(inputs[i].front()->ready, gate[i]);
        if (since <= now) waiting.push_back({{since, philox(rules.seed, sw::stream::kTie, i, now).word[0]}, i});
      }
      std::sort(waiting.begin(), waiting.end());
      for (const auto& [order, i] : waiting) {
        const auto inside = std::count_if(ends[o].begin(), ends[o].end(), [&](u64 end) { return end > now; });
        if (inside >= rules.room) break;
        Message& m = *inputs[i].front();
        inputs[i].pop_front();
        m.moved = now;
        m.delivered = std::max(now, ends[o].empty() ? 0 : ends[o].back()) + m.seen.flits;
        ends[o].push_back(m.delivered);
        times.insert(m.delivered);
        gate[i] = now + (rules.held ? m.seen.flits : 1);
        if (!inputs[i].empty()) times.insert(std::max(gate[i], inputs[i].front()->ready));
      }
    }
  }
}

TEST(SwitchNaive, AgreesForEveryMessage) {
  u32 compared = 0;
  for (u32 n = 0; n < 60; ++n) {
    Draw chance(n);
    Rules rules{2 + chance.below(9), 1 + chance.below(3), chance.below(2) == 1, false, chance.below(1000)};
    rules.held = rules.stored && chance.below(2);
    RawConfig c = Settings{"topology.ports=",
                           rules.ports,
                           " router.output_buffers=",
                           rules.room,
                           " router.organisation=",
                           rules.stored ? "crossbar" : "buffer_pool",
                           " run.seed=",
                           static_cast<std::int64_t>(rules.seed),
                           " traffic.load=",
                           0.2 + 0.1 * chance.below(9)};
    if (rules.held) c["router.input_release"] = word("tail");
    if (chance.below(2)) c["traffic.packet_length"] = word("geometric");
    c["traffic.packet_flits"] = integer(1 + chance.below(8));
    if (chance.below(3) == 0) c["traffic.pattern"] = word("hot_spot");
    WatchedSwitch net(c);
    net.run(1500);
    std::vector<Message> all;
    for (const auto& [name, seen] : net.messages)
      if (seen.moved != kNone) all.push_back({name.first, name.second, seen});
    simulate(all, rules);
    for (const Message& m : all) {
      ASSERT_EQ(m.seen.moved, m.moved) << n << ": message " << m.id << " of " << m.src;
      if (m.seen.delivered != kNone) {
        ASSERT_EQ(m.seen.delivered, m.delivered) << n << ": message " << m.id << " of " << m.src;
      }
    }
    compared += static_cast<u32>(all.size());
  }
  EXPECT_GT(compared, 20000u);
}

/// All forms of the code agree. An engine that writes events moves messages one by one; one that does not uses bit sets
/// of ports. The memory layout of GPUs stores values of neighbouring ports far apart.
TEST(SwitchNaive, IsTheSameWithEventsAndInAnyLayout) {
  if (testing::kWide == 1) GTEST_SKIP() << "no engine for wide layouts in this build";
  u64 delivered = 0;
  for (u32 n = 0; n < testing::trials(40); ++n) {
    Draw chance(n);
    RawConfig c{{"router.kind", word("switch")},
                {"topology.ports", integer(n % 8 == 0 ? 64 : 2 + chance.below(20))},
                {"router.output_buffers", integer(1 + chance.below(3))},
                {"router.organisation", word(chance.below(2) ? "crossbar" : "buffer_pool")},
                {"run.seed", integer(n)},
                {"traffic.load", 0.1 + 0.1 * chance.below(10)},
                {"traffic.packet_flits", integer(1 + chance.below(6))}};
    if (chance.below(3) == 0) c["traffic.pattern"] = word("hot_spot");
    const Experiment e = testing::experiment(c);
    testing::Network plain(e), events(e, {"cpu", 1, true, 1}), wide(e, {"cpu", 1, false, 1, testing::kWide});
    for (u32 cycle = 0; cycle < 300; ++cycle) {
      for (testing::Network* net : {&plain, &events, &wide}) net->step(1);
      ASSERT_EQ(plain.engine->state_hash(0), events.engine->state_hash(0)) << n << ", cycle " << cycle;
      ASSERT_EQ(plain.engine->state_hash(0), wide.engine->state_hash(0)) << n << ", cycle " << cycle;
      if (cycle % 32 == 0) events.engine->take_events(0);
    }
    const CounterShard a = plain.engine->counters(0), b = events.engine->counters(0);
    for (u32 i = 0; i < kTotals; ++i) ASSERT_EQ(a.total[i], b.total[i]) << n << ", total " << i;
    ASSERT_EQ(plain.engine->audit(0).bits, 0u) << n;
    delivered += plain.total(Total::kPacketsDelivered);
  }
  EXPECT_GT(delivered, 10000u);
}

}  // namespace
}  // namespace flitlab::switch_naive_test
