/// Processors with a think time (endpoint.think_cycles), clock by clock.
#include <gtest/gtest.h>

#include "kernels/routers/metro/state.hpp"
#include "kernels/routers/metro/totals.hpp"
#include "tests/support/build.hpp"

namespace flitlab::metro_think_test {
namespace {

using namespace testing;

/// Configuration of one router between four endpoints, each of which sends 20 words to another endpoint. So no
/// connection is blocked.
RawConfig pairs(const char* mode, Value think) {
  RawConfig c = Settings{
      "router.kind=metro topology.radix=[4] topology.dilation=[1] topology.links=1 traffic.mode=", mode,
      " traffic.pattern=bit_complement traffic.packet_flits=[[20,1.0]] traffic.load=1.0 endpoint.think_cycles=",
      std::move(think)};
  if (c["traffic.mode"] == word("open")) c["endpoint.stalls"] = true;
  return c;
}

/// Returns the cycles in which endpoint 1's messages were created.
std::vector<u32> created(testing::Network& net, u32 cycles) {
  const FieldInfo& info = net.plan->layout().kinds[1].field("source");
  std::vector<metro::Source> sources(4);
  std::vector<u32> times;
  for (u32 k = 0; k < cycles; ++k) {
    net.step(1);
    net.engine->get_field(0, 1, info, sources.data());
    const metro::Source& s = sources[1];
    if (s.body && (times.empty() || times.back() != s.created)) times.push_back(s.created);
  }
  return times;
}

/// A message created in cycle 0 is on the wire from cycle 1 on. Header, 20 words, TURN through one router and the
/// acknowledgment back take 1 + 20 + 1 + 2 = 24 clocks. So the acknowledgment arrives in cycle 25, and its check of two
/// words is complete in cycle 27. The processor resumes in cycle 28, in which DROP arrives. A message created in that
/// cycle waits one cycle more before its first word; a later message does not.
TEST(MetroThink, TimeIsFromTheEndOfATransactionToTheNextMessage) {
  for (const auto& [think, period, latency] :
       {std::tuple{0, 29u, 25u}, std::tuple{1, 29u, 24u}, std::tuple{2, 30u, 24u}, std::tuple{50, 78u, 24u}}) {
    testing::Network net(testing::experiment(pairs("open", integer(think))));
    const std::vector<u32> times = created(net, 2000);
    ASSERT_GT(times.size(), 20u);
    EXPECT_EQ(times[1] - times[0], 28u + think);
    for (u32 n = 2; n < times.size(); ++n) ASSERT_EQ(times[n] - times[n - 1], period) << think;
    const u64 before = net.total(Total::kLatencySum), done = net.total(Total::kPacketsDelivered);
    net.step(1000);
    EXPECT_EQ(net.total(Total::kLatencySum) - before, latency * (net.total(Total::kPacketsDelivered) - done)) << think;
    EXPECT_EQ(net.total(metro::Count::kAttempts), net.total(Total::kPacketsInjected));
    check_conservation(*net.engine, *net.plan, 0);
  }
}

/// The processor creates the next request when the reply has arrived and its connection has closed.
TEST(MetroThink, AfterARoundTrip) {
  u32 alone = 0;
  for (u32 think : {0u, 7u}) {
    RawConfig c = pairs("request_reply", integer(static_cast<int>(think)));
    set(c, "traffic.reply_flits=[[5,1.0]] traffic.reply_delay=1");
    testing::Network net(testing::experiment(c));
    const std::vector<u32> times = created(net, 2000);
    ASSERT_GT(times.size(), 20u);
    const u32 period = times[2] - times[1];
    for (u32 n = 1; n < times.size(); ++n) ASSERT_EQ(times[n] - times[n - 1], period);
    if (think == 0) alone = period;
    EXPECT_EQ(period, alone + think);
    check_conservation(*net.engine, *net.plan, 0);
  }
  // The acknowledgment arrives in cycle 25 and its check in 26 and 27. DATA-IDLE for a reply delay of one cycle arrives
  // in 28, the reply's five words until 33, and DROP in 34.
  EXPECT_EQ(alone, 35u);
}

/// With think time `auto` the load determines when messages are created.
TEST(MetroThink, AutoIsByTheLoad) {
  testing::Network net(testing::experiment(pairs("open", word("auto"))));
  const std::vector<u32> times = created(net, 4000);
  u32 least = kNone, most = 0;
  for (u32 n = 1; n < times.size(); ++n) {
    least = std::min(least, times[n] - times[n - 1]);
    most = std::max(most, times[n] - times[n - 1]);
  }
  EXPECT_GE(least, 28u);
  EXPECT_GT(most, 40u);
}

}  // namespace
}  // namespace flitlab::metro_think_test
