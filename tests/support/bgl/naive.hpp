#pragma once
/// A second implementation of Blue Gene/L's torus, written from the paper and the parameters without the emulator's
/// router code. It has queues of packets, lists of future events by cycle, and it examines every queue in every cycle.
/// Random choices use the same keys as the emulator.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/routers/bgl/params.hpp"
#include "tests/support/bgl/naive_links.hpp"

namespace flitlab::testing::bgl_naive {

class NaiveTorus : public NaiveLinks {
 public:
  using NaiveLinks::NaiveLinks;

  std::vector<NaiveEvent> step() {
    events_.clear();
    for (const auto& action : later_[now_]) action();
    later_.erase(now_);
    for (u32 n = 0; n < nodes_.size(); ++n) software(n);
    for (u32 n = 0; n < nodes_.size(); ++n) torus_unit(n);
    ++now_;
    std::sort(events_.begin(), events_.end());
    return events_;
  }

 private:
  // Software.
  static u32 fifo_of(u32 receiver, const NaivePacket& p) { return 7 * p.group + (p.high ? 6 : receiver); }

  /// Returns the processor of a FIFO: processor 0 serves packets in plus directions, which arrive at the odd ports.
  static u32 processor_of(u32 fifo, u32 workers, bool takes) {
    return workers < 2 ? 0 : (takes ? fifo % 7 + 1 : fifo) % 2;
  }
  bool has_free_processor(u32 n, u32 fifo, bool takes) const {
    return !workers_ || !nodes_[n].worker[processor_of(fifo, workers_, takes)].task;
  }
  void begin(u32 n, u32 task, u32 fifo, const NaivePacket& p) {
    const u32 clocks = packet_time_ + chunk_time_ * p.chunks;
    nodes_[n].worker[processor_of(fifo, workers_, task == 2)] = {task, fifo, p, now_ + (clocks + 3) / 4};
  }

  void put(u32 n, u32 fifo, const NaivePacket& p) {
    const Cycle may_request = now_ + arbitration_;
    at(may_request, [=, this] { nodes_[n].line[kInjection][fifo].queue.push_back({p, may_request, kNever}); });
  }

  void take(u32 n, u32 fifo) {
    Node& node = nodes_[n];
    const NaivePacket p = node.received[fifo].front();
    node.received[fifo].pop_front();
    if (fifo % 7 != 6) node.take_turn = (fifo + 1) % 14;
    EXPECT_EQ(p.dst, n);
    events_.push_back({n, kNone, 0, 0, 0, p.src, p.id});
    at(now_ + 1, [=, this] { nodes_[n].room[fifo] += p.chunks; });
    node.next_take = now_ + take_interval_;
  }

  void software(u32 n) {
    Node& node = nodes_[n];
    for (Worker& worker : node.worker) {
      if (!worker.task || worker.done > now_) continue;
      if (std::exchange(worker.task, 0) == 1)
        put(n, worker.fifo, worker.packet);
      else
        take(n, worker.fifo);
    }
    std::set<u32> full;
    for (u32 f = 0; f < 14; ++f)
      if (!node.received[f].empty() && has_free_processor(n, f, true)) full.insert(f);
    while (!full.empty() && node.next_take <= now_) {
      u32 fifo;
      if (full.contains(6) || full.contains(13)) {
        fifo = full.contains(6) ? 6 : 13;
      } else {
        const auto turn = full.lower_bound(node.take_turn);
        fifo = turn == full.end() ? *full.begin() : *turn;
      }
      full.erase(fifo);
      if (!workers_) {
        take(n, fifo);
        continue;
      }
      begin(n, 2, fifo, node.received[fifo].front());
      std::erase_if(full, [&](u32 f) { return !has_free_processor(n, f, true); });
    }

    const std::vector<Creation>& own = creations_[n];
    for (; node.created < own.size() && own[node.created].at <= now_; ++node.created) node.not_put.insert(node.created);
    std::set<u32> used;
    for (auto next = node.not_put.begin(); next != node.not_put.end();) {
      const NaivePacket& p = own[*next].packet;
      u32 fifo = 8;
      if (infinite_) {
        fifo = *next % fifos_;
        // Packets behind this one in its FIFO wait for it.
        if (!used.insert(fifo).second || node.fifo_room[fifo] < p.chunks) {
          if (used.size() == fifos_) return;
          ++next;
          continue;
        }
      } else {
        if (node.next_put > now_) return;
        for (u32 i = 0; i < 8 && fifo == 8; ++i) {
          const u32 f = p.high ? i : (node.put_turn + i) % fifos_;
          if ((f >= 6) == p.high && !used.contains(f) && node.fifo_room[f] >= p.chunks &&
              has_free_processor(n, f, false))
            fifo = f;
        }
        if (fifo == 8) return;
        if (!p.high) node.put_turn = (fifo + 1) % fifos_;
        used.insert(fifo);
        node.next_put = now_ + put_interval_ * p.chunks;
      }
      node.fifo_room[fifo] -= p.chunks;
      if (workers_)
        begin(n, 1, fifo, p);
      else
        put(n, fifo, p);
      next = node.not_put.erase(next);
    }
  }

  // The torus unit.
  void torus_unit(u32 n) {
    for (u32 in = 0; in <= kInjection; ++in)
      for (u32 vc = 0; vc < 8; ++vc) {
        std::deque<QueueEntry>& queue = nodes_[n].line[in][vc].queue;
        if (!queue.empty() && queue.front().leaving && queue.front().tail == now_) tail_leaves(n, in, vc);
      }
    for (u32 d = 0; d < 6 && ack_packets_; ++d) acknowledge(n, d);
    std::vector<Request> requests;
    for (u32 receiver = 0; receiver < 6; ++receiver) receive(n, receiver, requests);
    for (u32 fifo = 0; fifo < 8; ++fifo) {
      Request r{kInjection, fifo, 0, 0};
      const Line& l = line(n, r);
      if (!l.queue.empty() && !l.queue.front().leaving && choose(n, r)) requests.push_back(r);
    }
    for (u32 d = 0; d < 6; ++d) send(n, d, requests);
  }

  void tail_leaves(u32 n, u32 in, u32 vc) {
    std::deque<QueueEntry>& queue = nodes_[n].line[in][vc].queue;
    const QueueEntry p = queue.front();
    queue.pop_front();
    const u32 chunks = p.packet.chunks;
    if (p.to_here) {
      const u32 fifo = fifo_of(in, p.packet);
      at(now_ + 1, [=, this] { nodes_[n].received[fifo].push_back(p.packet); });
    }
    if (in == kInjection) {
      at(now_ + 1, [=, this] { nodes_[n].fifo_room[vc] += chunks; });
    } else if (!p.passed_by || ack_packets_) {
      return_tokens(n, in, vc, chunks);
    }
  }

  bool may_request(const Line& l) const {
    if (l.queue.empty() || l.queue.front().leaving) return false;
    return l.queue.front().ready <= now_ || l.queue.front().passes_by == now_;
  }

  /// Phases 1 and 2 of the arbitration: a receiver selects packets, and their requests are added to `requests`.
  void receive(u32 n, u32 receiver, std::vector<Request>& requests) {
    Node& node = nodes_[n];
    u32 onward_buses = 0;
    bool here_buses[2] = {};  // buses to the reception FIFOs in use: normal, high priority
    for (const Line& l : node.line[receiver]) {
      if (l.queue.empty() || !l.queue.front().leaving) continue;
      if (l.queue.front().to_here)
        here_buses[l.queue.front().packet.high] = true;
      else
        ++onward_buses;
    }
    std::vector<Request> here[2], onward;
    for (u32 vc = 0; vc < 8; ++vc) {
      Request r{receiver, vc, 0, 0};
      Line& l = line(n, r);
      if (!may_request(l)) continue;
      const NaivePacket& p = l.queue.front().packet;
      if (p.ways.empty()) {
        if (!here_buses[p.high] && node.room[fifo_of(receiver, p)] >= p.chunks) here[p.high].push_back(r);
      } else if (onward_buses < paths_) {
        if (!choose(n, r))
          l.blocked = true;
        else if (gap_ && l.blocked)
          l.blocked = false;
        else
          onward.push_back(r);
      }
    }
    const auto stored_first = [&](std::vector<Request>& list) {
      const auto by = [&](const Request& r) { return line(n, r).queue.front().passes_by == now_; };
      if (!std::all_of(list.begin(), list.end(), by)) std::erase_if(list, by);
    };
    for (u32 priority : {0u, 1u}) {
      if (here[priority].empty()) continue;
      stored_first(here[priority]);
      const Request r = serve(n, here[priority], 72 + receiver + 8 * priority);
      QueueEntry& entry = line(n, r).queue.front();
      node.room[fifo_of(receiver, entry.packet)] -= entry.packet.chunks;
      entry.to_here = true;
      start(n, r, entry);
    }
    if (onward.empty()) return;
    const auto high = [&](const Request& r) { return line(n, r).queue.front().packet.high; };
    if (std::any_of(onward.begin(), onward.end(), high))
      std::erase_if(onward, [&](const Request& r) { return !high(r); });
    else
      stored_first(onward);
    requests.push_back(serve(n, onward, 64 + receiver));
  }

  /// Phase 1 of the arbitration for a packet that has hops to make: chooses its output. Returns false if the packet is
  /// blocked.
  bool choose(u32 n, Request& r) const {
    const Node& node = nodes_[n];
    const NaivePacket& p = node.line[r.in][r.vc].queue.front().packet;
    const auto link_free = [&](u32 d) { return takes(n, d); };
    if (p.dynamic && !p.high) {
      std::vector<std::pair<u32, u32>> pairs;
      u32 most = 0;
      for (u32 d : p.ways)
        for (u32 vc = 0; vc < dynamic_vcs_; ++vc) {
          if (!link_free(d) || node.tokens[d][vc] < 8) continue;
          const u32 range = jsq_ ? quarter(node.tokens[d][vc], buffer(vc)) : 0;
          if (range > most) pairs.clear(), most = range;
          if (range == most) pairs.emplace_back(d, vc);
        }
      if (!pairs.empty()) {
        std::tie(r.out, r.out_vc) = any(pairs, n, r.number());
        return true;
      }
    }
    const auto order = by_direction_ ? std::array<u32, 6>{0, 2, 4, 1, 3, 5} : std::array<u32, 6>{0, 1, 2, 3, 4, 5};
    r.out = *std::find_if(order.begin(), order.end(), [&](u32 d) { return p.ways.contains(d); });
    r.out_vc = p.high ? high_vc_ : dynamic_vcs_;
    if (!p.high && !bubble_ && (p.crossed[r.out / 2] || crosses_dateline(n, r.out))) ++r.out_vc;
    const bool has_bubble = p.high || bubble_, along = r.in == (r.out ^ 1) && r.vc == r.out_vc;
    return link_free(r.out) && node.tokens[r.out][r.out_vc] >= (has_bubble && !along ? 16u : 8u);
  }

  /// Phase 3 of the arbitration: a sender grants one of its requests.
  void send(u32 n, u32 d, const std::vector<Request>& requests) {
    std::vector<Request> list;
    for (const Request& r : requests)
      if (r.out == d) list.push_back(r);
    if (list.empty()) return;
    const auto keep = [&](auto wanted) {
      if (std::any_of(list.begin(), list.end(), wanted))
        std::erase_if(list, [&](const Request& r) { return !wanted(r); });
    };
    keep([&](const Request& r) { return line(n, r).queue.front().packet.high; });
    if (occurs(n, 113, e_.f64(bgl::param::router.network_first)))
      keep([](const Request& r) { return r.in != kInjection; });
    const Request r = serve(n, list, 96 + d);

    Node& node = nodes_[n];
    QueueEntry& entry = line(n, r).queue.front();
    NaivePacket p = entry.packet;
    events_.push_back({n, r.in, r.vc, d, r.out_vc, p.src, p.id});
    line(n, r).blocked = false;
    start(n, r, entry);
    node.tokens[d][r.out_vc] -= cost(r.out_vc, p.chunks);
    node.link_free[d] = now_ + 32 * p.chunks + overhead_;
    const u32 next = neighbour(n, d);
    if (coordinate(next, d / 2) == coordinate(p.dst, d / 2)) p.ways.erase(d);
    if (crosses_dateline(n, d)) p.crossed[d / 2] = true;
    const Cycle comes = now_ + hop_;
    keep_copy(n, d, p.chunks, comes + 32 * p.chunks);
    at(comes, [=, this] {
      std::deque<QueueEntry>& queue = nodes_[next].line[d ^ 1][r.out_vc].queue;
      queue.push_back({p, comes + fifo_, bypass_ && queue.empty() ? comes : kNever});
    });
  }

  void start(u32 n, const Request& r, QueueEntry& entry) {
    entry.leaving = true;
    entry.tail = now_ + 32 * entry.packet.chunks;
    entry.passed_by = entry.passes_by == now_;
    if (entry.passed_by && !ack_packets_) return_tokens(n, r.in, r.vc, entry.packet.chunks);
  }
};

}  // namespace flitlab::testing::bgl_naive
