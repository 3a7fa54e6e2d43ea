#pragma once
/// Routers of the second implementation of the T3E (naive.hpp): buffers, the short-circuit path, and flits that leave.
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "kernels/routers/t3e/streams.hpp"
#include "tests/support/t3e/naive_special.hpp"

namespace flitlab::testing::t3e_naive {

class NaiveRouters : public NaiveSpecial {
 public:
  /// A flit in a buffer, and the first cycle in which it may request the crossbar.
  struct Held {
    Flit flit;
    Cycle from;
  };
  struct InputVc {
    std::deque<Held> flits;
    Choice choice{};               // outputs that the front packet may take
    bool begun = false;            // flits of the front packet have left, but its tail has not
    bool dropping = false;         // flits of the front packet have been dropped, but its tail has not
    Channel goes{};                // output by which the front packet has begun to leave
    std::optional<Channel> won{};  // adaptive channel that the front packet has won and not yet used
    u32 packets() const {
      u32 heads = 0;
      for (const Held& held : flits) heads += held.flit.head();
      return heads + begun + dropping;
    }
    bool is_lost() const { return dropping || (!begun && choice.stopped); }
  };
  struct OutputVc {
    u32 credits = 0;
    std::optional<Channel> owner{};  // input VC that holds this output VC
    std::set<Channel> asked{};       // input VCs whose requests are stored
    std::optional<Channel> last{};   // input VC that was served last
  };
  struct Port {
    std::optional<u32> asking{}, last_asked{};  // as an input: VC with the right to request, and the last such VC
    std::optional<u32> holder{}, last_sent{};   // as an output: VC that holds it, and VC that sent last
  };
  struct Router {
    std::array<std::array<InputVc, kAllVcs>, kAllPorts> in;
    std::array<std::array<OutputVc, kAllVcs>, kAllPorts> out;
    std::array<Port, kAllPorts> port;
    InputVc& at(Channel c) { return in[c.port][c.vc]; }
    OutputVc& to(Channel c) { return out[c.port][c.vc]; }
  };

  NaiveRouters(const Experiment& e, const T3ePlan& plan)
      : NaiveSpecial(e, plan),
        short_circuit_(e.flag(t3e::param::router.short_circuit)),
        error_below_(static_cast<u32>(std::min(e.f64(t3e::param::faults.error_rate) * 4294967296.0, 4294967295.0))),
        routers_(nodes()) {
    for (u32 n = 0; n < nodes(); ++n)
      for (u32 port = 0; port < kAllPorts; ++port)
        for (u32 vc = 0; vc < (port < kPe ? kSets + adaptive_vcs_ : kSets); ++vc)
          if (exists(n, port)) routers_[n].out[port][vc].credits = vc < kSets ? set_flits_ : adaptive_flits_;
  }

  const Router& router(u32 n) const { return routers_[n]; }
  Cycle now() const { return now_; }

  u64 errors = 0, corrected = 0, hit_again = 0;
  u64 dropped_flits = 0, dropped_packets = 0, straight = 0, turned = 0, adapted = 0;

 protected:
  bool holds_flits(u32 n) const {
    for (const auto& port : routers_[n].in)
      for (const InputVc& in : port)
        if (!in.flits.empty()) return true;
    return false;
  }

  /// Makes the choices of the packet at the front of a buffer when its head is there.
  void start_front(u32 n, Channel c) {
    InputVc& in = routers_[n].at(c);
    if (in.begun || in.dropping || in.flits.empty()) return;
    in.choice = choose(n, in.flits.front().flit.packet, c);
    in.won.reset();
  }

  /// Returns an adaptive channel of a port that has no owner and has room for a whole packet.
  std::optional<Channel> free_adaptive(u32 n, u32 port, u32 flits) {
    for (u32 vc = kSets; vc < kSets + adaptive_vcs_; ++vc)
      if (const OutputVc& out = routers_[n].out[port][vc]; !out.owner && out.credits >= flits) return Channel{port, vc};
    return std::nullopt;
  }

  void receive(u32 n) {
    const bool empty = !holds_flits(n);
    const auto& flits = inbox_[now_].flits;
    for (auto arrival = flits.lower_bound({n, 0}); arrival != flits.end() && arrival->first.first == n; ++arrival) {
      const Channel c{arrival->first.second, arrival->second.vc};
      const Flit& flit = arrival->second.flit;
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

  /// Sends a flit over the short-circuit path if it is open. Returns whether it was. While no flit is buffered, only a
  /// packet from the PE or the device can hold an output.
  bool pass_straight(u32 n, Channel c, const Flit& flit) {
    Router& r = routers_[n];
    InputVc& in = r.at(c);
    const u32 on = opposite(c.port);
    if (!exists(n, on) || is_set(n, oriented(n, on), t3e::kNoFast) || r.port[on].holder || busy()[n].contains(on))
      return false;
    std::optional<Channel> to;
    if (in.dropping) return false;
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
    busy()[n].insert(on);
    ++straight;
    return true;
  }

  /// Moves a flit from the front of a buffer to an output.
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
    if (to.port < kPe) {
      spoil(flit);
      hop(flit.packet, n, topology_.peer(n, to.port).item);
    } else {
      correct(flit);
    }
    send_by(n, to.port, to.vc, flit);
    if (!tail) return;
    out.owner.reset();
    in.begun = false;
    start_front(n, from);
  }

 private:
  /// Corrupts a flit at random. Routers count such errors, and the destination's router corrects them.
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

  bool short_circuit_;
  u32 error_below_;
  /// Links that have corrupted the arrived flits of a packet, by packet.
  std::map<std::pair<u32, u32>, std::vector<u32>> hits_;

 protected:
  std::vector<Router> routers_;
};

}  // namespace flitlab::testing::t3e_naive
