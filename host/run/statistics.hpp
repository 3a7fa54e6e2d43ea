#pragma once
/// Statistics of runs: quantiles of log-binned histograms, confidence intervals, and tests for a steady state.
#include <cmath>
#include <vector>

#include "kernels/common/histogram.hpp"

namespace flitlab {

/// Returns the `q` quantile (0 to 1) of a histogram. It is interpolated inside a bin; below 128 it is exact. NaN if the
/// histogram is empty.
double histogram_quantile(const u64* bins, double q);

/// Returns the quantile if the sum and the largest of the values are also known: it is exact if all values are equal,
/// and it is at most `largest`.
double histogram_quantile(const u64* bins, double q, u64 sum, u64 largest);

/// Returns the half width of the 95 % confidence interval of a window's mean. A sample of the window is `sums[i]` over
/// `counts[i]`, i >= `first`: for example, the latencies of the packets of an epoch. The samples before `first` come
/// from the same steady state and improve the estimate of the variance. NaN if there are fewer than five samples, or no
/// counts in the window.
///
/// Model: the deviation of a sum from mean x count is a first-order autoregressive process. The mean of such a process
/// has (1 + r) / (1 - r) times the variance of the mean of independent samples, where r is the lag-1 autocorrelation
/// (Fishman, "Estimating sample size in computing simulation experiments", Management Science 18(1), 1971; Law & Kelton
/// 9.5.3). Neighbouring samples are joined to at most 100 batches (batch means), which covers longer correlations.
/// docs/benchmarks.md compares the estimator with others.
double half_width(const std::vector<double>& sums, const std::vector<double>& counts, std::size_t first = 0);

/// Returns the two-sided 95 % quantile of Student's t for a number of degrees of freedom.
double student_t95(std::size_t degrees);

/// Returns whether a series has settled. It has if the means of its last `window` samples and of the `window` samples
/// before them differ by at most `tolerance` (relatively), or if their difference is not significant (Welch's t at 95
/// %).
bool settled(const std::vector<double>& series, std::size_t window, double tolerance);

/// Returns the number of samples to cut from the beginning of a series, the initial transient. It is the number for
/// which the squared standard error of the rest is smallest, where samples are taken as independent (MSER: White, "An
/// effective truncation heuristic for bias reduction in simulation output", Simulation 69(6), 1997). At least five
/// samples remain.
std::size_t mser_truncation(const std::vector<double>& series);

/// Returns whether a series has become steady in its first half: MSER cuts at most half of the series, and the two
/// halves of the rest have means that agree as in `settled`, with standard errors corrected for autocorrelation.
/// Returns false for fewer than ten samples.
bool steady_from_first_half(const std::vector<double>& series, double tolerance);

/// Returns by how much the least-squares line of a series rises over the length of the series. Returns 0 if the rise is
/// within three standard errors (corrected for autocorrelation), or if there are fewer than six samples.
double rise(const std::vector<double>& series);

}  // namespace flitlab
