/// Output selection of a packet at the head of a queue: which direction and virtual channel it requests, and when it
/// makes no request. Covers tokens, join the shortest queue (JSQ) and the bubble rule. Links are so slow in these tests
/// that the tokens return later than the link becomes free. A packet of n chunks that leaves in cycle t to a neighbour,
/// its destination, frees the link at t + 32 n + 38; its tokens are back at t + 79 + 32 n + 96. Between these times a
/// test sends the next packet.
#include <gtest/gtest.h>

#include "kernels/routers/bgl/totals.hpp"
#include "tests/support/bgl/bgl.hpp"
#include "tests/support/chance.hpp"

namespace flitlab::bgl_choice_test {
namespace {

using namespace testing;

constexpr u32 kToRequest = 3,
              kHop = 79;  // creation to first request; request to the next node's request, through its FIFO
constexpr u32 kLinkFree = 38, kTokensBack = kHop + 96;  // in addition to the 32 cycles of each chunk

RawConfig slow(RawConfig more) {
  more.merge(Settings("topology.channel_delay=64 router.ack_bytes=32 router.bypass=false"));
  return more;
}

/// Node 4 of a 3x7 torus is at (1,1). Packets leave it to the north: packets from the south go straight on, packets
/// from the west turn.
constexpr u32 kHere = 4, kSouth = 1, kWest = 3, kNorth = 7, kEast = 5, kNorthEast = 8, kFarSouth = 19;

/// Results of packets that leave this node while an earlier packet of 8 chunks holds tokens of a dynamic channel to the
/// east. `count[8 * direction + channel]`: number of packets that left by that channel. `same`: number of packets that
/// chose the earlier packet's channel.
struct Choices {
  std::map<u32, u32> count;
  u32 same = 0;
};

Choices choices(u32 to, RawConfig changes, u32 times = 100) {
  constexpr u32 period = 900, requested = 350;  // the earlier packet: link free at 3 + 294, tokens back at 3 + 431
  std::vector<BglLine> lines;
  for (u32 n = 0; n < times; ++n) {
    lines.push_back({n * period, kHere, kEast, 8, bgl::kDynamic});
    lines.push_back({n * period + requested - kToRequest, kHere, to, 8, bgl::kDynamic});
  }
  BglTorus torus({3, 7}, lines, slow(std::move(changes)));
  torus.run(period * times);
  Choices c;
  for (u32 n = 0; n < times; ++n) {
    const BglGrant before = torus.way(2 * n).front(), g = torus.way(2 * n + 1).front();
    EXPECT_EQ(g.cycle, n * period + requested);
    ++c.count[8 * g.out + g.out_vc];
    c.same += g.out == before.out && g.out_vc == before.out_vc;
  }
  return c;
}

/// One of two channels has 8 tokens fewer than the other. JSQ compares token counts by ranges, quarters of the buffer.
/// With buffers of 31 chunks the channel is in a lower range and is avoided; with 32 both counts are in the same range.
TEST(BglJsq, JoinsTheShortestQueueByTwoBits) {
  for (bool jsq : {true, false})
    for (int flits : {31, 32, 16}) {
      const Choices c = choices(kEast, Settings("router.jsq=", jsq, " router.dynamic_flits=", flits));
      expect_share(c.same, 100, jsq && flits != 32 ? 0 : 0.5, std::to_string(flits));
    }
}

/// Ties between channels, over all directions that the packet may take, are broken at random with equal probability.
TEST(BglJsq, BreaksTiesEvenly) {
  for (bool jsq : {true, false}) {
    const Choices c = choices(kNorthEast, Settings("router.jsq=", jsq, " router.dynamic_flits=16"), 200);
    expect_share(c.same, 200, jsq ? 0 : 0.25, "the channel that is in use");
    for (u32 vc : {0u, 1u}) {
      const double p = jsq ? 1 / 3.0 : 0.25;
      expect_share(c.count.at(8 * kPlusY + vc), 200, p, "to the north");
      expect_share(c.count.at(8 * kPlusX + vc), 200, jsq ? 1 / 6.0 : 0.25, "to the east");
    }
    EXPECT_EQ(c.count.size(), 4u);
  }
}

/// A channel with fewer than 8 tokens, a packet of full size, is closed even to a packet of one chunk.
TEST(BglTokens, EntryRequiresEight) {
  for (int flits : {15, 16}) {
    const Choices c = choices(kEast, Settings("router.jsq=false router.dynamic_flits=", flits));
    expect_share(c.same, 100, flits == 15 ? 0 : 0.5, std::to_string(flits));
  }
  for (int flits : {8, 9})
    for (u32 chunks : {1u, 2u}) {
      // A packet on the lower channel of a dateline pair. The higher channel is free, but this packet may not use it.
      BglTorus torus({3, 7}, {{0, kHere, kNorth, chunks}, {1, kHere, kNorth, 1}},
                     slow(Settings("router.escape=dateline router.escape_flits=", flits)));
      torus.run(1000);
      const bool open = static_cast<u32>(flits) - chunks >= 8;
      EXPECT_EQ(torus.leaves(1, kHere), 3 + 32 * chunks + (open ? kLinkFree : kTokensBack)) << flits << " " << chunks;
    }
}

/// The one dynamic channel to the east is closed until cycle 434. A dynamic packet that must go east takes the bubble
/// channel. If the packet may also go north, it goes north. If the link to the north is busy, it does not wait but
/// takes the bubble channel to the east. If the link to the east, first in order, is busy and the channel to the north
/// is closed, the packet waits.
TEST(BglBubble, IsUsedIfDynamicChannelsAreClosed) {
  const RawConfig config = slow(Settings("router.dynamic_vcs=1 router.dynamic_flits=15"));
  const u32 east = 8 * kPlusX, north = 8 * kPlusY, bubble = 1, dynamic = bgl::kDynamic;
  const auto last = [&](const std::vector<BglLine>& lines) {
    BglTorus torus({3, 7}, lines, config);
    torus.run(1500);
    const BglGrant g = torus.way(static_cast<u32>(lines.size()) - 1).front();
    return std::pair{g.cycle, 8 * g.out + g.out_vc};
  };
  const BglLine closes_east{0, kHere, kEast, 8, dynamic}, closes_north{0, kHere, kNorth, 8, dynamic};
  EXPECT_EQ(last({closes_east, {347, kHere, kEast, 3, dynamic}}), (std::pair{350u, east + bubble}));
  EXPECT_EQ(last({closes_east, {347, kHere, kNorthEast, 3, dynamic}}), (std::pair{350u, north}));
  // A packet of one chunk takes a link for 70 cycles.
  EXPECT_EQ(last({closes_east, {340, kHere, kNorth, 1}, {347, kHere, kNorthEast, 3, dynamic}}),
            (std::pair{350u, east + bubble}));
  EXPECT_EQ(last({closes_north, {340, kHere, kEast, 1}, {347, kHere, kNorthEast, 3, dynamic}}),
            (std::pair{343u + 70, east}));
}

/// Kinds of packets that request the bubble channel to the north in cycle 170. Before, one or two packets of one chunk
/// have taken tokens of that channel; or one has, and another one has taken tokens of the dynamic channel, which is
/// therefore closed.
enum class PacketCase { kInjected, kStraight, kTurning, kDynamicInjected, kDynamicStraight, kDynamicOnTheBubble };

struct Bubble {
  int tokens;  ///< total of the bubble channel
  u32 away;
  const char* rule;
  bool high;  ///< all packets have high priority and use its channel
};

/// Returns the cycle in which the packet of 8 chunks leaves this node.
u32 leaves_in(PacketCase packet_case, const Bubble& b) {
  constexpr u32 kRequest = 170, here = kRequest - kToRequest, there = kRequest - kHop - kToRequest;
  const u32 route = b.high ? bgl::kHighPriority : 0, dynamic = bgl::kDynamic;
  std::vector<BglLine> lines;
  lines.push_back({0, kHere, kNorth, 1, route});
  if (b.away == 2) lines.push_back({0, kSouth, kNorth, 1, route});  // reaches this node along the ring in cycle 82
  if (b.away == 1) lines.push_back({5, kHere, kNorth, 1, dynamic});
  u32 requested = kRequest;
  switch (packet_case) {
    case PacketCase::kInjected: lines.push_back({here, kHere, kNorth, 8, route}); break;
    case PacketCase::kStraight: lines.push_back({there - kHop, kFarSouth, kNorth, 8, route}); break;
    case PacketCase::kTurning: lines.push_back({there, kWest, kNorth, 8, route}); break;
    case PacketCase::kDynamicInjected: lines.push_back({here, kHere, kNorth, 8, dynamic}); break;
    case PacketCase::kDynamicStraight: lines.push_back({there, kSouth, kNorth, 8, dynamic}); break;
    case PacketCase::kDynamicOnTheBubble:  // because the dynamic channel from the south was closed, too
      lines.push_back({0, kSouth, kHere, 1, dynamic});
      lines.push_back({there + 5, kSouth, kNorth, 8, dynamic});
      requested += 5;
      break;
  }
  RawConfig config{{"router.dynamic_vcs", integer(1)},
                   {"router.dynamic_flits", integer(8)},
                   {"router.bubble_rule", word(b.rule)},
                   {b.high ? "router.priority_flits" : "router.escape_flits", integer(b.tokens)}};
  BglTorus torus({3, 7}, lines, slow(config));
  torus.run(1200);
  std::vector<BglGrant> way;
  for (u32 id = 0; id < lines.size(); ++id)
    if (torus.line(id).chunks == 8) way = torus.way(id);
  const BglGrant& last = way.back();
  EXPECT_EQ(last.node, kHere);
  EXPECT_EQ(last.in_vc, packet_case == PacketCase::kDynamicOnTheBubble ? 1u
                        : last.in == bgl::kReception                   ? last.in_vc
                                                                       : way.front().out_vc);
  EXPECT_EQ(last.out_vc, b.high ? 2u : 1u);
  return last.cycle - requested + kRequest;
}

constexpr PacketCase kEntering[] = {PacketCase::kInjected, PacketCase::kTurning, PacketCase::kDynamicInjected,
                                    PacketCase::kDynamicStraight};
constexpr PacketCase kAlong[] = {PacketCase::kStraight, PacketCase::kDynamicOnTheBubble};
constexpr u32 kNow = 170, kLater = 3 + 32 + kTokensBack;  // kLater: arrival of the first token message

/// A packet that enters the bubble channel (from an injection FIFO, after a turn, or from a dynamic channel) needs 16
/// tokens. Each packet whose tokens have not returned holds 8, whatever its length.
TEST(BglBubble, IsEnteredWithSixteenTokens) {
  for (PacketCase packet_case : kEntering) {
    EXPECT_EQ(leaves_in(packet_case, {24, 1, "full_size", false}), kNow);
    EXPECT_EQ(leaves_in(packet_case, {23, 1, "full_size", false}), kLater);
  }
}

/// A packet, dynamic or not, that already is on the ring's bubble channel needs 8 tokens to continue.
TEST(BglBubble, IsFollowedWithEight) {
  for (PacketCase packet_case : kAlong) {
    EXPECT_EQ(leaves_in(packet_case, {23, 1, "full_size", false}), kNow);
    EXPECT_EQ(leaves_in(packet_case, {16, 1, "full_size", false}), kNow);
  }
  EXPECT_EQ(leaves_in(PacketCase::kStraight, {24, 2, "full_size", false}), kNow);
  EXPECT_EQ(leaves_in(PacketCase::kStraight, {23, 2, "full_size", false}), kLater);
}

/// With the earlier rule a packet takes as many tokens as it has chunks.
TEST(BglBubble, EarlierRuleCountsChunks) {
  for (PacketCase packet_case : kEntering) {
    EXPECT_EQ(leaves_in(packet_case, {17, 1, "actual_size", false}), kNow);
    EXPECT_EQ(leaves_in(packet_case, {16, 1, "actual_size", false}), kLater);
  }
  for (PacketCase packet_case : kAlong) EXPECT_EQ(leaves_in(packet_case, {16, 1, "actual_size", false}), kNow);
  EXPECT_EQ(leaves_in(PacketCase::kStraight, {16, 2, "actual_size", false}), kNow);
}

/// The channel of high priority is a bubble channel that always follows the correct rule, whatever `router.bubble_rule`
/// is.
TEST(BglBubble, HighPriorityHasItsOwn) {
  for (const char* rule : {"full_size", "actual_size"}) {
    for (PacketCase packet_case : {PacketCase::kInjected, PacketCase::kTurning}) {
      EXPECT_EQ(leaves_in(packet_case, {24, 1, rule, true}), kNow);
      EXPECT_EQ(leaves_in(packet_case, {23, 1, rule, true}), kLater);
    }
    EXPECT_EQ(leaves_in(PacketCase::kStraight, {16, 1, rule, true}), kNow);
    EXPECT_EQ(leaves_in(PacketCase::kStraight, {24, 2, rule, true}), kNow);
    EXPECT_EQ(leaves_in(PacketCase::kStraight, {23, 2, rule, true}), kLater);
  }
}

/// Two counters: token messages that arrive while a packet in a receiver is blocked, and token messages that unblock
/// it. Packets in injection FIFOs do not count.
TEST(BglTokens, UnblockingMessagesAreCounted) {
  for (bool injected : {false, true})
    for (int flits : {23, 24}) {
      const BglLine waits{kNow - kToRequest - (injected ? 0 : kHop), injected ? kHere : kWest, kNorth, 8};
      BglTorus torus({3, 7}, {{0, kHere, kNorth, 1}, waits, {900, kSouth, kNorth, 2}},
                     slow(Settings("router.escape_flits=", flits, " router.count_unblocking=true")));
      torus.run(2000);
      EXPECT_EQ(torus.leaves(1, kHere), flits == 23 ? kLater : kNow);
      const u64 freed = flits == 23 && !injected;
      EXPECT_EQ(torus.net().total(bgl::Count::kUnblocking), freed);
      EXPECT_EQ(torus.net().total(bgl::Count::kTokenMessages), freed);
    }
}

/// A dynamic packet on the bubble channel returns to a dynamic channel if one is open.
TEST(BglBubble, IsLeftAgain) {
  BglTorus torus({3, 7}, {{0, kSouth, kHere, 1, bgl::kDynamic}, {73, kSouth, kNorth, 8, bgl::kDynamic}},
                 slow(Settings("router.dynamic_vcs=1 router.dynamic_flits=8")));
  torus.run(1200);
  const std::vector<BglGrant> way = torus.way(1);
  ASSERT_EQ(way.size(), 2u);
  EXPECT_EQ(way[0].out_vc, 1u);
  EXPECT_EQ(way[1].out_vc, 0u);
}

}  // namespace
}  // namespace flitlab::bgl_choice_test
