/// Barrier and eureka units of the T3E, operated by hand, against the second implementation, in which every message
/// waits in a queue for its port. Also tests the watch, which reports units that have stopped.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "host/routers/t3e/barriers.hpp"
#include "host/routers/t3e/plan.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"
#include "tests/support/fields.hpp"
#include "tests/support/t3e/naive.hpp"

namespace flitlab::t3e_barrier_model_test {
namespace {

using t3e::BarrierState;
using t3e::BarrierUnit;
using namespace testing;
using testing::t3e_naive::NaiveT3e;

constexpr u32 kPe = t3e::kNodePort, kUnits = t3e::kBarrierUnits;

Experiment machine(RawConfig changes) {
  set(changes, "router.kind=t3e traffic.load=0.0");
  return experiment(changes);
}

const T3ePlan& plan_of(const Network& net) { return dynamic_cast<const T3ePlan&>(*net.plan); }

std::vector<BarrierUnit> units(const Network& net) { return field<BarrierUnit>(net, 1, "barrier"); }

std::string stopped(const Network& net) { return net.plan->find_stopped(net.engine->state(0), net.engine->now()); }

using Random = std::mt19937;
u32 draw(Random& random, u32 below) { return static_cast<u32>(random() % below); }

/// Returns one to three applications on neighbouring PEs: the numbers of the first and last PE of each.
IntList partitions(Random& random, u32 nodes) {
  IntList list;
  for (u32 first = draw(random, 2); first < nodes && list.size() < 6;) {
    const u32 last = first + draw(random, nodes - first);
    list.insert(list.end(), {std::int64_t{first}, std::int64_t{last - first}});
    first = last + 1 + draw(random, 2);
  }
  return list;
}

/// PEs operate their units by hand at random times, some as early as allowed. In every cycle emulator and naive model
/// have the same states and rounds, and the watch reports nothing.
TEST(T3eBarrierModel, UnitsAgreeWithANaiveModel) {
  u64 rounds = 0;
  for (u32 trial = 0; trial < testing::trials(40); ++trial) {
    Random random(trial);
    const std::vector<IntList> shapes = {{8, 2, 1}, {4, 4, 2}, {2, 2, 1}, {2, 2, 3}, {4, 4, 1}, {2, 4, 2}};
    const IntList shape = shapes[draw(random, static_cast<u32>(shapes.size()))];
    const u32 nodes = static_cast<u32>(shape[0] * shape[1] * shape[2]);
    const u32 count = draw(random, 2) ? kUnits : 1 + draw(random, kUnits), delay = 3 + draw(random, 4);
    const Experiment e = machine(Settings{"topology.shape=", shape, " topology.partitions=", partitions(random, nodes),
                                          " barrier.units=", count, " barrier.root=", draw(random, nodes),
                                          " barrier.router_delay=", delay, " barrier.operation=by_hand"});
    Network net(e);
    const T3ePlan& plan = plan_of(net);
    NaiveT3e naive(e, plan);
    const u32 patience = std::array{1u, 1u, 4u, 30u}[draw(random, 4)];
    const bool barriers_too = draw(random, 4) == 0;
    for (u32 now = 0; now < 1500; ++now) {
      const std::vector<BarrierUnit> all = units(net);
      for (u32 pe = 0; pe < nodes; ++pe)
        for (u32 unit = 0; unit < count; ++unit) {
          const BarrierUnit& u = all[pe * count + unit];
          const NaiveT3e::Unit& other = naive.unit(pe, unit);
          ASSERT_EQ(static_cast<u32>(u.state), u32{other.state})
              << "trial " << trial << " cycle " << now << " PE " << pe << " unit " << unit;
          ASSERT_EQ(u.round, other.round) << "trial " << trial << " cycle " << now << " PE " << pe << " unit " << unit;
          if (!(plan.table().barrier[unit * nodes + pe].children >> kPe & 1)) continue;
          if (u.state == BarrierState::kArm || draw(random, patience)) continue;
          bool finds = false, joins = true;
          if (u.state == BarrierState::kBar) {
            finds = !(barriers_too && draw(random, 2));
            if (finds && draw(random, 4)) continue;  // most PEs wait for another PE's eureka
            joins = !finds || draw(random, 2);
          }
          t3e::operate_barrier(*net.engine, plan, pe, unit, !finds ? "OP_BAR" : joins ? "OP_EUR_B" : "OP_EUR");
          naive.operate_unit(pe, unit, finds, joins);
        }
      naive.step();
      net.step(1);
      if (now % 97 == 0) {
        ASSERT_EQ(stopped(net), "") << "trial " << trial << " cycle " << now;
      }
    }
    for (const BarrierUnit& u : units(net)) rounds += u.round;
  }
  EXPECT_GT(rounds, testing::trials(40) * u64{1000});
}

/// PEs run their own programs in small and large applications that share routers: no unit stops.
TEST(T3eBarrierModel, NoUnitStops) {
  struct Case {
    IntList shape, partitions;
  };
  for (const auto& [shape, parts] : {Case{{8, 2, 1}, {0, 1, 2, 13}}, Case{{4, 4, 2}, {0, 1, 2, 29}}}) {
    Network net(machine(Settings("topology.shape=", shape, " topology.partitions=", parts, " barrier.units=", kUnits,
                                 " barrier.operation=eureka")));
    std::vector<BarrierUnit> before = units(net);
    for (int interval = 0; interval < 20; ++interval) {
      net.step(1000);
      const std::vector<BarrierUnit> after = units(net);
      for (std::size_t i = 0; i < after.size(); ++i)
        if (plan_of(net).table().barrier[i % kUnits * plan_of(net).table().routers + i / kUnits].children >> kPe & 1) {
          ASSERT_GT(after[i].round, before[i].round) << "PE " << i / kUnits << " unit " << i % kUnits;
        }
      before = after;
      ASSERT_EQ(stopped(net), "");
    }
  }
}

/// One message of a program is lost on its way to a router or to a PE. Either the watch reports this unit and no other,
/// or the unit continues, because a PE that has joined needs no eureka.
TEST(T3eBarrierModel, TheWatchReportsAnyLostMessage) {
  u32 lost[4][2] = {};
  for (u32 trial = 0; trial < testing::trials(60); ++trial) {
    Random random(trial);
    const bool eureka = trial % 2;
    Network net(machine(Settings{"topology.shape=[4,2,2] barrier.units=3 barrier.work=", draw(random, 40),
                                 " barrier.operation=", eureka ? "eureka" : "barrier"}));
    net.step(100 + draw(random, 200));
    const StateLayout& layout = net.plan->layout();
    const bool to_pe = trial % 4 / 2;
    const FieldInfo& field = layout.kinds[to_pe].field("barrier_mail");
    std::vector<u8> messages(std::size_t{layout.kinds[to_pe].count} * field.count * (to_pe ? 1 : 8));
    u32 unit = 0;
    for (bool found = false; !found;) {  // until a message exists
      net.step(1);
      net.engine->get_field(0, to_pe, field, messages.data());
      const std::size_t from = draw(random, static_cast<u32>(messages.size()));
      for (std::size_t i = 0; i < messages.size() && !found; ++i) {
        u8& byte = messages[(from + i) % messages.size()];
        if (!(byte & t3e::kBarrierMark)) continue;
        found = true;
        unit = byte & 31;
        const u32 message = byte >> 5 & 3;
        ++lost[message][to_pe];
        byte = 0;
      }
    }
    net.engine->set_field(0, to_pe, field, messages.data());
    net.step(2000);
    const std::string text = stopped(net);
    if (eureka && text.empty()) {
      const std::vector<BarrierUnit> before = units(net);
      net.step(1000);
      const std::vector<BarrierUnit> after = units(net);
      for (u32 pe = 0; pe < 16; ++pe) ASSERT_GT(after[pe * 3 + unit].round, before[pe * 3 + unit].round);
      continue;
    }
    EXPECT_EQ(text.find("1 barrier unit has stopped (" + std::to_string(unit) + "): "), 0u) << trial << ": " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
  for (u32 message : {0u, 2u}) EXPECT_GT(lost[message][message == 2], 3u) << message;
}

}  // namespace
}  // namespace flitlab::t3e_barrier_model_test
