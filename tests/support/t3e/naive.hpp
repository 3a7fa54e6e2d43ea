#pragma once
/// The Cray T3E's routers written a second time, from the paper, the manual and kernels/routers/t3e/README.md: queues
/// of flits, sets of requests, and mail by the cycle of its arrival. Shares with the emulator the contents of registers
/// and tables, the wiring, and the draws of traffic; nothing else.
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "kernels/routers/t3e/streams.hpp"
#include "tests/support/t3e/naive_terminals.hpp"

namespace flitlab::testing::t3e_naive {

class NaiveT3e : public NaiveTerminals {
 public:
  /// A flit in a buffer, and the first cycle in which it may ask for the crossbar.
  struct Held {
    Flit flit;
    Cycle from;
  };
  struct InputVc {
    std::deque<Held> flits;
    Choice choice{};               // of the front packet
    bool begun = false;            // a flit of the front packet has left and its tail has not
    bool losing = false;           // a flit of the front packet has been thrown away and its tail has not
    Channel goes{};                // where the front packet has begun to go
    std::optional<Channel> won{};  // adaptive channel that the front packet has won and not yet used
    u32 packets() const {
      u32 heads = 0;
      for (const Held& held : flits) heads += held.flit.head();
      return heads + begun + losing;
    }
    bool is_lost() const { return losing || (!begun && choice.stopped); }
  };
  struct OutputVc {
    u32 credits = 0;
    std::optional<Channel> owner{};  // input
    std::set<Channel> asked{};       // inputs that are remembered
    std::optional<Channel> last{};   // input served last
  };
  struct Port {
    std::optional<u32> asking{}, last_asked{};  // input: virtual channels
    std::optional<u32> holder{}, last_sent{};   // output: virtual channels
  };
  struct Router {
    std::array<std::array<InputVc, kAllVcs>, kAllPorts> in;
    std::array<std::array<OutputVc, kAllVcs>, kAllPorts> out;
    std::array<Port, kAllPorts> port;
    InputVc& at(Channel c) { return in[c.port][c.vc]; }
    OutputVc& to(Channel c) { return out[c.port][c.vc]; }
  };

  NaiveT3e(const Experiment& e, const T3ePlan& plan)
      : NaiveTerminals(e, plan),
        short_circuit_(e.flag(t3e::param::router.short_circuit)),
        io_interval_(e.ints(t3e::param::io.nodes).empty() ? 1 : e.u32_of(t3e::param::io.interval)),
        error_below_(static_cast<u32>(std::min(e.f64(t3e::param::faults.error_rate) * 4294967296.0, 4294967295.0))),
        routers_(nodes()) {
    for (u32 n = 0; n < nodes(); ++n)
      for (u32 port = 0; port < kAllPorts; ++port)
        for (u32 vc = 0; vc < (port < kPe ? kSets + adaptive_vcs_ : kSets); ++vc)
          if (exists(n, port)) routers_[n].out[port][vc].credits = vc < kSets ? set_flits_ : adaptive_flits_;
  }

  std::vector<Happening> step() {
    happened_.clear();
    change_registers();
    for (u32 t = 0; t < topology_.terminals; ++t) run_terminal(t);
    for (const auto& [place, vc] : mail_[now_].credits) ++routers_[place.first].out[place.second][vc].credits;
    for (u32 n = 0; n < nodes(); ++n) {
      receive(n);
      arbitrate(n);
    }
    mail_.erase(now_);
    ++now_;
    std::sort(happened_.begin(), happened_.end());
    return happened_;
  }

  const Router& router(u32 n) const { return routers_[n]; }
  Cycle now() const { return now_; }

  u64 errors = 0, corrected = 0, hit_again = 0;
  u64 dropped_flits = 0, dropped_packets = 0, straight = 0, turned = 0, adapted = 0;

 private:
  bool holds_flits(u32 n) const {
    for (const auto& port : routers_[n].in)
      for (const InputVc& in : port)
        if (!in.flits.empty()) return true;
    return false;
  }

  /// The packet at the front makes its choices when its head is there.
  void start_front(u32 n, Channel c) {
    InputVc& in = routers_[n].at(c);
    if (in.begun || in.losing || in.flits.empty()) return;
    in.choice = choose(n, in.flits.front().flit.packet, c);
    in.won.reset();
  }

  /// An adaptive channel of a port that has no owner and has room for a whole packet.
  std::optional<Channel> free_adaptive(u32 n, u32 port, u32 flits) {
    for (u32 vc = kSets; vc < kSets + adaptive_vcs_; ++vc)
      if (const OutputVc& out = routers_[n].out[port][vc]; !out.owner && out.credits >= flits) return Channel{port, vc};
    return std::nullopt;
  }

  void receive(u32 n) {
    const bool empty = !holds_flits(n);
    passed_.clear();
    const auto& flits = mail_[now_].flits;
    for (auto mail = flits.lower_bound({n, 0}); mail != flits.end() && mail->first.first == n; ++mail) {
      const Channel c{mail->first.second, mail->second.vc};
      const Flit& flit = mail->second.flit;
      if (flit.head())
        happened_.push_back({n, EventKind::kArrived, c.port, c.vc, 0, 0, flit.packet.src, flit.packet.id,
                             flit.tail() ? 3u : 1u, flit.packet.length});
      if (empty && short_circuit_ && c.port < kPe && pass_straight(n, c, flit)) continue;
      InputVc& in = routers_[n].at(c);
      in.flits.push_back({flit, now_ + (c.port < kPe ? wait_ : 0)});
      if (in.flits.size() == 1) start_front(n, c);
      EXPECT_LE(in.flits.size(), c.vc < kSets ? set_flits_ : adaptive_flits_);
    }
  }

  /// The short-circuit path. An output that is held has a packet from the PE.
  bool pass_straight(u32 n, Channel c, const Flit& flit) {
    Router& r = routers_[n];
    InputVc& in = r.at(c);
    const u32 on = opposite(c.port);
    if (!exists(n, on) || is_set(n, on, t3e::kNoFast) || r.port[on].holder) return false;
    std::optional<Channel> to;
    if (in.losing) return false;
    if (in.begun) {
      if (in.goes.port == on && r.to(in.goes).credits) to = in.goes;
    } else {
      const Choice choice = choose(n, flit.packet, c);
      if (choice.stopped) return false;
      if (choice.fixed.port == on && !r.to(choice.fixed).owner && r.to(choice.fixed).credits) to = choice.fixed;
      if (!to && choice.adaptive.contains(on)) to = free_adaptive(n, on, flit.packet.length);
    }
    if (!to) return false;
    in.flits.push_back({flit, now_});
    move(n, c, *to);
    passed_.insert(on);
    ++straight;
    return true;
  }

  /// A flit leaves the front of a buffer.
  void move(u32 n, Channel from, Channel to) {
    Router& r = routers_[n];
    InputVc& in = r.at(from);
    Flit flit = in.flits.front().flit;
    in.flits.pop_front();
    const NaivePacket& p = flit.packet;
    happened_.push_back({n, EventKind::kSwitchGranted, from.port, from.vc, to.port, to.vc, p.src, p.id,
                         (flit.head() ? 1u : 0u) + (flit.tail() ? 2u : 0u), p.length});
    adapted += to.vc >= kSets;
    OutputVc& out = r.to(to);
    EXPECT_GT(out.credits, 0u);
    --out.credits;
    out.owner = from;
    in.begun = true;
    in.goes = to;
    credit_by(n, from.port, from.vc);
    const bool tail = flit.tail();
    if (to.port < kPe)
      spoil(flit);
    else
      correct(flit);
    if (to.port < kPe) hop(flit.packet, n, topology_.peer(n, to.port).item);
    send_by(n, to.port, to.vc, flit);
    if (!tail) return;
    out.owner.reset();
    in.begun = false;
    start_front(n, from);
  }

  /// A link may spoil a flit. Routers count that, and the destination's router corrects it.
  void spoil(Flit& flit) {
    const NaivePacket& p = flit.packet;
    const u64 draw = u64{p.id} << 16 | p.hops << 4 | flit.number;
    if (philox(run_seed(), t3e::stream::kChannelError, p.src, draw).word[0] >= error_below_) return;
    ++errors;
    ++flit.hits;
  }
  void correct(const Flit& flit) {
    auto& hits = hits_[{flit.packet.src, flit.packet.id}];
    hits.push_back(flit.hits);
    if (!flit.tail()) return;
    for (u32 of_flit : hits) corrected += of_flit > 0, hit_again += of_flit > 1;
    hits_.erase({flit.packet.src, flit.packet.id});
  }

  // An I/O port passes a flit every `io_interval_` clocks, either way. Packets for it may get the right to ask only
  // while it is open, and then go first if they have its virtual channel.
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

  /// The virtual channel of each interface that asks, by port.
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
        throw_away(n, c);
      else
        askers[port] = c.vc;
    }
    return askers;
  }

  /// A flit of a packet that may not go on is lost. The interface has its turn meanwhile.
  void throw_away(u32 n, Channel c) {
    InputVc& in = routers_[n].at(c);
    const Flit flit = in.flits.front().flit;
    in.flits.pop_front();
    credit_by(n, c.port, c.vc);
    ++dropped_flits;
    dropped_packets += flit.tail();
    in.losing = !flit.tail();
    start_front(n, c);
    const bool next_is_there = !in.flits.empty() && in.flits.front().from <= now_;
    if (flit.tail() || !next_is_there) routers_[n].port[c.port].asking.reset();
  }

  /// Packets that have not begun ask for their deterministic channel and for one adaptive channel.
  void request(u32 n, const std::map<u32, u32>& askers) {
    Router& r = routers_[n];
    std::map<Channel, std::set<Channel>> adaptive;  // inputs that ask, by output
    for (const auto& [port, vc] : askers) {
      const Channel me{port, vc};
      const InputVc& in = r.at(me);
      if (in.begun) continue;
      if (OutputVc& out = r.to(in.choice.fixed); out.owner != me) out.asked.insert(me);
      if (in.won) continue;
      std::optional<Channel> best;  // with most room; of equals in the highest direction
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
    for (const auto& [channel, inputs] : adaptive) {  // interfaces take turns, whatever their virtual channels
      OutputVc& out = r.to(channel);
      const Channel winner = next_after(inputs, out.last);
      out.owner = winner;
      out.last = Channel{winner.port, kAllVcs};
      r.at(winner).won = channel;
    }
  }

  /// The virtual channel that an output sends from, of those whose owner could send.
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
    std::array<std::map<u32, Channel>, kAllPorts> bids;  // [output port] input, by output VC
    for (const auto& [port, vc] : askers) {
      const Channel me{port, vc};
      const InputVc& in = r.at(me);
      const Channel to = in.begun ? in.goes : in.choice.fixed;
      const bool can_send = r.to(to).owner == me && r.to(to).credits && !(to.port == kIo && io_is_closed());
      if (can_send) bids[to.port][to.vc] = me;
      if (in.won) bids[in.won->port][in.won->vc] = me;
      if (!can_send && !in.won) r.port[port].asking.reset();
    }
    std::map<Channel, std::set<Channel>> won;  // outputs, by input
    for (u32 port = 0; port < kAllPorts; ++port) {
      if (bids[port].empty() || passed_.contains(port)) continue;
      const u32 vc = choose_sender(n, port, bids[port]);
      won[bids[port][vc]].insert({port, vc});
    }
    for (const auto& [from, outputs] : won) cross(n, from, outputs.size() == 2 ? *r.at(from).won : *outputs.begin());
  }

  /// A flit crosses the crossbar; who keeps which right follows from what is left.
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
    const auto credit = mail_[now_ + 1].credits.find({n, to.port});
    const bool room = r.to(to).credits || (credit != mail_[now_ + 1].credits.end() && credit->second == to.vc);
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
    const auto& flits = mail_[now_ + 1].flits;
    const auto mail = flits.find({n, c.port});
    return mail != flits.end() && mail->second.vc == c.vc;
  }

  bool short_circuit_;
  u32 io_interval_, error_below_;
  std::map<std::pair<u32, u32>, std::vector<u32>>
      hits_;  // by packet: links that have spoiled its flits that have arrived
  std::vector<Router> routers_;
  std::set<u32> passed_;  // outputs that flits have gone straight through in this cycle
};

}  // namespace flitlab::testing::t3e_naive
