#pragma once
/// A second implementation of the Cray T3E, written from the paper, the manual and kernels/routers/t3e/README.md, with
/// queues of flits, sets of requests, and inboxes by arrival cycle. It shares with the emulator only the contents of
/// registers and tables, the wiring, and the random draws of traffic. This file contains the arbiter.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "tests/support/t3e/naive_routers.hpp"

namespace flitlab::testing::t3e_naive {

class NaiveT3e : public NaiveRouters {
 public:
  NaiveT3e(const Experiment& e, const T3ePlan& plan)
      : NaiveRouters(e, plan),
        io_interval_(e.ints(t3e::param::io.nodes).empty() ? 1 : e.u32_of(t3e::param::io.interval)) {}

  std::vector<Happening> step() {
    happened_.clear();
    change_registers();
    for (std::set<u32>& ports : busy()) ports.clear();
    run_special();
    for (u32 t = 0; t < topology_.terminals; ++t) run_terminal(t);
    for (const auto& [at, vc] : inbox_[now_].credits) ++routers_[at.first].out[at.second][vc].credits;
    run_barriers();
    for (u32 n = 0; n < nodes(); ++n) {
      receive(n);
      arbitrate(n);
    }
    inbox_.erase(now_);
    ++now_;
    std::sort(happened_.begin(), happened_.end());
    return happened_;
  }

 private:
  // An I/O port passes one flit every `io_interval_` clocks in each direction; in other clocks it is closed. Packets
  // for a closed port do not get the right to request. When it is open, packets that own its virtual channel precede
  // others.
  bool io_is_closed() const { return now_ % io_interval_ != 0; }
  void leave_io_out(u32 n, u32 port, std::set<u32>& ready) {
    std::set<u32> for_io, owners;
    for (u32 vc : ready) {
      const InputVc& in = routers_[n].in[port][vc];
      const Channel to = in.begun ? in.goes : in.choice.fixed;
      if (in.is_lost() || to.port != kIo) continue;
      for_io.insert(vc);
      if (routers_[n].to(to).owner == Channel{port, vc}) owners.insert(vc);
    }
    if (io_is_closed())
      std::erase_if(ready, [&](u32 vc) { return for_io.contains(vc); });
    else if (!owners.empty())
      ready = owners;
  }

  /// Returns the virtual channel of each input port that has the right to request, by port.
  std::map<u32, u32> choose_askers(u32 n) {
    std::map<u32, u32> askers;
    for (u32 port = 0; port < kAllPorts; ++port) {
      std::set<u32> ready;
      for (u32 vc = 0; vc < kAllVcs; ++vc)
        if (const auto& flits = routers_[n].in[port][vc].flits; !flits.empty() && flits.front().from <= now_)
          ready.insert(vc);
      if (port == kIo && io_is_closed()) continue;
      if (io_interval_ > 1 && !routers_[n].port[port].asking) leave_io_out(n, port, ready);
      if (ready.empty()) continue;
      Port& state = routers_[n].port[port];
      if (!state.asking) state.asking = state.last_asked = next_after(ready, state.last_asked);
      EXPECT_TRUE(ready.contains(*state.asking));
      const Channel c{port, *state.asking};
      if (routers_[n].at(c).is_lost())
        drop_flit(n, c);
      else
        askers[port] = c.vc;
    }
    return askers;
  }

  /// Drops a flit of a packet that may not continue. The input port makes no request in this clock.
  void drop_flit(u32 n, Channel c) {
    InputVc& in = routers_[n].at(c);
    const Flit flit = in.flits.front().flit;
    in.flits.pop_front();
    credit_by(n, c.port, c.vc);
    ++dropped_flits;
    dropped_packets += flit.tail();
    in.dropping = !flit.tail();
    start_front(n, c);
    const bool next_is_there = !in.flits.empty() && in.flits.front().from <= now_;
    if (flit.tail() || !next_is_there) routers_[n].port[c.port].asking.reset();
  }

  /// Packets that have not begun to leave request their deterministic channel and one adaptive channel.
  void request(u32 n, const std::map<u32, u32>& askers) {
    Router& r = routers_[n];
    std::map<Channel, std::set<Channel>> adaptive;  // requesting inputs, by output
    for (const auto& [port, vc] : askers) {
      const Channel me{port, vc};
      const InputVc& in = r.at(me);
      if (in.begun) continue;
      if (OutputVc& out = r.to(in.choice.fixed); out.owner != me) out.asked.insert(me);
      if (in.won) continue;
      std::optional<Channel> best;  // the channel with most room; among equals, the highest direction
      for (u32 direction : in.choice.adaptive) {
        const auto free = free_adaptive(n, direction, in.flits.front().flit.packet.length);
        if (free && (!best || r.to(*free).credits >= r.to(*best).credits)) best = free;
      }
      if (best) adaptive[*best].insert(me);
    }
    for (auto& port : r.out)
      for (OutputVc& out : port)
        if (!out.owner && !out.asked.empty()) {
          out.owner = out.last = next_after(out.asked, out.last);
          out.asked.erase(*out.owner);
        }
    for (const auto& [channel, inputs] : adaptive) {  // input ports take turns, whatever their VCs
      OutputVc& out = r.to(channel);
      const Channel winner = next_after(inputs, out.last);
      out.owner = winner;
      out.last = Channel{winner.port, kAllVcs};
      r.at(winner).won = channel;
    }
  }

  /// Returns the virtual channel on which an output sends, among the channels whose owner could send.
  u32 choose_sender(u32 n, u32 port, const std::map<u32, Channel>& bids) {
    const Port& state = routers_[n].port[port];
    if (state.holder && bids.contains(*state.holder)) return *state.holder;
    std::set<u32> first, all;
    for (const auto& [vc, input] : bids) {
      all.insert(vc);
      if (vc < kSets || routers_[n].at(input).begun) first.insert(vc);
    }
    return next_after(first.empty() ? all : first, state.last_sent);
  }

  void arbitrate(u32 n) {
    Router& r = routers_[n];
    const std::map<u32, u32> askers = choose_askers(n);
    request(n, askers);
    std::array<std::map<u32, Channel>, kAllPorts> bids;  // [output port] requesting input, by output VC
    for (const auto& [port, vc] : askers) {
      const Channel me{port, vc};
      const InputVc& in = r.at(me);
      const Channel to = in.begun ? in.goes : in.choice.fixed;
      const bool can_send = r.to(to).owner == me && r.to(to).credits && !(to.port == kIo && io_is_closed());
      if (can_send) bids[to.port][to.vc] = me;
      if (in.won) bids[in.won->port][in.won->vc] = me;
      if (!can_send && !in.won) r.port[port].asking.reset();
    }
    std::map<Channel, std::set<Channel>> won;  // granted outputs, by input
    for (u32 port = 0; port < kAllPorts; ++port) {
      if (bids[port].empty() || busy()[n].contains(port)) continue;
      const u32 vc = choose_sender(n, port, bids[port]);
      won[bids[port][vc]].insert({port, vc});
    }
    for (const auto& [from, outputs] : won) cross(n, from, outputs.size() == 2 ? *r.at(from).won : *outputs.begin());
  }

  /// Moves a flit through the crossbar. If the next flit can follow in the next clock, its channel keeps the right to
  /// request and holds the output.
  void cross(u32 n, Channel from, Channel to) {
    Router& r = routers_[n];
    InputVc& in = r.at(from);
    if (!in.begun && in.won == to) {
      OutputVc& other = r.to(in.choice.fixed);
      other.asked.erase(from);
      if (other.owner == from) other.owner.reset();
    } else if (!in.begun && in.won) {
      r.to(*in.won).owner.reset();
    }
    in.won.reset();
    move(n, from, to);
    ++turned;
    const bool ended = !in.begun;
    const bool flit_next = from.port < kPe ? !in.flits.empty() && in.flits.front().from <= now_ + 1
                                           : !in.flits.empty() || arrives_next(n, from);
    const auto credit = inbox_[now_ + 1].credits.find({n, to.port});
    const bool room = r.to(to).credits || (credit != inbox_[now_ + 1].credits.end() && credit->second == to.vc);
    const bool slow = io_interval_ > 1 && (from.port == kIo || to.port == kIo);
    const bool goes_on = !ended && flit_next && room && !slow;
    r.port[to.port].last_sent = to.vc;
    r.port[to.port].holder.reset();
    r.port[from.port].asking.reset();
    if (!goes_on) return;
    r.port[to.port].holder = to.vc;
    r.port[from.port].asking = from.vc;
  }

  bool arrives_next(u32 n, Channel c) {
    const auto& flits = inbox_[now_ + 1].flits;
    const auto next = flits.find({n, c.port});
    return next != flits.end() && next->second.vc == c.vc;
  }

  u32 io_interval_;
};

}  // namespace flitlab::testing::t3e_naive
