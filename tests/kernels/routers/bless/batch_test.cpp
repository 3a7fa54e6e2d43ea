/// Compares the bulk phase, which processes many routers per call, with the phase for one router. Engines with the
/// memory layout of GPUs use neither bulk phases nor vectors, so both forms run in this test.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/routers/bless/quad.hpp"
#include "kernels/routers/bless/rank.hpp"
#include "kernels/routers/bless/totals.hpp"
#include "tests/support/bless/random.hpp"
#include "tests/support/fields.hpp"
#include "tests/support/same.hpp"

namespace flitlab::bless_batch_test {
namespace {

using namespace bless;
using namespace testing;

/// Returns the configuration of a two-dimensional network that fills less than one bulk call, or several.
RawConfig random_plane(u32 seed) {
  std::mt19937 random(seed);
  RawConfig c = testing::random_bless(random);
  const auto side = [&](u32 from, u32 to) { return integer(from + random() % (to + 1 - from)); };
  set(c, "topology.kind=", seed % 2 ? "torus" : "mesh",
      " topology.shape=", seed % 3 ? IntList{side(2, 6), side(2, 5)} : IntList{side(5, 12), side(7, 9)});
  if (c["traffic.pattern"] == word("tornado")) c["traffic.pattern"] = word("uniform");
  if (seed % 4 == 3) c["router.reassembly_packets"] = integer(1 + random() % 3);
  if (seed % 5 == 0) {
    c.erase("traffic.load");
    set(c, "traffic.mode=batch traffic.batch_packets=9");
  }
  return c;
}

TEST(BlessBatch, AgreesWithSingleRouters) {
  if (testing::kWide == 1) GTEST_SKIP() << "no engine for wide layouts in this build";
  u64 deflected = 0, refused = 0, blocked = 0, delivered = 0;
  for (u32 seed = 1; seed <= testing::trials(40); ++seed) {
    const Experiment e = experiment(random_plane(seed));
    Network many(e), one(e, {"cpu", 1, false, 1, testing::kWide}), two(e, {"cpu", 2, false, 8});
    for (u32 cycle = 0; cycle < 300; ++cycle) {
      many.step(1);
      one.step(1);
      if (cycle % 16 == 0) two.step(16);
      ASSERT_EQ(many.engine->state_hash(0), one.engine->state_hash(0)) << "seed " << seed << ", cycle " << cycle;
      if (cycle % 16 == 15) {
        ASSERT_EQ(many.engine->state_hash(0), two.engine->state_hash(0)) << "seed " << seed << ", cycle " << cycle;
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_the_same(*many.engine, *one.engine)) << "seed " << seed;
    ASSERT_EQ(many.engine->audit(0).bits, 0u) << "seed " << seed;
    deflected += many.total(Count::kDeflections);
    refused += many.total(Count::kRefused);
    blocked += many.total(Count::kBlocked);
    delivered += many.total(Total::kPacketsDelivered);
  }
  EXPECT_GT(deflected, 1000u);
  EXPECT_GT(refused, 100u);
  EXPECT_GT(blocked, 100u);
  EXPECT_GT(delivered, 1000u);
}

/// A router never has more flits than channels. If the test makes such a state, both forms report a fault and send the
/// oldest flits.
TEST(BlessBatch, ReportsTooManyFlitsAsSingleRoutersDo) {
  if (testing::kWide == 1) GTEST_SKIP() << "no engine for wide layouts in this build";
  const Experiment e = experiment("router.kind=bless topology.kind=mesh topology.shape=[6,6] traffic.load=0.2");
  Network many(e), one(e, {"cpu", 1, false, 1, testing::kWide});
  for (Network* net : {&many, &one}) {
    net->step(50);
    // Flits arrive at all four inputs of router 0, which is in a corner and has only two channels.
    edit<u8>(*net, 0, "came", [](auto& all, u32 each) { std::fill_n(all.begin(), each, u8{1}); });
    net->step(1);
  }
  EXPECT_EQ(many.engine->state_hash(0), one.engine->state_hash(0));
  EXPECT_EQ(many.total(Total::kFlitMoves), one.total(Total::kFlitMoves));
  EXPECT_EQ(many.engine->audit(0).bits, one.engine->audit(0).bits);
  EXPECT_TRUE(many.engine->audit(0).bits & kFaultBufferOverflow);
}

TEST(BlessQuad, ChoicesAgreeWithSingleFlits) {
  for (u32 cycle = 0; cycle < 4; ++cycle)
    for (u32 productive = 0; productive < 16; ++productive)
      for (u32 free = 1; free < 16; ++free)
        for (u32 id = 0; id < 40; ++id) {
          Flit flit{};
          flit.id = id;
          flit.src = 3 * id + 1;
          const u32 choice = kChoiceOf[cycle][productive | (preference(flit) & 3) << 4][free];
          ASSERT_EQ(choice & kChannel, choose_channel(productive, free, 4, cycle, [&] { return preference(flit); }));
          ASSERT_EQ(choice >= kDeflected, !(productive & free));
        }
}

TEST(BlessQuad, OrdersFlitsByAge) {
  std::mt19937 random(1);
  for (u32 trial = 0; trial < 20000; ++trial) {
    Flit flits[4]{};
    u32 there = 1 + random() % 15;
    for (Flit& flit : flits) {  // draws that often make all but one of the compared parts equal
      flit.injected = 1999999990 + random() % 2;
      flit.src = random() % 2;
      flit.id = random() % 2;
      flit.via = random() % 3;
    }
    for (u32 a = 0; a < 4; ++a)
      for (u32 b = 0; b < a; ++b)
        if (!older(flits[a], flits[b]) && !older(flits[b], flits[a])) there &= ~(1u << a);
    std::vector<u32> sorted;
    Quad lanes{};
    for (u32 seat = 0; seat < 4; ++seat) {
      lanes[seat] = there >> seat & 1 ? -1 : 0;
      if (there >> seat & 1) sorted.push_back(seat);
    }
    std::sort(sorted.begin(), sorted.end(), [&](u32 a, u32 b) { return older(flits[a], flits[b]); });
    const u32 order = order_of(FourFlits(flits), lanes);
    for (u32 i = 0; i < sorted.size(); ++i) ASSERT_EQ(order >> 8 * i & 0xFF, sorted[i]) << trial;
  }
}

}  // namespace
}  // namespace flitlab::bless_batch_test
