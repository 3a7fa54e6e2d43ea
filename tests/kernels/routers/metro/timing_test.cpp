/// Clocks of a message that is alone in the network, derived by hand from METRO, 5.1, Table 4 and Figure 3.
#include <gtest/gtest.h>

#include "kernels/routers/metro/totals.hpp"
#include "tests/support/metro/metro.hpp"

namespace flitlab::metro_timing_test {
namespace {

using metro::Kind;
using metro::kind_of;
using testing::integer;
using testing::MetroNet;
using testing::word;

char letter(metro::Word word) { return ".ditDsbB"[static_cast<u32>(kind_of(word))]; }

RawConfig figure3() { return {{"topology.radix", IntList{4, 4, 4}}, {"topology.dilation", IntList{2, 2, 1}}}; }

/// The source sends the header in clock 1, the body in 2 to 21 and TURN in 22. From clock 23 on its wire brings STATUS
/// and checksum of three routers. The acknowledgment arrives in clock 29, 28 clocks after the header, and its check
/// follows in two words.
TEST(MetroTiming, OfTheWordsOnTheSourcesWire) {
  MetroNet net(figure3());
  net.step(net.start() + 1);
  const u32 router_link = net.source().link;
  const metro::Wire wire = net.network().leaving(0, router_link);
  std::string there, back;
  for (u32 clock = 1; clock <= 34; ++clock) {
    there += letter(net.at_router(wire.item, wire.port));
    back += letter(net.at_endpoint(0, router_link));
    net.step();
  }
  EXPECT_EQ(there, std::string(21, 'd') + "t............");
  EXPECT_EQ(back, "......................ssssssdddD..");
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 1u);
  EXPECT_EQ(net.total(Total::kLatencySum), 28u);
  net.check();
}

/// Each register of a wire adds two clocks per stage, one in each direction. In these clocks routers send DATA-IDLE.
TEST(MetroTiming, DataIdleFillsTheTurn) {
  RawConfig c = figure3();
  c["topology.wire_delay"] = integer(1);
  MetroNet net(c);
  net.step(net.start() + 1);
  const u32 link = net.source().link;
  std::string back;
  for (u32 clock = 1; clock <= 40; ++clock) {
    back += letter(net.at_endpoint(0, link));
    net.step();
  }
  EXPECT_EQ(back.substr(22), "ssiissiissiidddD..");
  EXPECT_EQ(net.total(Total::kLatencySum), 22u + 2 * 3 * 2);
}

struct Instance {
  IntList radix, dilation;
  int width, cascade, header_words, stages, wire;
};

class MetroTable4 : public ::testing::TestWithParam<Instance> {};

/// The time until the destination's last word is stages * (dp + vtd) + words. The destination decides when TURN
/// arrives, a clock later.
TEST_P(MetroTable4, MessagesTakeTheEquationsTime) {
  const Instance& i = GetParam();
  const u32 bits = static_cast<u32>(i.width * i.cascade), body = 160 / bits;
  MetroNet net({{"topology.radix", i.radix},
                {"topology.dilation", i.dilation},
                {"router.width", integer(i.width)},
                {"router.cascade", integer(i.cascade)},
                {"router.header_words", integer(i.header_words)},
                {"router.pipeline_stages", integer(i.stages)},
                {"topology.wire_delay", integer(i.wire)},
                {"endpoint.checksum", word("crc32")}},
               3, 17, 10, body);
  u32 sum = 0;
  for (std::int64_t r : i.radix) sum += static_cast<u32>(std::bit_width(static_cast<u64>(r)) - 1);
  const u32 stages = static_cast<u32>(i.radix.size()), w = static_cast<u32>(i.width);
  const u32 header = i.header_words ? i.header_words * stages : (sum + w - 1) / w;
  const u32 clocks = stages * (i.stages + i.wire) + header + body;
  net.step(net.start() + 1 + clocks);
  EXPECT_EQ(net.total(metro::Count::kAccepted), 0u);
  net.step();
  EXPECT_EQ(net.total(metro::Count::kAccepted), 1u);
  EXPECT_EQ(net.total(metro::Count::kAcceptedWrong), 0u);
  net.step(clocks + 20);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 1u);
  EXPECT_EQ(net.total(Total::kLatencySum), header + body + i.stages + 2 * stages * (i.stages + i.wire));
  for (u32 s = 0; s < 8; ++s) EXPECT_EQ(net.total(metro::Count::kDamaged, s), 0u) << s;
  net.check();
}

const IntList kJrRadix{2, 2, 2, 4}, kJrDilation{2, 2, 2, 1}, kRadix8{4, 8}, kDilation8{2, 1};
INSTANTIATE_TEST_SUITE_P(
    Rows, MetroTable4,
    ::testing::Values(Instance{kJrRadix, kJrDilation, 4, 1, 0, 1, 1}, Instance{kJrRadix, kJrDilation, 4, 2, 0, 1, 1},
                      Instance{kJrRadix, kJrDilation, 4, 4, 0, 1, 1}, Instance{kJrRadix, kJrDilation, 8, 1, 0, 1, 1},
                      Instance{kRadix8, kDilation8, 4, 1, 0, 1, 1}, Instance{kJrRadix, kJrDilation, 4, 1, 0, 1, 2},
                      Instance{kRadix8, kDilation8, 4, 1, 0, 1, 2}, Instance{kJrRadix, kJrDilation, 4, 1, 0, 2, 3},
                      Instance{kJrRadix, kJrDilation, 4, 1, 1, 1, 3}, Instance{kJrRadix, kJrDilation, 4, 2, 1, 1, 3},
                      Instance{kJrRadix, kJrDilation, 8, 1, 1, 1, 3}, Instance{kRadix8, kDilation8, 4, 1, 2, 1, 3},
                      Instance{kRadix8, kDilation8, 4, 4, 2, 1, 3},
                      // Direction bits that straddle two words; in the second instance the bits of the last stage do.
                      Instance{{4, 8, 8}, {2, 2, 1}, 4, 1, 0, 1, 1}, Instance{{4, 8, 8}, {2, 2, 1}, 4, 2, 0, 2, 3},
                      Instance{{4, 4, 4, 4, 4}, {2, 2, 2, 2, 1}, 3, 1, 0, 1, 2}));

/// Requests and replies. A reply returns over the reversed connection: acknowledgment, pause, reply, DROP.
TEST(MetroTiming, OfAReplyOverTheReversedConnection) {
  RawConfig c = figure3();
  c["traffic.mode"] = word("request_reply");
  c["traffic.load"] = 0.02;
  c["traffic.reply_flits"] = Lengths{{7, 1.0}};
  c["traffic.reply_delay"] = integer(5);
  c["traffic.pattern"] = word("uniform");
  c["traffic.packet_flits"] = Lengths{{20, 1.0}};
  c["router.kind"] = word("metro");
  testing::Network net(testing::experiment(c));
  net.step(4000);
  const u64 done = net.total(Total::kTransactions);
  ASSERT_GT(done, 100u);
  EXPECT_EQ(net.total(metro::Count::kReplyWords), 7 * done);
  // The request has 20 words. The acknowledgment takes 28 clocks, its check 2; five DATA-IDLE, the reply and DROP
  // follow.
  EXPECT_GE(net.total(Total::kLatencySum), (28 + 2 + 5 + 7 + 1) * done);
  EXPECT_LT(net.total(Total::kLatencySum), (28 + 2 + 5 + 7 + 6) * done);
  check_conservation(*net.engine, *net.plan, 0);
}

/// The destination reverses the connection again and the source drops it, so there are two turns.
TEST(MetroTiming, TheSourceCanClose) {
  RawConfig c = figure3();
  c["endpoint.closed_by"] = word("source");
  MetroNet net(c);
  net.step(net.start() + 100);
  EXPECT_EQ(net.total(Total::kLatencySum), 28u);
  EXPECT_EQ(net.source().state, metro::SourceState::kIdle);
  for (const metro::RouterControl& r : net.field<metro::RouterControl>(0, "control")) EXPECT_EQ(r.active | r.used, 0u);
  net.check();
}

}  // namespace
}  // namespace flitlab::metro_timing_test
