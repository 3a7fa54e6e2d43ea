/// Verdicts on whether a network is steady or saturated, from artificial series of epochs.
#include "host/run/transient.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "kernels/common/philox.hpp"

namespace flitlab::run_transient_test {
namespace {

/// Returns noise, uniform between -1 and 1.
double noise(u32 seed, u32 stream, u32 i) { return philox(seed, stream, 0, i).word[0] / 2147483648.0 - 1; }

/// Returns an epoch of a steady network: 64 terminals at a load of 0.5, epochs of 100 cycles, packets of 4 flits that
/// take about 40 cycles.
Transient::Epoch steady_epoch(u32 seed, u32 i) {
  const double created = 3200 + 200 * noise(seed, 0, i), backlog = 1280 + 100 * noise(seed, 1, i);
  return {100, created, 3200 + 200 * noise(seed, 2, i), 800, 800 * (40 + 2 * noise(seed, 3, i)), backlog};
}

/// Adds up to `epochs` epochs and judges when a judgement is due. Returns the epoch at which the verdict first holds, 0
/// if it never holds.
template <class Make, class Verdict>
u32 first(u32 epochs, Make epoch, Verdict verdict) {
  Transient transient;
  for (u32 i = 0; i < epochs; ++i) {
    transient.add(epoch(i));
    if (!transient.due()) continue;
    transient.judge();
    if (verdict(transient)) return i + 1;
  }
  return 0;
}

bool settled(const Transient& t) { return t.throughput_settled() && t.latency_settled(); }
bool saturated(const Transient& t) { return t.saturated(); }

TEST(Transient, IsJudgedAfterSixteenEpochsAndThenAfterAQuarterMore) {
  Transient transient;
  std::vector<u32> judged;
  for (u32 i = 1; i <= 60; ++i) {
    transient.add(steady_epoch(1, i));
    if (!transient.due()) continue;
    judged.push_back(i);
    transient.judge();
  }
  EXPECT_EQ(judged, (std::vector<u32>{16, 20, 25, 31, 38, 47, 58}));
}

TEST(Transient, NoiseIsSteadyAndNoSaturation) {
  u32 late = 0;
  for (u32 seed = 0; seed < 200; ++seed) {
    late += first(60, [&](u32 i) { return steady_epoch(seed, i); }, settled) == 0;
    EXPECT_EQ(first(1000, [&](u32 i) { return steady_epoch(seed, i); }, saturated), 0u) << seed;
  }
  EXPECT_LE(late, 2u);  // seven judgements, each wrong with a probability of a few percent
}

/// Latency approaches its final value and is within 1 % of it after 46 epochs: e^(-46 / 10) = 1 %. It must not be
/// called steady after 20 epochs.
TEST(Transient, LatencyThatStillRisesIsNotSteady) {
  const auto approach = [](u32 seed) {
    return [seed](u32 i) {
      Transient::Epoch epoch = steady_epoch(seed, i);
      epoch.latency_sum = 800 * (40 + 60 * (1 - std::exp((i + 1) / -10.0)) + 2 * noise(seed, 3, i));
      return epoch;
    };
  };
  for (u32 seed = 0; seed < 50; ++seed) {
    const u32 at = first(400, approach(seed), settled);
    EXPECT_GE(at, 31u) << seed;
    EXPECT_LE(at, 150u) << seed;
  }
}

/// Packets take 2000 cycles, so 20 epochs of 100 cycles are one latency.
TEST(Transient, LatencyIsNotSteadyBeforeTwentyFiveLatencies) {
  const auto slow = [](u32 i) {
    Transient::Epoch epoch = steady_epoch(1, i);
    epoch.latency_sum = 800 * 2000;
    return epoch;
  };
  const u32 at = first(1000, slow, settled);
  EXPECT_GE(at, 500u);
  EXPECT_LE(at, 500u * 5 / 4);
}

/// Sources create more than arrives, by the fraction `part`, and latency grows accordingly: after a time t packets wait
/// part * t. In the second half of that time the wait grows by part * t / 2. Saturation is detected if (part * t / 2) *
/// (t / 2) > 400 * 40^2. So t > 1600 / sqrt(part): 71 epochs for 5 % and 358 for 0.2 %.
TEST(Transient, UnboundedGrowthIsSaturation) {
  const auto growing = [](double part, u32 seed) {
    return [=](u32 i) {
      Transient::Epoch epoch = steady_epoch(seed, i);
      epoch.backlog += part * 3200 * (i + 1);
      epoch.latency_sum += 800 * part * 100 * i;
      return epoch;
    };
  };
  for (u32 seed = 0; seed < 20; ++seed)
    for (const auto& [part, earliest] : {std::pair{0.05, 71u}, {0.002, 358u}}) {
      const u32 at = first(2000, growing(part, seed), saturated);
      EXPECT_GE(at, earliest * 9 / 10) << seed;
      EXPECT_LE(at, earliest * 3 / 2) << seed;
    }
}

/// Until a hundred packets have arrived their latency is unknown, so no growth is called saturation.
TEST(Transient, NothingIsSaturatedBeforeItsLatencyIsKnown) {
  for (const auto& [packets, known] : {std::pair{4.0, false}, {6.0, true}}) {
    const auto few = [packets = packets](u32 i) {
      return Transient::Epoch{100, 3200, 100, packets, packets * 20, 3000.0 * (i + 1)};
    };
    EXPECT_EQ(first(17, few, saturated) != 0, known && 16 * packets >= 100) << packets;
    EXPECT_NE(first(40, few, saturated), 0u) << packets;
  }
}

TEST(Transient, FallsBehindWithATenthOfAllStillToArrive) {
  for (const auto& [part, behind] : {std::pair{0.09, false}, {0.11, true}}) {
    const auto epoch = [part = part](u32 i) {
      return Transient::Epoch{100, 1000, 1000, 250, 10000, part * 1000 * (i + 1)};
    };
    EXPECT_EQ(first(16, epoch, [](const Transient& t) { return t.falls_behind(); }) != 0, behind) << part;
  }
}

}  // namespace
}  // namespace flitlab::run_transient_test
