/// Blue Gene/L links that corrupt packets: hand-derived retransmissions, and which errors each CRC detects. Without
/// errors the retransmission protocol changes nothing. BglConservation tests loss and duplication.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "host/routers/bgl/console.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/bgl/totals.hpp"
#include "tests/support/bgl/bgl.hpp"
#include "tests/support/bgl/random.hpp"

namespace flitlab::bgl_link_test {
namespace {

using bgl::Hit;
using namespace testing;

/// Cycles with the default delays: a hop takes 21, a packet of n chunks takes a link for 32 n + 14, and an
/// acknowledgment arrives 18 cycles after the tail of its packet.
constexpr u32 kTimeout = 1000, kHop = 21, kFull = 256, kLink = 270;
const RawConfig kProtocol = Settings("router.link_protocol=true router.retransmission_timeout=", kTimeout);

/// A full packet goes two hops, from node 0 to 2, and is corrupted on the first one. It leaves in cycle 3; the good
/// copy leaves 1 + 270 + timeout cycles later. By then the corrupted copy may have been forwarded.
TEST(BglLink, RetransmitsACorruptedPacket) {
  for (Hit how : {Hit::kHeader, Hit::kBody}) {
    BglTorus torus({8, 2}, {{0, 0, 2, 8}}, kProtocol);
    torus.run(10);
    hit(torus, 1, how);
    const u32 again = 3 + kLink + kTimeout;
    torus.run(again + 2 * kHop + kFull - 10);
    EXPECT_EQ(torus.delivered(0), kNone);
    torus.run(2);
    EXPECT_EQ(torus.delivered(0), again + 2 * kHop + kFull + 1);
    torus.run(50);
    Network& net = torus.net();
    EXPECT_EQ(net.total(bgl::Count::kPacketsHit), 1u);
    EXPECT_EQ(net.total(bgl::Count::kRepeated), 1u);
    EXPECT_EQ(net.total(bgl::Count::kNotValid), how == Hit::kBody ? 1u : 0u);
    EXPECT_EQ(net.total(bgl::Count::kOutOfSequence), 0u);
    const std::vector<BglGrant> way = torus.way(0);
    ASSERT_EQ(way.size(), how == Hit::kBody ? 3u : 2u);
    EXPECT_EQ(way.back().cycle, again + kHop);
    for (u32 node : {0u, 1u, 2u})
      for (u32 vc = 0; vc < 4; ++vc) EXPECT_EQ(torus.tokens(node, kPlusX, vc), 32u);
  }
}

/// Packets sent after a corrupted one are out of sequence, so the sender retransmits all of them in order. Other links
/// are unaffected.
TEST(BglLink, RetransmitsAllFollowingPackets) {
  BglTorus torus({8, 2}, {{0, 0, 1, 8}, {0, 0, 1, 4}, {0, 0, 1, 1}, {0, 0, 8, 8}}, kProtocol);
  torus.run(10);
  hit(torus, 1, Hit::kBody);
  torus.run(3000);
  const u32 again = 3 + kLink + kTimeout, to_software = kHop + 1;
  EXPECT_EQ(torus.delivered(0), again + to_software + kFull);
  EXPECT_EQ(torus.delivered(1), again + kLink + to_software + 128);
  EXPECT_EQ(torus.delivered(2), again + kLink + 142 + to_software + 32);
  EXPECT_EQ(torus.delivered(3), 3 + to_software + kFull);
  Network& net = torus.net();
  EXPECT_EQ(net.total(bgl::Count::kRepeated), 3u);
  EXPECT_EQ(net.total(bgl::Count::kOutOfSequence), 2u);
  EXPECT_EQ(net.total(bgl::Count::kNotValid), 0u);
}

/// If the acknowledgment of a packet is lost, the packet arrives twice; the receiver accepts it once and acknowledges
/// it again. The acknowledgment of a later packet covers the lost one as well.
TEST(BglLink, TakesARepeatedPacketOnce) {
  for (bool another : {false, true}) {
    std::vector<BglLine> lines{{0, 0, 1, 8}};
    if (another) lines.push_back({0, 0, 1, 8});
    BglTorus torus({8, 2}, lines, kProtocol);
    torus.run(3 + kHop + kFull + 1);  // the tail has arrived, the acknowledgment is under way
    lose_acknowledgment(torus, 0);
    torus.run(3000);
    Network& net = torus.net();
    EXPECT_EQ(net.total(bgl::Count::kRepeated), another ? 0u : 1u);
    EXPECT_EQ(net.total(bgl::Count::kOutOfSequence), another ? 0u : 1u);
    EXPECT_EQ(net.total(Total::kPacketsDelivered), lines.size());
    const auto senders = torus.field<bgl::LinkSender>(0, "link_sender");
    EXPECT_EQ(senders[0].oldest, senders[0].next);
    EXPECT_EQ(senders[0].kept, 0u);
  }
}

/// Rings at full load whose links corrupt a quarter of the packets: invalid copies never take the last bubble, the free
/// space that keeps the packets of a ring moving.
TEST(BglLink, CorruptedCopiesKeepTheBubble) {
  for (u32 seed = 1; seed <= 6; ++seed) {
    RawConfig config = Settings(
        "router.kind=bgl topology.shape=[8] router.link_protocol=true faults.error_rate=1e-3 router.escape_flits=16 "
        "routing.dynamic=0.0 traffic.load=1.0 traffic.pattern=tornado traffic.packet_flits=[[1,1.0],[8,4.0]] run.seed=",
        seed);
    Network net(experiment(config));
    for (u64 before = 0; net.engine->now() < 40000; before = net.total(Total::kPacketsDelivered)) {
      net.step(5000);
      check_conservation(*net.engine, *net.plan, 0);
      ASSERT_GT(net.total(Total::kPacketsDelivered), before) << net.plan->find_deadlock(net.engine->state(0));
    }
  }
}

/// With timeouts just longer than the time of an acknowledgment, packets are retransmitted while the receiver still
/// forwards their corrupted copies.
TEST(BglLink, TimesOutEarly) {
  for (u32 seed = 1; seed <= 40; ++seed) {
    Draw draw(seed);
    const bool charged = draw.coin();
    RawConfig config{{"router.kind", word("bgl")},
                     {"topology.shape", draw.one_of<IntList>({{4}, {2, 2}, {3, 2, 2}})},
                     {"router.link_protocol", true},
                     {"router.acks", word(charged ? "charged" : "packets")},
                     {"router.retransmission_timeout", integer((charged ? 310 : 566) + 40 * draw.below(6))},
                     {"router.retransmission_flits", draw.one_of<std::int64_t>({8, 20, 64})},
                     {"faults.error_rate", draw.one_of({3e-4, 1e-3, 3e-3})},
                     {"routing.dynamic", draw.one_of({0.0, 0.5, 1.0})},
                     {"reception.take_interval", draw.one_of<std::int64_t>({0, 300})},
                     {"traffic.mode", word("batch")},
                     {"traffic.batch_packets", integer(60)},
                     {"traffic.packet_flits", Lengths{{1, 1.0}, {8, 1.0}}},
                     {"run.seed", integer(seed)}};
    Network net(experiment(config));
    while (net.engine->now() < 400000 &&
           (!net.engine->now() || net.total(Total::kPacketsDelivered) < net.total(Total::kPacketsCreated))) {
      net.step(1000);
      ASSERT_NO_THROW(check_conservation(*net.engine, *net.plan, 0)) << testing::described(config);
    }
    EXPECT_EQ(net.total(Total::kPacketsDelivered), 60u * net.plan->topology().terminals) << testing::described(config);
  }
}

/// If no packet is corrupted and all copies find space, the network behaves exactly as without the protocol.
TEST(BglLink, ProtocolAloneChangesNothing) {
  for (u32 seed = 1; seed <= 12; ++seed) {
    RawConfig config = testing::random_bgl(seed);
    set(config, "traffic.load=", seed % 2 ? 0.2 : 0.02, " router.trailer_bytes=4 router.acks=charged");
    Network without(experiment(config), {"cpu", 1, true, 1});
    set(config, "router.link_protocol=true router.retransmission_flits=128");
    Network with(experiment(config), {"cpu", 1, true, 1});
    for (u32 cycle = 0; cycle < 1500; ++cycle) {
      without.step(1);
      with.step(1);
      const auto a = without.engine->take_events(0), b = with.engine->take_events(0);
      ASSERT_EQ(a.size(), b.size());
      for (u32 n = 0; n < a.size(); ++n)
        ASSERT_TRUE(std::equal(a[n].begin(), a[n].end(), b[n].begin(), b[n].end(),
                               [](const Event& x, const Event& y) { return std::memcmp(&x, &y, sizeof x) == 0; }))
            << "cycle " << cycle << ", item " << n << "\n"
            << testing::described(config);
    }
  }
}

Result run_with(const RawConfig& changes, u32 seed = 1) {
  RawConfig config = Settings(
      "router.kind=bgl topology.shape=[3,3,2] router.link_protocol=true traffic.mode=batch traffic.batch_packets=200 "
      "traffic.packet_flits=[[1,1.0],[8,1.0]] run.seed=",
      seed);
  for (const auto& [path, value] : changes) config[path] = value;
  return run_job({experiment(config)}, {"cpu", 1, false}, nullptr).front();
}

/// At an error rate per byte, the share of corrupted packets of n chunks is that of 32 n + 4 bytes.
TEST(BglLink, HitsAtTheGivenRate) {
  const double rate = 2e-4;
  const Result r = run_with(Settings("faults.error_rate=", rate, " traffic.packet_flits=8"));
  EXPECT_EQ(r.packets.delivered, 18 * 200u);
  // Hops of packets in sequence: hops without an error, hops of copies that were corrupted earlier, and the hops that
  // corrupted a packet.
  const double good = r.packets.delivered * r.hops_mean + r.model.at("packets_not_valid");
  const double hit = r.model.at("packets_hit"), expected = 1 - std::pow(1 - rate, 260);
  EXPECT_NEAR(hit / (good + hit), expected, 0.15 * expected);
  EXPECT_GE(r.model.at("packets_repeated"), hit);
}

/// Packet CRCs of 4 bits miss errors, which only the running CRCs of the links detect. With the default CRCs both
/// agree.
TEST(BglLink, RunningCrcsDetectMoreThanPacketCrcs) {
  const Result good = run_with(Settings("faults.error_rate=5e-4"));
  EXPECT_EQ(good.packets.delivered, 18 * 200u);
  EXPECT_GT(good.model.at("packets_hit"), 100);
  EXPECT_GT(good.model.at("packets_not_valid"), 0);
  EXPECT_GT(good.model.at("acknowledgments_lost"), 0);
  EXPECT_EQ(good.model.at("links_with_different_crcs"), 0);
  const Result bad = run_with(Settings("faults.error_rate=5e-4 faults.crc_bits=4"));
  EXPECT_EQ(bad.packets.delivered, 18 * 200u);
  EXPECT_GT(bad.model.at("links_with_different_crcs"), 0);
  EXPECT_LT(bad.model.at("links_with_different_crcs"), 18 * 6);
}

/// Checksums of injection FIFOs depend only on the data that are sent, not on errors of links. Other data give other
/// sums.
TEST(BglLink, ChecksumsDependOnSentDataOnly) {
  const auto sums = [](double rate, u32 seed) {
    RawConfig config =
        Settings("router.kind=bgl topology.shape=[3,2,2] router.link_protocol=true faults.error_rate=", rate,
                 " injection.fifos=1 traffic.mode=batch traffic.batch_packets=20 run.seed=", seed);
    Network net(experiment(config));
    net.step(60000);
    EXPECT_EQ(net.total(Total::kPacketsDelivered), 240u);
    std::vector<u64> all;
    for (u32 node = 0; node < 12; ++node)
      all.push_back(bgl_register(*net.engine, dynamic_cast<const BglPlan&>(*net.plan), node, "INJECTION_SUM 0"));
    return all;
  };
  const auto quiet = sums(0, 1), noisy = sums(1e-3, 1), other = sums(0, 2);
  EXPECT_EQ(quiet, noisy);
  for (u32 node = 0; node < 12; ++node) EXPECT_NE(quiet[node], other[node]);
}

/// When the network is idle, both ends of every link have the same running CRC. It is not zero, because every link was
/// used.
TEST(BglLink, RegistersShowTheRunningCrcs) {
  BglTorus torus({4, 1, 1}, {{0, 0, 1, 8}, {0, 1, 2, 3}}, kProtocol);
  torus.run(1000);
  Network& net = torus.net();
  const auto crc = [&](u32 node, const char* name) {
    return bgl_register(*net.engine, dynamic_cast<const BglPlan&>(*net.plan), node, name);
  };
  EXPECT_NE(crc(0, "SENT_CRC +x"), 0u);
  EXPECT_EQ(crc(0, "SENT_CRC +x"), crc(1, "RECEIVED_CRC -x"));
  EXPECT_NE(crc(1, "SENT_CRC +x"), crc(0, "SENT_CRC +x"));
  EXPECT_EQ(crc(2, "SENT_CRC +x"), 0u);
  EXPECT_EQ(bgl_registers(*net.engine, dynamic_cast<const BglPlan&>(*net.plan), 0).size(), 2 * 2 + 8u);
  EXPECT_THROW(crc(0, "SENT_CRC +y"), ConfigError);
}

/// CRC-32 of IEEE 802.3 over 32-bit words, with initial value 0 and without the final inversion: a single one bit gives
/// the polynomial itself.
TEST(BglLink, CrcIsTheStandardOne) {
  EXPECT_EQ(bgl::add_to_crc(0, 0x80000000u), 0xEDB88320u);
  // With all ones as initial value and the final inversion, the CRC of "1234" is 0x9BE3E0A3.
  EXPECT_EQ(~bgl::add_to_crc(0xFFFFFFFFu, 0x34333231u), 0x9BE3E0A3u);
}

/// The audit finds a sender that has dropped a copy and a receiver that has skipped a packet.
TEST(BglLink, AuditFindsDroppedPackets) {
  for (bool sender : {true, false}) {
    BglTorus torus({8, 2}, {{0, 0, 2, 8}}, kProtocol);
    torus.run(10);
    hit(torus, 1, Hit::kHeader);
    torus.run(100);
    if (sender)
      edit<bgl::LinkSender>(torus.net(), 0, "link_sender", [](auto& all, u32) { all[0].next = all[0].oldest; });
    else
      edit<bgl::LinkReceiver>(torus.net(), 0, "link_receiver", [](auto& all, u32 each) { ++all[each + 1].expected; });
    EXPECT_THROW(check_conservation(*torus.net().engine, *torus.net().plan, 0), RunError);
  }
}

}  // namespace
}  // namespace flitlab::bgl_link_test
