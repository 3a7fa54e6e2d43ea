/// Whole BLESS networks against a second implementation: in every cycle all flits must agree.
#include <gtest/gtest.h>

#include "kernels/routers/bless/totals.hpp"
#include "tests/support/bless/bless.hpp"
#include "tests/support/bless/naive.hpp"
#include "tests/support/bless/random.hpp"
#include "tests/support/side_by_side.hpp"

namespace flitlab::bless_naive_test {
namespace {

using bless::Count;
using namespace testing;

std::vector<FlyingFlit> flits_of(const NaiveBless& naive, const Topology& top) {
  std::vector<FlyingFlit> list;
  for (const auto& [cycle, arrivals] : naive.flying)
    for (const auto& [where, f] : arrivals) {
      Packet flit{};
      flit.src = f.source;
      flit.id = f.packet;
      flit.via = f.number;
      flit.dst = top.address[f.destination];
      flit.created = f.created;
      flit.injected = f.injected;
      flit.flits = static_cast<u16>(f.length);
      flit.hops = static_cast<u16>(f.hops);
      list.push_back({cycle, where.first, where.second, flit});
    }
  return list;
}

TEST(BlessNaive, DoesTheSameInEveryCycle) {
  u64 deflected = 0, refused = 0, blocked = 0;
  for (u32 trial = 0; trial < 60; ++trial) {
    std::mt19937 random(trial);
    RawConfig config = testing::random_bless(random);
    if (trial % 4 == 1) config["router.reassembly_packets"] = testing::integer(1 + random() % 3);
    const Experiment e = testing::experiment(config);
    BlessNetwork net(e);
    NaiveBless naive(e, net.t.traffic, make_row(e),
                     net.t.reassembly_buffers >= net.bless.most_partial() ? kNone : net.t.reassembly_buffers);
    const auto step = [&](u32) {
      net.step(1);
      naive.step();
    };
    const auto compare = [&](Differences& d) {
      d.same(true, net.flits() == flits_of(naive, net.bless.topology()), [] { return "equal flits"; });
      for (const auto& [total, expected] :
           std::initializer_list<std::pair<TotalIndex, u64>>{{Total::kFlitsInjected, naive.injected},
                                                             {Total::kFlitsDelivered, naive.ejected},
                                                             {Total::kPacketsDelivered, naive.delivered},
                                                             {Total::kLatencySum, naive.latency_sum},
                                                             {Count::kSent, naive.sent},
                                                             {Count::kDeflections, naive.deflected},
                                                             {Count::kRefused, naive.refused},
                                                             {Count::kBlocked, naive.blocked},
                                                             {Count::kOpenMost, naive.most_parts}})
        d.same(expected, net.total(total), [&] { return "total " + std::to_string(total.value); });
    };
    if (!side_by_side(250, "trial " + std::to_string(trial), step, compare)) return;
    deflected += naive.deflected;
    refused += naive.refused;
    blocked += naive.blocked;
  }
  EXPECT_GT(deflected, 10000u);
  EXPECT_GT(refused, 100u);
  EXPECT_GT(blocked, 1000u);
}

}  // namespace
}  // namespace flitlab::bless_naive_test
