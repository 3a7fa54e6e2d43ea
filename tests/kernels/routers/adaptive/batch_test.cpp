/// Compares the bulk phase, which processes many routers per call, with the phase for one router. Engines with the
/// memory layout of GPUs use neither bulk phases nor vectors, so both forms run in this test.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/routers/adaptive/choose.hpp"
#include "kernels/routers/adaptive/totals.hpp"
#include "tests/support/adaptive/random.hpp"
#include "tests/support/same.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::adaptive_batch_test {
namespace {

using namespace adaptive;
using namespace testing;

/// Returns the configuration of a network that needs several bulk calls, has routers with more than eight channels, or
/// is of any kind.
RawConfig random_network(u32 seed, std::mt19937& random, const std::string& graph) {
  RawConfig c = testing::random_adaptive(random, graph);
  c["router.assignment"] = word(seed % 3 ? "greedy" : "fixed");
  if (seed % 4 == 1) {
    c.erase("topology.shape");
    c.erase("topology.file");
    set(c, "topology.kind=hypercube topology.dimensions=", seed % 8 == 1 ? 6 : 9,
        " topology.concentration=2 router.ejection=2");
  }
  if (seed % 5 == 0) {
    c.erase("traffic.load");
    set(c, "traffic.mode=batch traffic.batch_packets=9");
  }
  return c;
}

TEST(AdaptiveBatch, AgreesWithSingleRouters) {
  if (testing::kWide == 1) GTEST_SKIP() << "no engine for wide layouts in this build";
  u64 misrouted = 0, delivered = 0;
  for (u32 seed = 1; seed <= testing::trials(40); ++seed) {
    std::mt19937 random(seed);
    const testing::TextFile graph(testing::random_graph(random));
    const Experiment e = experiment(random_network(seed, random, graph.path));
    Network many(e), one(e, {"cpu", 1, false, 1, testing::kWide}), two(e, {"cpu", 2, false, 8});
    for (u32 cycle = 0; cycle < 200; ++cycle) {
      many.step(1);
      one.step(1);
      if (cycle % 8 == 0) two.step(8);
      ASSERT_EQ(many.engine->state_hash(0), one.engine->state_hash(0)) << "seed " << seed << ", cycle " << cycle;
      if (cycle % 8 == 7) {
        ASSERT_EQ(many.engine->state_hash(0), two.engine->state_hash(0)) << "seed " << seed << ", cycle " << cycle;
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_the_same(*many.engine, *one.engine)) << "seed " << seed;
    ASSERT_EQ(many.engine->audit(0).bits, 0u) << "seed " << seed;
    misrouted += many.total(Count::kMisrouted);
    delivered += many.total(Total::kPacketsDelivered);
  }
  EXPECT_GT(misrouted, 1000u);
  EXPECT_GT(delivered, 1000u);
}

template <u32 kHalves>
void check_choices(std::mt19937& random) {
  const u32 channels = kHalves == 1 ? 1 + random() % 8 : 9 + random() % 8;
  std::vector<u32> options(1 + random() % kFewMessages);
  const u32 count = static_cast<u32>(options.size()), mask = (1u << channels) - 1;
  Choices<kHalves> choices;
  for (u32 m = 0; m < count; ++m) {
    options[m] = random() & random() & mask;
    choices.add(m, options[m]);
    ASSERT_EQ(choices.options(m), options[m]);
  }
  for (Assignment how : {Assignment::kGreedy, Assignment::kFixed}) {
    u32 waiting = static_cast<u32>((u64{1} << count) - 1), given = 0;
    std::vector<u32> message(channels);
    choices.for_each_channel(how, channels, count, [&](u32 channel, u32 messages) {
      if (!(messages & waiting)) return;
      message[channel] = lowest_bit(messages & waiting);
      waiting &= ~(1u << message[channel]);
      given |= 1u << channel;
    });
    Assigned assigned;
    assign(how, assigned, count, [&](u32 m) { return options[m]; }, mask);
    ASSERT_EQ(given, assigned.channels);
    for (u32 set = given; set; set &= set - 1) ASSERT_EQ(message[lowest_bit(set)], assigned.message[lowest_bit(set)]);
  }
}

TEST(AdaptiveChoose, AssignsAsForSingleRouters) {
  std::mt19937 random(1);
  for (u32 trial = 0; trial < 5000; ++trial) {
    check_choices<1>(random);
    check_choices<2>(random);
  }
}

TEST(AdaptiveChoose, KeysAreInTheOrderOfPreference) {
  std::mt19937 random(1);
  u32 compared = 0;
  for (u32 trial = 0; trial < 20000; ++trial) {
    Packet packet[2]{};
    u32 options[2];
    for (u32 i = 0; i < 2; ++i) {  // draws that often make all but one of the compared parts equal
      packet[i].message_class = static_cast<u8>(random() % 4);
      if (random() % 2) packet[i].message_class = 1;
      packet[i].injected = random() % 2 ? 1999999998 + random() % 2 : random() % 3;
      packet[i].src = random() % 2 ? kKeySources - 1 - random() % 2 : random() % 2;
      options[i] = random() % 2 ? 0xFFFF : random() & 0xFFFF;
    }
    if (packet[0].src == packet[1].src && packet[0].injected == packet[1].injected)
      continue;  // excluded: a terminal creates one message a cycle
    ++compared;
    ASSERT_EQ(key_of(packet[0], options[0]) < key_of(packet[1], options[1]),
              preferred(packet[0], options[0], packet[1], options[1]));
  }
  EXPECT_GT(compared, 10000u);
}

}  // namespace
}  // namespace flitlab::adaptive_batch_test
