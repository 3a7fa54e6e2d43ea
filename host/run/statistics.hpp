#pragma once
/// Statistics of runs: quantiles of log-binned histograms, confidence intervals, steadiness.
#include <cmath>
#include <vector>

#include "kernels/common/histogram.hpp"

namespace flitlab {

/// Smallest value v such that a part `q` of the counts is at most v; interpolated inside a bin, exact below 128.
double histogram_quantile(const u64* bins, double q);

/// The same of values whose sum and largest are known: it is exact if all values are equal, and at most `largest`.
double histogram_quantile(const u64* bins, double q, u64 sum, u64 largest);

/// Half width of the 95 % confidence interval of a window's mean: the window's samples are `sums[first..]` over
/// `counts[first..]`, e.g. of latencies in an epoch. Samples before `first` come from the same steady state; they add
/// knowledge of the variance. NaN with fewer than five samples, or without counts in the window.
///
/// The deviations of the sums from mean times count are taken for a first-order autoregressive process, so that the
/// variance of their mean is (1 + r) / (1 - r) times that of independent ones, r being the correlation of neighbours
/// (Fishman, "Estimating sample size in computing simulation experiments", Management Science 18(1), 1971; Law & Kelton
/// 9.5.3). At most a hundred batches of neighbouring samples are formed, so that a process with a longer memory than
/// one sample is covered, too. docs/benchmarks.md compares the estimator with others.
double half_width(const std::vector<double>& sums, const std::vector<double>& counts, std::size_t first = 0);

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
