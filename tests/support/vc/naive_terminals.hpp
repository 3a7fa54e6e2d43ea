#pragma once
/// A terminal of the second implementation of virtual-channel networks (naive.hpp). Creation times, lengths and
/// destinations of packets are functions that it shares with the emulator (kernels/traffic/traffic.hpp).
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/traffic/traffic.hpp"
#include "tests/support/vc/naive_routes.hpp"

namespace flitlab::testing::vc_naive {

/// A line of a trace, which creates one packet.
struct TraceLine {
  Cycle cycle;
  u32 source, destination, flits;
  std::vector<u32> needs;  ///< numbers of the lines that this one depends on
  u32 number = 0;
};

/// Totals of a network.
struct Counts {
  u64 created = 0, created_flits = 0, injected = 0, injected_flits = 0, delivered = 0, delivered_flits = 0, moves = 0,
      latency = 0, network_latency = 0, hops = 0, latency_max = 0, network_latency_max = 0, transactions = 0,
      round_trips = 0, round_trip_max = 0, last_delivery = 0;
  /// Totals of a class of packets.
  struct OfClass {
    u64 created_flits = 0, delivered = 0, delivered_flits = 0, latency = 0, network_latency = 0;
  };
  std::map<u32, OfClass> of_class;
};

/// Traffic of a network.
struct Traffic {
  const TrafficTable& table;
  ReplicaRow row;
  TrafficMode mode;
  const std::vector<TraceLine>& trace;
};

class Terminal {
 public:
  Terminal(const Rules& rules, const Routes& routes, const Traffic& traffic, u32 index, u32 port)
      : credits(rules.vcs, rules.buffer),
        rules_(rules),
        routes_(routes),
        traffic_(traffic),
        index_(index),
        port_(port),
        arrived_(rules.vcs) {
    if (traffic.mode == TrafficMode::kTrace) {
      for (const TraceLine& line : traffic.trace)
        if (line.source == index) lines_.push_back(line);
      return;
    }
    if (traffic.mode == TrafficMode::kClasses) lanes_.resize(traffic.table.classes);
    for (u32 c = 0; c < traffic.table.classes; ++c) {
      next_[c] = first_creation(table_of(c), row_of(c), index);
      if (never_sends(table_of(c), index)) next_[c].at = kNever;
    }
  }

  /// A flit that the terminal sends to its router.
  struct Sent {
    Flit flit;
    u32 vc;
  };

  /// Processes a cycle after arriving credits have been stored. `flit`, if there is one, arrives on virtual channel
  /// `vc`. Returns the flit that the terminal sends.
  std::optional<Sent> step(const std::optional<Flit>& flit, u32 vc, Cycle now, Counts& counts) {
    freed = kNone;
    if (flit) arrived_[vc].push_back(*flit);
    if (traffic_.mode == TrafficMode::kRequestReply) {
      take_in_turns(now, counts);
      create_replies(now, counts);
      create_requests(now, counts);
      return send_in_turns(now, counts);
    }
    if (flit) take(vc, now, counts);
    if (traffic_.mode == TrafficMode::kTrace)
      create_from_trace(now, counts);
    else
      for (auto& [c, next] : next_)
        for (; next.at <= now; next_creation(table_of(c), row_of(c), index_, next)) create(c, 0, next.at, counts);
    return traffic_.mode == TrafficMode::kClasses ? send_by_priority(now, counts) : send(lanes_[0], now, counts);
  }

  std::vector<u32> credits;   ///< [VC] free slots in the router's buffer
  u32 freed = kNone;          ///< virtual channel of the flit consumed in this cycle; kNone: none
  std::vector<Event> events;  ///< events of this cycle
  u32 received = 0;           ///< number of packets

 private:
  const SourceRow& row_of(u32 c) const { return row_of_class(traffic_.row, c); }
  const TrafficTable& table_of(u32 c) const { return c ? traffic_.table.more[c - 1] : traffic_.table; }

  /// Packets that are sent one after the other. A closed loop has one such queue for requests and one for replies, and
  /// an open loop has one for each class of packets.
  struct Lane {
    std::deque<PacketPtr> queue;
    PacketPtr sending;
    u32 sent = 0, vc = 0;
    u32 next_vc = 0;  ///< round-robin pointer over injection virtual channels
  };
  /// A reply, which is created in cycle `at` or later.
  struct Answer {
    u32 to, tag;
    Cycle at;
  };

  void note(EventKind kind, const Packet& p, u32 vc, u8 mark, u32 destination, u32 latency) {
    events.push_back({p.source, p.id, kind, static_cast<u8>(kind == EventKind::kInjected ? port_ : 0),
                      static_cast<u8>(vc), 0, 0, mark, static_cast<u16>(p.flits), destination, latency});
  }

  void enqueue(u32 lane, Packet packet, Counts& counts) {
    packet.source = index_;
    routes_.plan_route(packet, traffic_.row.seed);
    lanes_[lane].queue.push_back(std::make_shared<Packet>(packet));
    note(EventKind::kCreated, packet, 0, Flit{lanes_[lane].queue.back(), 0}.mark(), packet.destination, 0);
    ++counts.created;
    counts.created_flits += packet.flits;
  }

  /// Creates the next packet of class `c`. `tag`: number of its transaction in a closed loop.
  void create(u32 c, u32 tag, Cycle created, Counts& counts) {
    const u32 index = next_[c].index;
    Packet p{};
    p.id = index * static_cast<u32>(next_.size()) + c;
    p.flits = packet_flits(table_of(c), row_of(c), index_, index);
    p.destination = packet_destination(table_of(c), row_of(c), index_, index);
    p.message_class = c;
    p.tag = tag;
    p.created = created;
    counts.of_class[c].created_flits += p.flits;
    enqueue(c, p, counts);
  }

  /// Returns the first cycle in which a line may create its packet whatever precedes it: its own, or the cycle after
  /// the arrival of the last packet that it depends on.
  Cycle ready(const TraceLine& line) const {
    Cycle at = line.cycle;
    for (const u32 needed : line.needs) {
      const auto came = came_.find(needed);
      at = std::max(at, came == came_.end() ? kNever : came->second + 1);
    }
    return at;
  }

  /// Creates packets. In the order of the file, a packet is not created before the packet of the line before it.
  /// Otherwise, packets are created when they are ready; several of one cycle in the order of their lines.
  void create_from_trace(Cycle now, Counts& counts) {
    if (traffic_.table.trace_window)
      std::stable_sort(lines_.begin(), lines_.end(), [this](const TraceLine& a, const TraceLine& b) {
        return std::pair(ready(a), a.number) < std::pair(ready(b), b.number);
      });
    while (!lines_.empty()) {
      const TraceLine& line = lines_.front();
      const Cycle at = std::max(ready(line), traffic_.table.trace_window ? 0 : last_created_);
      if (at > now) return;
      last_created_ = at;
      Packet p{};
      p.id = line.number;
      p.flits = line.flits;
      p.destination = line.destination;
      p.created = at;
      enqueue(0, p, counts);
      lines_.pop_front();
    }
  }

  /// Consumes the first flit of an ejection buffer.
  void take(u32 vc, Cycle now, Counts& counts) {
    const Flit flit = arrived_[vc].front();
    const Packet& p = *flit.packet;
    arrived_[vc].pop_front();
    freed = vc;
    ++counts.delivered_flits;
    ++counts.of_class[p.message_class].delivered_flits;
    if (!flit.is_tail()) return;
    ++received;
    ++counts.delivered;
    counts.latency += now - p.created;
    counts.network_latency += now - p.injected;
    counts.hops += p.hops;
    counts.latency_max = std::max<u64>(counts.latency_max, now - p.created);
    counts.network_latency_max = std::max<u64>(counts.network_latency_max, now - p.injected);
    counts.last_delivery = now;
    Counts::OfClass& of_class = counts.of_class[p.message_class];
    ++of_class.delivered;
    of_class.latency += now - p.created;
    of_class.network_latency += now - p.injected;
    came_[p.id] = now;
    note(EventKind::kDelivered, p, 0, flit.mark(), kNone, now - p.created);
    if (traffic_.mode == TrafficMode::kRequestReply) settle(p, now, counts);
  }

  // Closed loop. A terminal consumes a request only if its queue has room for the reply.
  static bool is_reply(const Packet& p) { return p.id >= 0x80000000u; }
  bool may_enter(const Flit& flit) const {
    return !flit.is_head() || is_reply(*flit.packet) ||
           answers_.size() + lanes_[1].queue.size() + half_taken_ < traffic_.table.reply_queue;
  }
  void take_in_turns(Cycle now, Counts& counts) {
    List candidates;
    for (u32 vc = 0; vc < rules_.vcs; ++vc)
      if (!arrived_[vc].empty() && may_enter(arrived_[vc].front())) candidates.push_back(vc);
    if (candidates.empty()) return;
    const u32 vc = first_from(candidates, next_taken_);
    next_taken_ = vc + 1;
    const Flit& flit = arrived_[vc].front();
    half_taken_ += flit.is_head() && !is_reply(*flit.packet);
    take(vc, now, counts);
  }
  void settle(const Packet& p, Cycle now, Counts& counts) {
    if (!is_reply(p)) {
      --half_taken_;
      answers_.push_back({p.source, p.tag, now + traffic_.table.reply_delay});
      return;
    }
    // The source stopped because its window was full; from now on it continues.
    if (open_.size() == traffic_.table.window) seek_creation(traffic_.table, traffic_.row, index_, next_[0], now);
    ++counts.transactions;
    counts.round_trips += now - open_.at(p.tag);
    counts.round_trip_max = std::max<u64>(counts.round_trip_max, now - open_.at(p.tag));
    open_.erase(p.tag);
  }
  void create_replies(Cycle now, Counts& counts) {
    for (; !answers_.empty() && answers_.front().at <= now; answers_.pop_front()) {
      Packet p{};
      p.id = 0x80000000u + replies_;
      p.flits =
          length_from(traffic_.table.replies, philox(traffic_.row.seed, stream::kReply, index_, replies_).word[0]);
      p.destination = answers_.front().to;
      p.tag = answers_.front().tag;
      p.message_class = rules_.message_classes - 1;
      p.created = answers_.front().at;
      enqueue(1, p, counts);
      ++replies_;
    }
  }
  void create_requests(Cycle now, Counts& counts) {
    while (next_[0].at <= now && open_.size() < traffic_.table.window) {
      u32 tag = 0;
      while (open_.count(tag)) ++tag;
      open_[tag] = now;
      create(0, tag, now, counts);
      next_creation(traffic_.table, traffic_.row, index_, next_[0]);
    }
  }
  /// Sends a flit of a request or of a reply; these take turns. With one message class a packet is finished before
  /// another one starts.
  std::optional<Sent> send_in_turns(Cycle now, Counts& counts) {
    for (u32 lane : {1 - last_lane_, last_lane_}) {
      if (rules_.message_classes == 1 && lanes_[1 - lane].sending) continue;
      if (const std::optional<Sent> sent = send(lanes_[lane], now, counts)) {
        last_lane_ = lane;
        return sent;
      }
    }
    return {};
  }

  /// Sends a flit. Of the classes that can send, the one with the highest priority sends; classes of equal priority
  /// take turns.
  std::optional<Sent> send_by_priority(Cycle now, Counts& counts) {
    List order;
    for (u32 c = 0; c < lanes_.size(); ++c) order.push_back((last_lane_ + c) % static_cast<u32>(lanes_.size()));
    std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return rules_.priority[a] > rules_.priority[b]; });
    for (u32 c : order)
      if (const std::optional<Sent> sent = send(lanes_[c], now, counts)) {
        last_lane_ = c + 1;
        return sent;
      }
    return {};
  }

  /// Returns whether a virtual channel carries another packet of this terminal.
  bool carries(u32 vc) const {
    return std::any_of(lanes_.begin(), lanes_.end(), [&](const Lane& lane) { return lane.sending && lane.vc == vc; });
  }

  /// Sends a flit of the packet if there is a credit for it. A packet starts on a virtual channel of its message class.
  std::optional<Sent> send(Lane& lane, Cycle now, Counts& counts) {
    if (!lane.sending) {
      if (lane.queue.empty()) return {};
      const PacketPtr packet = lane.queue.front();
      List free;
      for (u32 vc : routes_.message_vcs(packet->message_class))
        if (credits[vc] >= std::max(rules_.room_for(packet->flits), 1u) && !carries(vc)) free.push_back(vc);
      if (free.empty()) return {};
      lane.queue.pop_front();
      lane.sending = packet;
      lane.sent = 0;
      lane.vc = first_from(free, lane.next_vc);
      lane.next_vc = lane.vc + 1;
      packet->injected = now;
      ++counts.injected;
      note(EventKind::kInjected, *packet, lane.vc, Flit{packet, 0}.mark(), kNone, 0);
    }
    if (!credits[lane.vc]) return {};
    --credits[lane.vc];
    ++counts.injected_flits;
    const Sent sent{{lane.sending, lane.sent++}, lane.vc};
    if (sent.flit.is_tail()) lane.sending = nullptr;
    return sent;
  }

  const Rules& rules_;
  const Routes& routes_;
  const Traffic& traffic_;
  u32 index_, port_;
  std::vector<Lane> lanes_ = std::vector<Lane>(2);
  std::map<u32, SourceCursor> next_;       ///< next creation, by class of packets
  std::vector<std::deque<Flit>> arrived_;  ///< [VC] ejection buffers
  std::deque<TraceLine> lines_;            ///< lines of the trace whose packets have not been created
  std::map<u32, Cycle> came_;              ///< arrival cycle of packets, by number
  Cycle last_created_ = 0;
  std::map<u32, Cycle> open_;   ///< creation cycle of requests without a reply, by tag
  std::deque<Answer> answers_;  ///< replies that have not been created
  u32 half_taken_ = 0;          ///< requests of which some flits have been consumed
  u32 replies_ = 0;             ///< replies created
  u32 next_taken_ = 0;          ///< round-robin pointer over ejection virtual channels
  u32 last_lane_ = 0;
};

}  // namespace flitlab::testing::vc_naive
