/// The T3E's routing rules, one at a time: sets of virtual channels at injection, extra hops, and the SELECT bits,
/// which choose the set.
#include <gtest/gtest.h>

#include "kernels/routers/t3e/route.hpp"
#include "tests/support/build.hpp"
#include "tests/support/t3e/machine.hpp"

namespace flitlab::t3e_route_test {
namespace {

using testing::integer;
using testing::word;
using testing::t3e_machine::at;
using testing::t3e_machine::Clocks;
using testing::t3e_machine::Departure;
using testing::t3e_machine::kAdaptive;
using testing::t3e_machine::kBelow;
using testing::t3e_machine::kEast;
using testing::t3e_machine::kHere;
using testing::t3e_machine::kMinusZ;
using testing::t3e_machine::kPlusX;
using testing::t3e_machine::kPlusY;
using testing::t3e_machine::kWest;
using testing::t3e_machine::Machine;
using testing::t3e_machine::Outputs;

/// The packets of a PE enter on set 0 and set 1 in turn. If the set has no room, a packet enters on the other one: here
/// the first packet takes all slots of set 0 until its credits are back.
TEST(T3eInjection, UsesBothSets) {
  for (bool room : {true, false}) {
    const u32 flits = room ? 2 : 9;
    Machine m({{0, kHere, kEast, flits}, {0, kHere, kEast, 2}, {0, kHere, kEast, 2}, {0, kHere, kEast, 2}},
              {{"router.deterministic_buffer_flits", integer(room ? 12 : 9)}, {"router.credit_delay", integer(30)}});
    m.run(100);
    Clocks sets;
    for (const Departure& d : m.departures)
      if (d.node == kHere && (d.event.flit & 1)) sets.push_back(d.event.vc);
    EXPECT_EQ(sets, room ? (Clocks{0, 1, 0, 1}) : (Clocks{0, 1, 1, 1}));
  }
}

/// Ordered requests are deterministic, their responses adaptive (paper, section 5).
TEST(T3eInjection, OrderedRequestsDoNotAdapt) {
  for (bool ordered : {false, true}) {
    Machine m({}, {{"routing.adaptive", true},
                   {"routing.ordered_requests", ordered},
                   {"traffic.mode", word("request_reply")},
                   {"traffic.load", 0.2}});
    m.run(200);
    u32 adaptive[2] = {};  // requests, responses
    for (const Departure& d : m.departures) adaptive[d.event.id >> 31] += d.event.out_vc >= kAdaptive;
    EXPECT_EQ(adaptive[0] == 0, ordered);
    EXPECT_GT(adaptive[1], 0u);
  }
}

/// Adaptive packets make no initial and no final hop (manual, Adaptive Routing): the +Y and -Z hops in the routing tag
/// apply to deterministic packets only.
TEST(T3eInjection, AdaptivePacketsMakeNoExtraHops) {
  for (bool adapt : {false, true}) {
    Machine m({{0, kHere, kEast, 1}});
    m.tag(kHere, kEast, [&](t3e::Tag& tag) { tag = (tag & ~(3u << 15)) | 1u << 15 | 1u << 17 | u32{adapt} << 18; });
    m.run(60);
    EXPECT_EQ(m.outputs(kHere), (Outputs{{adapt ? kPlusX : kPlusY, 0}}));
    EXPECT_EQ(m.outputs(kHere, kEast), (Outputs{{adapt ? t3e::kNodePort : kMinusZ, 0}}));
  }
}

/// A SELECT bit decides at a turn, whatever set the packet arrived on. A packet that goes straight on stays on its set.
TEST(T3eSelect, IsConsultedAtTurnsOnly) {
  for (u32 before : {0, 1})
    for (u32 after : {0, 1}) {
      Machine m({{0, kWest, kBelow, 1}, {20, kWest, kEast, 1}});
      for (u32 x : {2, 3})
        if (before) m.select_one(kWest, kPlusX, x);
      if (after) m.select_one(kHere, kMinusZ, 1), m.select_one(kHere, kPlusX, 3);
      m.run(60);
      EXPECT_EQ(m.outputs(kWest, kWest), (Outputs{{kPlusX, before}, {kPlusX, before}}));
      EXPECT_EQ(m.outputs(kWest), (Outputs{{kMinusZ, after}, {kPlusX, before}}));
    }
}

/// A packet comes from above on the adaptive VC and must leave that VC here: a SELECT bit gives its new set.
TEST(T3eSelect, IsConsultedOnLeavingTheAdaptiveVc) {
  const u32 above = at(2, 2, 3), to = at(3, 2, 1);
  for (u32 set : {0, 1}) {
    Machine m({{0, above, to, 1}});
    m.adapt(above, to);
    m.no_adapt(kHere, kMinusZ);
    if (set) m.select_one(kHere, kPlusX, 3);
    m.run(60);
    EXPECT_EQ(m.outputs(above, above), (Outputs{{kMinusZ, kAdaptive}}));
    EXPECT_EQ(m.outputs(above), (Outputs{{kPlusX, set}}));
  }
}

/// SELECT also applies to a packet that leaves the adaptive VC and goes straight on, because its deterministic VC was
/// taken where it turned. A packet on a deterministic VC would stay on its set.
TEST(T3eSelect, IsConsultedOnLeavingTheAdaptiveVcStraightOn) {
  const Machine m({});
  const struct {
    const t3e::Table& t;
  } view{m.table()};
  t3e::Registers registers = view.t.registers[kHere];
  Packet packet{};
  packet.dst = t3e::pack_address(2, 2, 1);
  packet.route_bits = 4 | t3e::kNoHop << t3e::kInitialShift | t3e::kAdaptBit;
  const auto choice = [&](u32 vc) { return t3e::choose(view, registers, kHere, packet, t3e::opposite(kMinusZ), vc); };
  for (u32 set : {0, 1}) {
    registers.vcsel[kMinusZ] = static_cast<u16>(set << 1);
    EXPECT_EQ(choice(kAdaptive).port, kMinusZ);
    EXPECT_EQ(choice(kAdaptive).vc, set);
    EXPECT_EQ(choice(0).vc, 0);
    EXPECT_EQ(choice(1).vc, 1);
  }
}

/// IGNORE_NORMAL is set for a channel: its router does not forward packets in the channel's direction-order buffers to
/// other nodes. It forwards packets in the adaptive buffer, and it delivers packets that have arrived at their
/// destination (manual, Table 10).
TEST(T3eSelect, IgnoresDirectionOrderPacketsThatGoOn) {
  const Machine m({});
  const struct {
    const t3e::Table& t;
  } view{m.table()};
  t3e::Registers registers = view.t.registers[kHere];
  Packet onward{}, here{};
  onward.dst = t3e::pack_address(2, 2, 1);
  here.dst = registers.pwho;
  onward.route_bits = here.route_bits = 4 | t3e::kNoHop << t3e::kInitialShift;
  here.dst_port = t3e::kNodePort;
  const u32 port = t3e::opposite(kMinusZ);
  const auto stopped = [&](const Packet& packet, u32 vc) {
    return t3e::choose(view, registers, kHere, packet, port, vc).stopped;
  };
  for (u32 vc : {0u, 1u, 2u, u32{kAdaptive}}) EXPECT_FALSE(stopped(onward, vc)) << vc;
  registers.chan[port] = t3e::kIgnoreNormal;
  for (u32 vc : {0u, 1u, 2u}) EXPECT_TRUE(stopped(onward, vc)) << vc;
  EXPECT_FALSE(stopped(onward, kAdaptive));
  for (u32 vc : {0u, 1u, 2u, u32{kAdaptive}}) EXPECT_FALSE(stopped(here, vc)) << vc;
}

}  // namespace
}  // namespace flitlab::t3e_route_test
