/// The special network of the T3E: hand-derived routes and clocks, losses, and the registers that it reaches.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "host/routers/t3e/registers.hpp"
#include "host/run/stepped.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"
#include "tests/support/t3e/special.hpp"

namespace flitlab::t3e_special_test {
namespace {

using namespace testing;
using testing::t3e_special::Stepped;
using testing::t3e_special::stepped;

/// Returns the routers that special packets have left for another router, in order.
std::vector<u32> way(Stepped& net) {
  std::vector<u32> nodes;
  for (const TimedEvent& e : net.take_events())
    if (e.event.kind == EventKind::kOwn && e.event.out_port != t3e::kNodePort) nodes.push_back(e.index);
  return nodes;
}

/// A special put takes 7 clocks from the PE to its router and 3 for each hop. The register is written in the clock of
/// arrival.
TEST(T3eSpecial, APutTakesThreeClocksAHop) {
  for (int hops : {0, 1, 2, 5}) {
    Stepped net = stepped();
    net.special_put(0, {hops, 0, 0, 0, 0, 0}, "R_SW", 77);
    net.step(static_cast<u32>(7 + 3 * hops));
    EXPECT_EQ(net.read_register(static_cast<u32>(hops % 4), "R_SW"), 0u) << hops;
    net.step(1);
    EXPECT_EQ(net.read_register(static_cast<u32>(hops % 4), "R_SW"), 77u) << hops;
  }
}

/// A special get and its answer, which is routed by register R_SGET_RTRN. The answer takes 10 clocks from the pins to
/// the PE. A slower router adds clocks at every hop.
TEST(T3eSpecial, AGetIsAnsweredByTheReturnRegister) {
  for (int delay : {3, 1, 8}) {
    Stepped net = stepped(Settings("special.router_delay=", delay));
    net.write_register(5, "R_SW", 0xFEDCBA9876543210);
    net.write_register(5, "R_SGET_RTRN", u64{0xFE} | u64{1} << 24 | u64{0xFF} << 32);  // X - 2, X + 1, Y - 1
    const u32 ticket = net.special_get(0, {1, 1, 0, 0, 0, 0}, "R_SW");
    net.step(static_cast<u32>(17 + delay * 6 + 1));
    const auto answers = net.special_answers();
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].ticket, ticket);
    EXPECT_EQ(answers[0].node, 0u);
    EXPECT_EQ(answers[0].value, 0xFEDCBA9876543210);
    EXPECT_EQ(answers[0].cycle, static_cast<Cycle>(17 + delay * 6));
    EXPECT_TRUE(net.special_answers().empty());
  }
}

TEST(T3eSpecial, AnAnswerFollowsTheReturnRegister) {
  Stepped net = stepped();
  // Node 1, whose R_SGET_RTRN is zero, sends the answer to its own PE.
  net.special_get(0, {1, 0, 0, 0, 0, 0}, "R_PWHO");
  net.step(40);
  const auto answers = net.special_answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].node, 1u);
  EXPECT_EQ(answers[0].value, 1u);
}

/// Special packets take their primary deltas before the secondary ones, and X before Y before Z (manual, Special
/// Routing Path).
TEST(T3eSpecial, DeltasAreTakenInTheirOrder) {
  const auto node = [](u32 x, u32 y, u32 z) { return x + 2 * (y + 4 * z); };
  Stepped net = stepped(Settings("topology.shape=[2,4,3]"), true);
  net.special_put(0, {0, 2, 1, 1, -1, 1}, "R_SW", 45);
  net.step(40);
  EXPECT_EQ(way(net), (std::vector<u32>{0, node(0, 1, 0), node(0, 2, 0), node(0, 2, 1), node(1, 2, 1), node(1, 1, 1)}));
  EXPECT_EQ(net.read_register(node(1, 1, 2), "R_SW"), 45u);
}

/// Two packets request +X of node 1 in the same clock: the one from node 0 continues, the one from the PE is lost.
/// A clock earlier or later both continue.
TEST(T3eSpecial, OfTwoPacketsAtAPortOneIsLost) {
  for (u32 wait : {2u, 3u, 4u}) {
    Stepped net = stepped();
    net.special_put(0, {2, 0, 0, 0, 0, 0}, "R_SW", 10);
    net.step(wait);
    net.special_put(1, {1, 1, 0, 0, 0, 0}, "R_SW", 11);
    net.step(40);
    EXPECT_EQ(net.read_register(2, "R_SW"), 10u);
    EXPECT_EQ(net.read_register(6, "R_SW"), wait == 3 ? 0u : 11u);
    EXPECT_EQ(net.totals().at("special_lost"), wait == 3 ? 1u : 0u);
    EXPECT_EQ(net.totals().at("special_arrived"), wait == 3 ? 1u : 2u);
  }
}

/// Two answers that reach one PE in the same clock are two packets at one port, so one of them is lost.
TEST(T3eSpecial, OfTwoAnswersAtAPeOneIsLost) {
  Stepped net = stepped();
  net.write_register(1, "R_SGET_RTRN", 0xFF);
  net.write_register(3, "R_SGET_RTRN", 1);
  net.special_get(1, {0, 0, 0, 0, 0, 0}, "R_PWHO");
  net.special_get(3, {0, 0, 0, 0, 0, 0}, "R_PWHO");
  net.step(40);
  const auto answers = net.special_answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].value, 1u);  // arrived by port +X, which has the lower number
  EXPECT_EQ(net.totals().at("special_lost"), 1u);
}

TEST(T3eSpecial, OpenLinksLosePackets) {
  Stepped net = stepped(Settings("topology.shape=[2,2,1]"));
  net.special_put(0, {0, 2, 0, 0, 0, 0}, "R_SW", 1);   // in Y, 2 nodes have one link
  net.special_put(0, {0, 0, -1, 0, 0, 0}, "R_SW", 1);  // in Z, 1 node has no link
  net.special_put(0, {2, 1, 0, 0, 0, 0}, "R_SW", 1);   // in X, 2 hops lead round the ring
  net.step(40);
  EXPECT_EQ(net.totals().at("special_sent"), 3u);
  EXPECT_EQ(net.totals().at("special_lost"), 2u);
  EXPECT_EQ(net.read_register(2, "R_SW"), 1u);
}

/// A broken link carries nothing from the cycle in which it breaks. This also holds for registers that are zero and for
/// a packet whose destination is the node at the link's far end. All links of a dead node are broken. The detour by Y -
/// 1 works.
TEST(T3eSpecial, BrokenLinksLosePackets) {
  for (int cycle : {0, 20}) {
    const IntList links{0, 0}, nodes{4};  // +X of node 0; all links of node (0,1,0)
    Stepped net = stepped({{"boot.state", word(cycle ? "loaded" : "cold")},
                           {"topology.plus_ports", IntList{0, 0, 0}},  // R_ORIENT = 0 matches the wiring
                           {"faults.links", links},
                           {"faults.nodes", nodes},
                           {"faults.cycle", integer(cycle)}});
    const auto send = [&](u64 value) {
      net.special_put(0, {1, 0, 0, 0, 0, 0}, "R_SW", value);
      net.special_put(0, {0, 1, 0, 0, 0, 0}, "R_SW", value);
      net.special_put(0, {0, -1, 0, 1, 0, 0}, "R_SW", value);
      net.step(20);
    };
    const u32 ends[] = {1, 4, 13};
    u64 lost = 0;
    for (u64 round : {1u, 2u}) {
      send(round);
      lost += cycle && round == 1 ? 0 : 2;
      EXPECT_EQ(net.totals().at("special_lost"), lost);
      EXPECT_EQ(net.read_register(ends[0], "R_SW"), cycle ? 1u : 0u);
      EXPECT_EQ(net.read_register(ends[1], "R_SW"), cycle ? 1u : 0u);
      EXPECT_EQ(net.read_register(ends[2], "R_SW"), round);
    }
    net.special_put(0, {0, 0, 0, 0, 0, 0}, "R_ORIENT", 1);
    net.step(60);
    for (u32 node = 0; node < 32; ++node) EXPECT_EQ(net.read_register(node, "R_ORIENT"), node == 4 ? 0u : 1u) << node;
  }
}

/// A router does not forward packets that arrive on an ignored channel; it takes them itself (manual, Table 10).
TEST(T3eSpecial, IgnoredChannelsPassNothingOn) {
  Stepped net = stepped();
  net.write_register(1, "R_CHAN3", 2);
  net.special_put(0, {1, 0, 0, 0, 0, 0}, "R_SW", 1);
  net.special_put(0, {2, 0, 0, 0, 0, 0}, "R_SW", 1);
  net.special_put(0, {-2, 0, 0, 0, 0, 0}, "R_SW", 2);
  net.special_put(5, {0, -1, 0, 1, 0, 0}, "R_LWHO", 9);  // through node 1, but by another channel
  net.step(40);
  EXPECT_EQ(net.read_register(1, "R_SW"), 1u);
  EXPECT_EQ(net.read_register(2, "R_SW"), 2u);
  EXPECT_EQ(net.read_register(2, "R_LWHO"), 9u);
  EXPECT_EQ(net.totals().at("special_lost"), 1u);
  net.write_register(0, "R_CHAN6", 2);  // the channel of the PE
  net.special_put(0, {-2, 0, 0, 0, 0, 0}, "R_SW", 3);
  net.step(40);
  EXPECT_EQ(net.read_register(2, "R_SW"), 2u);
  EXPECT_EQ(net.totals().at("special_lost"), 2u);
}

/// R_ORIENT reverses a dimension in all nodes. The hardware propagates a write of R_ORIENT, 3 clocks per hop.
TEST(T3eSpecial, OrientationTurnsADimensionRound) {
  Stepped net = stepped();
  net.special_put(0, {0, 0, 0, 0, 0, 0}, "R_ORIENT", 3);
  net.step(7 + 3 * 5);                                            // the farthest node is 5 hops away
  EXPECT_EQ(net.read_register(2 + 4 * (2 + 4), "R_ORIENT"), 2u);  // the value that the wiring requires
  net.step(1);
  for (u32 n = 0; n < 32; ++n) EXPECT_EQ(net.read_register(n, "R_ORIENT"), 3u);
  net.write_register(3, "R_CHAN3", 2);  // -X is now port X0, at which packets that travel in +X arrive
  net.special_put(0, {1, 1, 0, 0, 0, 0}, "R_SW", 1);
  net.special_put(0, {0, 1, 0, 1, 0, 0}, "R_SW", 2);
  net.step(40);
  EXPECT_EQ(net.totals().at("special_lost"), 1u);
  EXPECT_EQ(net.read_register(3 + 4, "R_SW"), 2u);
}

/// The host rejects bits that a register does not have, and names and deltas that do not exist.
TEST(T3eSpecial, BadRequestsAreNamed) {
  Stepped net = stepped();
  EXPECT_THROW(net.special_put(0, {}, "R_CHAN9", 0), ConfigError);
  EXPECT_THROW(net.special_put(0, {}, "R_ORIENT", 8), ConfigError);
  EXPECT_THROW(net.special_put(0, {0, 128, 0, 0, 0, 0}, "R_SW", 0), ConfigError);
  EXPECT_THROW(net.special_get(32, {}, "R_SW"), ConfigError);
  Stepped none(experiment("router.kind=t3e"), "cpu", 1, false);
  EXPECT_THROW(none.special_get(0, {}, "R_SW"), ConfigError);
}

/// Special packets can write every register of another node and read it back, and no other register changes.
TEST(T3eSpecial, ReachesAllRegisters) {
  Stepped net = stepped();
  constexpr u32 kNode = 1 + 4 * (1 + 4);
  std::map<std::string, u64> written{{"R_ORIENT", 2}, {"R_SGET_RTRN", 0xFFFFFF}};
  net.special_put(0, {1, 1, 1, 0, 0, 0}, "R_SGET_RTRN", 0xFFFFFF);
  std::map<u32, u64> expected;
  for (const std::string& name : t3e::register_names()) {
    if (written.contains(name)) continue;
    const u32 number = t3e::register_number(name);
    const bool lwho = number == t3e::kLwho || number == t3e::kWhoami;  // one register with two names
    const u64 value = lwho ? 17 : (0x0123456789ABCDEFu * (number + 1)) & t3e::register_bits(number);
    net.special_put(0, {1, 1, 1, 0, 0, 0}, name, value);
    expected[net.special_get(0, {1, 1, 1, 0, 0, 0}, name)] = written[name] = value;
  }
  net.step(1500);
  const auto answers = net.special_answers();
  ASSERT_EQ(answers.size(), expected.size());
  for (const t3e::TimedAnswer& a : answers) EXPECT_EQ(a.value, expected.at(a.ticket)) << a.ticket;
  EXPECT_EQ(net.read_registers(kNode), written);
  EXPECT_EQ(net.read_registers(kNode - 1), stepped().read_registers(kNode - 1));
}

/// A write of all ones shows which bits a register has. The manual gives them in Tables 1 to 5 (R_ORIENT, R_PWHO,
/// R_LWHO), 10 (R_CHAN: links 0 to 5 have four bits) and 18 (R_VCSEL). R_SGET_RTRN has a byte for each of six deltas.
TEST(T3eSpecial, RegistersHaveTheManualsBits) {
  const std::map<std::string, u64> bits{{"R_ORIENT", 0x7},
                                        {"R_PWHO", 0xF1F07},
                                        {"R_LWHO", 0xFFF},
                                        {"R_CHAN0", 0xF},
                                        {"R_CHAN5", 0xF},
                                        {"R_CHAN6", 0x3},
                                        {"R_CHAN7", 0x3},
                                        {"R_VCSEL0", 0x1'0000'00FF},
                                        {"R_VCSEL5", 0x1'0000'00FF},
                                        {"R_NET_LUT0", 0x7FFFF},
                                        {"R_SGET_RTRN", 0xFFFF'FFFF'FFFF}};
  for (const auto& [name, all] : bits) {
    t3e::Registers registers{};
    t3e::SoftwareRegisters software{};
    t3e::Tag lut = 0;
    const u32 number = t3e::register_number(name);
    t3e::write_register(registers, software, lut, 5, number, ~u64{0});
    EXPECT_EQ(t3e::read_register(registers, software, lut, 5, number), all) << name;
    EXPECT_EQ(t3e::register_bits(number), all) << name;
  }
}

}  // namespace
}  // namespace flitlab::t3e_special_test
