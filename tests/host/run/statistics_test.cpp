#include "host/run/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/common/philox.hpp"

namespace flitlab::run_statistics_test {
namespace {

TEST(Quantiles, AreExactForSmallValues) {
  std::vector<u64> bins(kHistogramBins, 0);
  for (u32 v = 1; v <= 100; ++v) ++bins[v];
  EXPECT_EQ(histogram_quantile(bins.data(), 0.5), 50);
  EXPECT_EQ(histogram_quantile(bins.data(), 0.95), 95);
  EXPECT_EQ(histogram_quantile(bins.data(), 0.99), 99);
  EXPECT_EQ(histogram_quantile(bins.data(), 1.0), 100);
}

TEST(Quantiles, AreWithinABinForLargeOnes) {
  std::vector<u64> bins(kHistogramBins, 0);
  std::vector<u32> values;
  for (u32 i = 0; i < 20000; ++i) values.push_back(philox(1, 0, 0, i).word[0] % 100000);
  for (u32 v : values) ++bins[histogram_bin(v)];
  std::sort(values.begin(), values.end());
  for (double q : {0.1, 0.5, 0.9, 0.99})
    EXPECT_NEAR(histogram_quantile(bins.data(), q), values[static_cast<std::size_t>(q * 20000) - 1], 100000.0 / 64);
}

/// Above 127 a bin of the histogram holds several values, so the middle of a bin may be a value that never occurred. If
/// all values are equal, quantiles must still be exact.
TEST(Quantiles, AreExactIfAllValuesAreEqual) {
  for (u32 value : {5u, 127u, 128u, 346u, 100001u, 4000000000u}) {
    std::vector<u64> bins(kHistogramBins, 0);
    bins[histogram_bin(value)] = 1000;
    for (double q : {0.01, 0.5, 0.95, 0.99})
      EXPECT_EQ(histogram_quantile(bins.data(), q, u64{value} * 1000, value), value) << q;
  }
}

/// If values differ, a quantile is exact to 1/64 and never above the largest value.
TEST(Quantiles, AreAtMostTheLargestValue) {
  std::vector<u64> bins(kHistogramBins, 0);
  bins[histogram_bin(344)] = bins[histogram_bin(600)] = 1;
  EXPECT_EQ(histogram_quantile(bins.data(), 1.0, 944, 600), 600);
  EXPECT_NEAR(histogram_quantile(bins.data(), 0.5, 944, 600), 344, 344.0 / 64);
}

TEST(Quantiles, OfNothingAreNotANumber) {
  const std::vector<u64> bins(kHistogramBins, 0);
  EXPECT_TRUE(std::isnan(histogram_quantile(bins.data(), 0.5, 0, 0)));
}

/// Values beyond the table in the code agree with printed tables of Student's t to the second decimal.
TEST(StudentT, IsThatOfPrintedTables) {
  EXPECT_EQ(student_t95(1), 12.706);
  EXPECT_EQ(student_t95(20), 2.086);
  for (const auto& [degrees, t] :
       {std::pair{21, 2.080}, {25, 2.060}, {30, 2.042}, {40, 2.021}, {60, 2.000}, {120, 1.980}})
    EXPECT_NEAR(student_t95(static_cast<std::size_t>(degrees)), t, 0.0025) << degrees;
}

/// Twenty values by hand: the mean is 4.85, the sum of squared deviations 138.55, and the lag-1 correlation 0.17306;
/// without its bias of 1/20 the correlation is 0.22306. The interval of 20 independent values has t = 2.093 for 19
/// degrees of freedom. It is widened by the square root of (1 + 0.22306) / (1 - 0.22306).
TEST(HalfWidth, IsWidenedByTheCorrelationOfNeighbours) {
  const std::vector<double> values{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4}, ones(20, 1.0);
  const double independent = 2.093 * std::sqrt(138.55 / 19 / 20);
  EXPECT_NEAR(half_width(values, ones), independent * std::sqrt(1.2230602670516059 / 0.7769397329483941), 1e-9);
}

/// Samples with different numbers of packets: a deviation is that of a sample's sum from the mean times its number of
/// packets. So packets of equal latency give a half width of 0.
TEST(HalfWidth, OfEqualPacketsIsZero) { EXPECT_EQ(half_width({10, 30, 20, 0, 50, 10}, {1, 3, 2, 0, 5, 1}), 0); }

TEST(HalfWidth, IsUnknownForFewSamplesOrNoPackets) {
  EXPECT_TRUE(std::isnan(half_width({1, 2, 3, 2}, {1, 1, 1, 1})));
  EXPECT_FALSE(std::isnan(half_width({1, 2, 3, 2, 1}, {1, 1, 1, 1, 1})));
  EXPECT_TRUE(std::isnan(half_width({0, 0, 0, 0, 0}, {0, 0, 0, 0, 0})));
  EXPECT_TRUE(std::isnan(half_width({1, 2, 1, 2, 1, 0, 0}, {1, 1, 1, 1, 1, 0, 0}, 5)));
  EXPECT_TRUE(std::isnan(half_width({}, {})));
}

/// The window is the last fifth of all samples. The variance is estimated from all of them, so the half width of the
/// window is sqrt(5) times that of all samples.
TEST(HalfWidth, UsesTheVarianceFromBeforeTheWindow) {
  std::vector<double> sums, ones(100, 1.0);
  for (u32 i = 0; i < 100; ++i) sums.push_back(philox(3, 0, 0, i).word[0] / 4294967296.0);
  EXPECT_NEAR(half_width(sums, ones, 80), half_width(sums, ones, 0) * std::sqrt(5), 1e-12);
}

struct Process {
  double memory;  ///< share of a sample's deviation that carries over to the next sample
  std::size_t samples;
};

class HalfWidthOf : public ::testing::TestWithParam<Process> {};

/// Series with a known variance, from 500 seeds. In 99 % of them the half width is within a factor of two of 1.96 true
/// standard deviations of the mean, and in 92 to 98 % the interval contains the true mean.
TEST_P(HalfWidthOf, IsHonest) {
  const auto [memory, samples] = GetParam();
  constexpr u32 kSeries = 500;
  const double n = static_cast<double>(samples);
  // The true value for a stationary first-order process with innovations of variance 1/12.
  const double honest = 1.96 * std::sqrt(1.0 / 12 / n) / (1 - memory);
  u32 near = 0, covered = 0;
  for (u32 seed = 0; seed < kSeries; ++seed) {
    std::vector<double> series, ones(samples, 1.0);
    double deviation = 0, sum = 0;
    for (u32 i = 0; i < samples + 40; ++i) {
      deviation = memory * deviation + philox(seed, 0, 0, i).word[0] / 4294967296.0 - 0.5;
      if (i < 40) continue;
      series.push_back(100 + deviation);
      sum += deviation;
    }
    const double half = half_width(series, ones);
    near += half > honest / 2 && half < 2 * honest;
    covered += std::fabs(sum / n) <= half;
  }
  EXPECT_GE(near, kSeries * 99 / 100);
  EXPECT_GE(covered, kSeries * 92 / 100);
  EXPECT_LE(covered, kSeries * 98 / 100);
}

INSTANTIATE_TEST_SUITE_P(Processes, HalfWidthOf,
                         ::testing::Values(Process{0, 24}, Process{0, 60}, Process{0, 200}, Process{0.3, 60},
                                           Process{0.3, 200}, Process{0.6, 200}, Process{0.6, 1000}),
                         [](const auto& p) {
                           return std::to_string(static_cast<int>(10 * p.param.memory)) + "_of_" +
                                  std::to_string(p.param.samples);
                         });

TEST(Settled, SeesATrendThroughNoise) {
  std::vector<double> flat, rising;
  for (u32 i = 0; i < 32; ++i) {
    const double noise = philox(5, 0, 0, i).word[0] / 4294967296.0;
    flat.push_back(100 + 10 * noise);
    rising.push_back(100 + 10 * noise + 5 * i);
  }
  EXPECT_TRUE(settled(flat, 8, 0.0));
  EXPECT_FALSE(settled(rising, 8, 0.01));
  EXPECT_FALSE(settled({1, 1, 1}, 8, 0.01));  // too short to decide
}

/// MSER by its definition: for each possible truncation computes the squared standard error of the rest from scratch.
std::size_t naive_truncation(const std::vector<double>& series) {
  std::size_t best = 0;
  double least = 1e300;
  for (std::size_t cut = 0; cut + 5 <= series.size(); ++cut) {
    const double n = static_cast<double>(series.size() - cut);
    double mean = 0, squares = 0;
    for (std::size_t i = cut; i < series.size(); ++i) mean += series[i] / n;
    for (std::size_t i = cut; i < series.size(); ++i) squares += (series[i] - mean) * (series[i] - mean);
    if (squares / n / n < least - 1e-12) {
      least = squares / n / n;
      best = cut;
    }
  }
  return best;
}

TEST(Mser, LeavesOutTheBeginning) {
  EXPECT_EQ(mser_truncation({9, 7, 1, 1, 1, 1, 1, 1, 1, 1}), 2u);
  EXPECT_EQ(mser_truncation({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}), 0u);
  EXPECT_EQ(mser_truncation({9, 9, 9, 9, 9, 1, 1, 1, 1, 1}), 5u);
  EXPECT_EQ(mser_truncation({9, 1, 1, 1, 1}), 0u);  // the last five samples are always kept
  for (u32 seed = 0; seed < 200; ++seed) {
    std::vector<double> series;
    for (u32 i = 0; i < 12 + seed; ++i)
      series.push_back(1000 + 100 * std::exp(-(i / (1.0 + seed % 20))) + philox(seed, 0, 0, i).word[0] / 4e8);
    EXPECT_EQ(mser_truncation(series), naive_truncation(series)) << seed;
  }
}

/// A transient that ends before the middle of the series does not matter. A transient that ends later makes the series
/// unsteady, and so does a slow rise.
TEST(SteadyFromFirstHalf, ForgivesTheBeginningAlone) {
  for (const auto& [until, steady] : {std::pair{0u, true}, {12u, true}, {28u, false}}) {
    std::vector<double> series;
    for (u32 i = 0; i < 40; ++i) series.push_back((i < until ? 10 : 50) + i % 2);
    EXPECT_EQ(steady_from_first_half(series, 0.01), steady) << until;
  }
  std::vector<double> rising;  // the second half is higher by 0.4 of 50; 2 standard errors are 0.32
  for (u32 i = 0; i < 40; ++i) rising.push_back(50 + 0.02 * i + i % 2);
  EXPECT_FALSE(steady_from_first_half(rising, 0.005));
  EXPECT_TRUE(steady_from_first_half(rising, 0.01));
  EXPECT_FALSE(steady_from_first_half(std::vector<double>(9, 1.0), 0.01));  // too short to decide
}

/// With correlated noise the halves differ by more than independent samples would, but the series is steady.
TEST(SteadyFromFirstHalf, AllowsForNeighboursThatResembleEachOther) {
  u32 steady = 0;
  for (u32 seed = 0; seed < 400; ++seed) {
    std::vector<double> series;
    double carried = 0;
    for (u32 i = 0; i < 100; ++i) {
      carried = 0.5 * carried + 20 * (philox(seed, 0, 0, i).word[0] / 4294967296.0 - 0.5);
      series.push_back(100 + carried);
    }
    steady += steady_from_first_half(series, 0);
  }
  EXPECT_GT(steady, 320u);
}

/// Windows that end when the interval is narrow enough, which is checked after sixteen epochs and then after each
/// increase by a quarter. In 5000 such runs 93 % of the intervals contain the true mean. In the 500 runs of this test
/// 90 to 98 % must.
TEST(HalfWidth, CoversTheMeanOfWindowsThatItEnds) {
  constexpr u32 kRuns = 500;
  u32 covered = 0;
  for (u32 run = 0; run < kRuns; ++run) {
    std::vector<double> sums, ones;
    double carried = 0, sum = 0;
    for (std::size_t next = 24; sums.size() < 4000;) {
      const auto i = static_cast<u32>(sums.size());
      carried = 0.3 * carried + 10 * (philox(run, 0, 0, i).word[0] / 4294967296.0 - 0.5);
      sums.push_back(100 + carried);
      ones.push_back(1);
      if (sums.size() > 8) sum += sums.back();
      if (sums.size() < next) continue;
      next += (next - 8) / 4;
      const double mean = sum / static_cast<double>(sums.size() - 8), half = half_width(sums, ones, 8);
      if (half > 0.01 * mean) continue;
      covered += std::fabs(mean - 100) <= half;
      break;
    }
  }
  EXPECT_GE(covered, kRuns * 90 / 100);
  EXPECT_LE(covered, kRuns * 98 / 100);
}

/// Returns 20 samples that rise by `slope` per sample. Their noise has the correlation `memory` between neighbouring
/// samples.
std::vector<double> noisy_line(u32 seed, double memory, double slope) {
  std::vector<double> series;
  double noise = 0;
  for (u32 i = 0; i < 60; ++i) {
    noise = memory * noise + philox(seed, 0, 0, i).word[0] / 4294967296.0 - 0.5;
    if (i >= 40) series.push_back(noise + slope * i);
  }
  return series;
}

TEST(Rise, IsSeenAndNotImagined) {
  for (double memory : {0.0, 0.5, 0.8}) {
    int imagined = 0, seen = 0;
    for (u32 seed = 0; seed < 1000; ++seed) {
      imagined += rise(noisy_line(seed, memory, 0)) > 0;
      const double found = rise(noisy_line(seed, memory, 1));
      seen += found > 0.8 * 20 && found < 1.2 * 20;
    }
    // The test is designed for 4 false rises. There are more if samples are strongly correlated, because twenty samples
    // do not show the correlation exactly.
    EXPECT_LE(imagined, memory == 0 ? 10 : memory < 0.8 ? 30 : 90) << memory;
    EXPECT_EQ(seen, 1000) << memory;
  }
  EXPECT_DOUBLE_EQ(rise({0, 1, 2, 3, 4, 5}), 6);
  EXPECT_EQ(rise({6, 5, 4, 3, 2, 1}), 0);
  EXPECT_EQ(rise({2, 2, 2, 2, 2, 2}), 0);
  EXPECT_EQ(rise({0, 10, 20}), 0);  // too short to decide
}

}  // namespace
}  // namespace flitlab::run_statistics_test
