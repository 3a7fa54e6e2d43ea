#include <gtest/gtest.h>

#include <cmath>

#include "kernels/common/bits.hpp"
#include "kernels/common/exact_math.hpp"
#include "kernels/common/histogram.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/traffic/traffic.hpp"

namespace flitlab::common_random_test {
namespace {

void expect_words(const Random4& r, u32 a, u32 b, u32 c, u32 d) {
  EXPECT_EQ(r.word[0], a);
  EXPECT_EQ(r.word[1], b);
  EXPECT_EQ(r.word[2], c);
  EXPECT_EQ(r.word[3], d);
}

// Known results of Philox-4x32-10, published with the generator (Random123, kat_vectors).
TEST(Philox, GivesThePublishedAnswers) {
  expect_words(philox(0, 0, 0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8);
  expect_words(philox(~u64{0}, ~0u, ~0u, ~u64{0}), 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd);
  expect_words(philox(0x299f31d0a4093822ull, 0x03707344, 0x13198a2e, 0x85a308d3243f6a88ull), 0xd16cfe09, 0x94fdcceb,
               0x5001e420, 0x24126ea1);
}

TEST(ExactLog, AgreesWithTheLibrary) {
  for (u32 i = 0; i < 200000; ++i) {
    const double x = unit_interval(philox(7, 0, 0, i).word[0]);
    ASSERT_NEAR(exact_log(x), std::log(x), 1e-12 * (1 + std::fabs(std::log(x)))) << x;
  }
  EXPECT_EQ(exact_log(1.0), 0.0);
  EXPECT_NEAR(exact_log(0x1p-32), -32 * std::log(2.0), 1e-11);
}

/// The logarithm by the same series, with its argument scaled by doubling.
double log_by_doubling(double x) {
  int exponent = 0;
  for (; x < 2.0 / 3.0; --exponent) x *= 2.0;
  const double z = (x - 1.0) / (x + 1.0), z2 = z * z;
  double sum = 1.0 / 17.0;
  for (int k = 15; k >= 1; k -= 2) sum = sum * z2 + 1.0 / static_cast<double>(k);
  return 2.0 * z * sum + static_cast<double>(exponent) * 0.693147180559945309417;
}

TEST(ExactLog, ReadsTheExponentAsDoublingFindsIt) {
  for (double x : {1.0, 2.0 / 3.0, 0.5, 1.0 / 3.0, 1.0 / 6.0, 0x1p-32, 0x1p-1000})
    for (double near : {std::nextafter(x, 0.0), x, std::min(1.0, std::nextafter(x, 2.0))})
      EXPECT_EQ(exact_log(near), log_by_doubling(near)) << near;
  for (u32 i = 0; i < 200000; ++i) {
    const double x = unit_interval(philox(8, 0, 0, i).word[0]) * std::ldexp(1.0, -static_cast<int>(i % 40));
    ASSERT_EQ(exact_log(x), log_by_doubling(x)) << x;
  }
}

TEST(GeometricTrials, HaveTheRightMeanAndTail) {
  for (double p : {0.9, 0.25, 0.01}) {
    double sum = 0;
    int first = 0;
    const int n = 200000;
    for (int i = 0; i < n; ++i) {
      const u32 k = geometric_trials(unit_interval(philox(3, 1, 0, i).word[0]), 1 / std::log1p(-p));
      ASSERT_GE(k, 1u);
      sum += k;
      first += k == 1;
    }
    EXPECT_NEAR(sum / n, 1 / p, 5 * std::sqrt(1 - p) / p / std::sqrt(n));
    EXPECT_NEAR(first / double(n), p, 5 * std::sqrt(p * (1 - p) / n));
  }
  EXPECT_EQ(geometric_trials(0.3, 0), 1u);  // p = 1
}

TEST(Histogram, BinsCoverAllValuesInOrder) {
  for (u32 bin = 0; bin + 1 < kHistogramBins; ++bin) {
    const u64 start = histogram_bin_start(bin), next = histogram_bin_start(bin + 1);
    ASSERT_LT(start, next);
    ASSERT_EQ(histogram_bin(static_cast<u32>(start)), bin);
    ASSERT_EQ(histogram_bin(static_cast<u32>(next - 1)), bin);
    if (start >= 128) {
      ASSERT_LE((next - start) * 64, start);  // relative width
    }
  }
  EXPECT_EQ(histogram_bin(0xFFFFFFFFu), kHistogramBins - 1);
}

TEST(PickWeighted, IsTheFirstThresholdAboveTheDraw) {
  const u32 thresholds[] = {10, 10, 500, 0x80000000u, 0xFFFFFFFFu};
  for (u32 n = 1; n <= 5; ++n)
    for (u32 draw : {0u, 9u, 10u, 499u, 500u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFEu, 0xFFFFFFFFu}) {
      u32 naive = 0;
      while (naive + 1 < n && draw >= thresholds[naive]) ++naive;
      EXPECT_EQ(pick_weighted(thresholds, n, draw), naive) << n << " " << draw;
    }
}

TEST(RoundRobin, IsTheNextMemberAfterThePointer) {
  for (u32 set = 1; set < 64; ++set)
    for (u32 pointer = 0; pointer < 6; ++pointer) {
      u32 naive = pointer;
      while (!((set >> naive) & 1)) naive = (naive + 1) % 6;
      EXPECT_EQ(first_at_or_after(set, pointer), naive);
    }
}

/// Returns the creation cycles of a source, found one by one.
std::vector<Cycle> creations(const TrafficTable& t, const ReplicaRow& row, u32 terminal, Cycle end) {
  std::vector<Cycle> at;
  for (SourceCursor c = first_creation(t, row, terminal); c.at < end; next_creation(t, row, terminal, c))
    at.push_back(c.at);
  return at;
}

TEST(Sources, HaveTheirMeanRateAndNeverGoBack) {
  for (Injection injection : {Injection::kBernoulli, Injection::kPeriodic, Injection::kOnOff}) {
    TrafficTable t;
    t.injection = injection;
    ReplicaRow row;
    const double p = 0.05, burst = 0.2, on = 50;
    row.inverse_log_miss = 1 / std::log1p(injection == Injection::kOnOff ? -burst : -p);
    row.period = 1 / p;
    row.inverse_log_stay_on = 1 / std::log1p(-1 / on);
    row.inverse_log_stay_off = 1 / std::log1p(-1 / (on * (burst / p - 1)));
    double count = 0;
    const Cycle cycles = 20000;
    for (u32 terminal = 0; terminal < 50; ++terminal) {
      const std::vector<Cycle> at = creations(t, row, terminal, cycles);
      for (std::size_t i = 1; i < at.size(); ++i) ASSERT_GT(at[i], at[i - 1]);
      count += static_cast<double>(at.size());
    }
    EXPECT_NEAR(count / (50.0 * cycles), p, injection == Injection::kOnOff ? 0.003 : 0.001);
  }
}

TEST(Sources, SilentOnesNeverCreate) {
  TrafficTable t;
  ReplicaRow row;
  row.silent = 1;
  EXPECT_EQ(first_creation(t, row, 3).at, kNever);
}

}  // namespace
}  // namespace flitlab::common_random_test
