#pragma once
/// Buffers and queues of the second implementation of S-Connect (naive.hpp): whether a message gets a buffer, and its
/// queue.
#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/routers/sconnect/params.hpp"
#include "kernels/routers/sconnect/totals.hpp"
#include "tests/support/sconnect/naive_parts.hpp"

namespace flitlab::testing {

class NaiveQueues {
 public:
  NaiveQueues(const Experiment& e, const SconnectPlan& plan)
      : t_(plan.table()), tables_(plan.tables()), tics_(plan.fabric().tics) {
    buffers_ = e.u32_of(sconnect::param::router.buffers);
    age_ = e.str(sconnect::param::routing.age);
    parallel_ = e.u32_of(sconnect::param::topology.parallel_vcs);
    host_buffers_ =
        e.is_auto(sconnect::param::router.host_buffers) ? buffers_ : e.u32_of(sconnect::param::router.host_buffers);
  }

  std::vector<NaiveTic>& tics() { return tics_; }
  u64 total(TotalIndex t, u32 i = 0) { return totals_[t.value + i]; }

 protected:
  void count(TotalIndex t, u64 amount = 1, u32 i = 0) { totals_[t.value + i] += amount; }

  /// Returns the number of buffers reserved for a queue.
  u32 reservation(const NaiveTic& tic, u32 p, u32 priority, u32 vc) const {
    const LinkKind kind = tic.port[p].link.kind;
    const bool one = kind == LinkKind::kHost || (kind == LinkKind::kParallel && parallel_ == 1);
    return kind == LinkKind::kNone || (one && vc == 1) ? 0 : t_.reserve[priority];
  }

  /// Returns whether all reservations, including those for control messages, can still be met if the message is stored.
  bool room(const NaiveTic& tic, u32 p, u32 priority, u32 vc, u32 flits) const {
    u32 all = 0;
    for (u32 port = 0; port < 6; ++port)
      for (u32 c = 0; c < 8; ++c) {
        const bool own = port == p && c == 2 * priority + vc;
        all += std::max(tic.held(port, c / 2, c % 2) + (own ? flits : 0), reservation(tic, port, c / 2, c % 2));
      }
    return all + 2 * t_.control_buffers <= buffers_;
  }

  static void free(NaiveTic& tic, const MessageRef& m) { tic.pool.remove(m); }

  /// Stores a message in a buffer. Returns null if no buffer is free.
  MessageRef store(NaiveTic& tic, const NaiveMessage& message, u32 source, bool from_host = false) {
    const MessageRef m = std::make_shared<NaiveMessage>(message);
    const auto choice = choose(tic, *m, source);
    if (!choice) return nullptr;
    if (from_host && tic.used() >= host_buffers_ && tic.held(choice->port, m->priority, choice->vc)) return nullptr;
    tic.pool.push_back(m);
    enqueue(tic, m, *choice);
    return m;
  }

  static MessageRef take(std::list<MessageRef>& queue) {
    const MessageRef m = queue.front();
    queue.pop_front();
    m->waiting = false;
    return m;
  }

  /// Returns the rank of a message in its queue; lower ranks leave first. Among messages of equal rank, requeued ones
  /// are placed before the others and new ones behind them.
  int rank(const NaiveMessage& m) const {
    if (age_ == "all") return -static_cast<int>(m.failures);
    if (!m.back) return 1;
    return age_ == "requeued" ? -static_cast<int>(m.failures) : 0;
  }
  std::list<MessageRef>::iterator place_in(std::list<MessageRef>& queue, const NaiveMessage& m) const {
    return std::find_if(queue.begin(), queue.end(), [&](const MessageRef& other) {
      return m.back ? rank(*other) >= rank(m) : rank(*other) > rank(m);
    });
  }

  /// Returns the number of messages that would be ahead of this one at a port.
  u32 ahead(NaiveTicPort& port, const NaiveMessage& m) const {
    u32 n = port.leaving ? 1 : 0;
    for (u32 priority = m.priority; priority < 4; ++priority)
      for (auto& queue : port.queue[priority])
        n += priority > m.priority ? queue.size() : static_cast<u32>(std::distance(queue.begin(), place_in(queue, m)));
    return n;
  }

  struct QueueChoice {
    u32 port, vc;
  };

  /// Returns the queue for a message, among the queues that have a free buffer for it.
  std::optional<QueueChoice> choose(NaiveTic& tic, const NaiveMessage& message, u32 source) {
    const NaiveMessage* m = &message;
    const std::size_t tic_number = static_cast<std::size_t>(&tic - tics_.data());
    const u32 entry = tables_.entry[tic_number * t_.nodes + m->node];
    struct Way {
      u32 port;
      std::vector<u32> vcs;
    };
    std::vector<Way> ways;
    const auto list_ways = [&](bool all_on_1, const auto& good) {
      ways.clear();
      for (u32 i = 1; i <= 6; ++i) {
        const u32 p = (source + i) % 6;
        Way way{p, {}};
        for (u32 vc = 0; vc < 2; ++vc)
          if (entry >> (2 * p + vc) & 1 && (vc == 1 || !all_on_1)) way.vcs.push_back(vc);
        if (!way.vcs.empty() && good(p)) ways.push_back(way);
      }
      return !ways.empty();
    };
    const auto on = [&](u32 p) { return tic.port[p].on; };
    const auto any = [](u32) { return true; };
    const auto untried = [&](const auto& also) {
      return [&](u32 p) { return also(p) && (!m->back || *m->back != p); };
    };
    const bool stays_on_1 = m->vc == 1 && list_ways(true, any);
    const bool found = list_ways(stays_on_1, on) ? list_ways(stays_on_1, untried(on)) || list_ways(stays_on_1, on)
                                                 : list_ways(stays_on_1, untried(any)) || list_ways(stays_on_1, any);
    if (!found) {
      tic.no_route = true;
      return {};
    }
    std::optional<QueueChoice> best;
    u32 least = 0;
    for (const Way& way : ways) {
      std::vector<u32> vcs;
      for (u32 vc : way.vcs)
        if (room(tic, way.port, m->priority, vc, m->flits)) vcs.push_back(vc);
      const u32 load = ahead(tic.port[way.port], *m);
      if (vcs.empty() || (best && load >= least)) continue;
      const auto& queues = tic.port[way.port].queue[m->priority];
      best = QueueChoice{way.port, vcs.front()};
      if (vcs.size() == 2 && queues[1].size() < queues[0].size()) best->vc = 1;
      least = load;
    }
    return best;
  }

  void enqueue(NaiveTic& tic, const MessageRef& m, const QueueChoice& choice) {
    m->next_port = choice.port;
    m->next_vc = choice.vc;
    auto& queue = tic.port[choice.port].queue[m->priority][choice.vc];
    queue.insert(place_in(queue, *m), m);
    m->waiting = true;
  }

  /// Routes a requeued message, or a message that waited for a port that is off. The message keeps its buffer but may
  /// enter another queue.
  void route_again(NaiveTic& tic, const MessageRef& m, u32 p) {
    if (m->damaged) return annihilate(tic, m);
    tic.pool.remove(m);
    const QueueChoice old{m->next_port, m->next_vc}, choice = choose(tic, *m, p).value_or(old);
    tic.pool.push_back(m);
    enqueue(tic, m, choice);
  }

  void annihilate(NaiveTic& tic, const MessageRef& m) {
    free(tic, m);
    count(sconnect::Count::kAborted);
  }

  const sconnect::Table& t_;
  const SconnectTables& tables_;
  std::vector<NaiveTic> tics_;
  std::map<u32, u64> totals_;
  std::string age_;
  u32 buffers_ = 0, host_buffers_ = 0, parallel_ = 0;
};

}  // namespace flitlab::testing
