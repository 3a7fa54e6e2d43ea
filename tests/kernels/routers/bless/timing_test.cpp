/// The bufferless deflection router: routes on a torus, derived numbers, and rejected parameters.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/common/error.hpp"
#include "kernels/routers/bless/totals.hpp"
#include "tests/support/bless/bless.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::bless_timing_test {
namespace {

using bless::Count;
using namespace testing;

/// Configuration of a mesh that sends the packets of a trace. With three columns router x + 3 y is at (x, y). The
/// channels of a router are +x, -x, +y, -y.
Experiment mesh(const TextFile& trace, IntList shape, RawConfig changes = {}) {
  changes.merge(Settings{"router.kind=bless topology.kind=mesh topology.shape=", std::move(shape),
                         " traffic.mode=trace traffic.trace_file=", trace.path});
  return experiment(changes);
}

/// Routes on a torus: x before y, in the shorter direction of each ring. If both directions are equally long, a flit
/// may take either.
TEST(BlessTiming, OfWaysOnATorus) {
  const auto sent = [](const char* line, IntList shape) {
    const TextFile trace(line);
    BlessNetwork net(mesh(trace, std::move(shape), Settings("topology.kind=torus")));
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
    BlessNetwork net(mesh(trace, {4}, Settings("topology.kind=ring")));
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

TEST(BlessDerived, ZeroLoadLatencyIsMeasured) {
  const std::vector<RawConfig> settings{Settings("topology.channel_delay=3"),
                                        Settings("topology.shape=[5,4,2] router.delay=1"),
                                        Settings("topology.kind=mesh traffic.packet_flits=[[1,1.0],[5,1.0]]"),
                                        Settings("traffic.pattern=tornado"), Settings("traffic.self=false")};
  for (RawConfig config : settings) {
    set(config, "router.kind=bless traffic.load=0.002 run.measure_cycles=100000 run.warmup_cycles=1000");
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
  EXPECT_EQ(buffers(Settings("traffic.self=false")), 64 * 3 + 15);  // 64 channels of 3 flits; 15 other terminals
  EXPECT_EQ(buffers({}), 64 * 3 + 16);                              // with the terminal itself: 16 sources
  EXPECT_EQ(buffers(Settings("topology.kind=mesh router.delay=1")), 48 * 2 + 16);
  EXPECT_EQ(buffers(Settings("traffic.packet_flits=[[1,1.0]]")), 1);
  EXPECT_EQ(buffers(Settings("router.reassembly_packets=7")), 7);
  EXPECT_EQ(buffers(Settings("router.reassembly_packets=700")), 64 * 3 + 16);
}

TEST(BlessChecks, BadInputIsRejected) {
  const TextFile trace("0,0,1,1\n"), edges("0,1\n"), matrix("0,1,1\n1,1,1\n");
  expect_rejected(Settings("router.kind=bless topology.kind=hypercube"), "topology.kind = \"hypercube\" does not fit");
  expect_rejected(Settings("router.kind=bless topology.kind=graph topology.file=", edges.path),
                  "topology.kind = \"graph\" does not fit");
  expect_rejected(Settings("router.kind=bless topology.concentration=2"), "topology.concentration = 2");
  expect_rejected(Settings("router.kind=bless topology.shape=[1,1]"), "topology.shape = [1, 1]");
  expect_rejected(Settings("router.kind=bless topology.kind=ring"), "topology.shape = [4, 4]");
  expect_rejected(Settings("router.kind=bless traffic.mode=request_reply"), "traffic.mode = \"request_reply\"");
  expect_rejected(Settings("router.kind=bless traffic.mode=program"), "traffic.mode = \"program\"");
  expect_rejected(Settings("router.kind=bless traffic.mode=broadcast"), "traffic.mode = \"broadcast\"");
  expect_rejected(
      Settings("router.kind=bless traffic.mode=trace traffic.trace_file=", trace.path, " router.ejection_width=2"),
      "router.ejection_width = 2");
  expect_rejected(
      Settings("router.kind=bless topology.shape=[2] traffic.self=false traffic.pattern=matrix traffic.matrix_file=",
               matrix.path),
      "terminal 1 sends to itself");
  expect_rejected(Settings("router.kind=bless router.reassembly_packets=0"), "router.reassembly_packets = 0");
  expect_rejected(Settings("router.kind=bless router.reassembly_packets=all"), "router.reassembly_packets = \"all\"");
  expect_rejected(Settings("router.kind=bless router.delay=0"), "router.delay = 0");
  expect_rejected(Settings("router.kind=bless topology.shape=[64,64,64]"), "router.reassembly_packets = \"auto\"");
}

}  // namespace
}  // namespace flitlab::bless_timing_test
