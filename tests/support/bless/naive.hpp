#pragma once
/// A second implementation of bufferless deflection networks, written from the model's README
/// (kernels/routers/bless/README.md) with lists, maps and sorting. It shares only the random numbers and the created
/// packets with the emulator.
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "host/config/topology_params.hpp"
#include "host/routers/bless/plan.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/routers/bless/params.hpp"
#include "kernels/traffic/traffic.hpp"

namespace flitlab::testing {

class NaiveBless {
 public:
  using Coordinates = std::vector<u32>;  // [dimension]

  struct Flit {
    u32 source, packet, number, length, destination;
    Cycle created, injected;
    u32 hops;
    auto age() const { return std::make_tuple(injected, source, packet, number); }
  };

  /// `reassembly_buffers`: number per terminal; the largest u32 means no limit.
  NaiveBless(const Experiment& e, const TrafficTable& traffic, const ReplicaRow& row, u32 reassembly_buffers)
      : mesh_(e.str(param::topology.kind) == "mesh"),
        shape_(e.ints(param::topology.shape)),
        router_delay_(e.u32_of(bless::param::router.delay)),
        hop_(router_delay_ + e.u32_of(param::channels.delay)),
        width_(e.u32_of(bless::param::router.ejection_width)),
        reassembly_buffers_(reassembly_buffers),
        traffic_(traffic),
        row_(row) {
    u32 routers = 1;
    for (u32 k : shape_) routers *= k;
    for (u32 r = 0; r < routers; ++r) {
      Coordinates coordinates;
      for (u32 rest = r, d = 0; d < shape_.size(); rest /= shape_[d++]) coordinates.push_back(rest % shape_[d]);
      coordinates_.push_back(coordinates);
      next_.push_back(first_creation(traffic_, row_, r));
      if (never_sends(traffic_, r)) next_.back().at = kNever;
    }
    source_.resize(routers);
    parts_.resize(routers);
  }

  void step() {
    std::map<u32, std::vector<Flit>> here;
    for (auto& [where, flit] : flying[now_]) here[where.first].push_back(flit);
    for (u32 r = 0; r < coordinates_.size(); ++r) route(r, here[r]);
    flying.erase(now_);
    ++now_;
  }

  u32 router_of(const Coordinates& coordinates) const {
    return static_cast<u32>(std::find(coordinates_.begin(), coordinates_.end(), coordinates) - coordinates_.begin());
  }
  u32 distance(u32 from, u32 to) const {
    u32 sum = 0;
    for (u32 d = 0; d < shape_.size(); ++d) {
      const u32 apart =
          std::max(coordinates_[from][d], coordinates_[to][d]) - std::min(coordinates_[from][d], coordinates_[to][d]);
      sum += mesh_ ? apart : std::min(apart, shape_[d] - apart);
    }
    return sum;
  }
  /// Returns the router at the far end of a channel, `r` itself if the channel does not exist.
  u32 neighbour(u32 r, u32 channel) const {
    Coordinates coordinates = coordinates_[r];
    u32& x = coordinates[channel / 2];
    const u32 k = shape_[channel / 2], moved = channel % 2 ? x + k - 1 : x + 1;
    if (mesh_ && (channel % 2 ? x == 0 : x + 1 == k)) return r;
    x = moved % k;
    return router_of(coordinates);
  }

  /// Flits in transit: `flying[cycle of arrival][{router, input}]`.
  std::map<Cycle, std::map<std::pair<u32, u32>, Flit>> flying;
  u64 delivered = 0, latency_sum = 0, sent = 0, deflected = 0, refused = 0, blocked = 0, ejected = 0, injected = 0;
  std::size_t most_parts = 0;

 private:
  bool take(u32 r, const Flit& f) {
    std::set<u32>& parts = parts_[r][{f.source, f.packet}];  // numbers of the packet's flits that have arrived
    if (parts.empty() && f.length > 1 && parts_[r].size() > reassembly_buffers_) {
      parts_[r].erase({f.source, f.packet});
      ++refused;
      return false;
    }
    if (f.length > 1) most_parts = std::max(most_parts, parts_[r].size());
    parts.insert(f.number);
    ++ejected;
    if (parts.size() < f.length) return true;
    parts_[r].erase({f.source, f.packet});
    ++delivered;
    latency_sum += now_ + router_delay_ - f.created;
    return true;
  }

  void create(u32 r) {
    for (; next_[r].at <= now_; next_creation(traffic_, row_, r, next_[r])) {
      const u32 packet = next_[r].index, length = packet_flits(traffic_, row_, r, packet);
      const u32 to = packet_destination(traffic_, row_, r, packet);
      for (u32 i = 0; i < length; ++i) source_[r].push_back({r, packet, i, length, to, next_[r].at, 0, 0});
    }
  }

  void route(u32 r, std::vector<Flit> here) {
    const auto by_age = [](const Flit& a, const Flit& b) { return a.age() < b.age(); };
    std::sort(here.begin(), here.end(), by_age);
    std::vector<Flit> left;
    u32 taken = 0;
    for (const Flit& f : here)
      if (f.destination == r && taken < width_ && take(r, f))
        ++taken;
      else
        left.push_back(f);

    std::set<u32> free;
    for (u32 c = 0; c < 2 * shape_.size(); ++c)
      if (neighbour(r, c) != r) free.insert(c);
    create(r);
    if (!source_[r].empty() && left.size() < free.size()) {
      Flit f = source_[r].front();
      source_[r].pop_front();
      if (f.number == 0) started_[r] = now_;
      f.injected = started_[r];
      left.push_back(f);
      ++injected;
    } else {
      blocked += !source_[r].empty();
    }

    std::sort(left.begin(), left.end(), by_age);
    for (Flit f : left) {
      u32 best = kNone;
      for (u32 c : free) {  // in ascending order: by dimension, + before -
        if (distance(neighbour(r, c), f.destination) >= distance(r, f.destination)) continue;
        const bool tie = best != kNone && best / 2 == c / 2;  // both directions of a ring are equally long
        if (best == kNone || (tie && (mix64((u64{f.source} << 32) + f.packet) >> (c / 2)) % 2)) best = c;
      }
      if (best == kNone) {
        ++deflected;
        const auto channels = static_cast<u32>(2 * shape_.size());
        for (best = now_ % channels; !free.count(best);) best = (best + 1) % channels;
      }
      free.erase(best);
      ++f.hops;
      ++sent;
      flying[now_ + hop_][{neighbour(r, best), best ^ 1}] = f;
    }
  }

  bool mesh_;
  std::vector<u32> shape_;
  u32 router_delay_, hop_, width_;
  std::size_t reassembly_buffers_;
  const TrafficTable& traffic_;
  ReplicaRow row_;
  Cycle now_ = 0;
  std::vector<Coordinates> coordinates_;
  std::vector<SourceCursor> next_;
  std::vector<std::deque<Flit>> source_;
  std::map<u32, Cycle> started_;
  std::vector<std::map<std::pair<u32, u32>, std::set<u32>>> parts_;
};

}  // namespace flitlab::testing
