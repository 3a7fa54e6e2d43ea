/// Choices of the virtual-channel router, one at a time: routes drawn at the source, adaptive ports, the oldest packet
/// first, the pointers of iSLIP, and the faults that an overfull buffer raises. Routers have scalar state.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "host/routers/vc/plan.hpp"
#include "host/run/run.hpp"
#include "kernels/routers/vc/model.hpp"
#include "tests/support/build.hpp"

namespace flitlab::vc_choices_test {
namespace {

using namespace testing;

/// A plan, and the state of its network before cycle 0, which a test changes by hand.
struct Bench {
  explicit Bench(const RawConfig& config)
      : net(experiment(config), {.backend = "cpu", .threads = 1, .lanes = LaneUse::kNever}),
        plan(dynamic_cast<const VcPlan&>(*net.plan)),
        t(plan.table()),
        state(net.engine->state(0)),
        routers{state.data(), plan.layout().kinds[0].item_bytes},
        terminals{state.data() + plan.layout().kind_offset(1, 1), plan.layout().kinds[1].item_bytes} {}

  /// Reads the network's current state.
  void reload() {
    const std::vector<std::byte> now = net.engine->state(0);
    std::copy(now.begin(), now.end(), state.begin());
  }
  Packet packet(u32 source, u32 destination, u32 id) const {
    Packet p{};
    p.src = source;
    p.id = id;
    p.flits = 1;
    p.dst = t.address[destination];
    p.dst_port = static_cast<u8>(t.network_ports);
    return p;
  }
  vc::Route route(u32 router, Packet& p, u32 in_port) {
    vc::RouterControl& control = routers[router].at(t.router_fields.control);
    return vc::compute_route(t, vc::outputs_of(t, routers[router], control), router, p, in_port, 0);
  }
  /// Returns the routers on a packet's route, which is drawn at the source.
  std::vector<u32> way(u32 source, u32 destination, u32 id) {
    Packet p = packet(source, destination, id);
    vc::plan_route(t, 1, t.address[source], p);
    std::vector<u32> passed{source};
    for (u32 in_port = t.network_ports; passed.size() < 100;) {
      const vc::Route r = route(passed.back(), p, in_port);
      if (r.port >= t.network_ports) break;
      const Peer peer = t.peers[std::size_t{passed.back()} * t.ports + r.port];
      passed.push_back(peer.item);
      in_port = peer.port;
    }
    EXPECT_EQ(passed.back(), destination);
    return passed;
  }

  Network net;
  const VcPlan& plan;
  const vc::VcTable& t;
  std::vector<std::byte> state;
  Items<1> routers, terminals;
};

/// Valiant routing: a route has two halves, each of which is a minimal route between random routers. On a 4x4 torus
/// each half has a mean of 1 hop per dimension.
TEST(Valiant, GoesAroundByEveryRouter) {
  Bench bench(Settings("routing.algorithm=valiant"));
  std::set<u32> passed;
  double hops = 0;
  constexpr u32 kPackets = 2000;
  for (u32 id = 0; id < kPackets; ++id) {
    const std::vector<u32> way = bench.way(5, 6, id);
    passed.insert(way.begin(), way.end());
    hops += static_cast<double>(way.size() - 1) / kPackets;
  }
  EXPECT_EQ(passed.size(), 16u);
  EXPECT_NEAR(hops, 2 * 2, 0.2);  // the direct route from 5 to 6 has one hop
}

TEST(Valiant, TakesTwiceTheHopsOfMinimalRoutes) {
  const auto hops = [](const char* algorithm) {
    return run_job({experiment("topology.shape=[8,8] routing.algorithm=", algorithm,
                               " traffic.load=0.05 run.warmup_cycles=1000 run.measure_cycles=4000")},
                   {"cpu", 1, false}, nullptr)
        .front()
        .hops_mean;
  };
  EXPECT_NEAR(hops("dimension_order"), 4, 0.1);  // a quarter of the radix (8) in each of two dimensions
  EXPECT_NEAR(hops("valiant"), 8, 0.2);
}

/// ROMM routes from (0,0) to (2,2) of a mesh are minimal, leave by both ports, and together visit all nine routers of
/// the minimal box.
TEST(Romm, UsesTheWholeMinimalBox) {
  Bench bench(Settings("topology.kind=mesh routing.algorithm=romm"));
  std::set<u32> passed, second;
  for (u32 id = 0; id < 200; ++id) {
    const std::vector<u32> way = bench.way(0, 10, id);
    EXPECT_EQ(way.size(), 5u);
    passed.insert(way.begin(), way.end());
    second.insert(way[1]);
  }
  EXPECT_EQ(second, (std::set<u32>{1, 4}));
  EXPECT_EQ(passed, (std::set<u32>{0, 1, 2, 4, 5, 6, 8, 9, 10}));
}

TEST(O1Turn, UsesBothOrdersEquallyOften) {
  Bench bench(Settings("topology.kind=mesh routing.algorithm=o1turn"));
  const std::vector<u32> x_first{0, 1, 2, 6, 10}, y_first{0, 4, 8, 9, 10};
  u32 reversed = 0;
  for (u32 id = 0; id < 400; ++id) {
    const std::vector<u32> way = bench.way(0, 10, id);
    EXPECT_TRUE(way == x_first || way == y_first);
    reversed += way == y_first;
  }
  EXPECT_NEAR(reversed, 200, 40);  // four standard deviations
}

/// From (0,0) to (2,2) of a mesh the productive ports are +x (0) and +y (2); their adaptive VCs are 1 to 3. A VC can be
/// allocated when its buffer is empty. If both ports have such a VC, the port with more credits on all adaptive VCs
/// wins.
TEST(MinimalAdaptive, TakesThePortWithTheMostCredits) {
  Bench bench(Settings("topology.kind=mesh routing.algorithm=minimal_adaptive"));
  const auto credits = [&](u32 port, u16 one, u16 two, u16 three) {
    const u16 all[] = {8, one, two, three};  // credits of VCs 0 to 3; VC 0, the escape VC, does not count
    for (u32 vc = 0; vc < 4; ++vc) bench.routers[0].at(bench.t.router_fields.output, port * 4 + vc).credits = all[vc];
  };
  const auto choice = [&] {
    Packet p = bench.packet(0, 10, 0);
    const vc::Route r = bench.route(0, p, bench.t.network_ports);
    return std::pair<u32, u32>{r.port, r.allowed};
  };
  using Choice = std::pair<u32, u32>;
  credits(0, 8, 0, 0), credits(2, 3, 0, 8);
  EXPECT_EQ(choice(), (Choice{2, 1u << 3}));
  credits(0, 8, 7, 0), credits(2, 8, 0, 6);
  EXPECT_EQ(choice(), (Choice{0, 1u << 1}));
  credits(0, 0, 8, 5), credits(2, 5, 8, 0);
  EXPECT_EQ(choice(), (Choice{0, 1u << 2}));  // a tie: the port of the lowest dimension wins
  credits(0, 7, 7, 7), credits(2, 0, 8, 0);
  EXPECT_EQ(choice(), (Choice{2, 1u << 2}));  // no empty VC in +x
  credits(0, 7, 7, 7), credits(2, 7, 7, 7);
  EXPECT_EQ(choice(), (Choice{0, 1u << 0}));  // the escape VC
}

/// As above, but only +x is requested: an adaptive VC, otherwise the escape VC, or all of these at once. A packet that
/// came on an escape VC (route() gives it VC 0) has to stay there, and others need no empty buffer.
TEST(MinimalAdaptive, MayTakeOnlyTheFirstPort) {
  const auto allowed = [](const char* options, u16 credits, bool from_terminal) {
    Bench bench(Settings("topology.kind=mesh routing.algorithm=minimal_adaptive ", options));
    for (u32 vc = 1; vc < 4; ++vc) bench.routers[0].at(bench.t.router_fields.output, vc).credits = credits;
    Packet p = bench.packet(0, 10, 0);
    const vc::Route r = bench.route(0, p, from_terminal ? bench.t.network_ports : 3);
    EXPECT_EQ(r.port, 0u);
    return u32{r.allowed};
  };
  EXPECT_EQ(allowed("routing.selection=first", 8, true), 0b1110u);
  EXPECT_EQ(allowed("routing.selection=first", 7, true), 0b0001u);
  EXPECT_EQ(allowed("routing.selection=first", 8, false), 0b1110u);
  EXPECT_EQ(allowed("routing.selection=first_or_escape", 8, true), 0b1111u);
  EXPECT_EQ(allowed("routing.selection=first_or_escape", 7, true), 0b0001u);
  EXPECT_EQ(allowed("routing.selection=first routing.stay_on_escape=true", 7, true), 0b1110u);
  EXPECT_EQ(allowed("routing.selection=first routing.stay_on_escape=true", 7, false), 0b0001u);
  EXPECT_EQ(allowed("routing.selection=first_or_escape routing.stay_on_escape=true", 7, true), 0b1111u);
  EXPECT_EQ(allowed("routing.selection=first routing.adaptive_vcs=2", 8, true), 0b0110u);
  EXPECT_EQ(allowed("routing.stay_on_escape=true", 8, false), 0b0001u);
}

/// The worst of four upward ports is taken only if both draws select it: once in 16 packets.
TEST(TwoRandom, TakesTheBetterOneOfTwoPorts) {
  Bench bench(
      Settings("topology.kind=fat_tree topology.children=[4] topology.parents=[4] routing.algorithm=adaptive "
               "routing.selection=two_random"));
  const u32 last = bench.t.terminal_routers - 1;
  const vc::PortSet ports = bench.t.shortest[last];  // from router 0
  ASSERT_EQ(bit_count64(ports), 4u);
  const u32 worst = lowest_bit(ports);
  for (u32 vc = 0; vc < bench.t.vcs; ++vc)
    --bench.routers[0].at(bench.t.router_fields.output, worst * bench.t.vcs + vc).credits;
  std::map<u32, u32> taken;
  for (u32 id = 0; id < 1600; ++id) {
    Packet p = bench.packet(0, last, id);
    ++taken[bench.route(0, p, bench.t.network_ports).port];
  }
  EXPECT_EQ(taken.size(), 4u);
  EXPECT_NEAR(taken[worst], 100, 40);  // four standard deviations
  taken.erase(worst);
  for (const auto& [port, packets] : taken) EXPECT_NEAR(packets, 500, 80) << port;
}

TEST(OldestFirst, IsServedFirst) {
  Bench bench(Settings("router.arbiter=oldest_first"));
  const auto& t = bench.t;
  const auto router = bench.routers[5];
  const auto created = [&](u32 port, u32 vc, Cycle at) {
    const u32 flat = port * t.vcs + vc;
    // Varies where the buffer starts in its memory.
    router.at(t.router_fields.input, flat).first = static_cast<u8>(vc % 2);
    router.at(t.router_fields.ring, flat * t.ring + vc % 2).created = at;
  };
  const Cycle of_port_1[] = {50, 20, 30, 20};
  for (u32 vc = 0; vc < 4; ++vc) created(1, vc, of_port_1[vc]);
  EXPECT_EQ(vc::pick_vc(t, router, 1, 0b1111, {100, 0}), 1u);
  EXPECT_EQ(vc::pick_vc(t, router, 1, 0b1101, {100, 0}), 3u);
  EXPECT_EQ(vc::pick_vc(t, router, 1, 0b0101, {100, 0}), 2u);
  EXPECT_EQ(vc::pick_vc(t, router, 1, 0b0001, {100, 0}), 0u);
  created(0, 2, 40), created(3, 0, 10);
  const u8 offered[] = {2, 2, 0, 0};
  EXPECT_EQ(vc::pick_input(t, router, 4, 0b1011, offered, {100, 0}), 3u);
  EXPECT_EQ(vc::pick_input(t, router, 4, 0b0011, offered, {100, 0}), 1u);
  EXPECT_TRUE(vc::beats(t, router, vc::OutputVc{}, 4, 1 * 4 + 2, 0 * 4 + 2, {100, 0}));
  EXPECT_FALSE(vc::beats(t, router, vc::OutputVc{}, 4, 1 * 4 + 2, 3 * 4 + 0, {100, 0}));
}

/// Ties go to the lowest number.
TEST(MostHopsFirst, IsServedFirst) {
  Bench bench(Settings("router.arbiter=most_hops_first"));
  const auto& t = bench.t;
  const auto router = bench.routers[5];
  const auto hops = [&](u32 port, u32 vc, u16 n) {
    router.at(t.router_fields.ring, (port * t.vcs + vc) * t.ring).hops = n;
  };
  hops(1, 0, 2), hops(1, 1, 5), hops(1, 2, 5), hops(1, 3, 0), hops(3, 0, 6);
  EXPECT_EQ(vc::pick_vc(t, router, 1, 0b1111, {100, 0}), 1u);
  EXPECT_EQ(vc::pick_vc(t, router, 1, 0b1101, {100, 0}), 2u);
  EXPECT_EQ(vc::pick_vc(t, router, 1, 0b1001, {100, 0}), 0u);
  const u8 offered[] = {0, 2, 0, 0};
  EXPECT_EQ(vc::pick_input(t, router, 4, 0b1010, offered, {100, 0}), 3u);
  EXPECT_EQ(vc::pick_input(t, router, 4, 0b0011, offered, {100, 0}), 1u);
  EXPECT_TRUE(vc::beats(t, router, vc::OutputVc{}, 4, 1 * 4 + 1, 1 * 4 + 0, {100, 0}));
  EXPECT_FALSE(vc::beats(t, router, vc::OutputVc{}, 4, 1 * 4 + 2, 3 * 4 + 0, {100, 0}));
}

/// Input 0 has packets for outputs 1 and 2, input 3 has one for output 2. In iteration 1 both outputs grant input 0,
/// which accepts output 1; in iteration 2 output 2 grants input 3. Only matches of iteration 1 move pointers (McKeown
/// 1999).
TEST(Islip, PointersMoveOnlyForTheFirstRound) {
  Bench bench(Settings("router.switch_allocator=islip router.allocator_iterations=2"));
  const auto& t = bench.t;
  const auto router = bench.routers[5];
  vc::RouterControl& control = router.at(t.router_fields.control);
  const auto ready = [&](u32 port, u32 vc, u32 out) {  // makes a VC hold a packet of many flits whose head has left
    vc::InputVc& in = router.at(t.router_fields.input, port * t.vcs + vc);
    in.flits = in.left = 8;
    in.packets = 1;
    in.out_port = static_cast<u8>(out);
    in.out_vc = static_cast<u8>(vc);
    in.stage = vc::VcState::kBody;
    const u64 bit = u64{1} << vc::bit_of(t, port, vc);
    control.flits |= bit, control.credits |= bit, control.granted |= bit;
    router.at(t.router_fields.output, out * t.vcs + vc).owner = static_cast<u16>(port * t.vcs + vc);
  };
  ready(0, 0, 1), ready(0, 1, 2), ready(3, 2, 2);
  ReplicaRow row;
  CounterShard shard{};
  const vc::View<1, false, vc::VcTable> view{{t, &row, &shard, {}}, bench.routers, bench.terminals};
  vc::allocate_switch(view, router, control, 5, false, 0, 0);
  EXPECT_EQ(shard.total[static_cast<u32>(Total::kFlitMoves)], 2u);
  const auto port = [&](u32 p) -> const vc::PortState& { return router.at(t.router_fields.port, p); };
  EXPECT_EQ(port(1).flits_sent, 1u);
  EXPECT_EQ(port(2).flits_sent, 1u);
  EXPECT_EQ(port(1).pick_input, 1u);   // moved past input 0
  EXPECT_EQ(port(0).pick_output, 2u);  // moved past output 1
  EXPECT_EQ(port(0).pick_vc, 1u);
  EXPECT_EQ(port(2).pick_input, 0u);
  EXPECT_EQ(port(3).pick_output, 0u);
  EXPECT_EQ(port(3).pick_vc, 0u);
}

/// A flit arrives at a buffer that is full (a fault) or that has one free slot (no fault).
TEST(Fault, AFlitAtAFullBufferIsFound) {
  for (const u32 held : {7u, 8u}) {
    Bench bench(Settings("traffic.load=0.0"));
    const auto router = bench.routers[5];
    router.at(bench.t.router_fields.input, 2 * 4 + 1).flits = static_cast<u16>(held);  // port 2, VC 1
    put_byte(router.at(bench.t.router_fields.flit_mail, 0), 2, 1 + 1);
    bench.net.engine->set_state(0, bench.state);
    bench.net.step(1);
    const FaultReport fault = bench.net.engine->audit(0);
    EXPECT_EQ((fault.bits & kFaultBufferOverflow) != 0, held == 8);
    if (held == 8) {
      EXPECT_EQ(fault.kind, 0u);
      EXPECT_EQ(fault.item, 5u);
      EXPECT_EQ(fault.port, 2u);
    }
  }
}

/// A credit arrives although the sender has all of its credits.
TEST(Fault, OneCreditTooManyIsFound) {
  Bench bench(Settings("traffic.load=0.0"));
  put_byte(bench.routers[5].at(bench.t.router_fields.credit_mail, 0), 2, 1 + 1);
  bench.net.engine->set_state(0, bench.state);
  bench.net.step(1);
  EXPECT_NE(bench.net.engine->audit(0).bits & kFaultCreditOverflow, 0u);
  Bench other(Settings("traffic.load=0.0"));
  other.terminals[5].at(other.t.terminal_fields.credit_mail, 0) = 1 + 1;
  other.net.engine->set_state(0, other.state);
  other.net.step(1);
  other.reload();
  EXPECT_EQ(other.terminals[5].at(other.t.terminal_fields.control).fault, u32{kFaultCreditOverflow});
}

/// The audit finds a missing credit in either direction of a terminal's channel, and a flit missing at the terminal.
TEST(Audit, CoversTheTerminalsChannel) {
  enum Theft { kNothing, kInjection, kEjection, kHeld };
  for (const char* mode : {"open", "request_reply"})
    for (const Theft theft : {kNothing, kInjection, kEjection, kHeld}) {
      // With an open loop the terminal holds no flits, because it consumes them at once.
      if (theft == kHeld && word(mode) == word("open")) continue;
      Bench bench(Settings("traffic.load=0.3 traffic.mode=", mode));
      bench.net.step(200);
      EXPECT_EQ(bench.net.engine->audit(0).bits, 0u);
      bench.reload();
      const auto& t = bench.t;
      if (theft == kInjection) --bench.terminals[5].at(t.terminal_fields.output, 1).credits;
      if (theft == kEjection) --bench.routers[5].at(t.router_fields.output, t.network_ports * t.vcs + 1).credits;
      if (theft == kHeld) ++bench.terminals[5].at(t.terminal_fields.held, 1).flits;
      bench.net.engine->set_state(0, bench.state);
      EXPECT_EQ(bench.net.engine->audit(0).bits, theft == kNothing ? 0u : u32{kFaultCreditLost}) << mode << theft;
    }
}

}  // namespace
}  // namespace flitlab::vc_choices_test
