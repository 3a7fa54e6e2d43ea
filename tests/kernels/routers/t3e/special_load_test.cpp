/// The special network of the T3E, which reads and writes registers of nodes, under load: other traffic has no
/// influence, packets are lost at ports only, and engines agree bit by bit.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "host/routers/t3e/plan.hpp"
#include "host/routers/t3e/special_feed.hpp"
#include "kernels/common/error.hpp"
#include "kernels/engines/make_engine.hpp"
#include "kernels/routers/t3e/totals.hpp"
#include "tests/support/build.hpp"
#include "tests/support/t3e/special.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::t3e_special_load_test {
namespace {

using t3e::Deltas;
using namespace testing;
using testing::t3e_special::special_machine;
using testing::t3e_special::Stepped;
using testing::t3e_special::stepped;

/// Special packets pass through a full network and a deadlocked one without delay (paper, section 8).
TEST(T3eSpecial, ADeadlockDoesNotStopIt) {
  Stepped net =
      stepped(Settings("topology.shape=[8,4,2] routing.adaptive=false routing.vc_select=time_of_crossing "
                       "traffic.pattern=tornado traffic.packet_flits=10 traffic.load=1.0"));
  const auto round_trip = [&net] {
    net.special_put(0, {2, 1, 0, 0, 0, 0}, "R_SGET_RTRN", u64{0xFFFE});
    net.special_get(0, {2, 1, 0, 0, 0, 0}, "R_SW");
    const u64 now = net.cycle();
    net.step(60);
    const auto answers = net.special_answers();
    return answers.empty() ? 0 : answers[0].cycle - now;
  };
  net.step(500);
  EXPECT_EQ(round_trip(), 1u + 17 + 3 * 6);  // with the links at full load
  for (u32 n = 0; n < 64; ++n)
    for (u32 d = 0; d < 6; ++d) net.write_register(n, "R_VCSEL" + std::to_string(d), 0);
  net.step(3000);
  const u64 moves = net.totals().at("flit_moves");
  net.step(500);
  ASSERT_EQ(net.totals().at("flit_moves"), moves);
  EXPECT_EQ(round_trip(), 1u + 17 + 3 * 6);
}

/// A special packet takes one clock of a link from the flits.
TEST(T3eSpecial, ItTakesItsClockOfTheLink) {
  for (u32 start : {0u, 5u, 30u}) {  // four puts, one a clock from `start` on
    const testing::TextFile trace("0,0,1,10\n");
    Stepped net = stepped(Settings("traffic.mode=trace traffic.trace_file=", trace.path, " routing.adaptive=false"));
    net.step(start);
    for (u32 i = 0; i < 4; ++i) net.special_put(0, {1, 0, 0, 0, 0, 0}, "R_SW", 1);
    net.step(200);
    // The packet takes 29 clocks without special packets. Its flits need the link in clocks 7 to 16.
    EXPECT_EQ(net.totals().at("latency_sum"), start == 30 ? 29u : 33u) << start;
  }
}

/// A machine whose PEs send special puts and gets to random nodes, for registers that other nodes read meanwhile.
struct Storm {
  explicit Storm(EngineChoice choice)
      : plan(make_plan(machine())),
        engine(plan->make_engine({machine()}, choice)),
        feed(std::make_unique<t3e::SpecialFeed>(plan->topology().terminals)) {}

  /// In Z, links join ports of the same number, so the R_ORIENT value that a node receives depends on the link.
  static Experiment machine() {
    return special_machine(Settings("traffic.load=0.4 barrier.units=2 topology.wiring_z=alternating"));
  }
  /// Steps at most kSpecialQueue cycles in one call, so that threads synchronise within calls.
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

/// Registers are written while other nodes read them. Neither threads nor the memory layout change results.
TEST(T3eSpecial, IdentityOfThreadsAndLayouts) {
  Storm one({"cpu", 1, false, 1}), two({"cpu", 2, false, 1}), three({"cpu", 3, false, 1}),
      wide({"cpu", 2, false, 1, testing::kWide}), traced({"cpu", 1, true, 1});
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

/// The CUDA engine gives the same results as the CPU engine.
TEST(T3eSpecial, IdentityOfGpuAndCpu) {
  if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << "needs a GPU: " << why;
  Storm cpu({"cpu", 1, false, 1}), gpu({"cuda", 1, false, 1});
  for (Storm* storm : {&cpu, &gpu}) storm->step(200);
  ASSERT_EQ(cpu.engine->state_hash(0), gpu.engine->state_hash(0));
}

/// Requests and answers that exceed the capacity of the circular buffers survive a stop and a checkpoint.
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
}  // namespace flitlab::t3e_special_load_test
