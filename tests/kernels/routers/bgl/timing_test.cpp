/// Times of Blue Gene/L's torus that timing.txt does not cover: latencies of all pairs, and packets on other channels.
#include <gtest/gtest.h>

#include "kernels/routers/bgl/totals.hpp"
#include "tests/support/bgl/bgl.hpp"

namespace flitlab::bgl_timing_test {
namespace {

using namespace testing;

/// A configuration in which every delay differs from its default: a hop takes 17 + 5 + 6 cycles, and the FIFO of a
/// virtual channel adds 9.
const RawConfig kOdd = Settings(
    "topology.channel_delay=17 router.pipeline_delay=5 router.arbitration_delay=6 router.fifo_delay=9 "
    "router.trailer_bytes=3 router.ack_bytes=11 router.gap_bytes=1");
constexpr u32 kArbitration = 6, kHop = 28, kFifo = 9;

RawConfig odd(RawConfig more) {
  more.insert(kOdd.begin(), kOdd.end());
  return more;
}

/// Returns the length of a shortest path in hops, found by counting steps.
u32 distance(const IntList& shape, u32 from, u32 to) {
  u32 hops = 0;
  for (const std::int64_t k : shape) {
    const u32 radix = static_cast<u32>(k), a = from % radix, b = to % radix;
    from /= radix;
    to /= radix;
    u32 plus = 0, minus = 0;
    for (u32 x = a; x != b; x = (x + 1) % radix) ++plus;
    for (u32 x = a; x != b; x = (x + radix - 1) % radix) ++minus;
    hops += std::min(plus, minus);
  }
  return hops;
}

class BglLatency : public ::testing::TestWithParam<std::tuple<bool, double, const char*>> {};

/// Latency is the sum of source software and arbitration phases, H hops, the chunks behind the head, and one cycle to
/// the software at the destination. Packets are sent so far apart that no two meet.
TEST_P(BglLatency, IsTheSumOfItsParts) {
  const auto [bypass, dynamic, escape] = GetParam();
  const IntList shape{5, 4, 2};
  const u32 nodes = 40, apart = 500;
  std::vector<BglLine> lines;
  for (u32 source : {0u, 27u})
    for (u32 to = 0, n = 1; to < nodes; ++to)
      if (to != source) lines.push_back({apart * static_cast<u32>(lines.size()), source, to, n}), n = n % 8 + 1;
  for (u32 n = 1; n <= 8; ++n)
    for (u32 to : {1u, 2u}) lines.push_back({apart * static_cast<u32>(lines.size()), 0, to, n});
  BglTorus torus(shape, lines,
                 odd(Settings("router.bypass=", bypass, " routing.dynamic=", dynamic, " router.escape=", escape)));
  torus.run(apart * static_cast<u32>(lines.size()));
  for (u32 id = 0; id < lines.size(); ++id) {
    const BglLine& l = lines[id];
    const u32 hops = distance(shape, l.src, l.dst);
    ASSERT_EQ(torus.way(id).size(), hops);
    ASSERT_EQ(torus.delivered(id) - l.cycle, kArbitration + hops * (kHop + (bypass ? 0 : kFifo)) + 32 * l.chunks + 1)
        << id;
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, BglLatency,
                         ::testing::Combine(::testing::Bool(), ::testing::Values(0.0, 1.0),
                                            ::testing::Values("bubble", "dateline")));

/// The zero-load latency that `inspect` prints is the mean over all pairs.
TEST(BglTiming, ZeroLoadLatencyIsDerived) {
  for (bool bypass : {true, false}) {
    const IntList shape{5, 4, 2};
    const Experiment e =
        testing::experiment(odd(Settings("router.kind=bgl topology.shape=", shape, " router.bypass=", bypass,
                                         " traffic.self=false traffic.packet_flits=[[2,1.0],[7,1.0]]")));
    double hops = 0;
    for (u32 to = 1; to < 40; ++to) hops += distance(shape, 0, to) / 39.0;
    EXPECT_NEAR(derived(e, "zero_load_latency_cycles"),
                kArbitration + hops * (kHop + (bypass ? 0 : kFifo)) + 32 * 4.5 + 1, 1e-9);
  }
}

/// The paper counts 44 arbiters: 38 of one kind, for the VCs, the bypass channels and the injection FIFOs, and one for
/// each of the 6 receivers.
TEST(BglTiming, CountsThePapersArbiters) {
  const Experiment e = experiment("router.kind=bgl topology.shape=[8,8,8]");
  EXPECT_EQ(derived(e, "head_arbiters"), 38);
  EXPECT_EQ(derived(e, "receiver_arbiters"), 6);
  EXPECT_EQ(derived(e, "sender_arbiters"), 6);
}

/// Node 6 sends a long packet to the right, one upwards and one straight ahead. Meanwhile three packets come from the
/// left on virtual channels of their own, and each waits for one of these links; all three links are free in cycle 273.
/// A receiver makes one request a cycle. When all its paths are in use, the next packet waits for a tail to leave.
TEST(BglBuses, AReceiverHasAsManyAsItHasPaths) {
  for (u32 paths : {1u, 2u, 3u}) {
    BglTorus torus({5, 5, 3},
                   {{0, 6, 7, 8},
                    {0, 6, 11, 8},
                    {0, 6, 31, 8},
                    {0, 5, 31, 2, bgl::kHighPriority},
                    {0, 5, 7, 3, bgl::kDynamic},
                    {0, 5, 11, 1}},
                   Settings("router.paths=", paths, " router.dynamic_vcs=1"));
    torus.drain();
    const u32 free = 3 + 270, left = free + 32 * 2;
    for (u32 id : {0u, 1u, 2u}) EXPECT_EQ(torus.leaves(id, 6), 3u);
    EXPECT_EQ(torus.leaves(3, 6), free);
    const u32 first = torus.leaves(4, 6) < torus.leaves(5, 6) ? 4 : 5, second = 9 - first;
    const u32 start = paths == 1 ? left : free + 1, end = start + 32 * torus.line(first).chunks;
    EXPECT_EQ(torus.leaves(first, 6), start) << paths;
    EXPECT_EQ(torus.leaves(second, 6), paths == 1 ? end : paths == 2 ? std::min(left, end) : free + 2) << paths;
  }
}

/// Returns the first cycle after which a packet on a virtual channel moves to a reception FIFO.
u32 arrives(BglTorus& torus, u32 node, u32 port, u32 vc, u32 most) {
  while (torus.vc(node, port, vc).stage != "arriving") {
    if (torus.now() > most) return kNone;
    torus.run(1);
  }
  return torus.now() - 1;
}

/// A receiver has one bus to the reception FIFO of its direction and one to the FIFO of high priority. Packet 0 arrives
/// in cycle 24, is complete in 280 and is taken by software in 281. So packet 1 is taken in 781 and fills the FIFO
/// until then. Packets 2 and 3 wait for space in it, which the node sees a cycle later; then one of them waits for the
/// other's tail. Packet 4, of high priority, does not wait and is taken first.
TEST(BglBuses, OneToEachReceptionFifo) {
  BglTorus torus(
      {5},
      {{0, 0, 1, 8}, {1, 0, 1, 8}, {400, 0, 1, 3, bgl::kDynamic}, {600, 0, 1, 2}, {752, 0, 1, 5, bgl::kHighPriority}},
      Settings("router.dynamic_vcs=1 reception.fifo_flits=8 reception.take_interval=500"));
  torus.run(750);
  EXPECT_EQ(torus.delivered(0), 281u);
  ASSERT_EQ(torus.leaves(2, 0), 3u + 2 * 270);
  ASSERT_EQ(torus.vc(1, kMinusX, 0).stage, "waiting");
  ASSERT_EQ(torus.vc(1, kMinusX, 1).stage, "waiting");
  EXPECT_EQ(arrives(torus, 1, kMinusX, 2, 1000), 755u + 21);
  torus.run(782 - torus.now());
  EXPECT_EQ(torus.delivered(1), 781u);
  EXPECT_EQ(torus.vc(1, kMinusX, 0).stage, "waiting");
  EXPECT_EQ(torus.vc(1, kMinusX, 1).stage, "waiting");
  torus.run(1);
  const bool three = torus.vc(1, kMinusX, 0).stage == "arriving";
  EXPECT_NE(three, torus.vc(1, kMinusX, 1).stage == "arriving");
  EXPECT_EQ(arrives(torus, 1, kMinusX, three ? 1 : 0, 1000), 782u + 32 * (three ? 3 : 2));
  torus.drain();
  EXPECT_EQ(torus.delivered(4), 1281u);
}

/// flitlab recognises the published parameters and runs them by code that is compiled for them. Other parameters run by
/// the general code.
TEST(BglPublished, IsRecognized) {
  const auto fits = [](const RawConfig& changes) {
    RawConfig config = Settings("router.acks=auto");
    for (const auto& [path, value] : changes) config[path] = value;
    return bgl::PublishedTable::fits(BglTorus({8, 8, 8}, {}, config).table());
  };
  EXPECT_TRUE(fits({}));
  EXPECT_FALSE(fits(Settings("router.acks=charged")));
  EXPECT_FALSE(fits(Settings("router.paths=3")));
  EXPECT_FALSE(fits(Settings("topology.channel_delay=40")));
}

}  // namespace
}  // namespace flitlab::bgl_timing_test
