#pragma once
/// Statistics of runs: quantiles of log-binned histograms, confidence intervals, tests of steadiness.
#include <cmath>
#include <vector>

#include "kernels/common/histogram.hpp"

namespace flitlab {

/// Returns the `q` quantile (0 to 1) of a histogram; interpolated inside a bin, exact below 128; NaN if it is empty.
double histogram_quantile(const u64* bins, double q);

/// The same if the sum and the largest of the values are known: exact if all values are equal, and at most `largest`.
double histogram_quantile(const u64* bins, double q, u64 sum, u64 largest);

/// Returns the half width of the 95 % confidence interval of a window's mean. The window's samples are `sums[first..]`
/// over `counts[first..]`: the latencies of an epoch, for example. Samples before `first` come from the same steady
/// state and improve the estimate of the variance. NaN with fewer than five samples or without counts in the window.
///
/// The deviations of the sums from mean times count are modelled as a first-order autoregressive process, whose mean
/// has (1 + r) / (1 - r) times the variance of independent samples; r is their lag-1 autocorrelation (Fishman,
/// "Estimating sample size in computing simulation experiments", Management Science 18(1), 1971; Law & Kelton 9.5.3).
/// Neighbouring samples are joined to at most 100 batches (batch means), which covers longer correlations.
/// docs/benchmarks.md compares the estimator with others.
double half_width(const std::vector<double>& sums, const std::vector<double>& counts, std::size_t first = 0);

/// Returns the two-sided 95 % quantile of Student's t for these degrees of freedom.
double student_t95(std::size_t degrees);

/// Returns whether a series has settled: the means of its last `window` samples and of the `window` samples before them
/// do not differ significantly (Welch's t at 95 %), or by at most `tolerance` relatively.
bool settled(const std::vector<double>& series, std::size_t window, double tolerance);

/// Returns how many samples to cut from the beginning of a series, the initial transient: the number that minimises the
/// squared standard error of the rest, taken as independent (MSER: White, "An effective truncation heuristic for bias
/// reduction in simulation output", Simulation 69(6), 1997). At least five samples remain.
std::size_t mser_truncation(const std::vector<double>& series);

/// Returns whether a series has become steady in its first half: MSER cuts at most half of it, and the means of the two
/// halves of the rest agree as in `settled`, with standard errors corrected for autocorrelation. False with fewer than
/// ten samples.
bool steady_from_first_half(const std::vector<double>& series, double tolerance);

/// Returns the rise of a series over its length along its least-squares line; 0 if that is within three standard
/// errors, corrected for autocorrelation, or with fewer than six samples.
double rise(const std::vector<double>& series);

}  // namespace flitlab
