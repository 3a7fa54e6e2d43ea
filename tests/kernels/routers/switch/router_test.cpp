/// The single switch: conservation, and throughputs known in closed form or from the literature.
#include <gtest/gtest.h>

#include <cmath>

#include "host/config/cross_checks.hpp"
#include "host/routers/switch/plan.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/chance.hpp"
#include "tests/support/fields.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/switch/switch.hpp"

namespace flitlab::switch_router_test {
namespace {

using namespace testing;

const RawConfig kPool = Settings("router.organisation=buffer_pool");

/// Messages that arrive in the same cycle have equal chances: each of three is first in about a third of 300 cases.
TEST(Switch, TiesAreFair) {
  std::vector<SwitchLine> lines;
  for (u32 n = 0; n < 300; ++n)
    for (u32 i : {1u, 4u, 6u}) lines.push_back({10 * n, i, 2, 1});
  WatchedSwitch net(lines, kPool);
  net.run(3100);
  u32 first[8] = {};
  for (const auto& [name, m] : net.messages) first[name.first] += m.delivered - m.created == 1;
  EXPECT_EQ(first[1] + first[4] + first[6], 300u);
  for (u32 i : {1u, 4u, 6u}) testing::expect_share(first[i], 300, 1.0 / 3, "first of three");
}

/// Messages of an input to the same output are switched and delivered in order.
TEST(Switch, PreservesOrder) {
  WatchedSwitch net(
      Settings("traffic.load=0.6 traffic.packet_length=geometric router.output_buffers=3 topology.ports=5"));
  net.run(5000);
  std::map<std::pair<u32, u32>, u32> latest;    // latest number, by source and destination
  for (const auto& [name, m] : net.messages) {  // in order of message numbers
    if (m.delivered == kNone) continue;
    u32& cycle = latest[{name.first, m.dst}];
    EXPECT_GT(m.delivered, cycle);
    cycle = m.delivered;
  }
}

RawConfig random_config(Draw& chance) {
  RawConfig c = Settings("router.kind=switch run.seed=", chance.below(1000));
  const bool pool = chance.below(2);
  c["router.organisation"] = word(pool ? "buffer_pool" : "crossbar");
  if (!pool && chance.below(2)) c["router.input_release"] = word("tail");
  c["topology.ports"] = integer(2 + chance.below(9));
  c["router.output_buffers"] = integer(1 + chance.below(4));
  if (chance.below(2)) c["traffic.packet_length"] = word("geometric");
  c["traffic.packet_flits"] = integer(1 + chance.below(12));
  return c;
}

TEST(SwitchConservation, OfOpenLoops) {
  for (u32 n = 0; n < 30; ++n) {
    Draw chance(n);
    RawConfig c = random_config(chance);
    c["traffic.load"] = 0.1 + 0.1 * chance.below(10);
    Network net(experiment(c));
    for (u32 i = 0; i < 20; ++i) {
      net.step(1 + chance.below(50));
      check_conservation(*net.engine, *net.plan, 0);
    }
    EXPECT_GT(net.total(Total::kPacketsDelivered), 0u);
  }
}

TEST(SwitchConservation, OfBatches) {
  for (u32 n = 0; n < 20; ++n) {
    Draw chance(n + 100);
    RawConfig c = random_config(chance);
    set(c, "traffic.mode=batch traffic.batch_packets=20");
    Network net(experiment(c));
    const u64 all = u64{20} * net.plan->topology().terminals;
    for (u32 i = 0; i < 200 && net.total(Total::kPacketsDelivered) < all; ++i) net.step(100);
    check_conservation(*net.engine, *net.plan, 0);
    EXPECT_EQ(net.total(Total::kPacketsDelivered), all);
    EXPECT_EQ(net.total(Total::kFlitsCreated), net.total(Total::kFlitsDelivered));
  }
}

/// The audit finds a head that is in no bit set, and a head that waits although its output has room.
TEST(SwitchConservation, AuditFindsWrongHeads) {
  const Experiment e = experiment("router.kind=switch traffic.load=1.0");
  for (const char* name : {"output", "input"}) {
    Network net(e);
    net.step(200);
    if (name[0] == 'o')
      edit<sw::Output>(net, 0, name, [](std::vector<sw::Output>& all, u32) { all[0].wanted ^= 4; });
    else
      edit<sw::Input>(net, 0, name, [](std::vector<sw::Input>& all, u32) { all[0].output ^= 1; });
    EXPECT_THROW(check_conservation(*net.engine, *net.plan, 0), RunError) << name;
  }
}

/// Returns the throughput in flits per cycle and output if sources always have a message. `messages`: length of the run
/// in message times.
double saturation(RawConfig c, u32 flits, u32 messages) {
  set(c, "router.kind=switch traffic.load=1.0 traffic.packet_flits=", flits);
  Network net(experiment(c));
  net.step(500 * flits);
  const u64 before = net.total(Total::kFlitsDelivered);
  net.step(messages * flits);
  return static_cast<double>(net.total(Total::kFlitsDelivered) - before) / messages / flits /
         net.plan->topology().terminals;
}

/// Messages of one flit match the time slots of the textbook model: Karol, Hluchyj, Morgan, "Input Versus Output
/// Queueing on a Space-Division Packet Switch", IEEE Trans. Comm. 35 (1987), Table I. Standard errors are below 0.001.
TEST(SwitchSaturation, OfSlots) {
  const std::pair<u32, double> table[] = {{2, 0.75},   {3, 0.6825}, {4, 0.6553}, {5, 0.6399},
                                          {6, 0.6302}, {7, 0.6234}, {8, 0.6184}};
  for (const auto& [ports, throughput] : table)
    EXPECT_NEAR(saturation(Settings("topology.ports=", ports), 1, 100000), throughput, 0.004) << ports;
  EXPECT_NEAR(saturation(Settings("topology.ports=64"), 1, 20000), 2 - std::sqrt(2.0),
              0.006);  // the limit for many ports
}

/// If an input carries one message of random length at a time, the switch is a closed network of N customers at N
/// exponential servers with random choice. Its throughput is N / (2 N - 1) per server.
TEST(SwitchSaturation, OfInputsWithOneMessageAtATime) {
  for (u32 ports : {2u, 4u, 8u})
    EXPECT_NEAR(
        saturation(Settings("topology.ports=", ports, " router.input_release=tail traffic.packet_length=geometric"), 64,
                   50000),
        ports / (2.0 * ports - 1), 0.006)
        << ports;
}

/// S-Connect, 2, Figure 1: the throughput of both organisations, and its limits for messages of many flits.
TEST(SwitchSaturation, IsThatOfTheFigure) {
  for (const RawConfig& c : {RawConfig{}, kPool}) {
    RawConfig variable = c;
    variable["traffic.packet_length"] = word("geometric");
    EXPECT_NEAR(saturation(c, 100, 40000), 0.75, 0.005);
    EXPECT_NEAR(saturation(variable, 100, 40000), 0.64, 0.005);
  }
}

/// A geometric distribution cut at 16 times its mean loses a share of e^-16.
TEST(Switch, GeometricLengthsAreHardlyCut) {
  for (int mean : {2, 64, 250}) {
    const Experiment e = experiment("router.kind=switch traffic.packet_length=geometric traffic.packet_flits=", mean);
    EXPECT_EQ(longest_packet(e), 16u * mean);
    EXPECT_NEAR(mean_packet(e), mean, 2e-7 * mean);
  }
}

TEST(Switch, RejectsUnsupportedTraffic) {
  expect_rejected(Settings("router.kind=switch traffic.mode=request_reply"),
                  "whose terminals support \"open\", \"batch\", \"trace\", \"host\" or \"program\"");
  expect_rejected(Settings("router.kind=switch traffic.mode=broadcast"), "router.kind = \"bgl\"");
  expect_rejected(Settings("router.kind=switch traffic.pattern=hot_region"), "Use \"hot_spot\"");
  expect_rejected(Settings("router.kind=switch topology.ports=65"), "2 to 64");
  expect_rejected(Settings("router.kind=switch router.organisation=buffer_pool router.input_release=tail"),
                  "router.organisation = \"crossbar\"");
  expect_rejected(Settings("router.kind=switch topology.ports=6 traffic.pattern=fft"), "power-of-two");
}

TEST(Switch, ShowsQueuesAndFigures) {
  WatchedSwitch net({{9, 1, 0, 6}, {10, 4, 0, 4}}, kPool);
  net.run(12);
  EXPECT_EQ(net.net().plan->inspect_terminal(net.net().engine->state(0), 4).queued, 1u);
  const auto figures = net.net().plan->figures({}, net.net().engine->state(0), 0);
  EXPECT_EQ(figures.at("messages_switched"), 1);
  EXPECT_EQ(figures.at("head_wait_cycles"), 0);
}

}  // namespace
}  // namespace flitlab::switch_router_test
