/// Blue Gene/L's calendar, which records in which cycles an item (node or software) is active. A surplus entry is
/// harmless, a missing one is an error. So a run in which the test wakes every item in every cycle must give the same
/// results.
#include <gtest/gtest.h>

#include "kernels/routers/bgl/totals.hpp"
#include "tests/support/bgl/random.hpp"

namespace flitlab::bgl_calendar_test {
namespace {

using namespace testing;

constexpr u32 kNode = 0, kTerminal = 1, kCalendar = 2;

/// Writes calendar entries that wake all items in all cycles.
void wake_all(Network& net) {
  const StateLayout& layout = net.plan->layout();
  const ItemKind& calendar = layout.kinds[kCalendar];
  const u32 nodes = layout.kinds[kNode].count;
  for (const char* name : {"heads", "tokens"}) {
    const FieldInfo& field = calendar.field(name);
    std::vector<u8> bytes(std::size_t{calendar.count} * field.count);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = i / field.count * 64 + i % 64 < nodes;
    net.engine->set_field(0, kCalendar, field, bytes.data());
  }
  for (const char* name : {"heard", "again", "queues", "software"}) {
    const FieldInfo& field = calendar.field(name);
    std::vector<u64> notes(std::size_t{calendar.count} * field.count);
    for (std::size_t i = 0; i < notes.size(); ++i)
      for (std::size_t n = i / field.count * 64, bit = 0; bit < 64 && n + bit < nodes; ++bit) notes[i] |= u64{1} << bit;
    net.engine->set_field(0, kCalendar, field, notes.data());
  }
}

void expect_same(const Network& a, const Network& b, const RawConfig& config,
                 std::initializer_list<u32> kinds = {kNode, kTerminal}) {
  for (u32 kind : kinds)
    for (const FieldInfo& field : a.plan->layout().kinds[kind].fields) {
      const std::size_t bytes = std::size_t{a.plan->layout().kinds[kind].count} * field.count * field.element_bytes;
      std::vector<std::byte> x(bytes), y(bytes);
      a.engine->get_field(0, kind, field, x.data());
      b.engine->get_field(0, kind, field, y.data());
      ASSERT_EQ(x, y) << "field " << field.name << " in cycle " << a.engine->now() << "\n" << described(config);
    }
}

TEST(BglCalendar, WakesEveryActiveItem) {
  for (u32 seed = 1; seed <= trials(12); ++seed) {
    RawConfig config = random_bgl(seed);
    testing::add_errors(config, seed);
    if (seed % 3 == 0) config["topology.shape"] = IntList{5, 5, 3};  // two groups of 64 nodes
    if (seed % 2) {
      set(config, "traffic.mode=batch traffic.batch_packets=8");
    } else {
      config["traffic.load"] = seed % 4 ? 0.05 : 0.005;
    }
    const Experiment e = experiment(config);
    Network normal(e), woken(e);
    for (u32 cycle = 0; cycle < 1500; ++cycle) {
      wake_all(woken);
      woken.step(1);
      normal.step(1);
      if (cycle % 50 == 0) expect_same(normal, woken, config);
      if (HasFatalFailure()) return;
    }
    expect_same(normal, woken, config);
    const CounterShard a = normal.engine->counters(0), b = woken.engine->counters(0);
    for (u32 i = 0; i < kTotals; ++i) EXPECT_EQ(a.total[i], b.total[i]) << i;
    EXPECT_GT(normal.total(Total::kPacketsDelivered), 0u);
  }
}

/// Token messages for a busy link are delivered when the link is free, unless `router.count_unblocking` is set. Results
/// are the same with either.
TEST(BglCalendar, TokensThatWaitForTheirLinkChangeNothing) {
  u32 waited = 0;
  for (u32 seed = 1; seed <= trials(40); ++seed) {
    RawConfig config = random_bgl(seed);
    set(config, "traffic.load=", seed % 4 ? 0.1 : 0.01, " router.acks=charged");
    std::vector<std::unique_ptr<Network>> nets;
    for (bool at_once : {false, true}) {
      config["router.count_unblocking"] = at_once;
      nets.push_back(std::make_unique<Network>(experiment(config)));
    }
    for (u32 part = 0; part < 15; ++part) {
      for (const auto& net : nets) net->step(100);
      const FieldInfo& returned = nets[0]->plan->layout().kinds[kNode].field("returned");
      std::vector<u64> tokens(std::size_t{nets[0]->plan->layout().kinds[kNode].count} * returned.count);
      nets[0]->engine->get_field(0, kNode, returned, tokens.data());
      for (u64 t : tokens) waited += t != 0;
      expect_same(*nets[0], *nets[1], config, {kTerminal});
      if (HasFatalFailure()) return;
    }
    for (u32 i = 0; i < kTotals; ++i)
      if (i != static_cast<u32>(bgl::Count::kTokenMessages) && i != static_cast<u32>(bgl::Count::kUnblocking)) {
        EXPECT_EQ(nets[0]->engine->counters(0).total[i], nets[1]->engine->counters(0).total[i]) << i;
      }
  }
  EXPECT_GT(waited, 1000u);
}

/// A terminal wakes on time even if its next packet is created later than the 512 cycles that the calendar covers.
TEST(BglCalendar, WakesForADistantCreation) {
  for (int start : {0, 511, 512, 513, 5000}) {
    Network net(experiment(
        "router.kind=bgl traffic.mode=batch traffic.batch_packets=1 traffic.packet_flits=1 traffic.start=", start));
    net.step(static_cast<u32>(start));
    EXPECT_EQ(net.total(Total::kPacketsCreated), 0u);
    net.step(1);
    EXPECT_EQ(net.total(Total::kPacketsCreated), 16u);
    net.step(1000);
    EXPECT_EQ(net.total(Total::kPacketsDelivered), 16u);
  }
}

}  // namespace
}  // namespace flitlab::bgl_calendar_test
