#pragma once
/// A router of the second implementation of virtual-channel networks (naive.hpp): Dally & Towles chapters 16, 18 and
/// 19.
#include <map>
#include <utility>

#include "kernels/routers/vc/streams.hpp"
#include "tests/support/vc/naive_routes.hpp"

namespace flitlab::testing::vc_naive {

/// A flit that crosses a router.
struct Sent {
  Flit flit;
  u32 in_port, in_vc, out_port, out_vc;
};

class Router {
 public:
  Router(const Rules& rules, const Routes& routes, const Topology& top, u32 index)
      : output(top.ports, std::vector<OutputVc>(rules.vcs)),
        input(top.ports, std::vector<InputVc>(rules.vcs)),
        sent_on(top.ports, 0),
        rules_(rules),
        routes_(routes),
        top_(top),
        index_(index),
        ports_(top.ports),
        next_output_(top.ports, 0),
        free_at_(top.ports, 0.0),
        of_input_(top.ports, Arbiter(rules.arbiter, rules.vcs)),
        of_output_(top.ports, Arbiter(rules.arbiter, top.ports)) {
    for (u32 p = 0; p < ports_; ++p)
      for (OutputVc& out : output[p]) out.credits = top.peer(index, p).item == kNone ? 0 : rules.buffer;
  }

  void take_flit(u32 port, u32 vc, const Flit& flit, Cycle now) {
    InputVc& in = input[port][vc];
    in.buffer.push_back(flit);
    if (!flit.is_head()) return;
    in.packets.push_back(flit.packet);
    in.hops.push_back(flit.packet->hops);
    note(EventKind::kArrived, flit, port, vc, 0, 0);
    if (in.packets.size() == 1) start(in, now);
  }

  /// Processes a cycle after arriving flits and credits have been stored. Returns the flits that win the switch.
  std::vector<Sent> step(Cycle now) {
    sent_.clear();
    now_ = now;
    route(now);
    allocate_vcs(now);
    allocate_switch(now);
    return sent_;
  }

  std::vector<std::vector<OutputVc>> output;  ///< [port][VC]
  std::vector<std::vector<InputVc>> input;    ///< [port][VC]
  std::vector<Event> events;                  ///< events of this cycle
  List sent_on;                               ///< [port] flits sent since cycle 0
  u64 wasted = 0;                             ///< wins of the switch without a virtual channel or a credit

 private:
  struct Match {
    u32 in_port, in_vc, out_port;
    bool moves_pointers;
  };

  void note(EventKind kind, const Flit& flit, u32 port, u32 vc, u32 out_port, u32 out_vc) {
    events.push_back({flit.packet->source, flit.packet->id, kind, static_cast<u8>(port), static_cast<u8>(vc),
                      static_cast<u8>(out_port), static_cast<u8>(out_vc), flit.mark(),
                      static_cast<u16>(flit.packet->flits)});
  }
  template <class F>
  void for_each_input(F f) {
    for (u32 p = 0; p < ports_; ++p)
      for (u32 v = 0; v < rules_.vcs; ++v) f(p, v, input[p][v]);
  }
  InputVc& input_of(u32 name) { return input[name / rules_.vcs][name % rules_.vcs]; }

  void start(InputVc& in, Cycle from) {
    in.stage = InputVc::kRouting;
    in.ready_at = from + rules_.routing_delay;
  }

  /// Route computation: packets whose routing delay is over get a route and request an output virtual channel.
  void route(Cycle now) {
    for_each_input([&](u32 p, u32 v, InputVc& in) {
      in.bid = false;
      if ((in.stage != InputVc::kRouting && in.stage != InputVc::kWaiting) || now < in.ready_at) return;
      Packet& packet = *in.packets.front();
      if (in.stage == InputVc::kRouting || routes_.choose_anew()) {
        const Choice choice = routes_.choose(packet, index_, output);
        in.out_port = choice.port;
        in.allowed = choice.vcs;
      }
      if (in.stage == InputVc::kRouting) {
        note(EventKind::kRouted, {in.packets.front(), 0}, p, v, in.out_port, 0);
        in.stage = InputVc::kWaiting;
        in.sent = 0;
      }
      in.bid = rules_.flow_control != "store_and_forward" || in.buffer.size() >= packet.flits;
    });
  }

  /// Returns the output virtual channels that can be allocated to a packet in this cycle.
  List takeable(const InputVc& in) const {
    List list;
    for (u32 vc : in.allowed) {
      const OutputVc& out = output[in.out_port][vc];
      if (out.owner == kNone && out.credits >= rules_.room_for(in.front().flits)) list.push_back(vc);
    }
    return list;
  }

  void grant(u32 port, u32 vc, u32 out_vc, Cycle now) {
    InputVc& in = input[port][vc];
    OutputVc& out = output[in.out_port][out_vc];
    in.stage = InputVc::kGranted;
    in.out_vc = out_vc;
    in.ready_at = now + rules_.vc_delay;
    in.next_vc = out_vc + 1;
    out.owner = port * rules_.vcs + vc;
    out.next_input = out.owner + 1;
    note(EventKind::kVcGranted, {in.packets.front(), 0}, port, vc, in.out_port, out_vc);
  }

  /// Returns the rank of an input virtual channel for an arbiter that compares ranks.
  std::int64_t rank(u32 port, u32 vc) const {
    const InputVc& in = input[port][vc];
    if (rules_.arbiter == "oldest_first") return -std::int64_t{in.front().created};
    if (rules_.arbiter == "most_hops_first") return in.hops.front();
    if (rules_.arbiter == "highest_priority_first")  // then age
      return std::int64_t{rules_.priority.at(in.front().message_class)} * 1000000 - in.front().created;
    const Random4 r = philox(rules_.seed, vc::stream::kArbiter, index_, now_);
    return static_cast<std::int64_t>(mix64((u64{r.word[0]} << 32) + r.word[1] + port * rules_.vcs + vc) >> 32);
  }

  /// Returns the winner of an output virtual channel among input virtual channels (port * vcs + vc).
  u32 best_bidder(u32 out_port, const OutputVc& out, const List& bidders) {
    if (rules_.arbiter == "round_robin") return first_from(bidders, out.next_input);
    if (rules_.arbiter != "matrix")
      return of_output_[out_port].pick(bidders, [&](u32 b) { return rank(b / rules_.vcs, b % rules_.vcs); });
    // Matrix arbiter: it chooses among input ports, and the virtual channels of a port take turns.
    List ports, of_port;
    for (u32 bidder : bidders) ports.push_back(bidder / rules_.vcs);
    const u32 port = of_output_[out_port].pick(ports, [](u32) { return 0; });
    for (u32 bidder : bidders)
      if (bidder / rules_.vcs == port) of_port.push_back(bidder);
    return first_from(of_port, out.next_input);
  }

  void allocate_vcs(Cycle now) {
    if (rules_.vc_allocator == "wavefront") return wavefront_vcs(now);
    const u32 rounds = rules_.vc_allocator == "islip" ? rules_.iterations : 1;
    for (u32 round = 0; round < rounds; ++round) {
      std::map<std::pair<u32, u32>, List> bidders;  // requesters, by output virtual channel
      for_each_input([&](u32 p, u32 v, const InputVc& in) {
        if (!in.bid || in.stage != InputVc::kWaiting) return;
        List wanted = takeable(in);
        if (wanted.empty()) return;
        if (rules_.vc_allocator == "separable_input_first") wanted = {first_from(wanted, in.next_vc)};
        for (u32 w : wanted) bidders[{in.out_port, w}].push_back(p * rules_.vcs + v);
      });
      std::map<u32, List> offers;  // granted output virtual channels, by input virtual channel
      for (const auto& [where, list] : bidders)
        offers[best_bidder(where.first, output[where.first][where.second], list)].push_back(where.second);
      for (const auto& [name, list] : offers)
        grant(name / rules_.vcs, name % rules_.vcs, first_from(list, input_of(name).next_vc), now);
    }
  }

  /// Wavefront allocation of virtual channels: grants along the diagonals of the matrix of input and output virtual
  /// channels, one diagonal after the other.
  void wavefront_vcs(Cycle now) {
    const u32 n = ports_ * rules_.vcs;
    for (u32 d = 0; d < n; ++d)
      for_each_input([&](u32 p, u32 v, const InputVc& in) {
        if (!in.bid || in.stage != InputVc::kWaiting) return;
        const u64 column = (mix64(now) % n + d + n - (p * rules_.vcs + v)) % n;
        if (column / rules_.vcs == in.out_port && contains(takeable(in), column % rules_.vcs))
          grant(p, v, static_cast<u32>(column % rules_.vcs), now);
      });
  }

  /// Returns whether an output's channel cannot accept a flit, because the flits before it do not end in this cycle.
  bool is_closed(u32 port, Cycle now) const { return free_at_[port] > now + 1 - 1e-6; }

  /// Returns the virtual channels of an input port that may send, to one output port or to any.
  List ready(u32 port, Cycle now, u32 out_port = kNone) const {
    List list;
    for (u32 v = 0; v < rules_.vcs; ++v) {
      const InputVc& in = input[port][v];
      if (in.stage == InputVc::kGranted && now >= in.ready_at && !in.buffer.empty() &&
          output[in.out_port][in.out_vc].credits && !is_closed(in.out_port, now) && !is_held(port, in.out_port) &&
          (out_port == kNone || in.out_port == out_port))
        list.push_back(v);
    }
    return list;
  }
  u32 pick_vc(u32 port, const List& vcs) const {
    return of_input_[port].pick(vcs, [&](u32 vc) { return rank(port, vc); });
  }
  /// Returns the input port that an output port grants. `vc_of`: virtual channel that each input port has selected.
  u32 pick_input(u32 out_port, const List& ports, const std::map<u32, u32>& vc_of) const {
    return of_output_[out_port].pick(ports, [&](u32 p) { return rank(p, vc_of.at(p)); });
  }

  void allocate_switch(Cycle now) {
    find_held(now);
    std::vector<Match> matches;
    if (rules_.switch_allocator == "separable_input_first") matches = input_first(now);
    if (rules_.switch_allocator == "separable_output_first") matches = output_first(1, now);
    if (rules_.switch_allocator == "islip") matches = output_first(rules_.iterations, now);
    if (rules_.switch_allocator == "wavefront") matches = wavefront(now);
    for (const Match& m : matches) send(m, now);
    if (rules_.speculative) speculate(matches, now);
    std::map<u32, u32> connections;  // of the next cycle
    for (const Sent& s : sent_)
      if (rules_.hold_switch && !s.flit.is_tail()) connections[s.in_port] = s.in_vc;
    for (const auto& [port, vc] : std::exchange(held_, {})) {
      const InputVc& in = input[port][vc];
      if (is_closed(in.out_port, now))
        connections[port] = vc;
      else if (send({port, vc, in.out_port, false}, now); !sent_.back().flit.is_tail())
        connections[port] = vc;
    }
    connections_ = connections;
  }

  /// Finds the connections that packets keep: those with a flit and a credit.
  void find_held(Cycle now) {
    held_.clear();
    for (const auto& [port, vc] : connections_) {
      const InputVc& in = input[port][vc];
      if (connected_at_ + 1 == now && !in.buffer.empty() && output[in.out_port][in.out_vc].credits) held_[port] = vc;
    }
    connected_at_ = now;
  }
  /// Returns whether a packet holds an input port or an output port.
  bool is_held(u32 in_port, u32 out_port) const {
    for (const auto& [port, vc] : held_)
      if (port == in_port || input[port][vc].out_port == out_port) return true;
    return false;
  }

  static bool matched_input(const std::vector<Match>& matches, u32 port) {
    return std::any_of(matches.begin(), matches.end(), [&](const Match& m) { return m.in_port == port; });
  }
  static bool matched_output(const std::vector<Match>& matches, u32 port) {
    return std::any_of(matches.begin(), matches.end(), [&](const Match& m) { return m.out_port == port; });
  }

  /// Input-first allocation: each input port selects one of its virtual channels, then each output port grants one of
  /// the requesting input ports.
  std::vector<Match> input_first(Cycle now) const {
    std::map<u32, u32> vc_of;
    std::map<u32, List> bidders;
    for (u32 p = 0; p < ports_; ++p) {
      const List vcs = ready(p, now);
      if (vcs.empty()) continue;
      vc_of[p] = pick_vc(p, vcs);
      bidders[input[p][vc_of[p]].out_port].push_back(p);
    }
    std::vector<Match> matches;
    for (const auto& [out, list] : bidders) {
      const u32 p = pick_input(out, list, vc_of);
      matches.push_back({p, vc_of[p], out, true});
    }
    return matches;
  }

  /// Output-first allocation: each output port grants one input port, then each input port accepts one of its grants.
  /// iSLIP repeats this for several iterations, and only matches of the first one move pointers.
  std::vector<Match> output_first(u32 rounds, Cycle now) const {
    std::vector<Match> matches;
    for (u32 round = 0; round < rounds; ++round) {
      std::map<u32, List> offers;  // granting output ports, by input port
      for (u32 out = 0; out < ports_; ++out) {
        if (matched_output(matches, out)) continue;
        std::map<u32, u32> vc_of;
        List bidders;
        for (u32 p = 0; p < ports_; ++p) {
          const List vcs = ready(p, now, out);
          if (vcs.empty() || matched_input(matches, p)) continue;
          bidders.push_back(p);
          vc_of[p] = pick_vc(p, vcs);
        }
        if (!bidders.empty()) offers[pick_input(out, bidders, vc_of)].push_back(out);
      }
      for (const auto& [p, list] : offers) {
        const u32 out = first_from(list, next_output_[p]);
        matches.push_back({p, pick_vc(p, ready(p, now, out)), out, round == 0});
      }
    }
    return matches;
  }

  /// Wavefront allocation of the switch: grants along the diagonals of the matrix of ports, one diagonal after the
  /// other.
  std::vector<Match> wavefront(Cycle now) const {
    std::vector<Match> matches;
    for (u32 d = 0; d < ports_; ++d)
      for (u32 p = 0; p < ports_; ++p) {
        const u32 out = static_cast<u32>((mix64(now) % ports_ + d + ports_ - p) % ports_);
        const List vcs = ready(p, now, out);
        if (vcs.empty() || matched_input(matches, p) || matched_output(matches, out)) continue;
        matches.push_back({p, pick_vc(p, vcs), out, true});
      }
    return matches;
  }

  /// Speculation: heads that request an output virtual channel in this cycle also request the ports that other flits
  /// have left free. The win is wasted unless the head has also won a virtual channel with a credit.
  void speculate(const std::vector<Match>& matches, Cycle now) {
    std::map<u32, u32> vc_of;
    std::map<u32, List> bidders;
    for (u32 p = 0; p < ports_; ++p) {
      List vcs;
      for (u32 v = 0; v < rules_.vcs; ++v)
        if (input[p][v].bid) vcs.push_back(v);
      if (vcs.empty() || matched_input(matches, p)) continue;
      vc_of[p] = pick_vc(p, vcs);
      const u32 out = input[p][vc_of[p]].out_port;
      if (!matched_output(matches, out) && !is_closed(out, now) && !is_held(p, out)) bidders[out].push_back(p);
    }
    for (const auto& [out, list] : bidders) {
      const u32 p = pick_input(out, list, vc_of);
      const InputVc& in = input[p][vc_of[p]];
      if (in.stage == InputVc::kGranted && output[out][in.out_vc].credits)
        send({p, vc_of[p], out, true}, now);
      else
        ++wasted;
    }
  }

  void send(const Match& m, Cycle now) {
    InputVc& in = input[m.in_port][m.in_vc];
    OutputVc& out = output[m.out_port][in.out_vc];
    const Flit flit = in.buffer.front();
    in.buffer.pop_front();
    --out.credits;
    ++in.sent;
    ++sent_on[m.out_port];
    if (!top_.peer(index_, m.out_port).is_terminal)
      free_at_[m.out_port] =
          std::max<double>(free_at_[m.out_port], now) + 1 / rules_.width_of(top_, index_, m.out_port);
    if (m.moves_pointers) {
      of_input_[m.in_port].served(m.in_vc);
      of_output_[m.out_port].served(m.in_port);
      next_output_[m.in_port] = m.out_port + 1;
    }
    note(EventKind::kSwitchGranted, flit, m.in_port, m.in_vc, m.out_port, in.out_vc);
    sent_.push_back({flit, m.in_port, m.in_vc, m.out_port, in.out_vc});
    if (flit.is_head()) routes_.note_hop(*flit.packet, index_, m.out_port, in.out_vc);
    if (!flit.is_tail()) return;
    out.owner = kNone;
    in.packets.pop_front();
    in.hops.pop_front();
    in.stage = InputVc::kIdle;
    if (!in.packets.empty()) start(in, now + 1);
  }

  const Rules& rules_;
  const Routes& routes_;
  const Topology& top_;
  u32 index_, ports_;
  std::vector<Sent> sent_;
  Cycle now_ = 0;
  std::map<u32, u32> connections_;  ///< virtual channel of the packet that holds the crossbar, by input port
  std::map<u32, u32> held_;         ///< the same, of the connections that exist in this cycle
  Cycle connected_at_ = 0;          ///< cycle in which `connections_` was valid
  List next_output_;                ///< [input port] round-robin pointer over output ports
  std::vector<double> free_at_;     ///< [output port] time at which the channel has carried its flits
  std::vector<Arbiter> of_input_;   ///< [input port] arbiter over its virtual channels
  std::vector<Arbiter> of_output_;  ///< [output port] arbiter over requesting input ports
};

}  // namespace flitlab::testing::vc_naive
