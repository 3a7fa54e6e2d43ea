/// Blue Gene/L's torus against a second implementation (tests/support/bgl/naive.hpp): every departure and every
/// delivery must agree. So the test detects a node that is not processed in a cycle in which it is active.
#include <gtest/gtest.h>

#include <algorithm>

#include "host/routers/bgl/plan.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/bgl/params.hpp"
#include "tests/support/bgl/naive.hpp"
#include "tests/support/bgl/random.hpp"
#include "tests/support/side_by_side.hpp"

namespace flitlab::bgl_naive_test {
namespace {

using namespace testing;
using testing::bgl_naive::Creation;
using testing::bgl_naive::NaiveEvent;
using testing::bgl_naive::NaivePacket;
using testing::bgl_naive::NaiveTorus;

/// Returns the packets that each terminal creates before cycle `until`, with headers as hardware and software fill them
/// in.
std::vector<std::vector<Creation>> creations(const Experiment& e, const BglPlan& plan, const ReplicaRow& row,
                                             Cycle until) {
  const TrafficTable& traffic = plan.table().traffic;
  const std::vector<u32>& shape = e.ints(bgl::param::topology.shape);
  const auto chance = [](double p, u32 draw) { return p >= 1 || draw < static_cast<u32>(p * 4294967296.0); };
  std::vector<std::vector<Creation>> all(traffic.terminals);
  for (u32 t = 0; t < traffic.terminals; ++t)
    for (SourceCursor c = first_creation(traffic, row, t); c.at < until; next_creation(traffic, row, t, c)) {
      const Random4 header = philox(row.seed, 21, t, c.index);
      NaivePacket p{t, c.index, packet_destination(traffic, row, t, c.index), packet_flits(traffic, row, t, c.index)};
      p.high = chance(e.f64(bgl::param::injection.priority_share), header.word[2]);
      p.dynamic = !p.high && e.u32_of(bgl::param::router.dynamic_vcs) &&
                  chance(e.f64(bgl::param::routing.dynamic), header.word[1]);
      p.group = e.u32_of(bgl::param::reception.groups) == 2 ? header.word[3] >> 31 : 0;
      u32 sum = 0;  // sum of the sender's coordinates
      for (u32 d = 0, from = t; d < shape.size(); from /= shape[d], ++d) sum += from % shape[d];
      const bool random = e.str(bgl::param::routing.ties) == "random";
      for (u32 d = 0, from = t, to = p.dst; d < shape.size(); from /= shape[d], to /= shape[d], ++d) {
        const u32 k = shape[d], plus = (to % k + k - from % k) % k, minus = (k - plus) % k;
        if (plus == 0) continue;
        const bool tie = plus == minus && (random ? header.word[0] >> (29 + d) : sum) & 1;
        p.ways.insert(2 * d + (minus < plus || tie));
      }
      all[t].push_back({c.at, p});
    }
  return all;
}

/// Runs emulator and second implementation side by side and compares them. Returns the number of delivered packets.
u32 compare(RawConfig config, u32 cycles) {
  config.insert({"traffic.self", false});  // the second implementation cannot send packets from a node to itself
  const Experiment e = experiment(config);
  Network net(e, {"cpu", 1, true, 1});
  const auto& plan = dynamic_cast<const BglPlan&>(*net.plan);
  NaiveTorus naive(e, creations(e, plan, net.engine->row(0), cycles));
  u32 delivered = 0;
  const auto compare_events = [&](Differences& differences) {
    std::vector<NaiveEvent> happened;
    const auto events = net.engine->take_events(0);
    for (u32 item = 0; item < events.size(); ++item)
      for (const Event& event : events[item]) {
        if (event.kind == EventKind::kSwitchGranted)
          happened.push_back({item, event.port, event.vc, event.out_port, event.out_vc, event.src, event.id});
        if (event.kind == EventKind::kDelivered)
          happened.push_back({item - plan.table().routers, kNone, 0, 0, 0, event.src, event.id}), ++delivered;
      }
    std::sort(happened.begin(), happened.end());
    differences.same_lists(naive.step(), happened);
  };
  if (!side_by_side(cycles, described(config), [&](u32) { net.step(1); }, compare_events)) return delivered;
  check_conservation(*net.engine, *net.plan, 0);
  Network untraced(e);  // without events the published machine runs by specialised phases
  untraced.step(cycles);
  EXPECT_EQ(untraced.engine->state_hash(0), net.engine->state_hash(0)) << described(config);
  const u32 vcs = plan.table().vcs;
  // The second implementation counts tokens that wait at a busy link as returned. The emulator keeps them in `returned`
  // until the link is free, so its credits may lag by that number.
  constexpr u32 kPorts = bgl::kDirections;
  std::vector<u64> returned(std::size_t{plan.table().routers} * kPorts);
  if (plan.table().defer) net.engine->get_field(0, 0, plan.layout().kinds[0].field("returned"), returned.data());
  for (u32 n = 0; n < plan.table().routers; ++n) {
    const std::vector<PortSnapshot> ports = plan.inspect_router(net.engine->state(0), n);
    for (u32 d = 0; d + 1 < ports.size(); ++d)
      for (u32 vc = 0; vc < vcs; ++vc) {
        const u32 known = ports[d].vcs[vc].credits, tokens = naive.tokens(n, d, vc);
        EXPECT_LE(known, tokens) << described(config);
        EXPECT_GE(known + (returned[std::size_t{n} * kPorts + d] >> 8 * vc & 0xFF), tokens) << described(config);
      }
  }
  return delivered;
}

/// A batch on a 3x3x2 torus with all defaults, from the first packet to the last.
TEST(BglNaive, ABatchEndsInTheSameCycles) {
  Lengths lengths;
  for (std::int64_t n = 1; n <= 8; ++n) lengths.emplace_back(n, 1.0);
  for (bool dynamic : {true, false}) {
    const u32 delivered =
        compare(Settings("router.kind=bgl topology.shape=[3,3,2] routing.dynamic=", dynamic ? 1.0 : 0.0,
                         " traffic.mode=batch traffic.packet_flits=", lengths, " traffic.batch_packets=40"),
                6000);
    EXPECT_EQ(delivered, 18u * 40);
  }
}

class BglNaive : public ::testing::TestWithParam<u32> {};

/// Random parameters at loads far beyond saturation, at saturation, or below.
TEST_P(BglNaive, AgreesForRandomParameters) {
  for (u32 i = 0; i < 10; ++i) {
    const u32 seed = GetParam() * 10 + i;
    RawConfig config = random_bgl(seed);
    if (seed % 3 == 0) {
      set(config, "traffic.mode=batch traffic.batch_packets=30");
    } else {
      config["traffic.load"] = seed % 3 == 1 ? 0.08 : 0.02;
    }
    if (config["router.escape"] == word("bubble") && seed % 5 == 0) config["router.bubble_rule"] = word("actual_size");
    EXPECT_GT(compare(config, 5000), 0u) << described(config);
    if (HasFailure()) return;
  }
}

/// Random parameters with the retransmission protocol on links without errors: senders keep copies, and acknowledgments
/// wait for links, go first and take time on them.
TEST_P(BglNaive, AgreesWithTheLinkProtocol) {
  for (u32 i = 0; i < 8; ++i) {
    const u32 seed = 500 + GetParam() * 8 + i;
    RawConfig config = random_bgl(seed);
    testing::add_protocol(config, seed);
    config["traffic.load"] = seed % 3 == 0 ? 0.08 : seed % 3 == 1 ? 0.02 : 0.002;
    EXPECT_GT(compare(config, 6000), 0u) << described(config);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, BglNaive, ::testing::Range(0u, 8u));

}  // namespace
}  // namespace flitlab::bgl_naive_test
