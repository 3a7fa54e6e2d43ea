/// Blue Gene/L's torus written a second time, as the paper and the parameters describe it, without any of the router's
/// code: queues of packets, things that will happen by the cycle in which they do, and a look at everything in every
/// cycle. Random choices are drawn with the same keys. Every departure and every delivery must agree, so nobody sleeps
/// through anything.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <functional>
#include <set>
#include <sstream>

#include "host/routers/bgl/plan.hpp"
#include "host/run/params.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/bgl/params.hpp"
#include "tests/support/bgl/random.hpp"

namespace flitlab::bgl_naive_test {
namespace {

using testing::described;
using testing::experiment;
using testing::integer;
using testing::Network;
using testing::random_bgl;
using testing::word;

struct NaivePacket {
  u32 src, id, dst, chunks;
  bool dynamic = false, high = false;
  u32 group = 0;
  std::set<u32> ways{};  // directions in which it may still go
  std::array<bool, 3> crossed{};
};

/// A packet in a queue.
struct Place {
  NaivePacket packet;
  Cycle ready;      // from when on it may ask
  Cycle passes_by;  // the cycle in which it may ask through the bypass channel
  bool leaving = false, to_here = false, passed_by = false;
  Cycle tail = 0;  // its tail has left
};

struct Line {
  std::deque<Place> places;
  bool blocked = false;
  u32 chunks() const {
    u32 sum = 0;
    for (const Place& p : places) sum += p.packet.chunks;
    return sum;
  }
};

struct Creation {
  Cycle at;
  NaivePacket packet;
};

/// A departure (`out` and `out_vc`), or a delivery to software (`in` is kNone).
struct Happening {
  u32 node, in, in_vc, out, out_vc, src, id;
  auto operator<=>(const Happening&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Happening& h) {
  if (h.in == kNone) return out << "node " << h.node << " takes " << h.src << "#" << h.id;
  return out << h.src << "#" << h.id << " leaves node " << h.node << " from " << h.in << "." << h.in_vc << " to "
             << h.out << "." << h.out_vc;
}

class NaiveTorus {
 public:
  NaiveTorus(const Experiment& e, std::vector<std::vector<Creation>> creations)
      : e_(e), shape_(e.ints(bgl::param::topology.shape)), creations_(std::move(creations)) {
    arbitration_ = e.u32_of(bgl::param::router.arbitration_delay);
    hop_ = e.u32_of(bgl::param::topology.channel_delay) + e.u32_of(bgl::param::router.pipeline_delay) + arbitration_;
    fifo_ = e.u32_of(bgl::param::router.fifo_delay);
    token_ = e.u32_of(bgl::param::topology.channel_delay) + e.u32_of(bgl::param::router.ack_bytes);
    overhead_ = e.u32_of(bgl::param::router.trailer_bytes) + e.u32_of(bgl::param::router.ack_bytes) +
                e.u32_of(bgl::param::router.gap_bytes);
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
    nodes_.resize(creations_.size());
    for (u32 n = 0; n < nodes_.size(); ++n) {
      Node& node = nodes_[n];
      node.room.fill(e.u32_of(bgl::param::reception.fifo_flits));
      node.fifo_room.fill(e.u32_of(bgl::param::injection.fifo_flits));
      for (u32 d = 0; d < 2 * shape_.size(); ++d)
        for (u32 vc = 0; vc <= high_vc_; ++vc)
          if (shape_[d / 2] > 1) node.tokens[d][vc] = buffer(vc);
    }
  }

  std::vector<Happening> step() {
    happened_.clear();
    for (const auto& happen : later_[now_]) happen();
    later_.erase(now_);
    for (u32 n = 0; n < nodes_.size(); ++n) software(n);
    for (u32 n = 0; n < nodes_.size(); ++n) torus_unit(n);
    ++now_;
    std::sort(happened_.begin(), happened_.end());
    return happened_;
  }

  u32 tokens(u32 node, u32 direction, u32 vc) const { return nodes_[node].tokens[direction][vc]; }

 private:
  static constexpr u32 kInjection = 6;

  struct Node {
    std::array<std::array<Line, 8>, 7> line;  // [receiver][VC]; [6] injection FIFOs
    std::array<std::array<u32, 8>, 6> tokens{};
    std::array<Cycle, 6> link_free{};
    std::array<u32, 14> room;
    // Software.
    std::array<u32, 8> fifo_room;
    std::array<std::deque<NaivePacket>, 14> received;
    u32 created = 0;        // of `creations_`
    std::set<u32> not_put;  // of these
    Cycle next_put = 0, next_take = 0;
    u32 put_turn = 0, take_turn = 0;
  };

  struct Request {
    u32 in, vc, out, out_vc;
    u32 number() const { return 8 * in + vc; }
  };

  void at(Cycle cycle, std::function<void()> happen) { later_[cycle].push_back(std::move(happen)); }

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

  // Chance.
  u32 dice(u32 node, u32 arbiter) const {
    const Random4 r = philox(seed(), 20, node, now_);
    return static_cast<u32>(mix64((u64{r.word[0]} << 32 | r.word[1]) + arbiter * 0x9E3779B97F4A7C15ull) >> 32);
  }
  bool falls(u32 node, u32 coin, double probability) const {
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
    if (falls(node, 112, e_.f64(bgl::param::router.slq))) {
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
    at(now_ + token_, [=, this] { nodes_[sender].tokens[receiver ^ 1][vc] += cost(vc, chunks); });
  }

  // Software.
  static u32 fifo_of(u32 receiver, const NaivePacket& p) { return 7 * p.group + (p.high ? 6 : receiver); }

  void software(u32 n) {
    Node& node = nodes_[n];
    std::set<u32> full;
    for (u32 f = 0; f < 14; ++f)
      if (!node.received[f].empty()) full.insert(f);
    while (!full.empty() && node.next_take <= now_) {
      u32 fifo;
      if (full.contains(6) || full.contains(13)) {
        fifo = full.contains(6) ? 6 : 13;
      } else {
        const auto turn = full.lower_bound(node.take_turn);
        fifo = turn == full.end() ? *full.begin() : *turn;
        node.take_turn = (fifo + 1) % 14;
      }
      full.erase(fifo);
      const NaivePacket p = node.received[fifo].front();
      node.received[fifo].pop_front();
      EXPECT_EQ(p.dst, n);
      happened_.push_back({n, kNone, 0, 0, 0, p.src, p.id});
      at(now_ + 1, [=, this] { nodes_[n].room[fifo] += p.chunks; });
      node.next_take = now_ + take_interval_;
    }

    const std::vector<Creation>& mine = creations_[n];
    for (; node.created < mine.size() && mine[node.created].at <= now_; ++node.created)
      node.not_put.insert(node.created);
    std::set<u32> used;
    for (auto next = node.not_put.begin(); next != node.not_put.end();) {
      const NaivePacket& p = mine[*next].packet;
      u32 fifo = 8;
      if (infinite_) {
        fifo = *next % fifos_;
        // Those behind it in its FIFO wait for it.
        if (!used.insert(fifo).second || node.fifo_room[fifo] < p.chunks) {
          if (used.size() == fifos_) return;
          ++next;
          continue;
        }
      } else {
        if (node.next_put > now_) return;
        for (u32 i = 0; i < 8 && fifo == 8; ++i) {
          const u32 f = p.high ? i : (node.put_turn + i) % fifos_;
          if ((f >= 6) == p.high && !used.contains(f) && node.fifo_room[f] >= p.chunks) fifo = f;
        }
        if (fifo == 8) return;
        if (!p.high) node.put_turn = (fifo + 1) % fifos_;
        used.insert(fifo);
        node.next_put = now_ + put_interval_ * p.chunks;
      }
      node.fifo_room[fifo] -= p.chunks;
      const Cycle asks = now_ + arbitration_;
      at(asks, [=, this] { nodes_[n].line[kInjection][fifo].places.push_back({p, asks, kNever}); });
      next = node.not_put.erase(next);
    }
  }

  // The torus unit.
  void torus_unit(u32 n) {
    for (u32 in = 0; in <= kInjection; ++in)
      for (u32 vc = 0; vc < 8; ++vc) {
        std::deque<Place>& places = nodes_[n].line[in][vc].places;
        if (!places.empty() && places.front().leaving && places.front().tail == now_) tail_leaves(n, in, vc);
      }
    std::vector<Request> requests;
    for (u32 receiver = 0; receiver < 6; ++receiver) receive(n, receiver, requests);
    for (u32 fifo = 0; fifo < 8; ++fifo) {
      Request r{kInjection, fifo, 0, 0};
      const Line& l = line(n, r);
      if (!l.places.empty() && !l.places.front().leaving && choose(n, r)) requests.push_back(r);
    }
    for (u32 d = 0; d < 6; ++d) send(n, d, requests);
  }

  void tail_leaves(u32 n, u32 in, u32 vc) {
    std::deque<Place>& places = nodes_[n].line[in][vc].places;
    const Place p = places.front();
    places.pop_front();
    const u32 chunks = p.packet.chunks;
    if (p.to_here) {
      const u32 fifo = fifo_of(in, p.packet);
      at(now_ + 1, [=, this] { nodes_[n].received[fifo].push_back(p.packet); });
    }
    if (in == kInjection) {
      at(now_ + 1, [=, this] { nodes_[n].fifo_room[vc] += chunks; });
    } else if (!p.passed_by) {
      return_tokens(n, in, vc, chunks);
    }
  }

  bool asks(const Line& l) const {
    if (l.places.empty() || l.places.front().leaving) return false;
    return l.places.front().ready <= now_ || l.places.front().passes_by == now_;
  }

  /// Phases 1 and 2 of a receiver.
  void receive(u32 n, u32 receiver, std::vector<Request>& requests) {
    Node& node = nodes_[n];
    u32 onward_buses = 0;
    bool here_buses[2] = {};  // in use for normal and for high priority
    for (const Line& l : node.line[receiver]) {
      if (l.places.empty() || !l.places.front().leaving) continue;
      if (l.places.front().to_here)
        here_buses[l.places.front().packet.high] = true;
      else
        ++onward_buses;
    }
    std::vector<Request> here[2], onward;
    for (u32 vc = 0; vc < 8; ++vc) {
      Request r{receiver, vc, 0, 0};
      Line& l = line(n, r);
      if (!asks(l)) continue;
      const NaivePacket& p = l.places.front().packet;
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
      const auto by = [&](const Request& r) { return line(n, r).places.front().passes_by == now_; };
      if (!std::all_of(list.begin(), list.end(), by)) std::erase_if(list, by);
    };
    for (u32 priority : {0u, 1u}) {
      if (here[priority].empty()) continue;
      stored_first(here[priority]);
      const Request r = serve(n, here[priority], 72 + receiver + 8 * priority);
      Place& place = line(n, r).places.front();
      node.room[fifo_of(receiver, place.packet)] -= place.packet.chunks;
      place.to_here = true;
      start(n, r, place);
    }
    if (onward.empty()) return;
    const auto high = [&](const Request& r) { return line(n, r).places.front().packet.high; };
    if (std::any_of(onward.begin(), onward.end(), high))
      std::erase_if(onward, [&](const Request& r) { return !high(r); });
    else
      stored_first(onward);
    requests.push_back(serve(n, onward, 64 + receiver));
  }

  /// Phase 1 for a packet that has hops to make.
  bool choose(u32 n, Request& r) const {
    const Node& node = nodes_[n];
    const NaivePacket& p = node.line[r.in][r.vc].places.front().packet;
    const auto link_free = [&](u32 d) { return node.link_free[d] <= now_; };
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

  /// Phase 3 of a sender.
  void send(u32 n, u32 d, const std::vector<Request>& requests) {
    std::vector<Request> list;
    for (const Request& r : requests)
      if (r.out == d) list.push_back(r);
    if (list.empty()) return;
    const auto keep = [&](auto wanted) {
      if (std::any_of(list.begin(), list.end(), wanted))
        std::erase_if(list, [&](const Request& r) { return !wanted(r); });
    };
    keep([&](const Request& r) { return line(n, r).places.front().packet.high; });
    if (falls(n, 113, e_.f64(bgl::param::router.network_first)))
      keep([](const Request& r) { return r.in != kInjection; });
    const Request r = serve(n, list, 96 + d);

    Node& node = nodes_[n];
    Place& place = line(n, r).places.front();
    NaivePacket p = place.packet;
    happened_.push_back({n, r.in, r.vc, d, r.out_vc, p.src, p.id});
    line(n, r).blocked = false;
    start(n, r, place);
    node.tokens[d][r.out_vc] -= cost(r.out_vc, p.chunks);
    node.link_free[d] = now_ + 32 * p.chunks + overhead_;
    const u32 next = neighbour(n, d);
    if (coordinate(next, d / 2) == coordinate(p.dst, d / 2)) p.ways.erase(d);
    if (crosses_dateline(n, d)) p.crossed[d / 2] = true;
    const Cycle comes = now_ + hop_;
    at(comes, [=, this] {
      std::deque<Place>& places = nodes_[next].line[d ^ 1][r.out_vc].places;
      places.push_back({p, comes + fifo_, bypass_ && places.empty() ? comes : kNever});
    });
  }

  void start(u32 n, const Request& r, Place& place) {
    place.leaving = true;
    place.tail = now_ + 32 * place.packet.chunks;
    place.passed_by = place.passes_by == now_;
    if (place.passed_by) return_tokens(n, r.in, r.vc, place.packet.chunks);
  }

  const Experiment& e_;
  std::vector<u32> shape_;
  std::vector<std::vector<Creation>> creations_;
  u32 arbitration_, hop_, fifo_, token_, overhead_, dynamic_vcs_, high_vc_, paths_, fifos_, put_interval_,
      take_interval_;
  bool bubble_, by_direction_, actual_size_, bypass_, jsq_, gap_, infinite_;
  std::vector<Node> nodes_;
  std::map<Cycle, std::vector<std::function<void()>>> later_;
  std::vector<Happening> happened_;
  Cycle now_ = 0;
};

/// What terminals create before a cycle, with headers as hardware and software fill them in.
std::vector<std::vector<Creation>> creations(const Experiment& e, const BglPlan& plan, const ReplicaRow& row,
                                             Cycle until) {
  const TrafficTable& traffic = plan.table().traffic;
  const std::vector<u32>& shape = e.ints(bgl::param::topology.shape);
  const auto chance = [](double p, u32 draw) { return p >= 1 || draw < static_cast<u32>(p * 4294967296.0); };
  std::vector<std::vector<Creation>> all(traffic.terminals);
  for (u32 t = 0; t < traffic.terminals; ++t)
    for (SourceCursor c = first_creation(traffic, row, t); c.at < until; next_creation(traffic, row, t, c)) {
      const Random4 header = philox(row.seed, 21, t, c.index);
      NaivePacket p{t, c.index, packet_destination(traffic, row, t, c.index), packet_flits(traffic, row, t, c.index)};
      p.high = chance(e.f64(bgl::param::injection.priority_share), header.word[2]);
      p.dynamic = !p.high && e.u32_of(bgl::param::router.dynamic_vcs) &&
                  chance(e.f64(bgl::param::routing.dynamic), header.word[1]);
      p.group = e.u32_of(bgl::param::reception.groups) == 2 ? header.word[3] >> 31 : 0;
      for (u32 d = 0, from = t, to = p.dst; d < shape.size(); from /= shape[d], to /= shape[d], ++d) {
        const u32 k = shape[d], plus = (to % k + k - from % k) % k, minus = (k - plus) % k;
        if (plus == 0) continue;
        const bool tie = plus == minus && header.word[0] >> (29 + d) & 1;
        p.ways.insert(2 * d + (minus < plus || tie));
      }
      all[t].push_back({c.at, p});
    }
  return all;
}

/// Runs both side by side. Returns how many packets have been delivered.
u32 compare(const RawConfig& config, u32 cycles) {
  const Experiment e = experiment(config);
  Network net(e, {"cpu", 1, true, 1});
  const auto& plan = dynamic_cast<const BglPlan&>(*net.plan);
  NaiveTorus naive(e, creations(e, plan, net.engine->row(0), cycles));
  u32 delivered = 0;
  for (u32 cycle = 0; cycle < cycles; ++cycle) {
    net.step(1);
    std::vector<Happening> happened;
    const auto events = net.engine->take_events(0);
    for (u32 item = 0; item < events.size(); ++item)
      for (const Event& event : events[item]) {
        if (event.kind == EventKind::kSwitchGranted)
          happened.push_back({item, event.port, event.vc, event.out_port, event.out_vc, event.src, event.id});
        if (event.kind == EventKind::kDelivered)
          happened.push_back({item - plan.table().routers, kNone, 0, 0, 0, event.src, event.id}), ++delivered;
      }
    std::sort(happened.begin(), happened.end());
    const std::vector<Happening> expected = naive.step();
    if (happened != expected) {
      std::ostringstream text;
      for (const Happening& h : expected) text << "\n  expected: " << h;
      for (const Happening& h : happened) text << "\n  happened: " << h;
      ADD_FAILURE() << "cycle " << cycle << text.str() << "\n" << described(config);
      return delivered;
    }
  }
  check_conservation(*net.engine, *net.plan, 0);
  Network untraced(e);  // for the published machine, phases of its own
  untraced.step(cycles);
  EXPECT_EQ(untraced.engine->state_hash(0), net.engine->state_hash(0)) << described(config);
  const u32 vcs = plan.table().vcs;
  // Tokens for a link that is taken may be on their way, or wait for its end.
  const FieldInfo& field = plan.layout().kinds[0].field("returned");
  std::vector<u64> returned(std::size_t{plan.table().routers} * field.count);
  net.engine->get_field(0, 0, field, returned.data());
  for (u32 n = 0; n < plan.table().routers; ++n) {
    const std::vector<PortSnapshot> ports = plan.inspect_router(net.engine->state(0), n);
    for (u32 d = 0; d + 1 < ports.size(); ++d)
      for (u32 vc = 0; vc < vcs; ++vc) {
        const u32 known = ports[d].vcs[vc].credits, tokens = naive.tokens(n, d, vc);
        EXPECT_LE(known, tokens) << described(config);
        EXPECT_GE(known + (returned[std::size_t{n} * field.count + d] >> 8 * vc & 0xFF), tokens) << described(config);
      }
  }
  return delivered;
}

/// A batch on 3x3x2 with everything as it is by default, from the first packet to the last.
TEST(BglNaive, ABatchEndsInTheSameCycles) {
  Lengths lengths;
  for (std::int64_t n = 1; n <= 8; ++n) lengths.emplace_back(n, 1.0);
  for (bool dynamic : {true, false}) {
    const u32 delivered = compare({{"router.kind", word("bgl")},
                                   {"topology.shape", IntList{3, 3, 2}},
                                   {"routing.dynamic", dynamic ? 1.0 : 0.0},
                                   {"traffic.mode", word("batch")},
                                   {"traffic.packet_flits", lengths},
                                   {"traffic.batch_packets", integer(40)}},
                                  6000);
    EXPECT_EQ(delivered, 18u * 40);
  }
}

class BglNaive : public ::testing::TestWithParam<u32> {};

/// Random parameters, under loads far beyond saturation, at it, or below.
TEST_P(BglNaive, AgreesWhateverTheParameters) {
  for (u32 i = 0; i < 10; ++i) {
    const u32 seed = GetParam() * 10 + i;
    RawConfig config = random_bgl(seed);
    if (seed % 3 == 0) {
      config["traffic.mode"] = word("batch");
      config["traffic.batch_packets"] = integer(30);
    } else {
      config["traffic.load"] = seed % 3 == 1 ? 0.08 : 0.02;
    }
    if (config["router.escape"] == word("bubble") && seed % 5 == 0) config["router.bubble_rule"] = word("actual_size");
    EXPECT_GT(compare(config, 5000), 0u) << described(config);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, BglNaive, ::testing::Range(0u, 8u));

}  // namespace
}  // namespace flitlab::bgl_naive_test
