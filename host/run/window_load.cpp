#include "host/run/window_load.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/run/statistics.hpp"
#include "host/run/totals.hpp"

namespace flitlab {
namespace {

constexpr std::size_t kFewestEpochs = 4;  ///< smallest number of epochs for a test of growth
constexpr double kShortfall = 0.02;       ///< growth of source queues that counts, as a fraction of the packets created
constexpr double kLongerWait = 0.1;  ///< increase in waiting time that counts, as a fraction of the network latency
constexpr double kErrors = 3;        ///< number of standard errors above which growth is significant

/// Returns whether the growth of source queues from `before` to `after` packets is significant, on the assumption that
/// the number of packets in independent queues varies like a Poisson variable.
bool more_than_chance(double before, double after) { return after - before > kErrors * std::sqrt(before + after); }

}  // namespace

void WindowLoad::add(const Epoch& epoch) {
  created_.push_back(epoch.created_packets);
  queued_.push_back(epoch.queued);
  accepted_.push_back(epoch.delivered_flits);
  offered_ += epoch.created_flits;
}

double WindowLoad::packets() const { return sum(created_); }

double WindowLoad::growth_in_second_half() const { return queued_.back() - queued_[(epochs() - 1) / 2]; }

/// Returns whether source queues grew, or packets wait longer in source queues than they spend in the network (Little's
/// law).
bool WindowLoad::may_be_saturated(double cycles, double network_latency) const {
  const double last = queued_.back();
  return more_than_chance(first_queued_, last) ||
         (more_than_chance(0, last) && last * cycles > network_latency * packets());
}

bool WindowLoad::falls_short() const {
  const std::size_t half = (epochs() + 1) / 2;  // number of epochs in the first half
  const double created = std::accumulate(created_.begin() + static_cast<std::ptrdiff_t>(half), created_.end(), 0.0);
  if (growth_in_second_half() <= kShortfall * created) return false;
  const double n = static_cast<double>(epochs()), mean = (queued_.back() - first_queued_) / n;
  double squares = 0, before = first_queued_;
  for (double now : queued_) {
    squares += (now - before - mean) * (now - before - mean);
    before = now;
  }
  return mean > kErrors * std::sqrt(squares / (n * (n - 1)));
}

bool WindowLoad::waits_grow(double cycles, double network_latency) const {
  return 4 * growth_in_second_half() >= queued_.back() - first_queued_ &&
         rise(queued_) * cycles / packets() > kLongerWait * network_latency;
}

bool WindowLoad::delivers_nothing() const {
  const auto middle = accepted_.begin() + static_cast<std::ptrdiff_t>((epochs() + 1) / 2);
  return queued_.back() > 0 && std::all_of(middle, accepted_.end(), [](double flits) { return flits == 0; });
}

Verdict WindowLoad::verdict(double cycles, double network_latency) const {
  if (!epochs()) return Verdict::kSteady;
  if (epochs() < kFewestEpochs)
    return may_be_saturated(cycles, network_latency) ? Verdict::kTooShort : Verdict::kSteady;
  // falls_short() and waits_grow() test the growth against the variance of the epochs. In addition, the growth must
  // exceed a few packets.
  const bool grew = more_than_chance(0, queued_.back() - first_queued_);
  if (grew && (falls_short() || waits_grow(cycles, network_latency))) return Verdict::kSaturated;
  if (delivers_nothing()) return Verdict::kTooShort;
  // With so few epochs, the second half is too short for the tests above.
  const bool few = epochs() < 2 * kFewestEpochs;
  return few && more_than_chance(queued_[(epochs() - 1) / 2], queued_.back()) ? Verdict::kTooShort : Verdict::kSteady;
}

}  // namespace flitlab
