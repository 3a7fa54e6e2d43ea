/// Port allocation in a METRO router (METRO, 4 and 5.1): blocking, disabled ports, dilation and random choice.
#include <gtest/gtest.h>

#include <string>

#include "host/routers/metro/registers.hpp"
#include "kernels/routers/metro/allocate.hpp"
#include "kernels/routers/metro/totals.hpp"
#include "tests/support/metro/one_router.hpp"

namespace flitlab::metro_ports_test {
namespace {

using metro::Kind;
using metro::make_word;
using metro::PortState;
using namespace testing;

/// Three connections request a direction that has two ports, in the same cycle.
TEST(MetroRouter, BlocksAConnectionWithoutAFreePort) {
  for (bool fast : {true, false}) {
    OneRouter r(Settings("router.fast_reclaim=", fast));
    for (u32 p : {0u, 1u, 3u}) r.data(p, 0);
    r.step();
    u32 open = 0, blocked = kNone, used = 0;
    for (u32 p : {0u, 1u, 3u}) {
      if (r.port(p).state == PortState::kForward) {
        ++open;
        used |= 1u << r.port(p).out;
      } else {
        blocked = p;
      }
    }
    ASSERT_EQ(open, 2u);
    EXPECT_EQ(used, 3u);
    EXPECT_EQ(r.port(blocked).state, fast ? PortState::kDiscard : PortState::kBlocked);
    EXPECT_EQ(r.sent(blocked), fast ? make_word(Kind::kBackDrop) : 0u);
    r.data(blocked, 0x21);
    r.step();
    r.data(blocked, 0x42);
    r.step();
    r.put(blocked, make_word(fast ? Kind::kDrop : Kind::kTurn));
    r.step();
    if (!fast) {  // the router sends STATUS with the direction, the checksum of the discarded words, and DROP
      EXPECT_EQ(r.sent(blocked), make_word(Kind::kBlocked, 0));
      r.step();
      EXPECT_EQ(r.sent(blocked), make_word(Kind::kBlocked, (0x21 << 1) ^ 0x42));
      r.step();
      EXPECT_EQ(r.sent(blocked), make_word(Kind::kDrop));
    }
    EXPECT_EQ(r.port(blocked).state, PortState::kIdle);
  }
}

/// A blocked connection is closed in the reclamation mode (fast or detailed) of its own forward port.
TEST(MetroRouter, ReclamationIsAForwardPortsOwn) {
  OneRouter r;
  MetroRegisters registers(r.net().engine(), 0, r.net().table());
  registers.set(0, "fast.f1", 0, r.net().network());
  r.data(2, 0);
  r.data(3, 0);
  r.step();
  r.put(2, make_word(Kind::kIdle));
  r.put(3, make_word(Kind::kIdle));
  r.data(0, 0);
  r.data(1, 0);
  r.step();
  EXPECT_EQ(r.port(0).state, PortState::kDiscard);
  EXPECT_EQ(r.port(1).state, PortState::kBlocked);
}

/// A released port can be allocated from the next cycle on, not in the same one.
TEST(MetroRouter, AFreePortIsFreeInTheNextCycle) {
  OneRouter r;
  r.data(0, 0);
  r.data(1, 0);
  r.step();
  r.put(0, make_word(Kind::kDrop));
  r.put(1, make_word(Kind::kIdle));
  r.data(2, 0);
  r.step();
  EXPECT_EQ(r.port(2).state, PortState::kDiscard);
  r.data(3, 0);
  r.put(1, make_word(Kind::kIdle));
  r.step();
  EXPECT_EQ(r.port(3).state, PortState::kForward);
}

TEST(MetroRouter, DisabledPortsTakeNoPart) {
  OneRouter r;
  MetroRegisters registers(r.net().engine(), 0, r.net().table());
  registers.set(0, "on.b0", 0, r.net().network());
  registers.set(0, "on.f2", 0, r.net().network());
  r.data(0, 0);
  r.data(2, 1 << 7);
  r.step();
  EXPECT_EQ(r.port(0).out, 1);
  EXPECT_EQ(r.port(2).state, PortState::kIdle);
  r.put(0, make_word(Kind::kIdle));
  r.data(1, 0);
  r.step();
  EXPECT_EQ(r.port(1).state, PortState::kDiscard);  // only one port of the direction is left
}

/// If a port is disabled while in use, the router closes the connection toward both ends.
TEST(MetroRouter, APortInUseCanBeDisabled) {
  OneRouter r;
  r.data(0, 0);
  r.step();
  const u32 out = r.port(0).out;
  MetroRegisters registers(r.net().engine(), 0, r.net().table());
  registers.set(0, "on.b" + std::to_string(out), 0, r.net().network());
  r.data(0, 1);
  r.step();
  EXPECT_EQ(r.sent(0), make_word(Kind::kBackDrop));
  EXPECT_EQ(r.sent_forward(out), make_word(Kind::kDrop));
  EXPECT_EQ(r.net().total(metro::Count::kShut), 1u);
}

/// If both ends of a wire are disabled, scan drives one end and captures at the other. Other connections are
/// unaffected.
TEST(MetroRouter, ADisabledWireCanBeTested) {
  OneRouter r;
  const metro::Wire wire = r.net().network().wire(0, r.backward(0));
  {
    MetroRegisters registers(r.net().engine(), 0, r.net().table());
    registers.set(0, "on.b0", 0, r.net().network());
    registers.set(0, "drive.b0", make_word(Kind::kData, 0xA5), r.net().network());
    registers.set(wire.item, "on.f" + std::to_string(wire.port), 0, r.net().network());
  }
  r.data(0, 0);
  r.step();
  EXPECT_EQ(r.port(0).out, 1);
  r.data(0, 7);
  r.step();
  EXPECT_EQ(r.sent_forward(1), make_word(Kind::kData, 7));
  r.step();
  const auto all = metro_registers(r.net().engine(), r.net().table(), r.net().network(), wire.item);
  EXPECT_EQ(all.at("captured.f" + std::to_string(wire.port)), make_word(Kind::kData, 0xA5));
  EXPECT_EQ(all.at("state.f" + std::to_string(wire.port)), 0u);
}

/// The dilation (ports per direction) may be set at run time to any power of two up to the router's maximum. With
/// dilation 1 there are four directions of one port each.
TEST(MetroRouter, DilationCanBeChanged) {
  OneRouter r;
  MetroRegisters registers(r.net().engine(), 0, r.net().table());
  registers.set(0, "dilation", 1, r.net().network());
  for (u32 p = 0; p < 4; ++p) r.data(p, (3 - p) << 6);
  r.step();
  for (u32 p = 0; p < 4; ++p) EXPECT_EQ(r.port(p).out, 3 - p) << p;
}

/// All free equivalent ports are equally likely: chi-square over many cycles is below its 99.9 % quantile.
TEST(MetroChoice, IsUniform) {
  metro::RouterControl control{};
  control.backward_on = ~0u;
  control.log_dilation = 2;
  metro::Table t;
  t.random_inputs = 4;
  for (u32 used : {0u, 0b0100u}) {
    control.used = used;
    u32 hits[4] = {};
    const u32 n = 12000;
    for (u32 cycle = 0; cycle < n; ++cycle) ++hits[metro::choose_port(t, control, 1, 0, {7, 3, cycle})];
    const u32 free = used ? 3 : 4;
    double chi = 0;
    for (u32 b = 0; b < 4; ++b) {
      if (used >> b & 1) {
        EXPECT_EQ(hits[b], 0u);
      } else {
        chi += (hits[b] - double(n) / free) * (hits[b] - double(n) / free) / (double(n) / free);
      }
    }
    EXPECT_LT(chi, free == 4 ? 16.27 : 13.82);
  }
}

/// Forward ports with the same random input choose the same equivalent port in a cycle; ports with different inputs
/// sometimes choose differently.
TEST(MetroChoice, FollowsItsRandomInput) {
  metro::RouterControl control{};
  control.backward_on = ~0u;
  control.log_dilation = 1;
  metro::Table t;
  t.random_inputs = 2;
  u32 differ = 0;
  for (u32 cycle = 0; cycle < 200; ++cycle) {
    const metro::RandomInputs random{1, 0, cycle};
    EXPECT_EQ(metro::choose_port(t, control, 0, 0, random), metro::choose_port(t, control, 2, 0, random));
    differ += metro::choose_port(t, control, 0, 0, random) != metro::choose_port(t, control, 1, 0, random);
  }
  EXPECT_GT(differ, 60u);
  EXPECT_LT(differ, 140u);
}

}  // namespace
}  // namespace flitlab::metro_ports_test
