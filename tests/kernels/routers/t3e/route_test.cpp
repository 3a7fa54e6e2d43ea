/// Routing rules of the T3E that timing.txt does not cover: ordered requests, and rules of a single router.
#include <gtest/gtest.h>

#include "host/routers/t3e/plan.hpp"
#include "kernels/routers/t3e/route.hpp"
#include "tests/support/build.hpp"

namespace flitlab::t3e_route_test {
namespace {

using namespace testing;

constexpr u32 kHere = 2 + 8 * (2 + 8 * 2), kMinusZ = t3e::kMinusZ, kAdaptive = t3e::kDeterministicVcs;

/// A machine of 8 x 8 x 8 nodes whose SELECT bits are 0.
struct Machine : Network {
  explicit Machine(const char* more)
      : Network(experiment("router.kind=t3e topology.shape=[8,8,8] routing.vc_select=time_of_crossing ", more),
                {"cpu", 1, true, 1}),
        t(dynamic_cast<const T3ePlan&>(*plan).table()) {}
  const t3e::Table& t;
};

/// Ordered requests are deterministic, their responses adaptive (paper, section 5).
TEST(T3eInjection, OrderedRequestsDoNotAdapt) {
  for (bool ordered : {false, true}) {
    Machine m(ordered ? "routing.ordered_requests=true traffic.mode=request_reply traffic.load=0.2"
                      : "routing.ordered_requests=false traffic.mode=request_reply traffic.load=0.2");
    u32 adaptive[2] = {};  // requests, responses
    for (u32 cycle = 0; cycle < 200; ++cycle) {
      m.step(1);
      for (const std::vector<Event>& list : m.engine->take_events(0))
        for (const Event& e : list)
          adaptive[e.id >> 31] += e.kind == EventKind::kSwitchGranted && e.out_vc >= kAdaptive;
    }
    check_conservation(*m.engine, *m.plan, 0);
    EXPECT_EQ(adaptive[0] == 0, ordered);
    EXPECT_GT(adaptive[1], 0u);
  }
}

/// SELECT also applies to a packet that leaves the adaptive VC and goes straight on, because its deterministic VC was
/// taken where it turned. A packet on a deterministic VC would stay on its set.
TEST(T3eSelect, IsConsultedOnLeavingTheAdaptiveVcStraightOn) {
  const Machine m("routing.adaptive=false");
  t3e::Registers registers = m.t.registers[kHere];
  Packet packet{};
  packet.dst = t3e::pack_address(2, 2, 1);
  packet.route_bits = 4 | t3e::kNoHop << t3e::kInitialShift | t3e::kAdaptBit;
  const auto choice = [&](u32 vc) { return t3e::choose(m, registers, kHere, packet, t3e::opposite(kMinusZ), vc); };
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
  const Machine m("routing.adaptive=false");
  t3e::Registers registers = m.t.registers[kHere];
  Packet onward{}, here{};
  onward.dst = t3e::pack_address(2, 2, 1);
  here.dst = registers.pwho;
  onward.route_bits = here.route_bits = 4 | t3e::kNoHop << t3e::kInitialShift;
  here.dst_port = t3e::kNodePort;
  const u32 port = t3e::opposite(kMinusZ);
  const auto stopped = [&](const Packet& packet, u32 vc) {
    return t3e::choose(m, registers, kHere, packet, port, vc).stopped;
  };
  for (u32 vc : {0u, 1u, 2u, u32{kAdaptive}}) EXPECT_FALSE(stopped(onward, vc)) << vc;
  registers.chan[port] = t3e::kIgnoreNormal;
  for (u32 vc : {0u, 1u, 2u}) EXPECT_TRUE(stopped(onward, vc)) << vc;
  EXPECT_FALSE(stopped(onward, kAdaptive));
  for (u32 vc : {0u, 1u, 2u, u32{kAdaptive}}) EXPECT_FALSE(stopped(here, vc)) << vc;
}

}  // namespace
}  // namespace flitlab::t3e_route_test
