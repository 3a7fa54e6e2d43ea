/// Request-reply traffic: hand-derived round trips, the window, conservation, and the deadlock that two message classes
/// avoid.
#include <gtest/gtest.h>

#include "host/routers/vc/plan.hpp"
#include "host/run/run.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"

namespace flitlab::traffic_closed_loop_test {
namespace {

using namespace testing;

/// Configuration of two routers with one terminal each, which send only to each other: requests of 1 flit, replies of
/// 3.
RawConfig pair() {
  return Settings(
      "topology.kind=hypercube topology.dimensions=1 traffic.mode=request_reply traffic.pattern=bit_complement "
      "traffic.packet_flits=[[1,1.0]] traffic.reply_flits=[[3,1.0]] traffic.load=1.0 traffic.window=1");
}

/// A packet of L flits over H channels takes 5 H + L + 5 cycles (docs/architecture/cycle.md), so the request takes 11.
/// The terminal creates the reply `reply_delay` cycles later; it takes 13. The other terminal creates the next request
/// when the reply has arrived.
TEST(ClosedLoop, RoundTripByHand) {
  for (int delay : {0, 1, 7}) {
    RawConfig config = pair();
    config["traffic.reply_delay"] = integer(delay);
    Network net(experiment(config));
    ReplicaRow row = net.engine->row(0);
    row.window_begin = 0;
    row.window_end = kNever - 1;
    net.engine->set_row(0, row);
    net.step(1001);  // runs cycles 0 to 1000
    const u64 trip = 11 + static_cast<u64>(delay) + 13;
    EXPECT_EQ(net.total(Total::kTransactions), 2 * (1000 / trip)) << delay;
    EXPECT_EQ(net.total(Total::kRoundTripSum), net.total(Total::kRoundTrips) * trip);
    EXPECT_EQ(net.total(Total::kRoundTripMax), trip);
  }
}

/// With a window of w and without congestion, w transactions complete in the time of one round trip.
TEST(ClosedLoop, TheWindowLimitsRequests) {
  for (int window : {1, 2, 3}) {
    RawConfig config = pair();
    config["traffic.window"] = integer(window);
    Network net(experiment(config));
    const auto& plan = dynamic_cast<const VcPlan&>(*net.plan);
    u64 most = 0;
    for (int i = 0; i < 500; ++i) {
      net.step(1);
      std::vector<std::byte> state = net.engine->state(0);
      const Items<1> terminals{state.data() + plan.layout().kind_offset(1, 1), plan.layout().kinds[1].item_bytes};
      for (u32 t = 0; t < 2; ++t)
        most = std::max<u64>(most, terminals[t].at(plan.table().terminal_fields.loop).outstanding);
    }
    EXPECT_EQ(most, static_cast<u64>(window));
    EXPECT_NEAR(static_cast<double>(net.total(Total::kTransactions)), 2.0 * window * 500 / 25, 3.0 * window);
  }
}

/// A source stops while `window` requests have no reply. After a reply the time to the next request starts anew. It is
/// 1 / 0.05 - 1 cycles on average, so a transaction takes 25 cycles and this time. If the source did not stop, a
/// request would already wait.
TEST(ClosedLoop, AFullWindowStopsTheSource) {
  RawConfig config = pair();
  config["traffic.load"] = 0.05;
  Network net(experiment(config));
  net.step(200000);
  const double period = 2 * 200000.0 / static_cast<double>(net.total(Total::kTransactions));
  EXPECT_NEAR(period, 25 + 19, 1.0);
}

RawConfig busy(int message_classes) {
  return Settings(
      "topology.kind=mesh traffic.mode=request_reply traffic.load=1.0 traffic.window=64 traffic.reply_queue=1 "
      "router.vcs=2 traffic.message_classes=",
      message_classes);
}

TEST(ClosedLoop, OneMessageClassDeadlocksAndTwoDoNot) {
  Network one(experiment(busy(1))), two(experiment(busy(2)));
  one.step(20000);
  two.step(20000);
  check_conservation(*one.engine, *one.plan, 0);
  const std::string cycle = one.plan->find_deadlock(one.engine->state(0));
  EXPECT_NE(cycle.find("reply queue"), std::string::npos) << cycle;
  const u64 stuck = one.total(Total::kFlitMoves);
  one.step(1000);
  EXPECT_EQ(one.total(Total::kFlitMoves), stuck);  // the reported deadlock was real: no flit moves any more
  EXPECT_EQ(two.plan->find_deadlock(two.engine->state(0)), "");
  const u64 before = two.total(Total::kTransactions);
  two.step(1000);
  EXPECT_GT(two.total(Total::kTransactions), before + 100);
}

/// The deadlock search reports no false deadlock: packets that it reports as blocked stay blocked, and otherwise flits
/// move.
TEST(ClosedLoop, TheDeadlockSearchAgreesWithTheRun) {
  int dead = 0;
  for (int seed = 1; seed <= 12; ++seed)
    for (int queue : {1, 192}) {  // 192: space for the requests of all terminals
      RawConfig config = busy(1);
      set(config, "run.seed=", seed, " traffic.reply_queue=", queue, " traffic.window=12");
      Network net(experiment(config));
      for (int i = 0; i < 20; ++i) {
        net.step(250);
        const bool deadlocked = !net.plan->find_deadlock(net.engine->state(0)).empty();
        const u64 before = net.total(Total::kPacketsDelivered);
        if (deadlocked) {
          ++dead;
          net.step(2000);  // the rest of the network may move for a while
          EXPECT_NE(net.plan->find_deadlock(net.engine->state(0)), "") << seed;
          break;
        }
        net.step(50);
        EXPECT_GT(net.total(Total::kPacketsDelivered), before) << seed;
      }
    }
  EXPECT_GT(dead, 0);
  EXPECT_LT(dead, 24);
}

TEST(ClosedLoop, ConservesFlitsAndCredits) {
  for (int classes : {1, 2})
    for (const char* flow : {"wormhole", "virtual_cut_through", "store_and_forward"})
      for (const char* routing : {"dimension_order", "minimal_adaptive"}) {
        Network net(experiment(
            "topology.kind=mesh topology.concentration=2 traffic.mode=request_reply traffic.load=0.3 "
            "traffic.packet_flits=[[1,1.0],[5,1.0]] traffic.reply_flits=[[1,1.0],[8,1.0]] traffic.message_classes=",
            classes, " traffic.reply_queue=2 router.flow_control=", flow, " routing.algorithm=", routing));
        for (int i = 0; i < 20; ++i) {
          net.step(53);
          check_conservation(*net.engine, *net.plan, 0);
        }
        EXPECT_GT(net.total(Total::kTransactions), 100u);
      }
}

/// If a terminal sends a request and a reply at the same time and both have credits, their flits alternate.
TEST(ClosedLoop, RequestsAndRepliesTakeTurns) {
  RawConfig config = pair();
  set(config, "traffic.packet_flits=[[16,1.0]] traffic.reply_flits=[[16,1.0]] traffic.window=8");
  Network net(experiment(config));
  const auto& plan = dynamic_cast<const VcPlan&>(*net.plan);
  const TerminalFields& fields = plan.table().terminal_fields;
  struct Seen {
    u32 left[2];
    bool may[2];
  };
  const auto snapshot = [&] {
    std::vector<std::byte> state = net.engine->state(0);
    const Items<1> terminals{state.data() + plan.layout().kind_offset(1, 1), plan.layout().kinds[1].item_bytes};
    const PacketInInjection lanes[] = {terminals[0].at(fields.control).lane, terminals[0].at(fields.loop).lane};
    Seen seen{};
    for (u32 i = 0; i < 2; ++i) {
      seen.left[i] = lanes[i].left;
      seen.may[i] = lanes[i].left && terminals[0].at(fields.output, lanes[i].vc).credits;
    }
    return seen;
  };
  u32 last = 0, times = 0;
  bool known = false;
  Seen before = snapshot();
  for (int cycle = 0; cycle < 2000; ++cycle) {
    net.step(1);
    const Seen after = snapshot();
    const bool sent[] = {after.left[0] != before.left[0], after.left[1] != before.left[1]};
    ASSERT_FALSE(sent[0] && sent[1]);  // one flit a cycle
    if (known && before.may[0] && before.may[1]) {
      EXPECT_TRUE(sent[1 - last]) << cycle;
      ++times;
    }
    if (sent[0] || sent[1]) last = sent[1], known = true;
    before = after;
  }
  EXPECT_GT(times, 500u);
}

/// A closed loop ends by itself: every packet that was created is delivered or in transit.
TEST(ClosedLoop, RunReportsRoundTrips) {
  RawConfig config = pair();
  config["run.measure_cycles"] = integer(5000);
  const Result r = run_job({experiment(config)}, {"cpu", 1, false}, nullptr).front();
  EXPECT_FALSE(r.saturated);
  EXPECT_DOUBLE_EQ(r.model.at("round_trip_cycles_mean"), 25);
  EXPECT_DOUBLE_EQ(r.model.at("round_trip_cycles_max"), 25);
  EXPECT_NEAR(r.model.at("transactions_per_cycle_per_terminal"), 1 / 25.0, 1e-3);
  EXPECT_EQ(r.packets.created, r.packets.delivered + r.packets.dropped + r.packets.in_flight + r.packets.queued);
}

}  // namespace
}  // namespace flitlab::traffic_closed_loop_test
