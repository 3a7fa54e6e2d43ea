#pragma once
/// A second implementation of the adaptive router, written from S-Connect, Figure 4, and the model's README
/// (kernels/routers/adaptive/README.md) with lists and sorting. It shares only the random numbers and the created
/// messages with the emulator.
#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "host/config/topology_params.hpp"
#include "host/routers/adaptive/plan.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/adaptive/params.hpp"
#include "kernels/routers/adaptive/streams.hpp"
#include "kernels/traffic/traffic.hpp"

namespace flitlab::testing {

class NaiveAdaptive {
 public:
  struct Message {
    u32 source, number, destination, priority;
    Cycle created, entered;
  };

  /// `priority_below[priority]`: thresholds of the random numbers from which priorities are drawn.
  NaiveAdaptive(const Topology& topology, const TrafficTable& traffic, const ReplicaRow& row, const Experiment& e,
                std::vector<u32> priority_below)
      : top_(topology),
        traffic_(traffic),
        row_(row),
        sorted_(e.str(adaptive::param::router.assignment) == "greedy"),
        delay_(e.u32_of(param::channels.delay)),
        ejection_(e.u32_of(adaptive::param::router.ejection)),
        per_channel_(e.u32_of(adaptive::param::router.channel_buffers)),
        spare_(e.u32_of(adaptive::param::router.spare_buffers)),
        priority_below_(std::move(priority_below)),
        pool_(topology.routers),
        source_(topology.terminals),
        next_(topology.terminals),
        sent_on(topology.routers, std::vector<u32>(topology.network_ports, 0)) {
    for (u32 i = 0; i < top_.terminals; ++i) next_[i] = first_creation(traffic_, row_, i);
    distance_.assign(top_.routers, std::vector<u32>(top_.routers, 1000000));
    for (u32 r = 0; r < top_.routers; ++r) distance_[r][r] = 0;
    for (bool changed = true; changed;) {  // relaxes distances until none gets shorter
      changed = false;
      for (u32 r = 0; r < top_.routers; ++r)
        for (u32 c : channels(r))
          for (u32 to = 0; to < top_.routers; ++to)
            if (const u32 via = distance_[top_.peer(r, c).item][to] + 1; via < distance_[r][to])
              distance_[r][to] = via, changed = true;
    }
  }

  void step() {
    for (u32 r = 0; r < top_.routers; ++r) route(r);
    flying_.erase(now_);
    ++now_;
  }

  u64 delivered = 0, latency_sum = 0, sent = 0, misrouted = 0, entered = 0;
  u64 delivered_of[4] = {};

 private:
  std::vector<u32> channels(u32 r) const {
    std::vector<u32> list;
    for (u32 c = 0; c < top_.network_ports; ++c)
      if (top_.peer(r, c).item != kNone) list.push_back(c);
    return list;
  }
  std::vector<u32> options(u32 r, const Message& m) const {
    const u32 to = m.destination / top_.concentration;
    std::vector<u32> list;
    for (u32 c : channels(r))
      if (distance_[top_.peer(r, c).item][to] < distance_[r][to]) list.push_back(c);
    return list;
  }
  bool may_take(u32 r, const Message& m, u32 c) const {
    const std::vector<u32> list = options(r, m);
    return std::find(list.begin(), list.end(), c) != list.end();
  }
  auto rank(u32 r, const Message& m) const {
    return std::make_tuple(3 - m.priority, m.entered, options(r, m).size(), m.source, m.number);
  }

  void send(u32 r, u32 c, const Message& m) {
    flying_[now_ + delay_][top_.peer(r, c).item].push_back(m);
    ++sent_on[r][c];
    ++sent;
  }

  void route(u32 r) {
    std::vector<Message> here = std::move(pool_[r]);
    for (const Message& m : flying_[now_][r]) here.push_back(m);
    std::sort(here.begin(), here.end(), [&](const Message& a, const Message& b) { return rank(r, a) < rank(r, b); });

    u32 taken = 0;
    for (auto m = here.begin(); m != here.end();) {
      if (m->destination / top_.concentration != r || (ejection_ && taken == ejection_)) {
        ++m;
        continue;
      }
      ++taken;
      ++delivered;
      ++delivered_of[m->priority];
      latency_sum += now_ + 1 - m->created;
      m = here.erase(m);
    }

    std::vector<u32> order = channels(r);
    if (sorted_) {
      std::map<u32, u32> pending;
      for (const Message& m : here)
        for (u32 c : options(r, m)) ++pending[c];
      std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return pending[a] < pending[b]; });
    }
    std::vector<u32> free;
    for (u32 c : order) {
      const auto m = std::find_if(here.begin(), here.end(), [&](const Message& x) { return may_take(r, x, c); });
      if (m == here.end()) {
        free.push_back(c);
        continue;
      }
      send(r, c, *m);
      here.erase(m);
    }

    std::sort(free.begin(), free.end());
    const std::size_t room = per_channel_ * channels(r).size() + spare_;
    for (u32 draw = 0; here.size() > room; ++draw) {
      const Random4 random = philox(row_.seed, adaptive::stream::kMisroute, r, u64{draw / 4} << 32 | now_);
      const u32 i = below(random.word[draw % 4], static_cast<u32>(free.size()));
      send(r, free.at(i), here.back());
      free.erase(free.begin() + i);
      here.pop_back();
      ++misrouted;
    }

    for (u32 i = 0; i < top_.concentration; ++i) {
      const u32 terminal = r * top_.concentration + (now_ + i) % top_.concentration;
      for (; next_[terminal].at <= now_; next_creation(traffic_, row_, terminal, next_[terminal])) {
        const u32 number = next_[terminal].index, draw = packet_draws(row_, terminal, number).word[3];
        u32 priority = 0;
        while (priority + 1 < priority_below_.size() && draw >= priority_below_[priority]) ++priority;
        source_[terminal].push_back(
            {terminal, number, packet_destination(traffic_, row_, terminal, number), priority, next_[terminal].at, 0});
      }
      if (source_[terminal].empty() || here.size() >= room) continue;
      here.push_back(source_[terminal].front());
      here.back().entered = now_;
      source_[terminal].pop_front();
      ++entered;
    }
    pool_[r] = std::move(here);
  }

  const Topology& top_;
  const TrafficTable& traffic_;
  ReplicaRow row_;
  bool sorted_;
  u32 delay_, ejection_, per_channel_, spare_;
  std::vector<u32> priority_below_;
  Cycle now_ = 0;
  std::vector<std::vector<u32>> distance_;
  std::vector<std::vector<Message>> pool_;
  std::map<Cycle, std::map<u32, std::vector<Message>>> flying_;
  std::vector<std::deque<Message>> source_;
  std::vector<SourceCursor> next_;

 public:
  std::vector<std::vector<u32>> sent_on;  ///< [router][channel] messages sent
};

}  // namespace flitlab::testing
