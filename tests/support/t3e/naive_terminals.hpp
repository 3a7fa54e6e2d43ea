#pragma once
/// PEs and I/O devices of the second implementation of the T3E (naive.hpp): source queues, closed loops, and one flit
/// per cycle in each direction.
#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "host/plan/plan.hpp"
#include "kernels/traffic/params.hpp"
#include "kernels/traffic/traffic.hpp"
#include "tests/support/t3e/naive_nodes.hpp"

namespace flitlab::testing::t3e_naive {

class NaiveTerminals : public NaiveNodes {
 public:
  NaiveTerminals(const Experiment& e, const T3ePlan& plan)
      : NaiveNodes(e, plan),
        traffic_(plan.table().traffic),
        row_(make_row(e)),
        closed_(e.str(param::traffic.mode) == "request_reply"),
        terminals_(plan.table().terminals) {
    for (u32 t = 0; t < terminals_.size(); ++t) {
      Terminal& terminal = terminals_[t];
      terminal.next = first_creation(traffic_, row_, t);
      if (never_sends(traffic_, t)) terminal.next.at = kNever;
      terminal.credits.fill(set_flits_);
      if (closed_) terminal.transactions.resize(traffic_.window);
    }
  }

  u32 credits_of_terminal(u32 terminal, u32 vc) const { return terminals_[terminal].credits[vc]; }
  u64 replies = 0, misdelivered = 0;

 protected:
  const TrafficTable& traffic_;
  u64 run_seed() const { return row_.seed; }

  void run_terminal(u32 t) {
    Terminal& terminal = terminals_[t];
    Inbox& inbox = inbox_[now_];
    if (const auto credit = inbox.pe_credits.find(t); credit != inbox.pe_credits.end())
      ++terminal.credits[credit->second];
    if (const auto flit = inbox.pe_flits.find(t); flit != inbox.pe_flits.end())
      terminal.held[flit->second.vc].push_back(flit->second.flit);
    take(t);
    if (closed_) create_replies(t);
    create(t);
    send(t);
  }

 private:
  /// A packet in a source queue, and its destination terminal.
  struct Queued {
    NaivePacket packet;
    u32 to;
  };
  /// A request whose reply has not arrived.
  struct Transaction {
    bool sent = false;
  };
  struct Reply {
    u32 to, transaction;
    Cycle created;
  };
  /// Packets of one message class that a terminal sends one after the other.
  struct Lane {
    std::deque<Queued> queue;
    std::optional<NaivePacket> sending;
    u32 next_flit = 0, vc = 0;
    std::optional<u32> last_vc;
  };
  struct Terminal {
    SourceCursor next;
    std::array<u32, kSets> credits;
    std::array<Lane, 2> lanes;  // [message class]
    u32 last_lane = 0;
    std::array<std::deque<Flit>, kSets> held;  // [set] flits that have arrived
    std::optional<u32> last_taken;
    std::vector<std::optional<Transaction>> transactions;
    std::deque<Reply> replies;  // replies that have not been created
    u32 reserved_replies = 0;   // replies to requests that are still being received
    u32 replies_created = 0;
  };

  u32 outstanding(const Terminal& terminal) const {
    return static_cast<u32>(std::count_if(terminal.transactions.begin(), terminal.transactions.end(),
                                          [](const auto& transaction) { return transaction.has_value(); }));
  }

  void create_packet(u32 t, NaivePacket packet, u32 to) {
    happened_.push_back(
        {nodes() + t, EventKind::kCreated, 0, 0, 0, 0, t, packet.id, packet.length == 1 ? 3u : 1u, packet.length, to});
    terminals_[t].lanes[packet.message_class].queue.push_back({packet, to});
  }

  /// Creates packets of open loops, and requests of closed loops while fewer than traffic.window requests have no
  /// reply.
  void create(u32 t) {
    Terminal& terminal = terminals_[t];
    while (terminal.next.at <= now_ && !(closed_ && outstanding(terminal) == traffic_.window)) {
      const u32 id = terminal.next.index;
      u32 transaction = 0;
      if (closed_) {
        while (terminal.transactions[transaction]) ++transaction;
        terminal.transactions[transaction].emplace();
      }
      const u32 length = packet_flits(traffic_, row_, t, id);
      create_packet(t, {t, id, length, 0, transaction, now_}, packet_destination(traffic_, row_, t, id));
      next_creation(traffic_, row_, t, terminal.next);
    }
  }

  void create_replies(u32 t) {
    Terminal& terminal = terminals_[t];
    for (; !terminal.replies.empty() && terminal.replies.front().created <= now_; terminal.replies.pop_front()) {
      const Reply& reply = terminal.replies.front();
      const u32 number = terminal.replies_created++;
      const u32 length = length_from(traffic_.replies, philox(row_.seed, stream::kReply, t, number).word[0]);
      create_packet(t, {t, 0x80000000u + number, length, 1, reply.transaction, now_}, reply.to);
      ++replies;
    }
  }

  /// Starts the oldest packet of a queue on a virtual channel of its class that has room. These virtual channels take
  /// turns.
  void start(u32 t, Lane& lane) {
    if (lane.sending || lane.queue.empty()) return;
    std::set<u32> free;
    for (u32 set : {0u, 1u})
      if (const u32 vc = 2 * lane.queue.front().packet.message_class + set; terminals_[t].credits[vc]) free.insert(vc);
    if (free.empty()) return;
    lane.vc = next_after(free, lane.last_vc);
    lane.last_vc = lane.vc;
    lane.next_flit = 0;
    NaivePacket packet = lane.queue.front().packet;
    packet.injected = now_;
    address(packet, t, lane.queue.front().to);
    if (closed_ && packet.message_class == 0) terminals_[t].transactions[packet.transaction]->sent = true;
    happened_.push_back({nodes() + t, EventKind::kInjected, port_of(t), lane.vc, 0, 0, t, packet.id,
                         packet.length == 1 ? 3u : 1u, packet.length});
    lane.queue.pop_front();
    lane.sending = packet;
  }

  /// Sends at most one flit per cycle. Requests and replies take turns.
  void send(u32 t) {
    Terminal& terminal = terminals_[t];
    for (u32 which : {1 - terminal.last_lane, terminal.last_lane}) {
      Lane& lane = terminal.lanes[which];
      start(t, lane);
      if (!lane.sending || !terminal.credits[lane.vc]) continue;
      --terminal.credits[lane.vc];
      const Flit flit{*lane.sending, lane.next_flit++};
      send_to_router(now_ + from_pe_, node_of(t), port_of(t), lane.vc, flit);
      if (flit.tail()) lane.sending.reset();
      terminal.last_lane = which;
      return;
    }
  }

  /// Consumes one flit per cycle. A request is consumed only if there is room for its reply.
  void take(u32 t) {
    Terminal& terminal = terminals_[t];
    const std::size_t waiting = terminal.replies.size() + terminal.lanes[1].queue.size() + terminal.reserved_replies;
    std::set<u32> candidates;
    for (u32 vc = 0; vc < kSets; ++vc) {
      if (terminal.held[vc].empty()) continue;
      const Flit& flit = terminal.held[vc].front();
      const bool waits = closed_ && flit.packet.message_class == 0 && flit.head() && waiting >= traffic_.reply_queue;
      if (!waits) candidates.insert(vc);
    }
    if (candidates.empty()) return;
    const u32 vc = next_after(candidates, terminal.last_taken);
    terminal.last_taken = vc;
    const Flit flit = terminal.held[vc].front();
    const NaivePacket& p = flit.packet;
    terminal.held[vc].pop_front();
    credit_to_router(now_ + credit_delay_, node_of(t), port_of(t), vc);
    const bool request = closed_ && p.message_class == 0;
    if (request && flit.head()) ++terminal.reserved_replies;
    if (!flit.tail()) return;
    happened_.push_back({nodes() + t, EventKind::kDelivered, 0, 0, 0, 0, p.src, p.id, p.length == 1 ? 3u : 2u, p.length,
                         kNone, now_ - p.created});
    const bool meant = p.logical == registers_[node_of(t)].lwho;
    if (!meant) ++misdelivered;
    if (!closed_) return;
    if (request) {
      --terminal.reserved_replies;
      terminal.replies.push_back({p.src, p.transaction, now_ + traffic_.reply_delay});
      return;
    }
    std::optional<Transaction>& transaction = terminal.transactions[p.transaction];
    const bool open = transaction && transaction->sent;
    if (meant && !open) ++misdelivered;
    if (!meant || !open) return;
    // A source that a full window has stopped draws a new gap.
    if (outstanding(terminal) == traffic_.window) seek_creation(traffic_, row_, t, terminal.next, now_);
    transaction.reset();
  }

  ReplicaRow row_;
  bool closed_;
  std::vector<Terminal> terminals_;
};

}  // namespace flitlab::testing::t3e_naive
