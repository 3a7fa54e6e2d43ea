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

/// Batch means (Law & Kelton 9.5.3): neighbouring samples are merged into so many batches of equal count at most.
/// `sums` and `counts` are per sample, e.g. per epoch; samples without counts are merged into the next.
MeanOf batch_means(const std::vector<double>& sums, const std::vector<double>& counts, std::size_t most = 20);

/// The wider of the intervals from 20 batches and from 10. Whoever stops as soon as an interval is narrow stops when it
/// happens to be too narrow; short batches are most often, since they resemble their neighbours.
MeanOf cautious_means(const std::vector<double>& sums, const std::vector<double>& counts);

/// Two-sided 95 % quantile of Student's t.
double student_t95(std::size_t degrees);

/// Whether a series has settled: the means of its last `window` samples and of the `window` before differ by no more
/// than their standard errors explain (Welch's t at 95 %), or by less than `tolerance` relatively.
bool settled(const std::vector<double>& series, std::size_t window, double tolerance);

/// How many samples at the beginning of a series are best left out of its mean: as many as make the squared standard
/// error of the rest, taken as independent, least (MSER: White, "An effective truncation heuristic for bias reduction
/// in simulation output", Simulation 69(6), 1997). The last five samples are never left out.
std::size_t mser_truncation(const std::vector<double>& series);

/// Whether a series has become steady in its first half: MSER leaves out no more than that, and the means of the two
/// halves of the rest agree as those of `settled` do, with standard errors that allow for neighbouring samples that
/// resemble each other. Fewer than ten samples: not known, so not.
bool steady_from_first_half(const std::vector<double>& series, double tolerance);

/// By how much a series rises over its length along the straight line that fits best; 0 if that is within three
/// standard errors, which allow for neighbouring samples that resemble each other. Fewer than six samples: 0.
double rise(const std::vector<double>& series);

}  // namespace flitlab
