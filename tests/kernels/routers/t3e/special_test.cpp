/// The special network of the T3E: hand-derived ways and clocks, what is lost, and that nothing else holds it up.
#include <gtest/gtest.h>

#include <random>

#include "host/routers/t3e/plan.hpp"
#include "host/routers/t3e/registers.hpp"
#include "host/routers/t3e/special_feed.hpp"
#include "host/run/run.hpp"
#include "host/run/stepped.hpp"
#include "kernels/common/error.hpp"
#include "kernels/engines/make_engine.hpp"
#include "kernels/routers/t3e/totals.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::t3e_special_test {
namespace {

using t3e::Deltas;
using testing::experiment;
using testing::integer;
using testing::Network;
using testing::trials;
using testing::word;

/// 4 x 4 x 2 nodes without traffic unless it is asked for.
Experiment special_machine(RawConfig changes = {}) {
  changes["router.kind"] = std::string("t3e");
  changes["special.enabled"] = true;
  if (!changes.contains("traffic.load") && !changes.contains("traffic.mode")) changes["traffic.load"] = 0.0;
  return experiment(changes);
}

/// A network with the operations of its console.
struct Stepped : SteppedNetwork {
  using SteppedNetwork::SteppedNetwork;

  static Datum list_of(const Deltas& deltas) { return Datum::List(deltas.begin(), deltas.end()); }
  u64 read_register(u32 node, const std::string& name) {
    return std::get<u64>(call("read_register", {{"node", node}, {"name", name}}).value);
  }
  std::map<std::string, u64> read_registers(u32 node) {
    std::map<std::string, u64> all;
    const Datum values = call("registers", {{"node", node}});
    for (const auto& [name, value] : std::get<Datum::Map>(values.value)) all[name] = std::get<u64>(value.value);
    return all;
  }
  void write_register(u32 node, const std::string& name, u64 value) {
    call("write_register", {{"node", node}, {"name", name}, {"value", value}});
  }
  void special_put(u32 node, const Deltas& deltas, const std::string& name, u64 value) {
    call("special_put", {{"node", node}, {"deltas", list_of(deltas)}, {"name", name}, {"value", value}});
  }
  u32 special_get(u32 node, const Deltas& deltas, const std::string& name) {
    const Datum ticket = call("special_get", {{"node", node}, {"deltas", list_of(deltas)}, {"name", name}});
    return static_cast<u32>(std::get<u64>(ticket.value));
  }
  std::vector<t3e::TimedAnswer> special_answers() {
    std::vector<t3e::TimedAnswer> answers;
    const Datum list = call("special_answers", {});
    for (const Datum& answer : std::get<Datum::List>(list.value)) {
      const auto& parts = std::get<Datum::Map>(answer.value);
      const auto part = [&](std::size_t i) { return std::get<u64>(parts[i].second.value); };
      answers.push_back({static_cast<u32>(part(0)), static_cast<u32>(part(1)), part(2), static_cast<Cycle>(part(3))});
    }
    return answers;
  }
};

Stepped stepped(const RawConfig& changes = {}, bool trace = false) {
  return Stepped(special_machine(changes), "cpu", 1, trace);
}

/// Routers that special packets have left by a port to another router, in order.
std::vector<u32> way(Stepped& net) {
  std::vector<u32> nodes;
  for (const TimedEvent& e : net.take_events())
    if (e.event.kind == EventKind::kOwn && e.event.out_port != t3e::kNodePort) nodes.push_back(e.index);
  return nodes;
}

/// From the PE to its router 7 clocks, 3 to each next one; the register is written in the clock of arrival.
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

/// There and back by R_SGET_RTRN, and 10 clocks from the pins to the PE. A slower router counts at every hop.
TEST(T3eSpecial, AGetIsAnsweredByTheReturnRegister) {
  for (int delay : {3, 1, 8}) {
    Stepped net = stepped({{"special.router_delay", integer(delay)}});
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

TEST(T3eSpecial, AnAnswerGoesWhereTheRegisterSays) {
  Stepped net = stepped();
  net.special_get(0, {1, 0, 0, 0, 0, 0}, "R_PWHO");  // node 1, whose R_SGET_RTRN is zero: to its own PE
  net.step(40);
  const auto answers = net.special_answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].node, 1u);
  EXPECT_EQ(answers[0].value, 1u);
}

/// Primary deltas before secondary ones, X before Y before Z (manual, Special Routing Path).
TEST(T3eSpecial, DeltasAreTakenInTheirOrder) {
  const auto node = [](u32 x, u32 y, u32 z) { return x + 2 * (y + 4 * z); };
  Stepped net = stepped({{"topology.shape", IntList{2, 4, 3}}}, true);
  net.special_put(0, {0, 2, 1, 1, -1, 1}, "R_SW", 45);
  net.step(40);
  EXPECT_EQ(way(net), (std::vector<u32>{0, node(0, 1, 0), node(0, 2, 0), node(0, 2, 1), node(1, 2, 1), node(1, 1, 1)}));
  EXPECT_EQ(net.read_register(node(1, 1, 2), "R_SW"), 45u);
}

/// Two packets want +X of node 1 in the same clock: the one from node 0 goes on, the one from the PE is lost. A clock
/// earlier or later both go.
TEST(T3eSpecial, OfTwoAtAPortOneIsLost) {
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

/// Two answers for one PE in the same clock are two packets at one port.
TEST(T3eSpecial, OfTwoAnswersAtAPeOneIsLost) {
  Stepped net = stepped();
  net.write_register(1, "R_SGET_RTRN", 0xFF);
  net.write_register(3, "R_SGET_RTRN", 1);
  net.special_get(1, {0, 0, 0, 0, 0, 0}, "R_PWHO");
  net.special_get(3, {0, 0, 0, 0, 0, 0}, "R_PWHO");
  net.step(40);
  const auto answers = net.special_answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].value, 1u);  // by port +X, the lower number
  EXPECT_EQ(net.totals().at("special_lost"), 1u);
}

TEST(T3eSpecial, OpenLinksLosePackets) {
  Stepped net = stepped({{"topology.shape", IntList{2, 2, 1}}});
  net.special_put(0, {0, 2, 0, 0, 0, 0}, "R_SW", 1);   // Y = 2 has one link
  net.special_put(0, {0, 0, -1, 0, 0, 0}, "R_SW", 1);  // Z = 1 has none
  net.special_put(0, {2, 1, 0, 0, 0, 0}, "R_SW", 1);   // X = 2 is a ring
  net.step(40);
  EXPECT_EQ(net.totals().at("special_sent"), 3u);
  EXPECT_EQ(net.totals().at("special_lost"), 2u);
  EXPECT_EQ(net.read_register(2, "R_SW"), 1u);
}

/// A broken link carries nothing from the cycle on in which it breaks, even if registers are zero and a packet ends at
/// its far end. All links of a dead node are broken. The detour by Y - 1 works.
TEST(T3eSpecial, BrokenLinksLosePackets) {
  for (int cycle : {0, 20}) {
    const IntList links{0, 0}, nodes{4};  // +X of node 0; node (0,1,0)
    Stepped net = stepped({{"boot.state", word(cycle ? "loaded" : "cold")},
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

/// What comes in on the channel is not passed on, but is taken by the node itself (manual, Table 10).
TEST(T3eSpecial, IgnoredChannelsPassNothingOn) {
  Stepped net = stepped();
  net.write_register(1, "R_CHAN3", 2);
  net.special_put(0, {1, 0, 0, 0, 0, 0}, "R_SW", 1);
  net.special_put(0, {2, 0, 0, 0, 0, 0}, "R_SW", 1);
  net.special_put(0, {-2, 0, 0, 0, 0, 0}, "R_SW", 2);
  net.special_put(5, {0, -1, 0, 1, 0, 0}, "R_LWHO", 9);  // through node 1, by another channel
  net.step(40);
  EXPECT_EQ(net.read_register(1, "R_SW"), 1u);
  EXPECT_EQ(net.read_register(2, "R_SW"), 2u);
  EXPECT_EQ(net.read_register(2, "R_LWHO"), 9u);
  EXPECT_EQ(net.totals().at("special_lost"), 1u);
  net.write_register(0, "R_CHAN6", 2);  // the PE's
  net.special_put(0, {-2, 0, 0, 0, 0, 0}, "R_SW", 3);
  net.step(40);
  EXPECT_EQ(net.read_register(2, "R_SW"), 2u);
  EXPECT_EQ(net.totals().at("special_lost"), 2u);
}

/// R_ORIENT turns a dimension round, in all nodes: the hardware tells them, 3 clocks a hop.
TEST(T3eSpecial, OrientationTurnsADimensionRound) {
  Stepped net = stepped();
  net.special_put(0, {0, 0, 0, 0, 0, 0}, "R_ORIENT", 1);
  net.step(7 + 3 * 5);  // the farthest node is 5 hops away
  EXPECT_EQ(net.read_register(2 + 4 * (2 + 4), "R_ORIENT"), 0u);
  net.step(1);
  for (u32 n = 0; n < 32; ++n) EXPECT_EQ(net.read_register(n, "R_ORIENT"), 1u);
  net.write_register(3, "R_CHAN3", 2);  // -X is now port X0, by which a packet comes that travels +X
  net.special_put(0, {1, 1, 0, 0, 0, 0}, "R_SW", 1);
  net.special_put(0, {0, 1, 0, 1, 0, 0}, "R_SW", 2);
  net.step(40);
  EXPECT_EQ(net.totals().at("special_lost"), 1u);
  EXPECT_EQ(net.read_register(3 + 4, "R_SW"), 2u);
}

/// Bits that a register does not have are refused by the host; so are names and deltas that do not exist.
TEST(T3eSpecial, BadRequestsAreNamed) {
  Stepped net = stepped();
  EXPECT_THROW(net.special_put(0, {}, "R_CHAN9", 0), ConfigError);
  EXPECT_THROW(net.special_put(0, {}, "R_ORIENT", 8), ConfigError);
  EXPECT_THROW(net.special_put(0, {0, 128, 0, 0, 0, 0}, "R_SW", 0), ConfigError);
  EXPECT_THROW(net.special_get(32, {}, "R_SW"), ConfigError);
  Stepped none(experiment({{"router.kind", word("t3e")}}), "cpu", 1, false);
  EXPECT_THROW(none.special_get(0, {}, "R_SW"), ConfigError);
}

/// Every register can be written and read back from afar, and no other is touched.
TEST(T3eSpecial, ReachesAllRegisters) {
  Stepped net = stepped();
  constexpr u32 kNode = 1 + 4 * (1 + 4);
  std::map<std::string, u64> written{{"R_ORIENT", 0}, {"R_SGET_RTRN", 0xFFFFFF}};
  net.special_put(0, {1, 1, 1, 0, 0, 0}, "R_SGET_RTRN", 0xFFFFFF);
  std::map<u32, u64> asked;
  for (const std::string& name : t3e::register_names()) {
    if (written.contains(name)) continue;
    const u32 number = t3e::register_number(name);
    const bool lwho = number == t3e::kLwho || number == t3e::kWhoami;  // one register with two names
    const u64 value = lwho ? 17 : (0x0123456789ABCDEFu * (number + 1)) & t3e::register_bits(number);
    net.special_put(0, {1, 1, 1, 0, 0, 0}, name, value);
    asked[net.special_get(0, {1, 1, 1, 0, 0, 0}, name)] = written[name] = value;
  }
  net.step(1500);
  const auto answers = net.special_answers();
  ASSERT_EQ(answers.size(), asked.size());
  for (const t3e::TimedAnswer& a : answers) EXPECT_EQ(a.value, asked.at(a.ticket)) << a.ticket;
  EXPECT_EQ(net.read_registers(kNode), written);
  EXPECT_EQ(net.read_registers(kNode - 1), stepped().read_registers(kNode - 1));
}

/// All ones leave the bits that the manual gives a register: Tables 1 to 5 (R_ORIENT, R_PWHO, R_LWHO), 10 (R_CHAN:
/// links 0 to 5 have four bits), 18 (R_VCSEL). R_SGET_RTRN has a byte for each of six deltas.
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
    t3e::write_register(registers, software, lut, number, ~u64{0});
    EXPECT_EQ(t3e::read_register(registers, software, lut, number), all) << name;
    EXPECT_EQ(t3e::register_bits(number), all) << name;
  }
}

/// Neither a full network nor a deadlocked one holds special packets up (paper, section 8).
TEST(T3eSpecial, ADeadlockDoesNotStopIt) {
  Stepped net = stepped({{"topology.shape", IntList{8, 4, 2}},
                         {"routing.adaptive", false},
                         {"routing.vc_select", word("time_of_crossing")},
                         {"traffic.pattern", word("tornado")},
                         {"traffic.packet_flits", integer(10)},
                         {"traffic.load", 1.0}});
  const auto asked = [&net] {
    net.special_put(0, {2, 1, 0, 0, 0, 0}, "R_SGET_RTRN", u64{0xFFFE});
    net.special_get(0, {2, 1, 0, 0, 0, 0}, "R_SW");
    const u64 now = net.cycle();
    net.step(60);
    const auto answers = net.special_answers();
    return answers.empty() ? 0 : answers[0].cycle - now;
  };
  net.step(500);
  EXPECT_EQ(asked(), 1u + 17 + 3 * 6);  // at full load
  for (u32 n = 0; n < 64; ++n)
    for (u32 d = 0; d < 6; ++d) net.write_register(n, "R_VCSEL" + std::to_string(d), 0);
  net.step(3000);
  const u64 moves = net.totals().at("flit_moves");
  net.step(500);
  ASSERT_EQ(net.totals().at("flit_moves"), moves);
  EXPECT_EQ(asked(), 1u + 17 + 3 * 6);
}

/// A special packet takes its clock of the link from the flits.
TEST(T3eSpecial, ItTakesItsClockOfTheLink) {
  for (u32 start : {0u, 5u, 30u}) {  // a put a clock from `start` on
    const testing::TextFile trace("0,0,1,10\n");
    Stepped net =
        stepped({{"traffic.mode", word("trace")}, {"traffic.trace_file", trace.path}, {"routing.adaptive", false}});
    net.step(start);
    for (u32 i = 0; i < 4; ++i) net.special_put(0, {1, 0, 0, 0, 0, 0}, "R_SW", 1);
    net.step(200);
    // 29 clocks without them. The flits want the link in clocks 7 to 16.
    EXPECT_EQ(net.totals().at("latency_sum"), start == 30 ? 29u : 33u) << start;
  }
}

/// A machine whose PEs send puts and gets to random places, of registers that other nodes read.
struct Storm {
  explicit Storm(EngineChoice choice)
      : plan(make_plan(special_machine({{"traffic.load", 0.4}, {"barrier.units", integer(2)}}))),
        engine(plan->make_engine({special_machine({{"traffic.load", 0.4}, {"barrier.units", integer(2)}})}, choice)),
        feed(std::make_unique<t3e::SpecialFeed>(plan->topology().terminals)) {}

  /// At most kSpecialRing cycles in one go, so that threads meet inside them.
  void step(u32 cycles) {
    for (u32 i = 0; i < cycles; ++i)
      for (u32 pe = 0; pe < 32; ++pe) {
        if (random() % 2) continue;
        Deltas deltas;
        for (int& d : deltas) d = static_cast<int>(random() % 5) - 2;
        switch (random() % 4) {
          case 0: feed->get(pe, deltas, "R_LWHO"); break;
          case 1: feed->put(pe, deltas, "R_LWHO", random() % 32); break;
          case 2: feed->put(pe, deltas, "R_SGET_RTRN", random() & 0x010101010101); break;
          default: feed->put(pe, deltas, random() % 8 ? "R_SW" : "R_ORIENT", random() % 8); break;
        }
      }
    run(cycles);
  }
  void run(u32 cycles) {
    const u32 only[] = {0};
    feed->exchange(*engine);
    engine->advance(cycles, only);
  }
  u64 total(TotalIndex t) { return engine->counters(0).total[t.value]; }

  std::unique_ptr<Plan> plan;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<t3e::SpecialFeed> feed;
  std::mt19937 random{1};
};

TEST(T3eSpecial, PacketsAreConserved) {
  Storm storm({"cpu", 1, false, 1});
  for (int i = 0; i < 20; ++i) {
    storm.step(17);
    check_conservation(*storm.engine, *storm.plan, 0);
  }
  EXPECT_GT(storm.total(t3e::Count::kSpecialLost), 500u);
  EXPECT_GT(storm.total(t3e::Count::kSpecialArrived), 500u);
  EXPECT_LT(storm.total(t3e::Count::kSpecialLost) + storm.total(t3e::Count::kSpecialArrived),
            storm.total(t3e::Count::kSpecialSent));
  for (int i = 0; i < 10; ++i) storm.run(40);
  EXPECT_EQ(storm.total(t3e::Count::kSpecialLost) + storm.total(t3e::Count::kSpecialArrived),
            storm.total(t3e::Count::kSpecialSent));
}

TEST(T3eSpecial, AStolenPacketIsFound) {
  Storm storm({"cpu", 1, false, 1});
  storm.step(50);
  std::vector<std::byte> state = storm.engine->state(0);
  const auto& plan = dynamic_cast<const T3ePlan&>(*storm.plan);
  const Items<1> routers{state.data(), plan.layout().kinds[0].item_bytes};
  for (u32 node = 0, stolen = 0; !stolen; ++node)
    for (u32 slot = 0; slot <= plan.table().slot_mask && !stolen; ++slot)
      stolen = std::exchange(routers[node].at(plan.table().special_fields.mail, slot), 0) != 0;
  storm.engine->set_state(0, state);
  EXPECT_THROW(check_conservation(*storm.engine, *storm.plan, 0), RunError);
}

/// Registers are written while other nodes read them; neither threads nor the layout may show.
TEST(T3eSpecial, IdentityOfThreadsAndLayouts) {
  Storm one({"cpu", 1, false, 1}), two({"cpu", 2, false, 1}), three({"cpu", 3, false, 1}),
      wide({"cpu", 2, false, 1, 32}), traced({"cpu", 1, true, 1});
  for (u32 epoch = 0; epoch < trials(20); ++epoch) {
    for (Storm* storm : {&one, &two, &three, &wide, &traced}) storm->step(60);
    for (Storm* storm : {&two, &three, &wide, &traced}) {
      ASSERT_EQ(storm->engine->state_hash(0), one.engine->state_hash(0)) << epoch;
      for (u32 i = 0; i < kTotals; ++i) ASSERT_EQ(storm->total(TotalIndex(i)), one.total(TotalIndex(i))) << i;
    }
    traced.engine->take_events(0);
  }
  const auto answers = one.feed->take_answers(), others = wide.feed->take_answers();
  ASSERT_EQ(answers.size(), others.size());
  ASSERT_GT(answers.size(), trials(20));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].ticket, others[i].ticket);
    EXPECT_EQ(answers[i].value, others[i].value);
  }
}

/// The same with a GPU.
TEST(T3eSpecial, IdentityOfGpuAndCpu) {
  if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << "needs a GPU: " << why;
  Storm cpu({"cpu", 1, false, 1}), gpu({"cuda", 1, false, 1});
  for (Storm* storm : {&cpu, &gpu}) storm->step(200);
  ASSERT_EQ(cpu.engine->state_hash(0), gpu.engine->state_hash(0));
}

/// More requests and answers than the rings hold, over a stop and a checkpoint.
TEST(T3eSpecial, RequestsAndAnswersSurviveACheckpoint) {
  Stepped whole = stepped(), first = stepped(), second = stepped();
  for (Stepped* net : {&whole, &first})
    for (u32 i = 0; i < 300; ++i) net->special_get(4, {0, 0, 0, 0, 0, 0}, "R_PWHO");
  whole.step(400);
  first.step(101);
  second.go_on_from(first);
  second.step(299);
  EXPECT_EQ(whole.state_hash(), second.state_hash());
  const auto a = whole.special_answers(), b = second.special_answers();
  ASSERT_EQ(a.size(), 300u);
  ASSERT_EQ(b.size(), 300u);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].cycle, b[i].cycle);
  EXPECT_EQ(a[299].cycle, 299u + 17);
}

}  // namespace
}  // namespace flitlab::t3e_special_test
