#include "host/run/window_load.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/run/statistics.hpp"

namespace flitlab {
namespace {

constexpr std::size_t kFewestEpochs = 5;  ///< that show whether a growth is more than chance
constexpr double kShortfall = 0.02;       ///< of the offered load
constexpr double kLongerWait = 0.1;       ///< of the network latency
constexpr double kErrors = 3;             ///< standard errors that chance does not exceed

/// Whether source queues that held `before` packets have grown to `after` by more than chance explains: independent
/// queues hold a number of packets that varies about as a Poisson variable does.
bool more_than_chance(double before, double after) { return after - before > kErrors * std::sqrt(before + after); }

}  // namespace

void WindowLoad::add(const Epoch& epoch) {
  shortfall_.push_back(epoch.created_flits - epoch.delivered_flits - epoch.dropped_flits);
  queued_.push_back(epoch.queued);
  accepted_.push_back(epoch.delivered_flits);
  offered_ += epoch.created_flits;
  created_ += epoch.created_packets;
}

/// Source queues grew, or, by Little's law, packets wait longer in them than they spend in the network.
bool WindowLoad::may_be_saturated(double cycles, double network_latency) const {
  const double last = queued_.back();
  return more_than_chance(first_queued_, last) ||
         (more_than_chance(0, last) && last * cycles > network_latency * created_);
}

bool WindowLoad::falls_short() const {
  const double n = static_cast<double>(epochs());
  const double mean = std::accumulate(shortfall_.begin(), shortfall_.end(), 0.0) / n;
  double squares = 0;
  for (double x : shortfall_) squares += (x - mean) * (x - mean);
  return mean * n > kShortfall * offered_ && mean > kErrors * std::sqrt(squares / (n * (n - 1)));
}

bool WindowLoad::waits_grow(double cycles, double network_latency) const {
  return rise(queued_) * cycles / created_ > kLongerWait * network_latency;
}

Verdict WindowLoad::verdict(double cycles, double network_latency) const {
  if (!epochs()) return Verdict::kSteady;
  if (epochs() < kFewestEpochs)
    return may_be_saturated(cycles, network_latency) ? Verdict::kTooShort : Verdict::kSteady;
  // The epochs tell how much longer queues vary; here the packets that were added must be more than a few.
  const bool grew = more_than_chance(0, queued_.back() - first_queued_);
  return grew && (falls_short() || waits_grow(cycles, network_latency)) ? Verdict::kSaturated : Verdict::kSteady;
}

}  // namespace flitlab
