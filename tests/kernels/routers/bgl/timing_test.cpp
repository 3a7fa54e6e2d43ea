/// Hand-derived times of Blue Gene/L's torus: hops, tokens and buses. A packet of n chunks takes a link for 32 n + 14
/// cycles (paper, "Alltoall").
#include <gtest/gtest.h>

#include "kernels/routers/bgl/totals.hpp"
#include "tests/support/bgl/bgl.hpp"

namespace flitlab::bgl_timing_test {
namespace {

using testing::BglGrant;
using testing::BglLine;
using testing::BglTorus;
using testing::integer;
using testing::kMinusX;
using testing::kPlusX;
using testing::word;

/// A configuration in which every delay differs from its default: a hop takes 17 + 5 + 6 cycles, the FIFO of a virtual
/// channel adds 9, a packet takes a link for 32 n + 15, and a token message takes 17 + 11.
const RawConfig kOdd{{"topology.channel_delay", integer(17)},  {"router.pipeline_delay", integer(5)},
                     {"router.arbitration_delay", integer(6)}, {"router.fifo_delay", integer(9)},
                     {"router.trailer_bytes", integer(3)},     {"router.ack_bytes", integer(11)},
                     {"router.gap_bytes", integer(1)}};
constexpr u32 kArbitration = 6, kHop = 28, kFifo = 9, kOverhead = 15, kToken = 28;

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
                 odd({{"router.bypass", bypass}, {"routing.dynamic", dynamic}, {"router.escape", word(escape)}}));
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
    const Experiment e = testing::experiment(odd({{"router.kind", word("bgl")},
                                                  {"topology.shape", shape},
                                                  {"router.bypass", bypass},
                                                  {"traffic.self", false},
                                                  {"traffic.packet_flits", Lengths{{2, 1.0}, {7, 1.0}}}}));
    double hops = 0;
    for (u32 to = 1; to < 40; ++to) hops += distance(shape, 0, to) / 39.0;
    const auto plan = make_plan(e);
    std::map<std::string, double> derived;
    for (const auto& [name, value] : plan->derived()) derived[name] = value;
    EXPECT_NEAR(derived["zero_load_latency_cycles"], kArbitration + hops * (kHop + (bypass ? 0 : kFifo)) + 32 * 4.5 + 1,
                1e-9);
  }
}

/// The paper counts 44 arbiters: 38 of one kind, for the VCs, the bypass channels and the injection FIFOs, and one for
/// each of the 6 receivers.
TEST(BglTiming, CountsThePapersArbiters) {
  const auto plan =
      make_plan(testing::experiment({{"router.kind", word("bgl")}, {"topology.shape", IntList{8, 8, 8}}}));
  std::map<std::string, double> derived;
  for (const auto& [name, value] : plan->derived()) derived[name] = value;
  EXPECT_EQ(derived["head_arbiters"], 38);
  EXPECT_EQ(derived["head_arbiters"] + derived["receiver_arbiters"], 44);
  EXPECT_EQ(derived["sender_arbiters"], 6);
}

/// Two packets are sent one after the other, from one FIFO or from two. The second one leaves when the link has carried
/// the first.
TEST(BglTiming, APacketTakesALinkFor32NPlus14Cycles) {
  for (int fifos : {1, 6})
    for (u32 n = 1; n <= 8; ++n) {
      BglTorus torus({5}, {{0, 0, 1, n}, {1, 0, 1, 9 - n}, {300, 0, 1, 1}}, {{"injection.fifos", integer(fifos)}});
      torus.drain();
      EXPECT_EQ(torus.leaves(0, 0), 3u);
      EXPECT_EQ(torus.leaves(1, 0), 3u + 32 * n + 14);
      EXPECT_EQ(torus.leaves(2, 0), 3u + 32 * 9 + 28);
    }
  BglTorus full({5}, {{0, 0, 1, 8}, {1, 0, 1, 8}});
  full.drain();
  EXPECT_EQ(full.leaves(1, 0) - full.leaves(0, 0), 270u);
}

/// The 14 cycles beyond 32 n are trailer, acknowledgment and gap.
TEST(BglTiming, TheOverheadOfALinkIsThreeParts) {
  const struct {
    int trailer, ack, gap;
  } kParts[] = {{0, 0, 0}, {3, 0, 0}, {0, 11, 0}, {0, 0, 1}, {32, 32, 32}};
  for (const auto& [trailer, ack, gap] : kParts) {
    BglTorus torus({5}, {{0, 0, 1, 3}, {1, 0, 1, 3}},
                   {{"router.trailer_bytes", integer(trailer)},
                    {"router.ack_bytes", integer(ack)},
                    {"router.gap_bytes", integer(gap)}});
    torus.drain();
    EXPECT_EQ(torus.leaves(1, 0) - torus.leaves(0, 0), 96u + static_cast<u32>(trailer + ack + gap));
  }
}

/// If tokens have packets of their own, data packets do not carry them: a one-way stream takes 8 cycles less per
/// packet.
TEST(BglTiming, TokenPacketsOfTheirOwnCostTheOtherDirection) {
  for (u32 n = 1; n <= 8; ++n) {
    BglTorus torus({5}, {{0, 0, 1, n}, {1, 0, 1, 9 - n}}, {{"router.acks", word("packets")}});
    torus.drain();
    EXPECT_EQ(torus.leaves(1, 0), 3u + 32 * n + 6);
  }
}

/// A packet leaves node 0 in cycle 3, is passed to node 1's reception FIFO in cycle 24, and its tail arrives in 56. Its
/// token packet then takes the reverse link until cycle 64. A packet that requests the reverse link before cycle 56
/// goes first; one that requests it in 56 or later waits.
TEST(BglTiming, ATokenPacketTakesTheLinkBack) {
  for (bool bypass : {true, false})
    for (u32 requested = 10; requested < 70; ++requested) {
      BglTorus torus({5}, {{0, 0, 1, 1}, {requested - 3, 1, 0, 1}},
                     {{"router.acks", word("packets")}, {"router.bypass", bypass}});
      torus.drain();
      const u32 whole = bypass ? 56 : 60;  // cycle of the tail; a virtual channel's FIFO takes four cycles more
      EXPECT_EQ(torus.leaves(1, 1), requested < whole || requested > whole + 8 ? requested : whole + 8) << requested;
    }
}

/// A token packet waits for the link and then goes before all others. The packet of n chunks that leaves node 1 in
/// cycle 50 frees the link 32 n + 6 cycles later; the tokens are back 8 + 10 cycles after that. Two data packets that
/// wait for the link go after the token packet.
TEST(BglTiming, ATokenPacketWaitsAndGoesFirst) {
  for (u32 n = 1; n <= 8; ++n) {
    BglTorus torus({5}, {{0, 0, 1, 1}, {47, 1, 0, n}, {48, 1, 0, 1}, {48, 1, 0, 1}},
                   {{"router.acks", word("packets")}});
    const u32 bubble = torus.table().dynamic_vcs, goes = 50 + 32 * n + 6;
    const auto& plan = dynamic_cast<const BglPlan&>(*torus.net().plan);
    const auto credits = [&] {
      return plan.inspect_router(torus.net().engine->state(0), 0)[kPlusX].vcs[bubble].credits;
    };
    torus.run(goes + 18);
    EXPECT_EQ(credits(), 24u);
    torus.run(1);
    EXPECT_EQ(credits(), 32u);
    torus.drain();
    EXPECT_EQ(torus.leaves(1, 1), 50u);
    EXPECT_EQ(std::min(torus.leaves(2, 1), torus.leaves(3, 1)), goes + 8);
    torus.run(100);
    EXPECT_EQ(torus.net().total(bgl::Count::kTokenPackets), 4u);
  }
}

/// An injection FIFO forwards one packet at a time at the speed of a link. A second packet of the FIFO, for another
/// link, leaves as soon as the first one's tail has left. A packet in another FIFO leaves at once.
TEST(BglTiming, AFifoIsFreeWhenTheTailHasLeft) {
  for (int fifos : {1, 2})
    for (u32 n : {1u, 8u}) {
      BglTorus torus({5, 5}, {{0, 0, 1, n}, {0, 0, 5, 1}}, {{"injection.fifos", integer(fifos)}});
      torus.drain();
      EXPECT_EQ(torus.leaves(1, 0), 3u + (fifos == 1 ? 32 * n : 0));
    }
}

/// A stream of packets keeps its rate through a node: packets leave at the intervals at which they arrive.
TEST(BglTiming, AStreamThroughANodeIsNotSlowed) {
  for (bool bypass : {true, false})
    for (double dynamic : {0.0, 1.0})
      for (u32 n : {1u, 2u, 5u, 8u}) {
        const u32 packets = 20, hop = 28 + (bypass ? 0 : 9);
        const std::vector<BglLine> lines(packets, BglLine{0, 0, 2, n});
        BglTorus torus({5}, lines, odd({{"router.bypass", bypass}, {"routing.dynamic", dynamic}}));
        torus.drain();
        std::vector<u32> first, second;
        for (const BglGrant& g : torus.grants()) (g.node == 0 ? first : second).push_back(g.cycle);
        for (u32 i = 0; i < packets; ++i) {
          EXPECT_EQ(first[i], kArbitration + i * (32 * n + kOverhead));
          EXPECT_EQ(second[i], first[i] + hop) << "bypass " << bypass << ", " << n << " chunks, packet " << i;
        }
        EXPECT_EQ(torus.net().total(Total::kLastDelivery), second.back() + hop + 32 * n + 1);
      }
}

/// Tokens at the sender while a packet passes. The sender takes them when the packet leaves. They return a token
/// message after the packet has started on the bypass channel of the next node, or after its tail has left there. On
/// dynamic channels a packet takes as many tokens as it has chunks, on the bubble channel eight. Tokens that arrive
/// while their link is busy wait until it is free, unless `router.count_unblocking` is set.
TEST(BglTokens, ReturnWhenThePacketHasLeft) {
  u32 waited = 0, others = 0;
  for (bool counted : {true, false})
    for (bool bypass : {true, false})
      for (bool dynamic : {false, true})
        for (u32 to : {1u, 2u})
          for (u32 n : {1u, 2u, 6u, 8u}) {
            BglTorus torus({5}, {{0, 0, to, n}},
                           odd({{"router.bypass", bypass},
                                {"router.count_unblocking", counted},
                                {"router.dynamic_vcs", integer(1)},
                                {"routing.dynamic", dynamic ? 1.0 : 0.0}}));
            const u32 vc = dynamic ? 0 : 1, cost = dynamic ? n : 8;
            const u32 leaves = kArbitration, requested = leaves + kHop + (bypass ? 0 : kFifo);
            const u32 known = requested + (bypass ? 0 : 32 * n) + kToken, end = leaves + 32 * n + kOverhead;
            const u32 back = counted ? known : std::max(known, end);
            ++(back == known ? others : waited);
            for (u32 cycle = 0; cycle < back + 20; ++cycle) {
              torus.run(1);  // shows the state after `cycle`
              ASSERT_EQ(torus.tokens(0, kPlusX, vc), cycle < leaves || cycle >= back ? 32 : 32 - cost) << cycle;
              ASSERT_EQ(torus.tokens(0, kPlusX, 1 - vc), 32u);
            }
          }
  EXPECT_GT(waited, 8u);
  EXPECT_GT(others, 8u);
}

/// A packet that cannot take the bypass channel at once enters its virtual channel: it may request 9 cycles later, and
/// its tokens return after its tail has left. Node 1's own packet holds the link from 1 to 2 for 271 cycles. Packet 1
/// requests it in the last of these cycles, in the cycle before, or 8 to 10 cycles before.
TEST(BglTokens, ReturnLaterIfThePacketWaits) {
  for (u32 early : {0u, 1u, 8u, 9u, 10u}) {
    const u32 free = kArbitration + 256 + kOverhead, requested = free - early;
    BglTorus torus({5}, {{0, 1, 2, 8}, {requested - kHop - kArbitration, 0, 2, 4}},
                   odd({{"router.count_unblocking", true}}));
    const u32 leaves = early ? std::max(free, requested + kFifo) : free;
    const u32 back = leaves + (early ? 32 * 4 : 0) + kToken;
    torus.run(back);
    EXPECT_EQ(torus.leaves(1, 1), leaves) << early;
    EXPECT_EQ(torus.tokens(0, kPlusX, 2), 24u);
    torus.run(1);
    EXPECT_EQ(torus.tokens(0, kPlusX, 2), 32u);
  }
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
                   {{"router.paths", integer(paths)}, {"router.dynamic_vcs", integer(1)}});
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
      {{"router.dynamic_vcs", integer(1)},
       {"reception.fifo_flits", integer(8)},
       {"reception.take_interval", integer(500)}});
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
    RawConfig config{{"router.acks", word("auto")}};
    for (const auto& [path, value] : changes) config[path] = value;
    return bgl::PublishedTable::fits(BglTorus({8, 8, 8}, {}, config).table());
  };
  EXPECT_TRUE(fits({}));
  EXPECT_FALSE(fits({{"router.acks", word("charged")}}));
  EXPECT_FALSE(fits({{"router.paths", integer(3)}}));
  EXPECT_FALSE(fits({{"topology.channel_delay", integer(40)}}));
}

}  // namespace
}  // namespace flitlab::bgl_timing_test
