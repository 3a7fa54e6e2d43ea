#pragma once
/// Nodes of the second implementation of Blue Gene/L's torus (naive.hpp): packets, queues, tokens, coordinates, random
/// draws and future events.
#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <ostream>
#include <set>
#include <utility>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/config/run_params.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/bgl/params.hpp"

namespace flitlab::testing::bgl_naive {

struct NaivePacket {
  u32 src, id, dst, chunks;
  bool dynamic = false, high = false;
  u32 group = 0;
  std::set<u32> ways{};  // directions in which the packet may still go
  std::array<bool, 3> crossed{};
};

/// A packet in a queue.
struct QueueEntry {
  NaivePacket packet;
  Cycle ready;      // first cycle in which the packet may request
  Cycle passes_by;  // cycle in which it may request through the bypass channel
  bool leaving = false, to_here = false, passed_by = false;
  Cycle tail = 0;  // cycle in which the packet's tail has left
};

struct Line {
  std::deque<QueueEntry> queue;
  bool blocked = false;
  u32 chunks() const {
    u32 sum = 0;
    for (const QueueEntry& p : queue) sum += p.packet.chunks;
    return sum;
  }
};

struct Creation {
  Cycle at;
  NaivePacket packet;
};

/// A processor and the packet that it puts (`task` 1) or takes (2).
struct Worker {
  u32 task, fifo;
  NaivePacket packet;
  Cycle done;
};

/// An event: a departure (by `out` and `out_vc`), or a delivery to software (`in` is kNone).
struct NaiveEvent {
  u32 node, in, in_vc, out, out_vc, src, id;
  auto operator<=>(const NaiveEvent&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const NaiveEvent& h) {
  if (h.in == kNone) return out << "node " << h.node << " takes " << h.src << "#" << h.id;
  return out << h.src << "#" << h.id << " leaves node " << h.node << " from " << h.in << "." << h.in_vc << " to "
             << h.out << "." << h.out_vc;
}

class NaiveNodes {
 public:
  NaiveNodes(const Experiment& e, std::vector<std::vector<Creation>> creations)
      : e_(e), shape_(e.ints(bgl::param::topology.shape)), creations_(std::move(creations)) {
    arbitration_ = e.u32_of(bgl::param::router.arbitration_delay);
    hop_ = e.u32_of(bgl::param::topology.channel_delay) + e.u32_of(bgl::param::router.pipeline_delay) + arbitration_;
    fifo_ = e.u32_of(bgl::param::router.fifo_delay);
    token_ = e.u32_of(bgl::param::topology.channel_delay) + e.u32_of(bgl::param::router.ack_bytes);
    ack_ = e.u32_of(bgl::param::router.ack_bytes);
    ack_packets_ = ack_ && e.str(bgl::param::router.acks) != "charged";
    overhead_ =
        e.u32_of(bgl::param::router.trailer_bytes) + (ack_packets_ ? 0 : ack_) + e.u32_of(bgl::param::router.gap_bytes);
    dynamic_vcs_ = e.u32_of(bgl::param::router.dynamic_vcs);
    bubble_ = e.str(bgl::param::router.escape) == "bubble";
    high_vc_ = dynamic_vcs_ + (bubble_ ? 1 : 2);
    by_direction_ = e.str(bgl::param::router.escape_order) == "direction";
    actual_size_ = bubble_ && e.str(bgl::param::router.bubble_rule) == "actual_size";
    paths_ = e.u32_of(bgl::param::router.paths);
    bypass_ = e.flag(bgl::param::router.bypass);
    jsq_ = e.flag(bgl::param::router.jsq);
    gap_ = e.flag(bgl::param::router.arbitration_gap);
    infinite_ = e.flag(bgl::param::injection.infinite);
    fifos_ = e.u32_of(bgl::param::injection.fifos);
    put_interval_ = infinite_ ? 0 : e.u32_of(bgl::param::injection.put_interval);
    take_interval_ = e.u32_of(bgl::param::reception.take_interval);
    packet_time_ = e.u32_of(bgl::param::software.packet_time);
    chunk_time_ = e.u32_of(bgl::param::software.chunk_time);
    workers_ = packet_time_ + chunk_time_ ? e.u32_of(bgl::param::software.processors) : 0;
    nodes_.resize(creations_.size());
    for (u32 n = 0; n < nodes_.size(); ++n) {
      Node& node = nodes_[n];
      node.room.fill(e.u32_of(bgl::param::reception.fifo_flits));
      node.fifo_room.fill(e.u32_of(bgl::param::injection.fifo_flits));
      if (const u32 spread = e.u32_of(bgl::param::software.start_spread))
        node.next_put = below(philox(seed(), 23, n, 0).word[0], spread);
      for (u32 d = 0; d < 2 * shape_.size(); ++d)
        for (u32 vc = 0; vc <= high_vc_; ++vc)
          if (shape_[d / 2] > 1) node.tokens[d][vc] = buffer(vc);
    }
  }

  u32 tokens(u32 node, u32 direction, u32 vc) const { return nodes_[node].tokens[direction][vc]; }

 protected:
  static constexpr u32 kInjection = 6;

  struct Node {
    std::array<std::array<Line, 8>, 7> line;  // [receiver][VC]; line[6]: injection FIFOs
    std::array<std::array<u32, 8>, 6> tokens{};
    std::array<Cycle, 6> link_free{};
    std::array<std::array<u32, 8>, 6> unreturned{};  // [direction][VC] tokens not yet sent back
    std::array<u32, 14> room;
    // Software.
    std::array<u32, 8> fifo_room;
    std::array<std::deque<NaivePacket>, 14> received;
    u32 created = 0;        // number of entries of `creations_` created so far
    std::set<u32> not_put;  // created entries that wait for a FIFO
    Cycle next_put = 0, next_take = 0;
    u32 put_turn = 0, take_turn = 0;
    std::array<Worker, 2> worker{};
  };

  struct Request {
    u32 in, vc, out, out_vc;
    u32 number() const { return 8 * in + vc; }
  };

  void at(Cycle cycle, std::function<void()> action) { later_[cycle].push_back(std::move(action)); }

  u32 buffer(u32 vc) const {
    return e_.u32_of(vc < dynamic_vcs_ ? bgl::param::router.dynamic_flits
                     : vc < high_vc_   ? bgl::param::router.escape_flits
                                       : bgl::param::router.priority_flits);
  }

  // Coordinates.
  u32 coordinate(u32 node, u32 dim) const {
    for (u32 d = 0; d < dim; ++d) node /= shape_[d];
    return node % shape_[dim];
  }
  u32 neighbour(u32 node, u32 direction) const {
    u32 stride = 1;
    for (u32 d = 0; d < direction / 2; ++d) stride *= shape_[d];
    const u32 k = shape_[direction / 2], c = coordinate(node, direction / 2);
    return node + stride * ((direction % 2 ? c + k - 1 : c + 1) % k) - stride * c;
  }
  bool crosses_dateline(u32 node, u32 direction) const {
    const u32 here = coordinate(node, direction / 2), there = coordinate(neighbour(node, direction), direction / 2);
    return direction % 2 ? there > here || shape_[direction / 2] == 1 : there < here;
  }

  // Random draws.
  u32 dice(u32 node, u32 arbiter) const {
    const Random4 r = philox(seed(), 20, node, now_);
    return static_cast<u32>(mix64((u64{r.word[0]} << 32 | r.word[1]) + arbiter * 0x9E3779B97F4A7C15ull) >> 32);
  }
  bool occurs(u32 node, u32 coin, double probability) const {
    return probability >= 1 || dice(node, coin) < static_cast<u32>(probability * 4294967296.0);
  }
  template <class T>
  T any(const std::vector<T>& list, u32 node, u32 arbiter) const {
    return list.size() == 1 ? list[0] : list[below(dice(node, arbiter), static_cast<u32>(list.size()))];
  }
  u64 seed() const { return static_cast<u64>(e_.i64(param::run.seed)); }

  static u32 quarter(u32 amount, u32 most) { return std::min(3u, 4 * amount / most); }

  Line& line(u32 node, const Request& r) { return nodes_[node].line[r.in][r.vc]; }

  Request serve(u32 node, std::vector<Request> list, u32 arbiter) {
    if (list.size() == 1) return list[0];
    if (occurs(node, 112, e_.f64(bgl::param::router.slq))) {
      const auto fullness = [&](const Request& r) {
        return quarter(line(node, r).chunks(),
                       r.in == kInjection ? e_.u32_of(bgl::param::injection.fifo_flits) : buffer(r.vc));
      };
      u32 most = 0;
      for (const Request& r : list) most = std::max(most, fullness(r));
      std::erase_if(list, [&](const Request& r) { return fullness(r) < most; });
    }
    return any(list, node, arbiter);
  }

  u32 cost(u32 vc, u32 chunks) const {
    const bool full_size = vc == high_vc_ || (bubble_ && vc == dynamic_vcs_ && !actual_size_);
    return full_size ? 8 : chunks;
  }

  void return_tokens(u32 node, u32 receiver, u32 vc, u32 chunks) {
    const u32 sender = neighbour(node, receiver);
    if (ack_packets_) {
      nodes_[node].unreturned[receiver][vc] += cost(vc, chunks);
      return;
    }
    at(now_ + token_, [=, this] { nodes_[sender].tokens[receiver ^ 1][vc] += cost(vc, chunks); });
  }

  const Experiment& e_;
  std::vector<u32> shape_;
  std::vector<std::vector<Creation>> creations_;
  u32 arbitration_, hop_, fifo_, token_, overhead_, dynamic_vcs_, high_vc_, paths_, fifos_, put_interval_,
      take_interval_, ack_, packet_time_, chunk_time_, workers_;
  bool ack_packets_;
  bool bubble_, by_direction_, actual_size_, bypass_, jsq_, gap_, infinite_;
  std::vector<Node> nodes_;
  std::map<Cycle, std::vector<std::function<void()>>> later_;
  std::vector<NaiveEvent> events_;
  Cycle now_ = 0;
};

}  // namespace flitlab::testing::bgl_naive
