/// Words and clocks of a message that is alone in the network, derived by hand from METRO, 5.1, Figure 3; timing.txt
/// has the clocks of Table 4.
#include <gtest/gtest.h>

#include "kernels/routers/metro/totals.hpp"
#include "tests/support/metro/metro.hpp"

namespace flitlab::metro_timing_test {
namespace {

using metro::Kind;
using metro::kind_of;
using namespace testing;

char letter(metro::Word word) { return ".ditDsbB"[static_cast<u32>(kind_of(word))]; }

RawConfig figure3() { return Settings("topology.radix=[4,4,4] topology.dilation=[2,2,1]"); }

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

/// Requests and replies. A reply returns over the reversed connection: acknowledgment, pause, reply, DROP.
TEST(MetroTiming, OfAReplyOverTheReversedConnection) {
  RawConfig c = figure3();
  set(c,
      "traffic.mode=request_reply traffic.load=0.02 traffic.reply_flits=[[7,1.0]] traffic.reply_delay=5 "
      "traffic.pattern=uniform traffic.packet_flits=[[20,1.0]] router.kind=metro");
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
