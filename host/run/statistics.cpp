#include "host/run/statistics.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace flitlab {
namespace {

struct Moments {
  double mean = 0, variance = 0;  ///< variance: variance of the mean
};

Moments moments(const double* x, std::size_t n) {
  Moments m;
  for (std::size_t i = 0; i < n; ++i) m.mean += x[i] / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) m.variance += (x[i] - m.mean) * (x[i] - m.mean);
  m.variance /= static_cast<double>(n) * static_cast<double>(std::max<std::size_t>(n - 1, 1));
  return m;
}

/// Returns whether the means of two neighbouring parts of a series agree: their relative difference is at most
/// `tolerance`, or the difference is not significant (Welch's t at 95 %).
bool agree(const Moments& a, const Moments& b, std::size_t degrees, double tolerance) {
  const double difference = std::fabs(a.mean - b.mean);
  if (difference <= tolerance * std::fabs(b.mean)) return true;
  return difference <= student_t95(degrees) * std::sqrt(a.variance + b.variance);
}

/// Least-squares line through a series.
struct Line {
  double slope;        ///< slope, per sample
  double error;        ///< standard error of the slope, corrected for autocorrelation
  double correlation;  ///< lag-1 autocorrelation of the residuals, 0 to 0.95
};

Line line_of(const double* x, std::size_t count) {
  const double n = static_cast<double>(count), middle = (n - 1) / 2, mean = moments(x, count).mean;
  double spread = 0, slope = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double time = static_cast<double>(i) - middle;
    spread += time * time;
    slope += time * (x[i] - mean);
  }
  slope /= spread;
  // Sums over the residuals: of their squares, of products of neighbours; `before`: the residual before.
  double squares = 0, products = 0, before = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double residual = x[i] - mean - slope * (static_cast<double>(i) - middle);
    squares += residual * residual;
    products += residual * before;
    before = residual;
  }
  // Autocorrelated samples carry less information than independent ones. The correction is that of a first-order
  // autoregressive process.
  const double correlation = squares > 0 ? std::clamp(products / squares, 0.0, 0.95) : 0;
  return {slope, std::sqrt(squares / (n - 2) / spread * (1 + correlation) / (1 - correlation)), correlation};
}

}  // namespace

double histogram_quantile(const u64* bins, double q) {
  u64 total = 0;
  for (u32 i = 0; i < kHistogramBins; ++i) total += bins[i];
  if (!total) return std::numeric_limits<double>::quiet_NaN();
  const double target = q * static_cast<double>(total);
  u64 below = 0;
  for (u32 i = 0; i < kHistogramBins; ++i) {
    if (!bins[i]) continue;
    if (static_cast<double>(below + bins[i]) >= target) {
      const double first = static_cast<double>(histogram_bin_start(i));
      const double width = static_cast<double>(histogram_bin_start(i + 1)) - first;
      const double part = (target - static_cast<double>(below)) / static_cast<double>(bins[i]);
      return first + std::ceil(part * width) - (width > 0 && part > 0 ? 1 : 0);
    }
    below += bins[i];
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double histogram_quantile(const u64* bins, double q, u64 sum, u64 largest) {
  u64 total = 0;
  for (u32 i = 0; i < kHistogramBins; ++i) total += bins[i];
  if (total && sum == total * largest) return static_cast<double>(largest);
  // std::min keeps a NaN that is its first argument.
  return std::min(histogram_quantile(bins, q), static_cast<double>(largest));
}

double student_t95(std::size_t degrees) {
  static constexpr double kTable[] = {0,     12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                      2.201, 2.179,  2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
  if (degrees < std::size(kTable)) return kTable[std::max<std::size_t>(degrees, 1)];
  return 1.96 + 2.5 / static_cast<double>(degrees);
}

double half_width(const std::vector<double>& sums, const std::vector<double>& counts, std::size_t first) {
  constexpr std::size_t kFewest = 5, kMostBatches = 100;
  const std::size_t each = (sums.size() + kMostBatches - 1) / kMostBatches;  // number of samples in a batch
  const std::size_t batches = each ? sums.size() / each : 0, begin = sums.size() - batches * each;
  const double window_count = std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(first), counts.end(), 0.0);
  if (batches < kFewest || !(window_count > 0)) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0, count = 0;
  for (std::size_t i = begin; i < sums.size(); ++i) {
    sum += sums[i];
    count += counts[i];
  }
  std::vector<double> deviation(batches);
  for (std::size_t i = 0; i < batches * each; ++i)
    deviation[i / each] += sums[begin + i] - sum / count * counts[begin + i];
  double squares = 0, products = 0;
  for (std::size_t i = 0; i < batches; ++i) {
    squares += deviation[i] * deviation[i];
    if (i) products += deviation[i] * deviation[i - 1];
  }
  if (squares == 0) return 0;
  const double n = static_cast<double>(batches);
  // The usual estimate of an autocorrelation is too low by about 1 / n (Kendall, Biometrika 41, 1954).
  const double r = std::clamp(products / squares + 1 / n, 0.0, 0.9);
  const double of_sample = squares / (n - 1) * (1 + r) / (1 - r) / static_cast<double>(each);  // variance of a sample
  return student_t95(batches - 1) * std::sqrt(of_sample * static_cast<double>(sums.size() - first)) / window_count;
}

bool settled(const std::vector<double>& series, std::size_t window, double tolerance) {
  if (series.size() < 2 * window) return false;
  const double* last = series.data() + series.size() - window;
  return agree(moments(last - window, window), moments(last, window), 2 * window - 2, tolerance);
}

std::size_t mser_truncation(const std::vector<double>& series) {
  constexpr std::size_t kLeast = 5;
  if (series.size() <= kLeast) return 0;
  std::size_t best = 0;
  // Mean and sum of squared deviations of the samples after the cut (Welford's method).
  double least = std::numeric_limits<double>::infinity(), mean = 0, squares = 0;
  for (std::size_t cut = series.size(); cut-- > 0;) {
    const double n = static_cast<double>(series.size() - cut), away = series[cut] - mean;
    mean += away / n;
    squares += away * (series[cut] - mean);
    if (series.size() - cut < kLeast || squares / (n * n) > least) continue;
    least = squares / (n * n);
    best = cut;
  }
  return best;
}

bool steady_from_first_half(const std::vector<double>& series, double tolerance) {
  if (series.size() < 10) return false;
  const std::size_t cut = mser_truncation(series);
  if (cut > series.size() / 2) return false;
  const std::size_t half = (series.size() - cut) / 2;
  const double* last = series.data() + series.size() - half;
  Moments a = moments(last - half, half), b = moments(last, half);
  // Autocorrelated samples carry less information than independent ones (first-order autoregression). The correction
  // uses a correlation of at most 0.5, because a slow approach to the steady state also raises the autocorrelation.
  const double correlation = std::min(0.5, line_of(last - half, 2 * half).correlation),
               inflation = (1 + correlation) / (1 - correlation);
  a.variance *= inflation;
  b.variance *= inflation;
  return agree(a, b, 2 * half - 2, tolerance);
}

double rise(const std::vector<double>& series) {
  if (series.size() < 6) return 0;
  const Line line = line_of(series.data(), series.size());
  return line.slope > 3 * line.error ? line.slope * static_cast<double>(series.size()) : 0;
}

}  // namespace flitlab
