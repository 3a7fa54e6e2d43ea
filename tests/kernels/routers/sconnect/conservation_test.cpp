/// Conservation in S-Connect for any machine, errors and load: no message is lost or accepted twice, and every message
/// arrives in the end. The audit accounts for every buffer at any time.
#include <gtest/gtest.h>

#include <set>

#include "host/config/cross_checks.hpp"
#include "host/routers/sconnect/checks.hpp"
#include "tests/support/bgl/random.hpp"
#include "tests/support/sconnect/random.hpp"

namespace flitlab::sconnect_conservation_test {
namespace {

using namespace testing;

class SconnectConservation : public ::testing::TestWithParam<u32> {};

/// The audit runs in every seventh cycle at saturation.
TEST_P(SconnectConservation, HoldsAtSaturation) {
  const TextFile graph(testing::kSwitchedGraph);
  RawConfig c = random_sconnect(2000 + GetParam(), graph.path);
  c.erase("traffic.batch_packets");
  set(c, "traffic.mode=open traffic.load=1.0");
  SCOPED_TRACE(testing::described(c));
  Network net(sconnect_experiment(c));
  u64 before = 0;
  for (u32 part = 0; part < 100; ++part) {
    net.step(7);
    check_conservation(*net.engine, *net.plan, 0);
    const u64 delivered = net.total(Total::kPacketsDelivered);
    EXPECT_GE(delivered, before);
    before = delivered;
  }
}

/// All messages of a batch arrive, each of them once. Afterwards no buffer is in use and no slot holds a message.
TEST_P(SconnectConservation, ABatchArrivesCompletely) {
  const TextFile graph(testing::kSwitchedGraph);
  RawConfig c = random_sconnect(3000 + GetParam(), graph.path);
  c.erase("traffic.load");
  c.erase("host.refuses");
  set(c, "traffic.mode=batch traffic.batch_packets=40");
  if (c["channel.error_rate"] == Value{1e-2}) c["channel.error_rate"] = 3e-3;  // 1e-2 hits 62 % of all slots
  SCOPED_TRACE(testing::described(c));
  const Experiment e = sconnect_experiment(c);
  const auto plan = make_plan(e);
  const auto engine = plan->make_engine({e}, {"cpu", 1, true, 1});
  const u32 only[] = {0};
  const u64 all = 40u * plan->topology().terminals;
  std::multiset<MessageName> arrived;
  const auto total = [&](TotalIndex t) { return engine->counters(0).total[t.value]; };
  while (arrived.size() < all && engine->now() < 60000) {
    engine->advance(50, only);
    check_conservation(*engine, *plan, 0);
    const auto events = engine->take_events(0);
    for (u32 item = plan->topology().routers; item < events.size(); ++item)
      for (const Event& event : events[item])
        if (event.kind == EventKind::kDelivered) arrived.insert({event.src, event.id});
  }
  EXPECT_EQ(arrived.size(), all);
  EXPECT_EQ(std::set<MessageName>(arrived.begin(), arrived.end()).size(), all);
  EXPECT_EQ(total(Total::kPacketsDelivered), all);

  engine->advance(3000, only);  // answers return, some of them more than once
  EXPECT_EQ(total(Total::kPacketsDelivered), all);
  const ItemKind& tics = plan->layout().kinds[0];
  std::vector<sconnect::TicControl> control(tics.count);
  engine->get_field(0, 0, tics.field("control"), control.data());
  std::vector<sconnect::Slot> slots(std::size_t{tics.count} * tics.field("slot").count);
  engine->get_field(0, 0, tics.field("slot"), slots.data());
  for (u32 n = 0; n < tics.count; ++n) EXPECT_EQ(control[n].used, 0u) << plan->router_name(n);
  for (const sconnect::Slot& slot : slots) EXPECT_EQ(slot.buffer, sconnect::kNoBuffer);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SconnectConservation, ::testing::Range(0u, 30u));

/// The default reservation fits into any buffer pool that has at least one buffer for every queue.
TEST(SconnectReservation, FitsAnyPool) {
  for (const Lengths& lengths : {Lengths{{1, 1.0}}, Lengths{{1, 1.0}, {4, 1.0}}})
    for (const IntList& priorities :
         {IntList{1, 0, 0, 0}, IntList{0, 0, 0, 1}, IntList{3, 2, 0, 0}, IntList{1, 1, 1, 0}, IntList{1, 1, 1, 1}}) {
      const u32 used = static_cast<u32>(4 - std::count(priorities.begin(), priorities.end(), 0));
      const u32 quads = lengths.size() == 2 ? 3 + (priorities[0] == 0) : 0;
      for (u32 buffers = std::max(8u, 9 * (used + quads)); buffers <= 64; ++buffers) {
        const auto [reserve, control] = sconnect_reservations(sconnect_experiment(
            Settings("traffic.packet_flits=", lengths, " host.priorities=", priorities, " router.buffers=", buffers)));
        u32 sum = 0;
        for (u32 p = 0; p < 4; ++p) {
          sum += 9 * reserve[p];
          EXPECT_GE(reserve[p], quads && p == 0 ? 4u : priorities[p] > 0);
        }
        EXPECT_LE(sum + 2 * control, buffers);
        EXPECT_EQ(control, sum + 2 <= buffers ? 1u : 0u);
      }
    }
}

}  // namespace
}  // namespace flitlab::sconnect_conservation_test
