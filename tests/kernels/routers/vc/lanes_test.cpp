/// Canonical routers in lane state (up to 64 routers per lane block) against scalar state (one router at a time): after
/// every cycle both have the same state, bit by bit, and the same counts.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>

#include "host/routers/vc/plan.hpp"
#include "kernels/engines/arena.hpp"
#include "kernels/routers/vc/lanes/lanes.hpp"
#include "tests/support/build.hpp"
#include "tests/support/fields.hpp"
#include "tests/support/plain_routers.hpp"
#include "tests/support/same.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::vc_lanes_test {
namespace {

using namespace testing;

/// Returns the vector widths of this processor; 64 is always included.
std::vector<u32> widths() {
  std::vector<u32> list;
  for (u32 width : {16u, 32u, 64u}) {
    setenv("FLITLAB_LANES", std::to_string(width).c_str(), 1);
    if (vc::lanes::code_for({vc::lanes::TableKind::kFixed, vc::lanes::Room::kTight, 8, 5}).width == width)
      list.push_back(width);
  }
  unsetenv("FLITLAB_LANES");
  return list;
}

/// Routers run a lookahead of several cycles without synchronisation. Flits and credits sent in a lookahead are read
/// after its end, and no flit or credit overwrites a slot that a slower router has yet to read.
TEST(VcLanes, RoutersRunIndependentlyForALinksDelay) {
  const auto of = [](u32 link, u32 credit, u32 slots) {
    vc::VcTable t{};
    t.link_delay = link;
    t.credit_delay = credit;
    t.slot_mask = slots - 1;
    return vc::lanes::lookahead_of(t);
  };
  const auto is = [](vc::lanes::Lookahead found, u32 cycles, u32 slots) {
    return found.cycles == cycles && found.slots == slots;
  };
  EXPECT_TRUE(is(of(3, 3, 4), 3, 8));  // the defaults
  EXPECT_TRUE(is(of(3, 1, 4), 1, 4));  // credit_delay 1: credits limit the lookahead to one cycle
  EXPECT_TRUE(is(of(2, 5, 8), 2, 8));
  EXPECT_TRUE(is(of(10, 9, 16), 6, 16));  // the number of slots is not doubled, since twice as many would be too many
  EXPECT_TRUE(is(of(40, 30, 64), 24, 64));
  for (u32 link = 1; link < 70; ++link)
    for (u32 credit = 1; credit < 70; ++credit) {
      const vc::lanes::Lookahead found = of(link, credit, std::bit_ceil(std::max(link, credit) + 1));
      for (u32 delay : {link, credit})
        for (u32 sent = 0; sent < found.cycles; ++sent) {
          ASSERT_GE(sent + delay, found.cycles);  // the flit or credit is read in a later lookahead
          // The previous content of the slot was read in an earlier lookahead.
          ASSERT_LT(static_cast<i32>(sent + delay) - static_cast<i32>(found.slots), 0) << link << ", " << credit;
        }
      ASSERT_EQ(std::popcount(found.slots), 1);
    }
}

/// With channels of different delays, the shortest delay of a flit or credit limits the lookahead, and slots are kept
/// for the longest.
TEST(VcLanes, ChannelsLimitTheLookahead) {
  const auto plan = make_plan(experiment("topology.kind=mesh topology.shape=[4,4] topology.channel_delay=[2,9]"));
  const vc::VcTable& t = dynamic_cast<const VcPlan&>(*plan).table();
  const vc::lanes::Lookahead found = vc::lanes::lookahead_of(t);
  // A flit takes 2 cycles from the switch to the channel, a credit 3 in all, and both the channel's delay more (a
  // credit one less): 4 and 11 cycles on these channels.
  EXPECT_EQ(found.cycles, 4u);
  EXPECT_GE(found.slots, 4u + 11u);
}

EngineChoice with(LaneUse lanes, u32 threads = 1, u32 grain = 2048) {
  EngineChoice choice{"cpu", threads, false, grain};
  choice.lanes = lanes;
  return choice;
}

bool has_lanes(const Plan& plan) {
  return vc::lanes::Lanes<vc::VcTable>::fits(dynamic_cast<const VcPlan&>(plan).table());
}

void expect_same(const Network& a, const Network& b, const std::string& where) {
  SCOPED_TRACE(where);
  expect_the_same(*a.engine, *b.engine);
}

/// Advances both networks cycle by cycle, then in steps of 29 cycles; in some parts it converts the state to scalar
/// form and back to lane form. All states must be the same.
void expect_same_cycles(Network& single, Network& lanes, u32 parts, const std::string& where) {
  ASSERT_TRUE(has_lanes(*lanes.plan)) << where;
  for (u32 part = 0; part < parts && !::testing::Test::HasFatalFailure(); ++part) {
    const u32 cycles = 5 * part < 4 * parts ? 1 : 29;
    single.step(cycles);
    lanes.step(cycles);
    if (part % 16 == 9) lanes.engine->set_state(0, lanes.engine->state(0));
    expect_same(single, lanes, where);
  }
}

class VcLanes : public ::testing::TestWithParam<u32> {
 protected:
  void SetUp() override { setenv("FLITLAB_LANES", std::to_string(GetParam()).c_str(), 1); }
  void TearDown() override { unsetenv("FLITLAB_LANES"); }
};

/// All options of the router. The scalar form is compared with the naive implementation (naive_test.cpp).
TEST_P(VcLanes, EveryCycleOfAnyRouterIsTheSame) {
  u64 delivered = 0;
  std::map<std::string, u64> moves;  // flits moved, by feature of the configuration
  for (u32 seed = 0; seed < trials(60); ++seed) {
    const RawConfig config = testing::any_routers(seed);
    const std::string where = "seed " + std::to_string(seed);
    SCOPED_TRACE(where);
    const Experiment e = experiment(config);
    Network single(e, with(LaneUse::kNever)), lanes(e, with(LaneUse::kAlways, seed % 5 ? 1 : 3, 1));
    expect_same_cycles(single, lanes, 60, where);
    if (HasFatalFailure()) return;
    delivered += lanes.total(Total::kPacketsDelivered);
    for (const char* what : {"router.vc_allocator", "router.switch_allocator", "router.arbiter", "topology.kind"})
      moves[std::string(what) + " " + std::get<std::string>(config.at(what))] += lanes.total(Total::kFlitMoves);
    for (const char* option : {"topology.channel_delay", "topology.channel_width"})
      moves[option] += config.contains(option) ? lanes.total(Total::kFlitMoves) : 0;
    moves["speculative"] += config.contains("router.speculative") ? lanes.total(Total::kFlitMoves) : 0;
    check_conservation(*lanes.engine, *lanes.plan, 0);
  }
  EXPECT_GT(delivered, trials(60) * 60u);
  if (trials(60) < 60) return;
  for (const auto& [what, flits] : moves) EXPECT_GT(flits, 10000u) << what;
}

TEST_P(VcLanes, EveryCycleIsTheSame) {
  u64 delivered = 0;
  std::map<std::string, u64> moves;  // flits moved in lane state, by feature of the configuration
  for (u32 seed = 0; seed < trials(60); ++seed) {
    const RawConfig config = testing::plain_routers(seed);
    const Experiment e = experiment(config);
    Network single(e, with(LaneUse::kNever)), lanes(e, with(LaneUse::kAlways));
    expect_same_cycles(single, lanes, 120, "seed " + std::to_string(seed));
    if (HasFatalFailure()) return;
    delivered += lanes.total(Total::kPacketsDelivered);
    for (const char* what : {"routing.algorithm", "router.flow_control", "traffic.mode"})
      if (const auto given = config.find(what); given != config.end())
        moves[std::get<std::string>(given->second)] += lanes.total(Total::kFlitMoves);
    check_conservation(*lanes.engine, *lanes.plan, 0);
  }
  EXPECT_GT(delivered, 10000u);
  if (trials(60) == 60) {
    for (const char* value : {"dimension_order", "o1turn", "valiant", "romm", "minimal_adaptive", "virtual_cut_through",
                              "store_and_forward", "batch", "request_reply"})
      EXPECT_GT(moves[value], 10000u) << value;
  }
}

/// The threads that share a network divide its lane blocks between them. A network changes between lane and scalar
/// state as it fills and empties. Neither changes results.
TEST_P(VcLanes, ThreadsAndFormsDoNotChangeResults) {
  for (double load : {0.02, 0.3}) {
    const Experiment e = experiment("topology.shape=[12,12] router.vcs=4 traffic.load=", load);
    Network single(e, with(LaneUse::kNever)), thread_group(e, with(LaneUse::kAlways, 3, 16)),
        busy(e, with(LaneUse::kWhenBusy, 2, 16));
    for (u32 part = 0; part < 20 && !HasFatalFailure(); ++part) {
      for (Network* net : {&single, &thread_group, &busy}) net->step(100);
      expect_same(single, thread_group, "a thread group");
      expect_same(single, busy, "when busy");
    }
  }
}

/// A finished replica is frozen and keeps its pending events while others continue.
TEST_P(VcLanes, FinishedReplicasAreFrozen) {
  std::vector<Experiment> replicas;
  for (u32 seed = 1; seed <= 3; ++seed)
    replicas.push_back(experiment("topology.shape=[6,5] router.vcs=4 run.seed=", seed, " traffic.load=0.3"));
  const auto plan = make_plan(replicas.front());
  const auto single = plan->make_engine(replicas, with(LaneUse::kNever));
  const auto lanes = plan->make_engine(replicas, with(LaneUse::kAlways));
  for (Engine* engine : {single.get(), lanes.get()}) {
    engine->advance(150, std::vector<u32>{0, 1, 2});
    engine->advance(33, std::vector<u32>{1});
  }
  for (u32 r = 0; r < 3; ++r) EXPECT_EQ(single->state_hash(r), lanes->state_hash(r)) << r;
}

/// Routing tables of a graph in which some routers have unconnected ports.
TEST_P(VcLanes, GraphsAgree) {
  const std::string edges = testing::temporary(".csv");
  {
    std::ofstream file(edges);
    for (u32 i = 0; i < 45; ++i)
      for (u32 step : {1u, 7u})
        if (step == 1 || i % 9) file << i << ',' << (i + step) % 45 << '\n';
  }
  for (const char* mode : {"open", "request_reply"}) {
    const Experiment e = experiment("topology.kind=graph topology.file=", edges,
                                    " routing.algorithm=table router.vcs=8 traffic.mode=", mode, " traffic.load=0.3");
    Network single(e, with(LaneUse::kNever)), lanes(e, with(LaneUse::kAlways));
    ASSERT_TRUE(has_lanes(*lanes.plan));
    for (u32 part = 0; part < 60 && !HasFatalFailure(); ++part) {
      single.step(10);
      lanes.step(10);
      expect_same(single, lanes, mode);
    }
    EXPECT_GT(lanes.total(Total::kPacketsDelivered), 500u);
  }
}

/// A mesh that is given as a graph keeps the rows of senders.
TEST(VcLanes, MeshesHaveFewRows) {
  const std::string edges = testing::temporary(".csv");
  {
    std::ofstream file(edges);
    for (u32 i = 0; i < 144; ++i) {
      if (i % 12 < 11) file << i << ',' << i + 1 << '\n';
      if (i < 132) file << i << ',' << i + 12 << '\n';
    }
  }
  const auto plan =
      make_plan(experiment("topology.kind=graph topology.file=", edges, " routing.algorithm=table router.vcs=8"));
  for (u32 width : {8u, 16u, 32u, 64u})
    EXPECT_FALSE(vc::lanes::has_many_rows(dynamic_cast<const VcPlan&>(*plan).table(), width)) << width;
}

/// In a network without regular structure, routers write to the rows of receivers.
TEST_P(VcLanes, IrregularNetworksAgree) {
  for (u32 seed = 0; seed < trials(12); ++seed) {
    const std::string file = testing::temporary(".csv"), where = "seed " + std::to_string(seed);
    const Experiment e = experiment(testing::irregular_routers(seed, file));
    Network single(e, with(LaneUse::kNever)), lanes(e, with(LaneUse::kAlways, seed % 2 ? 3 : 1, 1));
    const vc::VcTable& t = dynamic_cast<const VcPlan&>(*lanes.plan).table();
    const u32 width = vc::lanes::Lanes<vc::VcTable>(t).width();
    EXPECT_TRUE(width < 16 || vc::lanes::has_many_rows(t, width)) << where;  // 16 bytes may have 8 routers
    expect_same_cycles(single, lanes, 100, where);
    if (HasFatalFailure()) return;
    EXPECT_GT(lanes.total(Total::kPacketsDelivered), 100u) << where;
  }
}

/// The host hands packets of a trace to terminals while their routers have lane state.
TEST_P(VcLanes, TracesAgree) {
  const std::string trace = testing::temporary(".csv");
  {
    std::ofstream file(trace);
    std::mt19937 random(3);
    for (u32 n = 0; n < 4000; ++n) {
      file << n / 4 << ',' << random() % 64 << ',' << random() % 64 << ',' << (n % 500 ? 1 + random() % 6 : 300 + n);
      file << '\n';
    }
  }
  const Experiment e = experiment("topology.shape=[8,8] router.vcs=4 traffic.mode=trace traffic.trace_file=", trace);
  Network single(e, with(LaneUse::kNever)), lanes(e, with(LaneUse::kAlways));
  ASSERT_TRUE(has_lanes(*lanes.plan));
  // The host's exchange with terminals converts nothing.
  const ItemKind& terminal = lanes.engine->layout().kinds[1];
  const vc::lanes::Lanes<vc::VcTable> of_plan(dynamic_cast<const VcPlan&>(*lanes.plan).table());
  for (const char* field : {"trace", "trace_entry", "trace_arrival"})
    EXPECT_TRUE(of_plan.is_shared(1, terminal.field(field))) << field;
  EXPECT_FALSE(of_plan.is_shared(1, terminal.field("flit_mail")));
  for (u32 part = 0; part < 160 && !HasFatalFailure(); ++part) {
    single.step(part % 2 ? 1 : 160);
    lanes.step(part % 2 ? 1 : 160);
    if (part % 16 == 9) lanes.engine->set_state(0, lanes.engine->state(0));
    expect_same(single, lanes, "part " + std::to_string(part));
  }
  EXPECT_EQ(lanes.total(Total::kPacketsDelivered), 4000u);
}

/// A change of the load, as in a saturation search, takes effect from the next packet on: draws that were stored in
/// advance are drawn again.
TEST_P(VcLanes, LoadsChange) {
  const Experiment e = experiment("topology.shape=[8,8] router.vcs=4 traffic.load=0.1");
  Network single(e, with(LaneUse::kNever)), lanes(e, with(LaneUse::kAlways));
  u64 created = 0;
  for (double packets : {0.1, 0.02, 0.3, 0.0}) {
    ReplicaRow row = single.engine->row(0);
    row.silent = packets == 0;
    row.inverse_log_miss = packets == 0 ? 0 : 1 / std::log1p(-packets);
    for (Network* net : {&single, &lanes}) {
      net->engine->set_row(0, row);
      net->step(201);
    }
    expect_same(single, lanes, "packets a cycle: " + std::to_string(packets));
    EXPECT_GE(lanes.total(Total::kPacketsCreated), created + (packets > 0 ? 100 : 0));
    created = lanes.total(Total::kPacketsCreated);
  }
}

/// Draws for several packets at once equal the draws for single packets. This file is compiled for the narrowest
/// vectors; the tests above, which compare states, cover wider ones.
TEST(VcLanesAhead, DrawsAheadAgreeWithSingleDraws) {
  std::mt19937_64 random(7);
  u32 long_gaps = 0;
  for (u32 i = 0; i < 2000; ++i) {
    ReplicaRow row;
    row.seed = random();
    const double packets = i % 3 ? 1e-3 * static_cast<double>(1 + random() % 999) : 1e-9;
    row.inverse_log_miss = i % 50 ? 1 / std::log1p(-packets) : 0;
    const u32 terminal = static_cast<u32>(random()), packet = static_cast<u32>(random() % 2 ? random() : i);
    vc::lanes::StoredDraws stored_draws{};
    EXPECT_FALSE(stored_draws.holds(packet));
    stored_draws.draw<16>(row, row, terminal, packet);
    for (u32 j = 0; j < vc::lanes::StoredDraws::kPackets; ++j) {
      const Random4 gap = philox(row.seed, stream::kInjection, terminal, packet + j);
      const u32 trials = geometric_trials(unit_interval(gap.word[0]), row.inverse_log_miss);
      ASSERT_TRUE(stored_draws.holds(packet + j));
      ASSERT_EQ(stored_draws.gap[j], trials) << i;
      ASSERT_EQ(stored_draws.target[j], packet_draws(row, terminal, packet + j).word[0]) << i;
      long_gaps += trials == 0x7FFFFFFF;
    }
    EXPECT_FALSE(stored_draws.holds(packet + vc::lanes::StoredDraws::kPackets));
    EXPECT_FALSE(stored_draws.holds(packet - 1));
  }
  EXPECT_GT(long_gaps, 100u);
}

/// The commonest routers have closed-loop code with sizes known at compile time. Small windows and reply queues fill.
TEST_P(VcLanes, RequestsAndRepliesAreTheSame) {
  for (const char* loop : {"", " traffic.message_classes=1 traffic.window=2", " traffic.reply_queue=1",
                           " traffic.reply_delay=40 traffic.window=9 traffic.reply_flits=[[1,1.0],[9,1.0]]",
                           " traffic.packet_length=geometric traffic.reply_flits=[[1,9.0],[300,1.0]]"})
    for (const char* shape : {"[6,6]", "[3,3,4]"}) {
      const Experiment e = experiment(Settings("topology.kind=mesh topology.shape=", shape,
                                               " router.vcs=4 traffic.mode=request_reply traffic.load=0.3", loop));
      Network single(e, with(LaneUse::kNever)), lanes(e, with(LaneUse::kAlways));
      expect_same_cycles(single, lanes, 200, shape);
      EXPECT_GT(lanes.total(Total::kTransactions), 100u) << shape << loop;
    }
}

/// A network whose state was set, as from a checkpoint, continues as the original would have. A field that the host
/// changes takes effect.
TEST_P(VcLanes, StatesAndFieldsCanBeSetAndRead) {
  const Experiment e = experiment("topology.shape=[8,8] router.vcs=4 traffic.load=0.3");
  Network single(e, with(LaneUse::kNever)), lanes(e, with(LaneUse::kAlways)), later(e, with(LaneUse::kAlways));
  single.step(501);
  lanes.step(501);
  later.engine->set_state(0, lanes.engine->state(0));
  later.engine->set_counters(0, lanes.engine->counters(0));
  later.engine->set_now(lanes.engine->now());
  for (Network* net : {&single, &lanes, &later}) {
    edit<vc::OutputVc>(*net, 0, "output",
                       [](auto& all, u32) { all[21].credits = all[21].credits ? all[21].credits - 1 : 1; });
    net->step(77);
  }
  expect_same(single, lanes, "in lane state");
  expect_same(single, later, "later");
  EXPECT_NE(lanes.engine->audit(0).bits, 0u);
}

/// Changes one number of a state that an audit reads.
void damage(const vc::VcTable& t, const Placement& place, std::vector<std::byte>& state, std::mt19937& random) {
  const Item<1> router = place.items<1>(state.data(), 0)[random() % t.routers],
                terminal = place.items<1>(state.data(), 1)[random() % t.terminals];
  const u32 flat = random() % (t.ports * t.vcs), slot = random() % ((t.slot_mask + 1) * t.port_words);
  const auto change = [&](auto& number) {
    number = static_cast<std::decay_t<decltype(number)>>(number + (number && random() % 2 ? -1 : 1));
  };
  vc::RouterControl& control = router.at(t.router_fields.control, random() % t.set_words);
  const bool closed_loop = t.mode == TrafficMode::kRequestReply;
  switch (random() % (closed_loop ? 17 : 14)) {
    case 0: return change(router.at(t.router_fields.output, flat).credits);
    case 1: return change(router.at(t.router_fields.input, flat).flits);
    case 2: return change(router.at(t.router_fields.input, flat).left);
    case 3: return change(terminal.at(t.terminal_fields.output, random() % t.vcs).credits);
    case 4: return change(terminal.at(t.terminal_fields.control).lane.left);
    case 5: return static_cast<void>(control.flits ^= u64{1} << flat % 64);
    case 6: return static_cast<void>(control.credits ^= control.granted & -control.granted);
    case 7: return static_cast<void>(control.granted ^= u64{1} << flat % 64);
    case 8: return static_cast<void>(router.at(t.router_fields.flit_mail, slot) = 0);
    case 9: return static_cast<void>(router.at(t.router_fields.credit_mail, slot) = 0);
    case 10: return static_cast<void>(router.at(t.router_fields.control).fault = kFaultNoRoute);
    case 11: return static_cast<void>(terminal.at(t.terminal_fields.control).fault = kFaultMisrouted);
    case 12: return static_cast<void>(t.narrow ? control.closed ^= 1 : 0);
    case 13: return static_cast<void>(t.narrow ? router.at(t.router_fields.port, 0).occupied ^= 32 : 0);
    case 14: return change(terminal.at(t.terminal_fields.held, random() % t.vcs).flits);
    case 15: return change(terminal.at(t.terminal_fields.held, random() % t.vcs).left);
    default: return change(terminal.at(t.terminal_fields.loop).lane.left);
  }
}

/// The audit of lane state finds a fault in the same states as the audit of scalar state, and counts the same flits and
/// packets in all other states. `T`: the plan's type.
template <class T>
void expect_same_audits(Network& net, std::mt19937& random, u64& sound, u64& faulty) {
  const T t(dynamic_cast<const VcPlan&>(*net.plan).table());
  const vc::lanes::Lanes<T> lanes(t);
  Engine& engine = *net.engine;
  const Placement place = place_items(engine.layout(), 1);
  Arena memory(lanes.bytes());
  const std::vector<std::byte> before = engine.state(0);
  for (u32 change = 0; change < 12; ++change) {
    std::vector<std::byte> state = before;
    if (change % 6) damage(t, place, state, random);
    lanes.load(memory.get(), state.data(), place, engine.row(0), engine.now());
    lanes.store(memory.get(), state.data(), place, engine.row(0), engine.now());  // what lane state has room for
    CounterShard counted{};
    const bool passes = lanes.audit(memory.get(), state.data(), place, engine.row(0), counted, engine.now());
    engine.set_state(0, state);
    const u64 flits = net.total(Total::kAuditedFlits), packets = net.total(Total::kAuditedPackets);
    ASSERT_EQ(passes, engine.audit(0).bits == 0) << "change " << change;
    ASSERT_TRUE(passes || change % 6);
    ++(passes ? sound : faulty);
    if (!passes) continue;
    ASSERT_EQ(counted.total[u32(Total::kAuditedFlits)], net.total(Total::kAuditedFlits) - flits);
    ASSERT_EQ(counted.total[u32(Total::kAuditedPackets)], net.total(Total::kAuditedPackets) - packets);
  }
}

TEST_P(VcLanes, AuditsFindTheSameFaults) {
  u64 sound = 0, faulty = 0;
  std::mt19937 random(1);
  for (u32 seed = 0; seed < trials(40); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string file = testing::temporary(".csv");
    const RawConfig config = seed % 8 == 4 ? irregular_routers(seed, file)
                             : seed % 2    ? any_routers(seed)
                                           : plain_routers(seed);
    Network net(experiment(config), with(LaneUse::kNever));
    net.step(50 + random() % 200);
    const vc::VcTable& t = dynamic_cast<const VcPlan&>(*net.plan).table();
    if (vc::FixedVcTable<5, 4>::fits(t))
      expect_same_audits<vc::FixedVcTable<5, 4>>(net, random, sound, faulty);
    else
      expect_same_audits<vc::VcTable>(net, random, sound, faulty);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(sound, trials(40) * 2);
  EXPECT_GT(faulty, trials(40) * 5);
}

INSTANTIATE_TEST_SUITE_P(Widths, VcLanes, ::testing::ValuesIn(widths()));

}  // namespace
}  // namespace flitlab::vc_lanes_test
