/// METRO in lane state (64 routers per lane block, kernels/routers/metro/lanes) against scalar state (one router at a
/// time): after every cycle both have the same state, bit by bit, and the same counts.
#include <gtest/gtest.h>

#include "kernels/routers/metro/checksum.hpp"
#include "kernels/routers/metro/lanes/inboxes.hpp"
#include "kernels/routers/metro/totals.hpp"
#include "tests/support/metro/random.hpp"
#include "tests/support/same.hpp"

namespace flitlab::metro_lanes_test {
namespace {

using namespace testing;

EngineChoice with(LaneUse lanes, u32 threads = 1) {
  EngineChoice choice{"cpu", threads, false, 1};
  choice.lanes = lanes;
  return choice;
}

void expect_same(const Network& a, const Network& b, const std::string& where) {
  SCOPED_TRACE(where);
  expect_the_same(*a.engine, *b.engine);
}

/// Counts of events in all compared networks; each event must occur.
struct EventCounts {
  u64 delivered = 0, blocked = 0, shut = 0, refused = 0, dropped = 0;

  void add(Network& net) {
    delivered += net.total(Total::kPacketsDelivered);
    for (u32 s = 0; s < 8; ++s) blocked += net.engine->counters(0).total[static_cast<u32>(metro::Count::kBlocked) + s];
    shut += net.total(metro::Count::kShut);
    refused += net.total(metro::Count::kRefused);
    dropped += net.total(Total::kPacketsDropped);
  }
};

/// Compares both forms after steps of one cycle, and later of several cycles. Sometimes the state is read and written
/// back.
void compare(const RawConfig& config, const std::string& where, EventCounts& event_counts) {
  const Experiment e = experiment(config);
  Network single(e, with(LaneUse::kNever)), lanes(e, with(LaneUse::kAlways));
  for (u32 part = 0; part < 300; ++part) {
    const u32 cycles = part < 240 ? 1 : 23;
    single.step(cycles);
    lanes.step(cycles);
    if (part % 64 == 9) lanes.engine->set_state(0, lanes.engine->state(0));
    expect_same(single, lanes, where);
    if (::testing::Test::HasFatalFailure()) return;
  }
  event_counts.add(lanes);
}

TEST(MetroLanes, EveryCycleIsTheSame) {
  EventCounts event_counts;
  for (u32 seed = 0; seed < trials(60); ++seed) {
    compare(random_metro(2000 + seed), "seed " + std::to_string(seed), event_counts);
    compare(random_straddling_metro(2000 + seed), "straddling, seed " + std::to_string(seed), event_counts);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(event_counts.delivered, 1000u);
  EXPECT_GT(event_counts.blocked, 1000u);
  EXPECT_GT(event_counts.shut, 0u);
}

TEST(MetroLanes, WithRandomFaults) {
  EventCounts event_counts;
  for (u32 seed = 0; seed < trials(60); ++seed) {
    RawConfig config = random_metro(3000 + seed);
    const TextFile file(allowed_faults(config, seed, 600).text);
    config["faults.file"] = file.path;
    compare(config, "seed " + std::to_string(seed), event_counts);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(event_counts.delivered, 1000u);
  EXPECT_GT(event_counts.refused, 0u);
  EXPECT_GT(event_counts.dropped, 0u);
  EXPECT_GT(event_counts.shut, 0u);
}

/// Configuration with 256 endpoints and 320 routers of two sizes: three lane blocks, so that threads share them.
RawConfig large(double load) {
  return Settings("router.kind=metro topology.radix=[4,4,4,4] topology.dilation=[2,2,2,1] traffic.load=", load,
                  " endpoint.checksum=crc16 traffic.packet_flits=[[7,1.0],[20,1.0]]");
}

TEST(MetroLanes, InManyBlocksOnTwoThreads) {
  for (u32 cascade : {1u, 3u}) {
    RawConfig config = large(0.3);
    config["router.cascade"] = integer(cascade);
    const Experiment e = experiment(config);
    Network single(e, with(LaneUse::kNever)), lanes(e, with(LaneUse::kAlways)), two(e, with(LaneUse::kAlways, 2));
    for (u32 part = 0; part < 60; ++part) {
      for (Network* net : {&single, &lanes, &two}) net->step(part < 40 ? 1 : 31);
      expect_same(single, lanes, "one thread, " + std::to_string(part));
      expect_same(single, two, "two threads, " + std::to_string(part));
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(lanes.total(Total::kPacketsDelivered), 100u);
  }
}

TEST(MetroLanes, AreTheDefault) {
  Network usual(experiment(large(0.2)), {"cpu", 1, false, 1}), single(experiment(large(0.2)), with(LaneUse::kNever));
  for (u32 part = 0; part < 12; ++part) {
    usual.step(50);
    single.step(50);
    expect_same(usual, single, "part " + std::to_string(part));
  }
}

TEST(MetroLanes, FindAllWords) {
  metro::Word words[48] = {};
  for (u32 n = 1; n <= 32; ++n)
    for (u32 at = 0; at < n + 8; ++at) {
      words[at] = 1u << at % 19;
      EXPECT_EQ(metro::lanes::words_present(words, n), at < n ? 1u << at : 0u) << n << " " << at;
      EXPECT_EQ(metro::lanes::any_present(words, n), at < n) << n << " " << at;
      words[at] = 0;
    }
}

/// Returns the checksum, computed bit by bit from its polynomial.
u32 crc_by_bits(const metro::Crc& crc, u32 state, u64 content, u32 bits) {
  for (u32 i = bits; i-- > 0;) {
    const bool out = (state >> (crc.bits - 1) & 1) != (content >> i & 1);
    state = static_cast<u32>((u64{state} << 1 & ((u64{1} << crc.bits) - 1)) ^ (out ? crc.polynomial : 0));
  }
  return state;
}

TEST(MetroChecks, TableAndBitwiseChecksAgree) {
  u64 random = 1;
  for (const metro::Crc& crc : metro::kCrcs)
    for (u32 bits = 0; bits <= 64; ++bits)
      for (u32 trial = 0; trial < 20; ++trial) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        const u32 state = crc.bits ? static_cast<u32>(random >> 7) >> (32 - crc.bits) : 0;
        const u64 content = random ^ random << 29;
        EXPECT_EQ(metro::add_to_crc(crc, state, content, bits), crc.bits ? crc_by_bits(crc, state, content, bits) : 0u)
            << crc.bits << " " << bits;
      }
}

}  // namespace
}  // namespace flitlab::metro_lanes_test
