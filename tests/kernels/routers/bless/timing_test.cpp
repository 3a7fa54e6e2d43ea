/// Hand-derived times of the bufferless deflection router: channels, deflections, injection, ejection and reassembly.
/// Also tests that flitlab rejects wrong parameters.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/common/error.hpp"
#include "kernels/routers/bless/totals.hpp"
#include "tests/support/bless/bless.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::bless_timing_test {
namespace {

using bless::Count;
using testing::BlessNetwork;
using testing::experiment;
using testing::integer;
using testing::TextFile;
using testing::word;

/// Configuration of a mesh that sends the packets of a trace. With three columns router x + 3 y is at (x, y). The
/// channels of a router are +x, -x, +y, -y.
Experiment mesh(const TextFile& trace, IntList shape, RawConfig changes = {}) {
  changes.insert({{"router.kind", word("bless")},
                  {"topology.kind", word("mesh")},
                  {"topology.shape", std::move(shape)},
                  {"traffic.mode", word("trace")},
                  {"traffic.trace_file", trace.path}});
  return experiment(changes);
}

/// Checks all totals since cycle 0.
void expect(BlessNetwork& net, u64 delivered, u64 latency, u64 deflections, u64 sent) {
  EXPECT_EQ(net.total(Total::kPacketsDelivered), delivered);
  EXPECT_EQ(net.total(Total::kLatencySum), latency);
  EXPECT_EQ(net.counted(Count::kDeflections), deflections);
  EXPECT_EQ(net.counted(Count::kSent), sent);
}

/// Times of a packet that is alone in the network. It is created and injected in cycle c, takes router + channel delays
/// for each of H hops, and reaches the terminal after one more router delay. Flits follow one another by one cycle.
TEST(BlessTiming, OfAPacketAlone) {
  for (u32 hops : {1u, 2u, 4u})
    for (u32 router : {1u, 2u, 5u})
      for (u32 channel : {1u, 4u})
        for (u32 flits : {1u, 2u, 7u}) {
          const TextFile trace("7,0," + std::to_string(hops) + "," + std::to_string(flits) + "\n");
          BlessNetwork net(
              mesh(trace, {5}, {{"router.delay", integer(router)}, {"topology.channel_delay", integer(channel)}}));
          net.step(7 + hops * (router + channel) + flits - 1);
          EXPECT_EQ(net.total(Total::kPacketsDelivered), 0u);
          net.step(1);
          expect(net, 1, hops * (router + channel) + router + flits - 1, 0, hops * flits);
        }
}

/// Routes on a torus: x before y, in the shorter direction of each ring. If both directions are equally long, a flit
/// may take either.
TEST(BlessTiming, OfWaysOnATorus) {
  const auto sent = [](const char* line, IntList shape) {
    const TextFile trace(line);
    BlessNetwork net(mesh(trace, std::move(shape), {{"topology.kind", word("torus")}}));
    net.step(100);
    EXPECT_EQ(net.total(Total::kPacketsDelivered), 1u);
    EXPECT_EQ(net.counted(Count::kDeflections), 0u);
    return net.bless.channel_flits(net.engine->state(0));
  };
  EXPECT_EQ(sent("3,0,4,1\n", {5}), (std::vector<u32>{0, 1, 0, 0, 0, 0, 0, 0, 0, 0}));  // -x leads from 0 to 4
  EXPECT_EQ(sent("3,0,2,1\n", {5}), (std::vector<u32>{1, 0, 1, 0, 0, 0, 0, 0, 0, 0}));  // through router 1
  // From (0, 0) to (1, 1) of 3 x 3: +x, then from router 1 +y.
  std::vector<u32> xy(36, 0);
  xy[0] = xy[4 + 2] = 1;
  EXPECT_EQ(sent("3,0,4,1\n", {3, 3}), xy);
  u32 plus = 0;
  for (u32 cycle = 0; cycle < 60; ++cycle) {  // number of packets in the trace before the one that is followed
    std::string text;
    for (u32 n = 0; n < cycle; ++n) text += "0,3,2,1\n";
    const TextFile trace(text + "500,0,2,1\n");
    BlessNetwork net(mesh(trace, {4}, {{"topology.kind", word("ring")}}));
    net.step(400);
    const std::vector<u32> before = net.bless.channel_flits(net.engine->state(0));
    net.step(200);
    const std::vector<u32> after = net.bless.channel_flits(net.engine->state(0));
    plus += after[0] - before[0];
    EXPECT_EQ(after[0] + after[1] - before[0] - before[1], 1u);
  }
  EXPECT_GT(plus, 15u);
  EXPECT_LT(plus, 45u);
}

/// One flit goes from terminal 3 by x, the other from terminal 1 by y. Both reach router 4 in cycle 13 and request +y.
/// They are equally old, so the flit of terminal 1 goes first and takes 2 x 3 + 2 cycles. The other one is deflected to
/// the first free channel from number 13 mod 4 on: -x, back to router 3. From there it goes through 4 to 7: it leaves
/// router 3 in cycle 16 and router 4 in 19, and reaches terminal 7 in 22 + 2.
TEST(BlessTiming, OfTwoRequestsForAChannel) {
  const TextFile trace("10,3,7,1\n10,1,7,1\n");
  BlessNetwork net(mesh(trace, {3, 3}));
  net.step(17);
  expect(net, 1, 8, 1, 2 + 3);
  net.step(5);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 1u);
  net.step(1);
  expect(net, 2, 8 + 14, 1, 2 + 4);
}

/// Flits in a mesh of 5 columns: one from (0, 1) in cycle 10, one from (2, 0) in cycle 13. In cycle 16 both are at (2,
/// 1) and request +y to (2, 2). The first is older, although its source number, 5, is higher, and arrives after 3 hops.
/// The other one is deflected to channel 16 mod 4, +x, which leads to (3, 1). It returns in cycle 19, goes on in 22,
/// and is ejected in 25.
TEST(BlessTiming, TheYoungerIsDeflected) {
  const TextFile trace("10,5,12,1\n13,2,12,1\n");
  BlessNetwork net(mesh(trace, {5, 3}));
  net.step(20);
  expect(net, 1, 11, 1, 3 + 3);
  net.step(6);
  expect(net, 2, 11 + 14, 1, 3 + 4);
}

/// In a line of three routers, three flits in each direction pass router 1 in cycles 13, 14 and 15 and occupy both of
/// its inputs. The packet that terminal 1 creates in cycle 13 is injected in 16.
TEST(BlessTiming, OfInjectionThatHasToWait) {
  for (u32 flits : {1u, 3u}) {
    const std::string length = std::to_string(flits);
    const TextFile trace("10,0,2," + length + "\n10,2,0," + length + "\n13,1,0,1\n");
    BlessNetwork net(mesh(trace, {3}));
    net.step(60);
    expect(net, 3, 2 * (8 + flits - 1) + 5 + flits, 0, 4 * flits + 1);
    EXPECT_EQ(net.counted(Count::kBlocked), flits);
  }
}

/// A flit that is ejected frees its input, so a flit can be injected in the same cycle.
TEST(BlessTiming, OfInjectionBesideAnEjection) {
  const TextFile trace("10,0,1,1\n10,2,0,1\n13,1,2,1\n");
  BlessNetwork net(mesh(trace, {3}));
  net.step(60);
  expect(net, 3, 5 + 8 + 5, 0, 4);
  EXPECT_EQ(net.counted(Count::kBlocked), 0u);
}

/// An older flit takes the channel that a flit just injected requests. The new flit is deflected in the other direction
/// and returns.
TEST(BlessTiming, OfAFlitDeflectedAtItsSource) {
  const TextFile trace("10,0,2,1\n13,1,2,1\n");
  BlessNetwork net(mesh(trace, {3}));
  net.step(60);
  expect(net, 2, 8 + 11, 1, 2 + 3);
}

/// Two flits for terminal 1 reach router 1 in cycle 13. The flit with the lower source number is ejected. The other one
/// is deflected to channel 13 mod 2, -x, to router 0, and returns in cycle 19.
TEST(BlessTiming, OfTwoThatAreEjected) {
  const TextFile trace("10,0,1,1\n10,2,1,1\n");
  BlessNetwork net(mesh(trace, {3}));
  net.step(14);
  expect(net, 1, 5, 1, 2 + 1);
  net.step(5);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 1u);
  net.step(1);
  expect(net, 2, 5 + 11, 1, 4);
}

/// With an ejection width of 2 both flits are ejected. The flit that terminal 1 has sent, in either direction, arrives
/// as well.
TEST(BlessTiming, OfWiderEjection) {
  for (u32 width : {1u, 2u}) {
    BlessNetwork net(experiment({{"router.kind", word("bless")},
                                 {"topology.kind", word("mesh")},
                                 {"topology.shape", IntList{3}},
                                 {"router.ejection_width", integer(width)},
                                 {"traffic.mode", word("batch")},
                                 {"traffic.batch_packets", integer(1)},
                                 {"traffic.packet_flits", Lengths{{1, 1.0}}},
                                 {"traffic.self", false},
                                 {"traffic.pattern", word("hot_spot")},
                                 {"traffic.hot_terminals", IntList{1}},
                                 {"traffic.hot_fraction", 1.0}}));
    net.step(40);
    expect(net, 3, width == 1 ? 5 + 5 + 11 : 5 + 5 + 5, width == 1, width == 1 ? 5 : 3);
  }
}

/// In a line of four routers, router 1 sends packet A and router 3 sends packet B to router 2, two flits each. Router 2
/// has one reassembly buffer.
///   cycle 11: two flits of other packets pass router 1, so the flits of A are not sent in consecutive cycles;
///   cycle 13: the first flit of A arrives at router 2, and A takes the reassembly buffer;
///   cycle 14: the first flit of B arrives, and router 2 refuses it;
///   cycle 15: the last flit of A and the second flit of B arrive. A is older, so its flit is ejected. The flit of B is
///     deflected to channel (cycle mod 2) = 1, which is -x, toward router 1. It returns in cycle 21;
///   cycle 20: the refused flit returns from router 1. It went there because an earlier flit had taken the channel back
///     to router 3.
TEST(BlessTiming, APacketWithoutABufferIsRefused) {
  const TextFile trace("8,0,3,1\n8,2,0,1\n10,1,2,2\n11,3,2,2\n");
  for (bool one : {false, true}) {
    BlessNetwork net(mesh(trace, {4}, {{"router.reassembly_packets", one ? Value{integer(1)} : word("auto")}}));
    net.step(16);
    EXPECT_EQ(net.total(Total::kLatencySum), 8u + 7u);
    EXPECT_EQ(net.counted(Count::kRefused), u64{one});
    net.step(40);
    expect(net, 4, 11 + 8 + 7 + 12, one ? 2 : 1, 3 + 2 + 2 + 2 + (one ? 4 : 2));
    EXPECT_EQ(net.counted(Count::kOpenMost), one ? 1u : 2u);
    EXPECT_EQ(net.plan->facts().warnings.size(), std::size_t{one});
  }
}

double derived(const Experiment& e, const std::string& name) {
  for (const auto& [key, value] : make_plan(e)->derived())
    if (key == name) return value;
  return -1;
}

TEST(BlessDerived, ZeroLoadLatencyIsMeasured) {
  const std::vector<RawConfig> settings{
      {{"topology.channel_delay", integer(3)}},
      {{"topology.shape", IntList{5, 4, 2}}, {"router.delay", integer(1)}},
      {{"topology.kind", word("mesh")}, {"traffic.packet_flits", Lengths{{1, 1.0}, {5, 1.0}}}},
      {{"traffic.pattern", word("tornado")}},
      {{"traffic.self", false}}};
  for (RawConfig config : settings) {
    config["router.kind"] = word("bless");
    config["traffic.load"] = 0.002;
    config["run.measure_cycles"] = integer(100000);
    config["run.warmup_cycles"] = integer(1000);
    const Experiment e = experiment(config);
    const Result r = run_job({e}, {"cpu", 1, false}, nullptr).front();
    EXPECT_NEAR(r.latency_cycles.mean, derived(e, "zero_load_latency_cycles"),
                0.01 * r.latency_cycles.mean + 1.5 * r.latency_cycles.ci95);
  }
}

TEST(BlessDerived, BuffersSufficeForTheWorstCase) {
  const auto buffers = [](RawConfig c) {
    c["router.kind"] = word("bless");
    return derived(experiment(c), "reassembly_places");
  };
  EXPECT_EQ(buffers({{"traffic.self", false}}), 64 * 3 + 15);  // 64 channels of 3 flits; 15 other terminals
  EXPECT_EQ(buffers({}), 64 * 3 + 16);                         // with the terminal itself: 16 sources
  EXPECT_EQ(buffers({{"topology.kind", word("mesh")}, {"router.delay", integer(1)}}), 48 * 2 + 16);
  EXPECT_EQ(buffers({{"traffic.packet_flits", Lengths{{1, 1.0}}}}), 1);
  EXPECT_EQ(buffers({{"router.reassembly_packets", integer(7)}}), 7);
  EXPECT_EQ(buffers({{"router.reassembly_packets", integer(700)}}), 64 * 3 + 16);
}

TEST(BlessChecks, BadInputIsRejected) {
  const auto refused = [](RawConfig c, const char* what) {
    c["router.kind"] = word("bless");
    try {
      make_plan(experiment(c));
      ADD_FAILURE() << "should have been rejected: " << what;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  const TextFile trace("0,0,1,1\n"), edges("0,1\n"), matrix("0,1,1\n1,1,1\n");
  refused({{"topology.kind", word("hypercube")}}, "topology.kind = \"hypercube\" does not fit");
  refused({{"topology.kind", word("graph")}, {"topology.file", edges.path}}, "topology.kind = \"graph\" does not fit");
  refused({{"topology.concentration", integer(2)}}, "topology.concentration = 2");
  refused({{"topology.shape", IntList{1, 1}}}, "topology.shape = [1, 1]");
  refused({{"topology.kind", word("ring")}}, "topology.shape = [4, 4]");
  refused({{"traffic.mode", word("request_reply")}}, "traffic.mode = \"request_reply\"");
  refused({{"traffic.mode", word("program")}}, "traffic.mode = \"program\"");
  refused({{"traffic.mode", word("broadcast")}}, "traffic.mode = \"broadcast\"");
  refused({{"traffic.mode", word("trace")}, {"traffic.trace_file", trace.path}, {"router.ejection_width", integer(2)}},
          "router.ejection_width = 2");
  refused({{"topology.shape", IntList{2}},
           {"traffic.self", false},
           {"traffic.pattern", word("matrix")},
           {"traffic.matrix_file", matrix.path}},
          "terminal 1 sends to itself");
  refused({{"router.reassembly_packets", integer(0)}}, "router.reassembly_packets = 0");
  refused({{"router.reassembly_packets", word("all")}}, "router.reassembly_packets = \"all\"");
  refused({{"router.delay", integer(0)}}, "router.delay = 0");
  refused({{"topology.shape", IntList{64, 64, 64}}}, "router.reassembly_packets = \"auto\"");
}

}  // namespace
}  // namespace flitlab::bless_timing_test
