#pragma once
/// A second implementation of S-Connect, written from the paper and the emulator's documents without the emulator's
/// TICs. A channel is a queue of slots, a slot has a state at each end, buffers are messages in a list, and used
/// buffers are counted whenever their number is needed. Creation times and destinations come from the emulator's
/// sources, and errors use its random keys. Control messages and clocks are not included.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/routers/sconnect/host_loop.hpp"
#include "kernels/routers/sconnect/totals.hpp"
#include "kernels/traffic/params.hpp"
#include "tests/support/sconnect/naive_channels.hpp"
#include "tests/support/sconnect/naive_parts.hpp"

namespace flitlab::testing {

class NaiveSconnect : public NaiveChannels {
 public:
  NaiveSconnect(const Experiment& e, const SconnectPlan& plan, const ReplicaRow& row)
      : NaiveChannels(e, plan, row),
        phases_(e.str(sconnect::param::topology.phases) == "random"),
        phase_(plan.fabric().phase.begin(), plan.fabric().phase.end()),
        hosts_(t_.terminals),
        single_(e.str(sconnect::param::host.queues) == "single"),
        loop_(e.str(param::traffic.mode) == "request_reply") {
    const SconnectFabric& f = plan.fabric();
    for (u32 n = 0; n < f.tics; ++n)
      for (u32 p = 0; p < 6; ++p) {
        NaiveTicPort& port = tics_[n].port[p];
        port.link = f.link(n, p);
        if (!port.is_channel()) continue;
        port.delay = way(f, n, p);
        port.slots.resize(port.delay + way(f, port.link.far, port.link.port) + 2);
        wires_.push_back(std::make_unique<NaiveWire>(port.delay));
        port.out = wires_.back().get();
      }
    for (NaiveTic& tic : tics_)
      for (NaiveTicPort& port : tic.port)
        if (port.is_channel()) tics_[port.link.far].port[port.link.port].in = port.out;
    for (u32 h = 0; h < hosts_.size(); ++h) {
      hosts_[h].next = first_creation(t_.traffic, row_, h);
      if (never_sends(t_.traffic, h)) hosts_[h].next.at = kNever;
    }
  }

  std::vector<NaiveHost>& hosts() { return hosts_; }
  /// Returns the sum, over delivered messages, of the clocks from entry into the fabric to exit.
  u64 clocks() const { return clocks_; }

  void step() {
    for (u32 n = 0; n < tics_.size(); ++n) work(n);
    for (auto& wire : wires_) wire->pop_front();
    ++now_;
  }

 private:
  void work(u32 n) {
    NaiveTic& tic = tics_[n];
    for (u32 p = 0; p < 6; ++p)
      if (tic.port[p].link.kind == LinkKind::kHost) create(tic.port[p].link.far, p);
    for (u32 p = 0; p < 6; ++p) {
      NaiveTicPort& port = tic.port[p];
      if (port.link.kind == LinkKind::kHost) {
        to_host(tic, p);
        from_host(tic, p);
      } else if (port.is_channel()) {
        // If a port is switched off while a quad leaves by it, the quad still leaves completely.
        const bool on = port.on || port.leaving;
        if (on)
          transmit(n, p);
        else
          turn_away(port, p);
        if (!on) port.out->push_back(std::nullopt);
        std::optional<NaiveParcel> arrival = port.in->front();
        if (!on) arrival.reset();
        receive(tic, p, arrival);
      }
    }
    for (u32 p = 0; p < 6; ++p) {
      if (!tic.port[p].back) continue;
      const MessageRef m = std::move(tic.port[p].back);
      tic.port[p].back.reset();
      route_again(tic, m, p);
    }
  }

  /// Returns the clock, counted from the machine's start, at which a port reads or sends its header in this routing
  /// cycle.
  u32 clock(const NaiveTic& tic, u32 p) const { return 6 * now_ + phase_[&tic - tics_.data()] + p; }

  /// Returns the routing cycles that a channel takes: the fewest that cover its delay between the clocks of both ends.
  u32 way(const SconnectFabric& f, u32 n, u32 p) const {
    const sconnect::Link& link = f.link(n, p);
    const bool serial = link.kind == LinkKind::kSerial;
    const u32 sent = phases_ && serial ? phase_[n] + p : 0, read = phases_ && serial ? phase_[link.far] + link.port : 0;
    u32 cycles = 1;
    while (serial && 6 * cycles + read < sent + f.clocks[6 * n + p]) ++cycles;
    return cycles;
  }

  // Hosts.

  void create(u32 h, u32 p) {
    NaiveHost& host = hosts_[h];
    if (loop_) process_answers(h);
    while (host.next.at <= now_ && !(loop_ && host.loop.open.size() == t_.traffic.window)) {
      host.queue.push_back(message(h, p, host.next));
      if (loop_) host.queue.back().created = host.loop.open[host.next.index] = now_;
      ++host.created;
      next_creation(t_.traffic, row_, h, host.next);
    }
  }

  NaiveMessage message(u32 h, u32 p, const SourceCursor& source) const {
    NaiveMessage m{};
    m.name = {h, source.index};
    m.created = source.at;
    m.dst = packet_destination(t_.traffic, row_, h, source.index);
    m.node = t_.terminal_node[m.dst];
    m.flits = packet_flits(t_.traffic, row_, h, source.index);
    m.entered = p;
    const u32 draw = packet_draws(row_, h, source.index).word[3];
    const u32* below = t_.priority_below[p - sconnect::kSerial];
    while (m.priority < 3 && below[m.priority] != ~0u && draw >= below[m.priority]) ++m.priority;
    if (m.flits == 4) m.priority = t_.quad_priority;
    return m;
  }

  /// Offers the oldest message of every priority, the highest first; or, with one queue, the oldest message of all.
  void from_host(NaiveTic& tic, u32 p) {
    NaiveTicPort& port = tic.port[p];
    NaiveHost& host = hosts_[port.link.far];
    if (port.entering) {
      --port.entering;
      return;
    }
    if (!port.on || answer(tic, p)) return;
    for (u32 priority = 4; priority-- > 0;) {
      const auto first = std::find_if(host.queue.begin(), host.queue.end(),
                                      [&](const NaiveMessage& m) { return single_ || m.priority == priority; });
      if (first == host.queue.end()) continue;
      NaiveMessage m = *first;
      m.injected = now_;
      m.entered = clock(tic, p);
      if (store(tic, m, p, true)) {
        host.queue.erase(first);
        ++host.sent;
        count(Total::kPacketsInjected);
        port.entering = m.flits - 1;
        return;
      }
      if (single_) return;
    }
  }

  void to_host(NaiveTic& tic, u32 p) {
    NaiveTicPort& port = tic.port[p];
    if (port.leaving) {
      if (++port.parts < 4) return;
      finish(tic, p, port.leaving);
      port.leaving.reset();
      return;
    }
    if (!port.on) return;
    for (u32 priority = 4; priority-- > 0;) {
      auto& queue = port.queue[priority][0];
      if (queue.empty()) continue;
      // Messages of lower priority wait behind a refused one.
      if (t_.refuses >> priority & 1) return;
      if (loop_ && !queue.front()->reply && answers(port).size() == t_.traffic.reply_queue) return;
      const MessageRef m = take(queue);
      ++port.carried;
      if (m->flits == 1) {
        finish(tic, p, m);
      } else {
        port.leaving = m;
        port.parts = 1;
      }
      return;
    }
  }

  void finish(NaiveTic& tic, u32 p, const MessageRef& m) {
    const NaiveTicPort& port = tic.port[p];
    free(tic, m);
    if (m->damaged) {
      count(sconnect::Count::kAborted);
      return;
    }
    ++hosts_[port.link.far].received;
    count(Total::kPacketsDelivered);
    count(Total::kLatencySum, now_ - m->created);
    count(sconnect::Count::kDelivered, 1, m->priority);
    clocks_ += clock(tic, p) - m->entered;
    if (!loop_) return;
    if (m->reply)
      hosts_[m->dst].loop.arrivals.push_back({m->request, now_});
    else
      answers(port).push_back({m->name, now_ + t_.traffic.reply_delay});
  }

  // Closed loops.

  std::deque<NaiveLoop::Answer>& answers(const NaiveTicPort& port) { return hosts_[port.link.far].loop.answers; }

  /// Processes answers that have arrived. A host receives an answer in the cycle after its arrival.
  void process_answers(u32 h) {
    NaiveLoop& loop = hosts_[h].loop;
    while (!loop.arrivals.empty() && loop.arrivals.front().cycle < now_) {
      const auto [request, arrived] = loop.arrivals.front();
      loop.arrivals.pop_front();
      if (loop.open.size() == t_.traffic.window) seek_creation(t_.traffic, row_, h, hosts_[h].next, now_);
      count(Total::kTransactions);
      count(Total::kRoundTripSum, arrived - loop.open.at(request));
      loop.open.erase(request);
    }
  }

  /// Offers the oldest answer if it is due. Returns whether the TIC has accepted it.
  bool answer(NaiveTic& tic, u32 p) {
    NaiveTicPort& port = tic.port[p];
    const u32 h = port.link.far;
    NaiveLoop& loop = hosts_[h].loop;
    // A request that arrives in this cycle is answered in the next one at the earliest.
    if (loop.answers.empty() || loop.answers.front().due > now_ || fresh(loop.answers.front())) return false;
    NaiveMessage m{};
    m.name = {h, kReplyId | loop.given};
    m.reply = true;
    m.request = loop.answers.front().request.id;
    m.created = loop.answers.front().due;
    m.injected = now_;
    m.entered = clock(tic, p);
    m.dst = loop.answers.front().request.src;
    m.node = t_.terminal_node[m.dst];
    m.flits = length_from(t_.traffic.replies, philox(row_.seed, stream::kReply, h, loop.given).word[0]);
    m.priority = t_.reply_priority;
    if (!store(tic, m, p, true)) return false;
    loop.answers.pop_front();
    ++loop.given;
    count(Total::kPacketsInjected);
    port.entering = m.flits - 1;
    return true;
  }

  bool fresh(const NaiveLoop::Answer& answer) const { return answer.due - t_.traffic.reply_delay == now_; }

  bool phases_;
  std::vector<u32> phase_;
  std::vector<NaiveHost> hosts_;
  bool single_, loop_;
  u64 clocks_ = 0;
  std::vector<std::unique_ptr<NaiveWire>> wires_;
};

}  // namespace flitlab::testing
