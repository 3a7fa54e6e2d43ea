#include "host/run/transient.hpp"

#include <algorithm>

#include "host/run/statistics.hpp"

namespace flitlab {
namespace {

constexpr double kMeansAgree = 0.01;       ///< largest relative difference of two means that agree
constexpr double kLatenciesToSettle = 25;  ///< time for which a steady state must have lasted, in mean latencies
constexpr double kBehind = 0.1;            ///< backlog of flits, per flit created, above which a network falls behind
constexpr double kFewestPackets = 100;     ///< number of packets that a mean latency needs
/// Limit of (increase in waiting) x (its duration) in a stable network, in squares of the zero-load latency.
constexpr double kExcursion = 400;

}  // namespace

void Transient::add(const Epoch& epoch) {
  epochs_.push_back(epoch);
  packets_ += epoch.packets;
  latency_sum_ += epoch.latency_sum;
  if (packets_ < kFewestPackets) return;
  const double mean = latency_sum_ / packets_;
  least_latency_ = least_latency_ > 0 ? std::min(least_latency_, mean) : mean;
}

void Transient::judge() {
  std::vector<double> throughput, latency;
  double created = 0, cycles = 0;
  for (const Epoch& epoch : epochs_) {
    throughput.push_back(epoch.delivered_flits / epoch.cycles);
    if (epoch.packets > 0) latency.push_back(epoch.latency_sum / epoch.packets);
    created += epoch.created_flits;
    cycles += epoch.cycles;
  }
  const bool long_enough = packets_ == 0 || cycles >= kLatenciesToSettle * latency_sum_ / packets_;
  verdict_.throughput = steady_from_first_half(throughput, kMeansAgree);
  verdict_.latency = long_enough && (latency.empty() || steady_from_first_half(latency, kMeansAgree));
  verdict_.behind = epochs_.back().backlog > kBehind * created;
  verdict_.saturated = grows();
  next_ = epochs_.size() + std::max<std::size_t>(1, epochs_.size() / 4);
}

bool Transient::grows() const {
  std::vector<double> backlog;
  double created = 0, cycles = 0;
  for (std::size_t i = epochs_.size() / 2; i < epochs_.size(); ++i) {
    backlog.push_back(epochs_[i].backlog);
    created += epochs_[i].created_flits;
    cycles += epochs_[i].cycles;
  }
  if (least_latency_ <= 0 || created <= 0) return false;
  const double longer_wait = rise(backlog) * cycles / created;
  return longer_wait * cycles > kExcursion * least_latency_ * least_latency_;
}

}  // namespace flitlab
