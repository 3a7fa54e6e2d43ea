/// Conservation in Blue Gene/L's torus for any parameters: no packet is lost, duplicated or blocked without end. Also
/// tests that the audit detects damage.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "host/routers/bgl/plan.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/bgl/random.hpp"
#include "tests/support/fields.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::bgl_conservation_test {
namespace {

using namespace testing;

class BglConservation : public ::testing::TestWithParam<u32> {};

/// A batch loads the network beyond saturation until it ends. Every packet arrives once and at its destination
/// (otherwise a fault stops the run); then all tokens are back and all FIFOs are empty.
TEST_P(BglConservation, EveryPacketOfABatchArrivesOnce) {
  for (u32 i = 0; i < 10; ++i) {
    const u32 seed = 1000 + GetParam() * 10 + i, batch = 25;
    RawConfig config = random_bgl(seed);
    testing::add_errors(config, seed);
    config["traffic.mode"] = word("batch");
    config["traffic.batch_packets"] = integer(batch);
    config["traffic.pattern"] = word(Draw(seed).one_of({"uniform", "uniform", "neighbour", "hot_spot"}));
    if (config["traffic.pattern"] == word("hot_spot")) config["traffic.hot_fraction"] = 0.5;
    Network net(experiment(config), {"cpu", 1, true, 1});
    const u32 nodes = net.plan->topology().routers;
    std::set<std::pair<u32, u32>> arrived;
    while (net.engine->now() < 300000 && (!net.engine->now() || arrived.size() < net.total(Total::kPacketsCreated))) {
      net.step(250);
      const auto events = net.engine->take_events(0);
      for (const std::vector<Event>& list : events)
        for (const Event& e : list)
          EXPECT_TRUE(e.kind != EventKind::kDelivered || arrived.emplace(e.src, e.id).second) << e.src << " " << e.id;
      ASSERT_NO_THROW(check_conservation(*net.engine, *net.plan, 0)) << described(config);
      ASSERT_EQ(net.plan->find_deadlock(net.engine->state(0)), "") << described(config);
    }
    ASSERT_EQ(arrived.size(), nodes * batch) << described(config);
    EXPECT_EQ(net.total(Total::kFlitsDelivered), net.total(Total::kFlitsCreated));
    net.step(config.contains("router.link_protocol") ? 20000 : 500);  // time for tokens and acknowledgments to return
    check_conservation(*net.engine, *net.plan, 0);
    const std::vector<std::byte> state = net.engine->state(0);
    const bgl::Table& t = dynamic_cast<const BglPlan&>(*net.plan).table();
    for (u32 n = 0; n < nodes; ++n) {
      const std::vector<PortSnapshot> ports = net.plan->inspect_router(state, n);
      for (u32 p = 0; p < ports.size(); ++p)
        for (u32 vc = 0; vc < ports[p].vcs.size(); ++vc) {
          EXPECT_EQ(ports[p].vcs[vc].packets, 0u);
          EXPECT_EQ(ports[p].vcs[vc].flits, 0u);
          const bool link = !ports[p].to_terminal && ports[p].peer != kNone;
          EXPECT_EQ(ports[p].vcs[vc].credits, link ? t.buffer[vc] : 0u) << described(config);
        }
      for (u32 room : net.plan->inspect_terminal(state, n).credits) EXPECT_EQ(room, t.injection_flits);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, BglConservation, ::testing::Range(0u, 8u));

/// Whole runs with all checks after each epoch: open loops below and beyond saturation, and traces in which packets
/// depend on other packets.
TEST(BglRuns, OpenLoopsAndTraces) {
  for (bool infinite : {false, true})
    for (double load : {0.01, 0.2}) {
      const Result r = run_job({experiment("router.kind=bgl topology.shape=[4,3,2] injection.infinite=", infinite,
                                           " injection.priority_share=0.1 traffic.load=", load,
                                           " traffic.packet_flits=[[1,1.0],[8,1.0]]")},
                               {"cpu", 1, false}, nullptr)
                           .front();
      EXPECT_EQ(r.saturated, load > 0.1);
      EXPECT_GT(r.packets.delivered, 1000u * load);
      EXPECT_TRUE(load > 0.1 || std::abs(r.accepted - load) < 0.1 * load) << r.accepted;
    }
  std::string text;
  // Every third packet depends on the packet seven lines before, whose destination is this packet's source.
  for (u32 n = 0; n < 3000; ++n)
    text += std::to_string(n * 20) + "," + std::to_string(n % 24) + "," + std::to_string((n + 7) % 24) + "," +
            std::to_string(1 + n % 8) + (n % 3 == 0 && n >= 7 ? "," + std::to_string(n - 7) : "") + "\n";
  const testing::TextFile trace(text);
  const Result r =
      run_job({experiment("router.kind=bgl topology.shape=[4,3,2] traffic.mode=trace traffic.trace_file=", trace.path)},
              {"cpu", 1, false}, nullptr)
          .front();
  EXPECT_EQ(r.packets.delivered, 3000u);
}

/// A loaded network, whose state a test changes by hand.
struct Loaded {
  Loaded()
      : net(experiment(
            "router.kind=bgl topology.shape=[4,3,2] traffic.load=0.2 traffic.packet_flits=[[1,1.0],[8,1.0]]")) {
    net.step(3000);
    check_conservation(*net.engine, *net.plan, 0);
  }
  void expect_fault(const std::string& what) {
    expect_in(what, message_of([&] { check_conservation(*net.engine, *net.plan, 0); }));
  }
  Network net;
};

TEST(BglAudit, FindsAStolenToken) {
  for (u32 direction : {0u, 3u, 5u}) {
    Loaded loaded;
    edit<u8>(loaded.net, 0, "tokens",
             [&](std::vector<u8>& tokens, u32 each) { ++tokens[5 * each + direction * 4 + 1]; });
    const Peer peer = loaded.net.plan->topology().peer(5, direction);
    loaded.expect_fault("router " + loaded.net.plan->router_name(peer.item) + ", port " +
                        loaded.net.plan->port_name(peer.port) +
                        "): credits and flits of a channel do not add up to its buffer");
  }
}

/// The audit finds a wrong bit in every bit set that records the state of queue heads.
TEST(BglAudit, FindsAWrongSet) {
  for (u64 bgl::NodeControl::* set : {&bgl::NodeControl::waiting, &bgl::NodeControl::here, &bgl::NodeControl::entering,
                                      &bgl::NodeControl::leaving, &bgl::NodeControl::arriving}) {
    Loaded loaded;
    edit<bgl::NodeControl>(loaded.net, 0, "control", [&](std::vector<bgl::NodeControl>& all, u32) {
      // Chooses node 5's receiver 2, VC 1, whose queue is empty or whose head is in another state.
      bgl::NodeControl& c = all[5];
      const u64 queue = u64{1} << (8 * 2 + 1);
      if (&(c.*set) == &c.leaving || &(c.*set) == &c.arriving)
        c.waiting |= queue, c.here &= ~queue, c.entering &= ~queue;
      c.*set ^= queue;
      if (&(c.*set) == &c.waiting) c.leaving |= queue;
    });
    EXPECT_THROW(check_conservation(*loaded.net.engine, *loaded.net.plan, 0), RunError);
  }
}

TEST(BglAudit, FindsLostRoomAndLostPackets) {
  {
    Loaded loaded;
    edit<bgl::NodeControl>(loaded.net, 0, "control", [](auto& all, u32) { ++all[7].reception_room[2]; });
    loaded.expect_fault("router " + loaded.net.plan->router_name(7) + "): a terminal's queue overflowed");
  }
  {
    Loaded loaded;
    edit<bgl::InjectionFifo>(loaded.net, 1, "injection", [](auto& all, u32 each) { --all[9 * each + 3].room; });
    loaded.expect_fault("router " + loaded.net.plan->router_name(9) + "): a terminal's queue overflowed");
  }
  for (Total total : {Total::kPacketsInjected, Total::kFlitsInjected}) {
    Loaded loaded;
    CounterShard counters = loaded.net.engine->counters(0);
    ++counters.total[static_cast<u32>(total)];
    loaded.net.engine->set_counters(0, counters);
    loaded.expect_fault(total == Total::kPacketsInjected ? "packets are not conserved" : "flits are not conserved");
  }
}

/// flitlab rejects combinations of parameters that cannot run, each with its own message.
TEST(BglParameters, AreCheckedTogether) {
  const testing::TextFile trace("0,0,1,1\n");
  const std::pair<RawConfig, const char*> kCases[] = {
      {Settings("topology.shape=[2,2,2,2]"), "topology.shape = [2, 2, 2, 2] has 4 dimensions"},
      {Settings("topology.shape=[1,1]"), "topology.shape = [1, 1] has one node"},
      {Settings("traffic.mode=request_reply"), "request_reply"},
      {Settings("traffic.packet_flits=9"), "traffic.packet_flits makes packets of 9 chunks"},
      {Settings("router.escape_flits=15"), "router.escape_flits = 15"},
      {Settings("router.link_protocol=true router.retransmission_timeout=300 router.acks=charged"),
       "router.retransmission_timeout = 300: an acknowledgment can take 309 cycles"},
      {Settings("router.link_protocol=true router.retransmission_timeout=500"),
       "router.retransmission_timeout = 500: an acknowledgment can take 565 cycles"},
      {Settings("router.acks=packets router.ack_bytes=0"), "router.ack_bytes = 0"},
      {Settings("faults.error_rate=0.001"), "router.link_protocol"},
      {Settings("router.escape=dateline router.bubble_rule=full_size"), "router.bubble_rule"},
      {Settings("injection.infinite=true injection.put_interval=1"), "injection.put_interval = 1"},
      {Settings("injection.infinite=true traffic.mode=trace traffic.trace_file=", trace.path),
       "injection.infinite = true"},
  };
  for (auto [config, part] : kCases) {
    config["router.kind"] = word("bgl");
    expect_in(part, message_of([&] { experiment(config); }));
  }
}

}  // namespace
}  // namespace flitlab::bgl_conservation_test
