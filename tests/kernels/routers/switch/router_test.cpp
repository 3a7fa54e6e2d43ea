/// The single switch: hand-derived times, conservation, and throughputs known in closed form or from the literature.
#include <gtest/gtest.h>

#include <cmath>

#include "host/config/cross_checks.hpp"
#include "host/routers/switch/plan.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/chance.hpp"
#include "tests/support/switch/switch.hpp"

namespace flitlab::switch_router_test {
namespace {

using testing::experiment;
using testing::integer;
using testing::Network;
using testing::SwitchLine;
using testing::WatchedSwitch;
using testing::word;

std::vector<u32> deliveries(const std::vector<SwitchLine>& lines, RawConfig changes) {
  WatchedSwitch net(lines, std::move(changes));
  net.run(100);
  std::vector<u32> cycles;
  for (u32 n = 0; n < lines.size(); ++n) cycles.push_back(net.delivered(n));
  return cycles;
}

using Cycles = std::vector<u32>;
const RawConfig kPool{{"router.organisation", word("buffer_pool")}};
const RawConfig kTail{{"router.input_release", word("tail")}};

/// A crossbar stores a whole message before it switches it; a buffer pool does not. So a message takes two message
/// times or one.
TEST(Switch, TakesOneMessageTimeOrTwo) {
  EXPECT_EQ(deliveries({{10, 3, 5, 5}}, {}), Cycles{20});
  EXPECT_EQ(deliveries({{10, 3, 5, 5}}, kPool), Cycles{15});
  EXPECT_EQ(deliveries({{10, 3, 3, 1}}, kPool), Cycles{11});
}

/// An input channel carries one message after the other: heads arrive in cycles 10 and 14.
TEST(Switch, MessagesOfAnInputArriveOneAfterTheOther) {
  EXPECT_EQ(deliveries({{10, 0, 1, 4}, {10, 0, 2, 3}}, kPool), (Cycles{14, 17}));
  EXPECT_EQ(deliveries({{10, 0, 1, 4}, {10, 0, 2, 3}}, {}), (Cycles{18, 20}));
}

/// The first message holds its output, for which the second one waits. The third is behind the second in the same input
/// and is switched a cycle after it. If an input carries one message at a time, the third waits until the second's tail
/// has left.
TEST(Switch, HeadsBlockMessagesBehindThem) {
  EXPECT_EQ(deliveries({{9, 1, 0, 6}, {10, 0, 0, 4}, {10, 0, 2, 3}}, kPool), (Cycles{15, 19, 19}));
  const std::vector<SwitchLine> lines{{5, 1, 0, 8}, {10, 0, 0, 4}, {10, 0, 2, 3}};
  EXPECT_EQ(deliveries(lines, {}), (Cycles{21, 25, 25}));     // stored in 13, 14, 17; switched in 13, 21, 22
  EXPECT_EQ(deliveries(lines, kTail), (Cycles{21, 25, 28}));  // switched in 13, 21, 25
}

/// The input is busy until cycle 30, although no message waits behind the one that is switched in cycle 20.
TEST(Switch, InputsAreTakenUntilTheTailHasLeft) {
  EXPECT_EQ(deliveries({{10, 0, 1, 10}, {22, 0, 2, 3}}, kTail), (Cycles{30, 33}));
  EXPECT_EQ(deliveries({{10, 0, 1, 10}, {22, 0, 2, 3}}, {}), (Cycles{30, 28}));
}

/// If an output holds two messages, the second one moves at once, and the third is switched on arrival.
TEST(Switch, OutputsHoldSoManyMessages) {
  RawConfig c = kPool;
  c["router.output_buffers"] = integer(2);
  EXPECT_EQ(deliveries({{9, 1, 0, 6}, {10, 0, 0, 4}, {10, 0, 2, 3}, {11, 2, 0, 1}, {12, 3, 0, 2}}, c),
            (Cycles{15, 19, 17, 20, 22}));
}

/// Output 0 is busy until cycle 20. Then it serves messages in the order in which they became heads of their inputs.
TEST(Switch, OutputsServeFirstComeFirst) {
  EXPECT_EQ(deliveries({{10, 7, 0, 10}, {11, 5, 0, 2}, {12, 3, 0, 2}, {13, 6, 0, 2}, {14, 1, 0, 2}}, kPool),
            (Cycles{20, 22, 24, 26, 28}));
}

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
  WatchedSwitch net({{"traffic.load", 0.6},
                     {"traffic.packet_length", word("geometric")},
                     {"router.output_buffers", integer(3)},
                     {"topology.ports", integer(5)}});
  net.run(5000);
  std::map<std::pair<u32, u32>, u32> latest;    // latest number, by source and destination
  for (const auto& [name, m] : net.messages) {  // in order of message numbers
    if (m.delivered == kNone) continue;
    u32& cycle = latest[{name.first, m.dst}];
    EXPECT_GT(m.delivered, cycle);
    cycle = m.delivered;
  }
}

RawConfig random_config(testing::SwitchDraw& chance) {
  RawConfig c{{"router.kind", word("switch")}, {"run.seed", integer(chance.below(1000))}};
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
    testing::SwitchDraw chance(n);
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
    testing::SwitchDraw chance(n + 100);
    RawConfig c = random_config(chance);
    c["traffic.mode"] = word("batch");
    c["traffic.batch_packets"] = integer(20);
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
  const Experiment e = experiment({{"router.kind", word("switch")}, {"traffic.load", 1.0}});
  for (const char* name : {"output", "input"}) {
    Network net(e);
    net.step(200);
    const ItemKind& kind = net.plan->layout().kinds[0];
    std::vector<std::byte> values(sizeof(sw::Input) * 8);
    net.engine->get_field(0, 0, kind.field(name), values.data());
    if (name[0] == 'o')
      reinterpret_cast<sw::Output*>(values.data())->wanted ^= 4;
    else
      reinterpret_cast<sw::Input*>(values.data())->output ^= 1;
    net.engine->set_field(0, 0, kind.field(name), values.data());
    EXPECT_THROW(check_conservation(*net.engine, *net.plan, 0), RunError) << name;
  }
}

/// Returns the throughput in flits per cycle and output if sources always have a message. `messages`: length of the run
/// in message times.
double saturation(RawConfig c, u32 flits, u32 messages) {
  c["router.kind"] = word("switch");
  c["traffic.load"] = 1.0;
  c["traffic.packet_flits"] = integer(flits);
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
    EXPECT_NEAR(saturation({{"topology.ports", integer(ports)}}, 1, 100000), throughput, 0.004) << ports;
  EXPECT_NEAR(saturation({{"topology.ports", integer(64)}}, 1, 20000), 2 - std::sqrt(2.0),
              0.006);  // the limit for many ports
}

/// If an input carries one message of random length at a time, the switch is a closed network of N customers at N
/// exponential servers with random choice. Its throughput is N / (2 N - 1) per server.
TEST(SwitchSaturation, OfInputsWithOneMessageAtATime) {
  for (u32 ports : {2u, 4u, 8u})
    EXPECT_NEAR(saturation({{"topology.ports", integer(ports)},
                            {"router.input_release", word("tail")},
                            {"traffic.packet_length", word("geometric")}},
                           64, 50000),
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
    const Experiment e = experiment({{"router.kind", word("switch")},
                                     {"traffic.packet_length", word("geometric")},
                                     {"traffic.packet_flits", integer(mean)}});
    EXPECT_EQ(longest_packet(e), 16u * mean);
    EXPECT_NEAR(mean_packet(e), mean, 2e-7 * mean);
  }
}

TEST(Switch, RejectsUnsupportedTraffic) {
  const auto refused = [](RawConfig c, const std::string& part) {
    c["router.kind"] = word("switch");
    try {
      make_plan(experiment(c));
      FAIL() << part;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refused({{"traffic.mode", word("request_reply")}}, "whose terminals support \"open\", \"batch\" or \"trace\"");
  refused({{"traffic.mode", word("program")}, {"traffic.program_file", word("x")}},
          "Use one of them, or router.kind = \"bgl\"");
  refused({{"traffic.mode", word("broadcast")}}, "router.kind = \"bgl\"");
  refused({{"traffic.pattern", word("hot_region")}}, "Use \"hot_spot\"");
  refused({{"topology.ports", integer(65)}}, "2 to 64");
  refused({{"router.organisation", word("buffer_pool")}, {"router.input_release", word("tail")}},
          "router.organisation = \"crossbar\"");
  refused({{"topology.ports", integer(6)}, {"traffic.pattern", word("fft")}}, "power-of-two");
}

TEST(Switch, ShowsHeadsAndOutputs) {
  WatchedSwitch net({{9, 1, 0, 6}, {10, 4, 0, 4}}, kPool);
  net.run(12);
  const auto ports = net.net().plan->inspect_router(net.net().engine->state(0), 0);
  EXPECT_EQ(ports[4].vcs[0].stage, "waiting");
  EXPECT_EQ(ports[4].vcs[0].out_port, 0u);
  EXPECT_EQ(ports[4].vcs[0].id, 1u);
  EXPECT_EQ(ports[0].vcs[0].owner_port, 1u);
  EXPECT_EQ(ports[0].vcs[0].credits, 0u);
  EXPECT_EQ(ports[1].vcs[0].stage, "idle");
  EXPECT_EQ(net.net().plan->inspect_terminal(net.net().engine->state(0), 4).queued, 1u);
  const auto figures = net.net().plan->figures({}, net.net().engine->state(0));
  EXPECT_EQ(figures.at("messages_switched"), 1);
  EXPECT_EQ(figures.at("head_wait_cycles"), 0);
}

}  // namespace
}  // namespace flitlab::switch_router_test
