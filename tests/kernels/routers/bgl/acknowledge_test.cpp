/// Acknowledgments as separate packets, on links with the retransmission protocol: when they are sent, how long they
/// take the reverse link, and how the loss of one is repaired. All cycles are derived by hand.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "kernels/common/error.hpp"
#include "kernels/routers/bgl/link.hpp"
#include "kernels/routers/bgl/totals.hpp"
#include "tests/support/bgl/bgl.hpp"

namespace flitlab::bgl_acknowledge_test {
namespace {

using bgl::Count;
using namespace testing;

/// A packet of one chunk that is created in cycle 0 leaves node 0 in cycle 3. Its head reaches node 1 in cycle 24, and
/// its tail is in the reception FIFO in cycle 56. The packet takes a link for 38 cycles, an acknowledgment for 8. The
/// acknowledgment takes effect 18 cycles after it starts.
constexpr u32 kTimeout = 1000, kWhole = 56, kKnown = 18;

RawConfig packets(const RawConfig& changes = {}) {
  RawConfig config = Settings("router.acks=packets router.link_protocol=true router.retransmission_timeout=", kTimeout);
  for (const auto& [path, value] : changes) config[path] = value;
  return config;
}

u32 kept(const BglTorus& torus, u32 node, u32 direction) {
  return torus.field<bgl::LinkSender>(0, "link_sender")[6 * node + direction].kept;
}
u32 bubble_tokens(const BglTorus& torus, u32 node, u32 direction) {
  return torus.tokens(node, direction, torus.table().dynamic_vcs);
}

/// If an acknowledgment is lost, the next one of the same VC repairs the loss, tokens included.
TEST(BglAcknowledge, TheNextOneRepairsALoss) {
  BglTorus torus({5}, {{0, 0, 1, 1}, {200, 0, 1, 1}}, packets());
  torus.run(kWhole + 1);
  lose_acknowledgment(torus, 0);
  torus.run(200 + kKnown - 1);
  EXPECT_EQ(kept(torus, 0, kPlusX), 2u);
  EXPECT_EQ(bubble_tokens(torus, 0, kPlusX), 16u);
  torus.run(1);
  EXPECT_EQ(kept(torus, 0, kPlusX), 0u);
  EXPECT_EQ(bubble_tokens(torus, 0, kPlusX), 32u);
  EXPECT_EQ(torus.net().total(Count::kRepeated), 0u);
}

/// If no packet follows, the sender retransmits after the timeout. The copy arrives in cycle 3 + 38 + 1000 + 21 and is
/// acknowledged at once, without tokens. The node repeats a VC's token count in the second idle period in which that VC
/// sent none, and from then on in every second one.
TEST(BglAcknowledge, IsRepeatedIfNothingFollows) {
  const u32 idle = 2000, again = 3 + 38 + kTimeout + 21;
  BglTorus torus({5}, {{0, 0, 1, 1}}, packets(Settings("router.idle_acks=", idle)));
  torus.run(kWhole + 1);
  lose_acknowledgment(torus, 0);
  torus.run(again + kKnown - kWhole - 1);
  EXPECT_EQ(kept(torus, 0, kPlusX), 1u);
  torus.run(1);
  EXPECT_EQ(kept(torus, 0, kPlusX), 0u);
  EXPECT_EQ(torus.net().total(Count::kRepeated), 1u);
  EXPECT_EQ(torus.net().total(Count::kAckOnly), 1u);
  torus.run(2 * idle - again - 1);
  EXPECT_EQ(torus.net().total(Count::kIdleAcks), 1u);
  EXPECT_EQ(bubble_tokens(torus, 0, kPlusX), 24u);
  torus.run(1);
  EXPECT_EQ(bubble_tokens(torus, 0, kPlusX), 32u);
  torus.run(10 * idle);
  EXPECT_EQ(torus.net().total(Count::kIdleAcks), 6u);
  EXPECT_EQ(bubble_tokens(torus, 0, kPlusX), 32u);
  EXPECT_EQ(torus.delivered(0), kWhole + 1);
}

/// Three packets leave in cycles 3, 988 and 1026. The acknowledgment of the first is lost. So retransmission of all
/// packets that are not acknowledged is due at 3 + 38 + 1000, and it starts when the link is free, at 1026 + 38. The
/// acknowledgment of the second packet arrives in 985 + 56 + 18 and covers the first as well. So only the third packet
/// is retransmitted.
TEST(BglAcknowledge, ShortensARetransmission) {
  BglTorus torus({5}, {{0, 0, 1, 1}, {985, 0, 1, 1}, {1000, 0, 1, 1}}, packets());
  torus.run(kWhole + 1);
  lose_acknowledgment(torus, 0);
  torus.run(985 + kKnown - 1);
  EXPECT_EQ(kept(torus, 0, kPlusX), 3u);
  torus.run(1);
  EXPECT_EQ(kept(torus, 0, kPlusX), 1u);
  torus.run(1026 + 53 + 1 - 1060);
  lose_acknowledgment(torus, 0);  // loses the acknowledgment of the third packet, which is being retransmitted
  torus.run(200);
  EXPECT_EQ(kept(torus, 0, kPlusX), 0u);
  EXPECT_EQ(torus.net().total(Count::kRepeated), 1u);
  EXPECT_EQ(torus.net().total(Count::kOutOfSequence), 1u);
}

/// A retransmission waits for an acknowledgment as any packet does: for an acknowledgment of 8 cycles that starts in
/// the cycle in which the retransmission is due, or less than 8 cycles before.
TEST(BglAcknowledge, GoesBeforeRetransmissions) {
  const u32 again = 3 + 38 + kTimeout;
  for (u32 due = again - 12; due < again + 6; ++due) {
    // The second packet is complete in cycle `due`.
    BglTorus torus({5}, {{0, 0, 1, 1}, {due - 56, 1, 0, 1}}, packets());
    torus.run(10);
    hit(torus, 1, bgl::Hit::kHeader);
    torus.drain();
    const u32 leaves = due <= again && due + 8 > again ? due + 8 : again;
    EXPECT_EQ(torus.delivered(0), leaves + 54) << due;
  }
}

/// Two streams go in opposite directions. Each packet takes 32 n + 14 cycles, 8 of them for the acknowledgment, with
/// tokens, of a packet of the opposite stream.
TEST(BglAcknowledge, CostsEveryPacketOfTwoStreamsEightCycles) {
  for (u32 n : {1u, 8u}) {
    const u32 count = 40;
    std::vector<BglLine> lines;
    for (u32 i = 0; i < count; ++i)
      for (u32 node : {0u, 1u}) lines.push_back({i, node, 1 - node, n});
    BglTorus torus({5}, lines, packets());
    torus.drain();
    std::array<u32, 2> last{}, tenth{};
    for (u32 node : {0u, 1u}) {
      const std::vector<u32> order = torus.order(node, node ? kMinusX : kPlusX);
      ASSERT_EQ(order.size(), count);
      tenth[node] = torus.leaves(order[9], node);
      last[node] = torus.leaves(order[count - 1], node);
      EXPECT_EQ(last[node] - tenth[node], (count - 10) * (32 * n + 14)) << n;
    }
    EXPECT_EQ(torus.net().total(Count::kAckOnly), 0u);
  }
}

/// Acknowledgments of 8 bytes are corrupted at the given rate, and every token still returns.
TEST(BglAcknowledge, IsHitAtTheGivenRate) {
  const double rate = 2e-3;
  Network net(experiment(
      "router.kind=bgl topology.shape=[4,3] router.link_protocol=true router.idle_acks=1024 faults.error_rate=", rate,
      " traffic.mode=batch traffic.batch_packets=300 traffic.packet_flits=1"));
  while (net.engine->now() < 400000 &&
         (!net.engine->now() || net.total(Total::kPacketsDelivered) < net.total(Total::kPacketsCreated)))
    net.step(1000);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 12 * 300u);
  const double sent = static_cast<double>(net.total(Count::kTokenPackets) + net.total(Count::kAckOnly) +
                                          net.total(Count::kIdleAcks)),
               lost = static_cast<double>(net.total(Count::kAcknowledgmentsLost)), share = 1 - std::pow(1 - rate, 8);
  EXPECT_NEAR(lost / sent, share, 4 * std::sqrt(share / sent));
  net.step(20000);
  check_conservation(*net.engine, *net.plan, 0);
  for (u32 node = 0; node < 12; ++node)
    for (u32 d = 0; d < 4; ++d)
      for (u32 vc = 0; vc < 4; ++vc)
        EXPECT_EQ(net.plan->inspect_router(net.engine->state(0), node)[d].vcs[vc].credits, 32u);
}

/// The audit finds tokens that have disappeared.
TEST(BglAcknowledge, AuditFindsALostToken) {
  BglTorus torus({5}, {{0, 0, 1, 1}}, packets());
  torus.run(kWhole + 10);
  edit<u8>(torus.net(), 0, "given_back",
           [&](auto& all, u32 each) { --all[each + kMinusX * torus.table().vcs + torus.table().dynamic_vcs]; });
  EXPECT_THROW(check_conservation(*torus.net().engine, *torus.net().plan, 0), RunError);
}

}  // namespace
}  // namespace flitlab::bgl_acknowledge_test
