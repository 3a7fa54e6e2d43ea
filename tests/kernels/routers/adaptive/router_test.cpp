/// Hand-derived behaviour of the adaptive router: times, order of messages and misrouting. Also tests that flitlab
/// rejects wrong parameters.
#include <gtest/gtest.h>

#include <cmath>

#include "host/routers/adaptive/plan.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/adaptive/pool.hpp"
#include "kernels/routers/adaptive/totals.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::adaptive_router_test {
namespace {

using testing::experiment;
using testing::integer;
using testing::Network;
using testing::TextFile;
using testing::word;

/// Configuration of a line of five routers that sends the messages of a trace.
RawConfig line(const TextFile& trace, RawConfig changes = {}) {
  changes.insert({{"router.kind", word("adaptive")},
                  {"topology.kind", word("mesh")},
                  {"topology.shape", IntList{5}},
                  {"traffic.mode", word("trace")},
                  {"traffic.trace_file", trace.path}});
  return changes;
}

/// Times of a message that is alone in the network. It is created in cycle c, in which it enters a buffer. It is sent
/// on the first channel in cycle c + 1 and on the last of H channels in c + 1 + (H - 1) delay. It reaches the last
/// router `delay` cycles later, and the terminal at the end of that cycle.
TEST(AdaptiveTiming, OfAMessageAlone) {
  for (u32 hops = 0; hops < 5; ++hops)
    for (u32 delay : {1u, 2u, 5u}) {
      const TextFile trace("7,0," + std::to_string(hops) + ",1\n");
      Network net(experiment(line(trace, {{"topology.channel_delay", integer(delay)}})));
      net.step(7 + 1 + hops * delay);
      EXPECT_EQ(net.total(Total::kPacketsDelivered), 0u);
      net.step(1);
      EXPECT_EQ(net.total(Total::kPacketsDelivered), 1u);
      EXPECT_EQ(net.total(Total::kLatencySum), 2 + hops * delay);
      EXPECT_EQ(net.total(adaptive::Count::kSent), hops);
    }
}

/// Two terminals of a router send to the same neighbour at once over its one channel.
TEST(AdaptiveTiming, OfTwoRequestsForAChannel) {
  const TextFile trace("7,0,2,1\n7,1,2,1\n");
  Network net(experiment(line(trace, {{"topology.concentration", integer(2)}})));
  net.step(40);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 2u);
  EXPECT_EQ(net.total(Total::kLatencySum), 3u + 4u);
}

/// Both neighbours of a router send a message to it at once. Its terminal accepts a limited number of messages per
/// cycle.
TEST(AdaptiveTiming, OfTwoThatArriveTogether) {
  const TextFile trace("7,0,2,1\n7,4,2,1\n");
  Network one(experiment(line(trace)));
  one.step(40);
  EXPECT_EQ(one.total(Total::kLatencySum), 4u + 5u);
  for (u32 ejection : {0u, 1u, 2u}) {
    Network batch(experiment({{"router.kind", word("adaptive")},
                              {"topology.kind", word("mesh")},
                              {"topology.shape", IntList{3}},
                              {"router.ejection", integer(ejection)},
                              {"traffic.mode", word("batch")},
                              {"traffic.batch_packets", integer(1)},
                              {"traffic.pattern", word("hot_spot")},
                              {"traffic.hot_terminals", IntList{1}},
                              {"traffic.hot_fraction", 1.0}}));
    batch.step(40);
    // The message from terminal 1 itself arrives in cycle 1, the messages of its neighbours in cycle 2.
    EXPECT_EQ(batch.total(Total::kLatencySum), 2u + 3u + (ejection == 1 ? 4u : 3u)) << ejection;
  }
}

Packet packet(u32 priority, Cycle injected, u32 src, u32 id) {
  Packet p{};
  p.message_class = static_cast<u8>(priority);
  p.injected = injected;
  p.src = src;
  p.id = id;
  return p;
}

/// Figure 4, step 2.1: each rule decides only between messages that all earlier rules rank equally.
TEST(AdaptiveOrder, GoesByPriorityThenAgeThenOptionsThenSource) {
  using adaptive::preferred;
  EXPECT_TRUE(preferred(packet(1, 90, 9, 9), 0b111, packet(0, 10, 1, 1), 0b001));
  EXPECT_TRUE(preferred(packet(1, 10, 9, 9), 0b111, packet(1, 11, 1, 1), 0b001));
  EXPECT_TRUE(preferred(packet(1, 10, 9, 9), 0b001, packet(1, 10, 1, 1), 0b011));
  EXPECT_TRUE(preferred(packet(1, 10, 1, 9), 0b100, packet(1, 10, 2, 1), 0b001));
  EXPECT_TRUE(preferred(packet(1, 10, 1, 1), 0b100, packet(1, 10, 1, 2), 0b001));
  EXPECT_TRUE(preferred(packet(0, 0xFFFFFFF0u, 9, 9), 0b111, packet(0, 5, 1, 1), 0b001)) << "after wrap-around";
  EXPECT_FALSE(preferred(packet(1, 10, 1, 1), 1, packet(1, 10, 1, 1), 1));
}

/// Rule b in a network: of two messages that wait for a channel, the one that was injected first is sent first,
/// although the other one has the lower source number. Terminals 6 and 7 are at router 3, terminals 8 and 9 at router
/// 4.
TEST(AdaptiveOrder, OfAgeDecidesWhichMessageGoesFirst) {
  // The message of terminal 8 is injected in cycle 5 and reaches router 3 in cycle 7. The message of terminal 6 is
  // injected at router 3 in cycle 6. In cycle 7 both request router 2; the older one is sent first and arrives a cycle
  // earlier.
  const TextFile trace("5,8,4,1\n6,6,4,1\n");
  Network net(experiment(line(trace, {{"topology.concentration", integer(2)}})));
  net.step(8);  // cycle 7 is over
  const std::vector<PortSnapshot> ports = net.plan->inspect_router(net.engine->state(0), 3);
  ASSERT_EQ(ports.back().name, "buffers");
  EXPECT_EQ(ports.back().vcs[0].stage, "stored");
  EXPECT_EQ(ports.back().vcs[0].src, 6u) << "the younger message still waits";
  EXPECT_EQ(ports.back().vcs[1].stage, "idle");
  net.step(10);
  EXPECT_EQ(net.total(Total::kLatencySum), (2 + 2) + (2 + 1 + 1));
}

/// Rule a in a network: all channels are full, yet messages of the highest priority are not delayed.
TEST(AdaptiveOrder, OfPriorityDecidesBelowAFullLoad) {
  Network net(experiment({{"router.kind", word("adaptive")},
                          {"topology.concentration", integer(4)},
                          {"router.ejection", integer(0)},
                          {"router.priorities", IntList{90, 0, 0, 10}},
                          {"traffic.load", 1.0}}));
  net.step(3000);
  const CounterShard totals = net.engine->counters(0);
  const auto delivered = [&](u32 priority) { return total_of(totals, adaptive::Count::kDelivered, priority); };
  EXPECT_GT(delivered(3), 1000u);
  EXPECT_EQ(delivered(1), 0u);
  EXPECT_EQ(delivered(0) + delivered(3), net.total(Total::kPacketsDelivered));
}

/// Three routers around a fourth send to it faster than its terminal accepts messages.
TEST(AdaptiveMisrouting, SendsExcessToAFreeChannel) {
  // Router 0 has three buffers. Three messages arrive in each of cycles 12 to 14. In cycle 12 it delivers 1 of 3
  // messages and stores 2. In cycle 13 it has 5 messages: it delivers 1, stores 3 and misroutes 1 to any of three free
  // channels. In cycle 14 it has 6 and misroutes 2.
  const TextFile star("0,1\n0,2\n0,3\n");
  std::string text;
  for (int cycle = 10; cycle < 13; ++cycle)
    for (int source = 1; source <= 3; ++source) text += std::to_string(cycle) + "," + std::to_string(source) + ",0,1\n";
  const TextFile trace(text);
  Network net(experiment({{"router.kind", word("adaptive")},
                          {"topology.kind", word("graph")},
                          {"topology.file", star.path},
                          {"router.spare_buffers", integer(0)},
                          {"traffic.mode", word("trace")},
                          {"traffic.trace_file", trace.path}}));
  net.step(12 + 1);  // arrivals of cycle 12
  EXPECT_EQ(net.total(adaptive::Count::kMisrouted), 0u);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 1u);
  net.step(1);  // 5 messages: 1 is delivered, 3 are stored in the buffers, 1 is misrouted
  EXPECT_EQ(net.total(adaptive::Count::kMisrouted), 1u);
  net.step(1);  // 6 messages: 1 is delivered, 3 are stored, 2 are misrouted
  EXPECT_EQ(net.total(adaptive::Count::kMisrouted), 3u);
  net.step(60);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 9u);
  check_conservation(*net.engine, *net.plan, 0);
}

double derived(const Experiment& e, const std::string& name) {
  for (const auto& [key, value] : make_plan(e)->derived())
    if (key == name) return value;
  return -1;
}

TEST(AdaptiveDerived, ZeroLoadLatencyIsMeasured) {
  const std::vector<RawConfig> settings{{{"topology.channel_delay", integer(3)}},
                                        {{"topology.kind", word("hypercube")}, {"topology.dimensions", integer(5)}},
                                        {{"topology.kind", word("mesh")}, {"topology.concentration", integer(2)}},
                                        {{"traffic.pattern", word("tornado")}},
                                        {{"traffic.self", false}}};
  for (RawConfig config : settings) {
    config["router.kind"] = word("adaptive");
    config["traffic.load"] = 0.002;
    config["run.measure_cycles"] = integer(60000);
    config["run.warmup_cycles"] = integer(1000);
    const Experiment e = experiment(config);
    const Result r = run_job({e}, {"cpu", 1, false}, nullptr).front();
    EXPECT_NEAR(r.latency_cycles.mean, derived(e, "zero_load_latency_cycles"),
                0.01 * r.latency_cycles.mean + 1.5 * r.latency_cycles.ci95);
    EXPECT_EQ(derived(e, "zero_load_latency_units"), 10 * derived(e, "zero_load_latency_cycles"));
  }
}

TEST(AdaptiveDerived, LoadIsBoundedByChannelsAndByTerminals) {
  const auto bound = [](RawConfig c) {
    c.insert({{"router.kind", word("adaptive")}, {"topology.kind", word("hypercube")}});
    return derived(experiment(c), "saturation_load_bound");
  };
  // In a hypercube the mean number of hops of a message is half the number of a router's channels.
  EXPECT_DOUBLE_EQ(bound({{"topology.concentration", integer(4)}, {"router.ejection", integer(0)}}), 0.5);
  EXPECT_DOUBLE_EQ(bound({{"topology.concentration", integer(4)}, {"router.ejection", integer(1)}}), 0.25);
  EXPECT_DOUBLE_EQ(bound({}), 1.0);
}

TEST(AdaptiveChecks, BadInputIsRejected) {
  const auto refused = [](RawConfig c, const char* what) {
    c["router.kind"] = word("adaptive");
    try {
      make_plan(experiment(c));
      ADD_FAILURE() << "should have been rejected: " << what;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  const TextFile trace("0,0,1,1\n"), loop("0,1\n");
  refused({{"traffic.packet_flits", Lengths{{4, 1.0}}}}, "traffic.packet_flits makes packets of up to 4 flits");
  refused({{"traffic.mode", word("request_reply")}}, "traffic.mode = \"request_reply\"");
  refused({{"traffic.mode", word("program")}}, "traffic.mode = \"program\"");
  refused({{"traffic.mode", word("trace")}, {"traffic.trace_file", trace.path}, {"router.ejection", integer(0)}},
          "router.ejection = 0");
  refused({{"router.priorities", IntList{}}}, "router.priorities = []");
  refused({{"router.priorities", IntList{0, 0}}}, "router.priorities = [0, 0]");
  refused({{"router.priorities", IntList{1, 1, 1, 1, 1}}}, "router.priorities = [1, 1, 1, 1, 1]");
  refused({{"router.spare_buffers", integer(0)}, {"router.channel_buffers", integer(0)}}, "router.spare_buffers = 0");
  refused({{"topology.kind", word("graph")}}, "topology.file");
  std::string star;
  for (int i = 1; i <= 33; ++i) star += "0," + std::to_string(i) + "\n";
  const TextFile large(star);
  refused({{"topology.kind", word("graph")}, {"topology.file", large.path}}, "33 channels");
}

}  // namespace
}  // namespace flitlab::adaptive_router_test
