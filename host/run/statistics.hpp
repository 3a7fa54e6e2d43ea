#pragma once
/// Statistics of runs: quantiles of log-binned histograms, batch means, steadiness.
#include <cmath>
#include <optional>
#include <vector>

#include "kernels/common/histogram.hpp"

namespace flitlab {

/// Smallest value v such that a part `q` of the counts is at most v; interpolated inside a bin, exact below 128.
double histogram_quantile(const u64* bins, double q);

struct MeanOf {
  double mean = 0;
  double half_width = 0;  ///< of the 95 % confidence interval; NaN with fewer than 5 batches
};

/// Batch means (Law & Kelton 9.5.3): neighbouring samples are merged into at most 20 batches of equal count.
/// `sums` and `counts` are per sample, e.g. per epoch; samples without counts are merged into the next.
MeanOf batch_means(const std::vector<double>& sums, const std::vector<double>& counts);

/// Two-sided 95 % quantile of Student's t.
double student_t95(std::size_t degrees);

/// Whether a series has settled: the means of its last `window` samples and of the `window` before differ by no more
/// than their standard errors explain (Welch's t at 95 %), or by less than `tolerance` relatively.
bool settled(const std::vector<double>& series, std::size_t window, double tolerance);

/// By how much a series rises over its length along the straight line that fits best; 0 if that is within three
/// standard errors, which allow for neighbouring samples that resemble each other. Fewer than six samples: 0.
double rise(const std::vector<double>& series);

}  // namespace flitlab
