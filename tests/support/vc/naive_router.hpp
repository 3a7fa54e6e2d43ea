#pragma once
/// A router of the second implementation of virtual-channel networks (naive.hpp): Dally & Towles chapters 16, 18 and
/// 19.
#include <map>
#include <set>
#include <utility>

#include "kernels/routers/vc/streams.hpp"
#include "tests/support/vc/naive_routes.hpp"

namespace flitlab::testing::vc_naive {

/// A flit that crosses a router.
struct Sent {
  Flit flit;
  u32 in_port, in_vc, out_port, out_vc;
};

/// A credit for the sender at the other end of an input port.
struct Return {
  u32 in_port, in_vc;
};

/// What a router does in a cycle.
struct Result {
  std::vector<Sent> flits;      ///< flits that leave on channels
  std::vector<Return> credits;  ///< credits that input ports return
  u32 wins = 0;                 ///< number of flits that win the switch
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
        inputs_(top.ports * rules.input_speedup),
        outputs_(top.ports * rules.output_speedup),
        next_output_(inputs_, first_pointer(rules.arbiter, outputs_)),
        of_input_(inputs_, Arbiter(rules.arbiter, rules.vcs)),
        of_output_(outputs_, Arbiter(rules.arbiter, inputs_)),
        closed_(top.ports, false),
        queue_(top.ports),
        free_at_(top.ports, 0.0),
        owed_(top.ports, List(rules.vcs, 0)),
        next_owed_(top.ports, 0) {
    for (u32 p = 0; p < ports_; ++p) {
      for (InputVc& in : input[p]) in.next_vc = first_pointer(rules.arbiter, rules.vcs);
      for (OutputVc& out : output[p]) out.start(rules, ports_, top.peer(index, p).item != kNone);
    }
  }

  void take_flit(u32 port, u32 vc, const Flit& flit, Cycle now) {
    InputVc& in = input[port][vc];
    in.buffer.push_back(flit);
    if (!flit.is_head()) return;
    in.packets.push_back(flit.packet);
    in.hops.push_back(flit.packet->hops);
    note(EventKind::kArrived, flit, port, vc, 0, 0);
    if (in.packets.size() == 1) start(in, now, rules_.first_round(now));
  }

  /// Processes a cycle after arriving flits and credits have been stored.
  Result step(Cycle now) {
    Result result;
    for (round_ = rules_.first_round(now); round_ < rules_.first_round(now + 1); ++round_) {
      won_.clear();
      close_ports(now);
      route();
      allocate_vcs(now);
      allocate_switch(now);
      result.wins += static_cast<u32>(won_.size());
    }
    result.flits = leave(now);
    result.credits = return_credits();
    return result;
  }

  std::vector<std::vector<OutputVc>> output;  ///< [port][VC]
  std::vector<std::vector<InputVc>> input;    ///< [port][VC]
  std::vector<Event> events;                  ///< events of this cycle
  List sent_on;                               ///< [port] flits that have left since cycle 0
  u64 wasted = 0;                             ///< wins of the switch without a virtual channel or a credit

 private:
  /// A flit in the queue of an output port.
  struct Queued {
    Sent sent;
    Cycle leaves_from;  ///< first cycle at whose end it may leave
  };
  /// A crossbar input and one of its virtual channels, whose flit goes to a crossbar output.
  struct Match {
    u32 from, vc, to;
    bool moves_pointers;
  };

  // Crossbar inputs and outputs. Without speedup, they have the numbers of ports.
  u32 crossbar_input(u32 port, u32 vc) const { return port + ports_ * (vc % rules_.input_speedup); }
  u32 crossbar_output(u32 in_port, u32 out_port) const { return out_port + ports_ * (in_port % rules_.output_speedup); }
  /// Returns the port of a crossbar input or output.
  u32 port_of(u32 x) const { return x % ports_; }
  /// Returns the virtual channels of a crossbar input.
  List vcs_of(u32 x) const {
    List list;
    for (u32 v = 0; v < rules_.vcs; ++v)
      if (crossbar_input(port_of(x), v) == x) list.push_back(v);
    return list;
  }
  /// Returns the crossbar output to which a virtual channel of crossbar input `x` sends its packet.
  u32 target(u32 x, u32 vc) const { return crossbar_output(port_of(x), input[port_of(x)][vc].out_port); }

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

  /// The next stage of a packet after one of `delay` cycles that begins in a round of cycle `now`.
  u32 round_after(Cycle now, u32 round, u32 delay) const {
    if (delay == 0) return round;
    return (delay == 1 ? round : rules_.first_round(now + delay - 1)) + 1;
  }
  Cycle cycle_of(u32 round, Cycle now) const {
    while (rules_.first_round(now + 1) <= round) ++now;
    return now;
  }

  void start(InputVc& in, Cycle now, u32 round) {
    in.stage = InputVc::kRouting;
    in.ready_at = round_after(now, round, rules_.routing_delay);
  }

  /// Route computation: packets whose routing delay is over get a route and request an output virtual channel.
  void route() {
    for_each_input([&](u32 p, u32 v, InputVc& in) {
      in.bid = false;
      if ((in.stage != InputVc::kRouting && in.stage != InputVc::kWaiting) || round_ < in.ready_at) return;
      Packet& packet = *in.packets.front();
      if (in.stage == InputVc::kRouting || routes_.choose_anew()) {
        const Choice choice = routes_.choose(packet, index_, output);
        if (rules_.pointer_spans_ports && in.out_port != choice.port) in.next_vc = 0;
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

  /// Returns the output virtual channels that can be allocated to a packet in this round.
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
    in.ready_at = round_after(now, round_, rules_.vc_delay);
    in.next_vc = pointer_after(rules_.arbiter, out_vc, rules_.vcs);
    out.owner = port * rules_.vcs + vc;
    out.next_input = rules_.by_port ? pointer_after(rules_.arbiter, port, ports_)
                                    : pointer_after(rules_.arbiter, out.owner, ports_ * rules_.vcs);
    out.next_of_port[port] = pointer_after(rules_.arbiter, vc, rules_.vcs);
    note(EventKind::kVcGranted, {in.packets.front(), 0}, port, vc, in.out_port, out_vc);
  }

  /// Returns the rank of an input virtual channel for an arbiter that compares ranks.
  std::int64_t rank(u32 port, u32 vc) const {
    const InputVc& in = input[port][vc];
    if (rules_.arbiter == "oldest_first") return -std::int64_t{in.front().created};
    if (rules_.arbiter == "most_hops_first") return in.hops.front();
    if (rules_.arbiter == "highest_priority_first")  // then age
      return std::int64_t{rules_.priority.at(in.front().message_class)} * 1000000 - in.front().created;
    const Random4 r = philox(rules_.seed, vc::stream::kArbiter, index_, round_);
    return static_cast<std::int64_t>(mix64((u64{r.word[0]} << 32) + r.word[1] + port * rules_.vcs + vc) >> 32);
  }

  /// Returns the winner of an output virtual channel among input virtual channels (port * vcs + vc).
  u32 best_bidder(u32 out_port, const OutputVc& out, const List& bidders) {
    if (takes_turns(rules_.arbiter))
      return rules_.by_port ? first_of_ports(bidders, out, rules_.vcs) : first_from(bidders, out.next_input);
    if (rules_.arbiter != "matrix")
      return of_output_[out_port].pick(bidders, [&](u32 b) { return rank(b / rules_.vcs, b % rules_.vcs); });
    // Matrix arbiter: that of the first crossbar output of the port chooses among input ports (as if they were crossbar
    // inputs), and the virtual channels of a port take turns.
    List ports, of_port;
    for (u32 bidder : bidders) ports.push_back(bidder / rules_.vcs);
    const u32 port = of_output_[out_port].pick(ports, [](u32) { return 0; });
    for (u32 bidder : bidders)
      if (bidder / rules_.vcs == port) of_port.push_back(bidder);
    return first_from(of_port, out.next_input);
  }

  void allocate_vcs(Cycle now) {
    if (rules_.vc_allocator == "wavefront") return wavefront_vcs(now);
    const u32 iterations = rules_.vc_allocator == "islip" ? rules_.iterations : 1;
    for (u32 i = 0; i < iterations; ++i) {
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
        const u64 column = (mix64(round_) % n + d + n - (p * rules_.vcs + v)) % n;
        if (column / rules_.vcs == in.out_port && contains(takeable(in), column % rules_.vcs))
          grant(p, v, static_cast<u32>(column % rules_.vcs), now);
      });
  }

  /// Returns whether an output's channel cannot accept a flit, because the flits before it do not end in this cycle.
  bool is_busy(u32 port, Cycle now) const { return free_at_[port] > now + 1 - 1e-6; }
  /// Returns whether an output's queue lacks the places for all flits that may win the switch in one round.
  bool is_full(u32 port) const {
    return rules_.output_queue && queue_[port].size() + rules_.output_speedup > rules_.output_queue;
  }
  /// Finds the output ports for which no flit may win the switch in this round. Ports with queues take flits while
  /// their channels accept none.
  void close_ports(Cycle now) {
    for (u32 p = 0; p < ports_; ++p) closed_[p] = rules_.has_output_queues() ? is_full(p) : is_busy(p, now);
  }

  /// Returns the virtual channels of a crossbar input that may send, to one crossbar output or to any.
  List ready(u32 x, u32 to = kNone) const {
    List list;
    for (u32 v : vcs_of(x)) {
      const InputVc& in = input[port_of(x)][v];
      if (in.stage == InputVc::kGranted && round_ >= in.ready_at && !in.buffer.empty() &&
          output[in.out_port][in.out_vc].usable() && !closed_[in.out_port] && !is_held(x, target(x, v)) &&
          (to == kNone || target(x, v) == to))
        list.push_back(v);
    }
    return list;
  }
  u32 pick_vc(u32 x, const List& vcs) const {
    return of_input_[x].pick(vcs, [&](u32 vc) { return rank(port_of(x), vc); });
  }
  /// Returns the crossbar input that a crossbar output grants. `vc_of`: virtual channel that each input has selected.
  u32 pick_input(u32 to, const List& inputs, const std::map<u32, u32>& vc_of) const {
    return of_output_[to].pick(inputs, [&](u32 x) { return rank(port_of(x), vc_of.at(x)); });
  }

  void allocate_switch(Cycle now) {
    find_held();
    std::vector<Match> matches;
    if (rules_.switch_allocator == "separable_input_first") matches = input_first();
    if (rules_.switch_allocator == "separable_input_first_by_output") matches = input_first(true);
    if (rules_.switch_allocator == "separable_output_first") matches = output_first(1);
    if (rules_.switch_allocator == "islip") matches = output_first(rules_.iterations);
    if (rules_.switch_allocator == "wavefront") matches = wavefront();
    // The order of crossbar inputs is that in which flits enter the queue of an output port.
    std::sort(matches.begin(), matches.end(), [](const Match& a, const Match& b) { return a.from < b.from; });
    for (const Match& m : matches) send(m, now);
    if (rules_.speculative) speculate(matches, now);
    std::map<u32, u32> connections;  // of the next round
    for (const Sent& s : won_)
      if (rules_.hold_switch && !s.flit.is_tail()) connections[crossbar_input(s.in_port, s.in_vc)] = s.in_vc;
    for (const auto& [x, vc] : std::exchange(held_, {}))
      if (closed_[input[port_of(x)][vc].out_port])
        connections[x] = vc;
      else if (send({x, vc, target(x, vc), false}, now); !won_.back().flit.is_tail())
        connections[x] = vc;
    connections_ = connections;
  }

  /// Finds the connections that packets keep: those with a flit and a credit.
  void find_held() {
    held_.clear();
    for (const auto& [x, vc] : connections_) {
      const InputVc& in = input[port_of(x)][vc];
      if (connected_at_ + 1 == round_ && !in.buffer.empty() && output[in.out_port][in.out_vc].usable()) held_[x] = vc;
    }
    connected_at_ = round_;
  }
  /// Returns whether a packet holds a crossbar input or a crossbar output.
  bool is_held(u32 from, u32 to) const {
    for (const auto& [x, vc] : held_)
      if (x == from || target(x, vc) == to) return true;
    return false;
  }

  static bool matched_input(const std::vector<Match>& matches, u32 x) {
    return std::any_of(matches.begin(), matches.end(), [&](const Match& m) { return m.from == x; });
  }
  static bool matched_output(const std::vector<Match>& matches, u32 to) {
    return std::any_of(matches.begin(), matches.end(), [&](const Match& m) { return m.to == to; });
  }

  /// Input-first allocation: each crossbar input selects one of its virtual channels, then each crossbar output grants
  /// one of the requesting inputs. `by_output`: an input first selects an output, in turn, unless its arbiter compares
  /// packets.
  std::vector<Match> input_first(bool by_output = false) const {
    std::map<u32, u32> vc_of;
    std::map<u32, List> bidders;
    for (u32 x = 0; x < inputs_; ++x) {
      List vcs = ready(x);
      if (vcs.empty()) continue;
      if (by_output &&
          (takes_turns(rules_.arbiter) || rules_.arbiter == "matrix" || rules_.arbiter == "fixed_priority")) {
        std::set<u32> outputs;
        for (u32 v : vcs) outputs.insert(target(x, v));
        vcs = ready(x, first_from(List(outputs.begin(), outputs.end()), next_output_[x]));
      }
      vc_of[x] = pick_vc(x, vcs);
      bidders[target(x, vc_of[x])].push_back(x);
    }
    std::vector<Match> matches;
    for (const auto& [to, list] : bidders) {
      const u32 x = pick_input(to, list, vc_of);
      matches.push_back({x, vc_of[x], to, true});
    }
    return matches;
  }

  /// Output-first allocation: each crossbar output grants one crossbar input, then each input accepts one of its
  /// grants. iSLIP repeats this for several iterations, and only matches of the first one move pointers.
  std::vector<Match> output_first(u32 iterations) const {
    std::vector<Match> matches;
    for (u32 i = 0; i < iterations; ++i) {
      std::map<u32, List> offers;  // granting crossbar outputs, by crossbar input
      for (u32 to = 0; to < outputs_; ++to) {
        if (matched_output(matches, to)) continue;
        std::map<u32, u32> vc_of;
        List bidders;
        for (u32 x = 0; x < inputs_; ++x) {
          const List vcs = ready(x, to);
          if (vcs.empty() || matched_input(matches, x)) continue;
          bidders.push_back(x);
          vc_of[x] = pick_vc(x, vcs);
        }
        if (!bidders.empty()) offers[pick_input(to, bidders, vc_of)].push_back(to);
      }
      for (const auto& [x, list] : offers) {
        const u32 to = first_from(list, next_output_[x]);
        matches.push_back({x, pick_vc(x, ready(x, to)), to, i == 0});
      }
    }
    return matches;
  }

  /// Wavefront allocation of the switch: grants along the diagonals of the matrix of crossbar inputs and outputs, one
  /// diagonal after the other. The matrix is square, so it may have rows or columns that no input or output uses.
  std::vector<Match> wavefront() const {
    const u32 n = std::max(inputs_, outputs_);
    std::vector<Match> matches;
    for (u32 d = 0; d < n; ++d)
      for (u32 x = 0; x < inputs_; ++x) {
        const u32 to = static_cast<u32>((mix64(round_) % n + d + n - x) % n);
        const List vcs = ready(x, to);
        if (vcs.empty() || matched_input(matches, x) || matched_output(matches, to)) continue;
        matches.push_back({x, pick_vc(x, vcs), to, true});
      }
    return matches;
  }

  /// Speculation: heads that request an output virtual channel in this round also request the crossbar outputs that
  /// other flits have left free. The win is wasted unless the head has also won a virtual channel with a credit.
  void speculate(const std::vector<Match>& matches, Cycle now) {
    std::map<u32, u32> vc_of;
    std::map<u32, List> bidders;
    for (u32 x = 0; x < inputs_; ++x) {
      List vcs;
      for (u32 v : vcs_of(x))
        if (input[port_of(x)][v].bid) vcs.push_back(v);
      if (vcs.empty() || matched_input(matches, x)) continue;
      vc_of[x] = pick_vc(x, vcs);
      const u32 to = target(x, vc_of[x]);
      if (!matched_output(matches, to) && !closed_[port_of(to)] && !is_held(x, to)) bidders[to].push_back(x);
    }
    for (const auto& [to, list] : bidders) {
      const u32 x = pick_input(to, list, vc_of);
      const InputVc& in = input[port_of(x)][vc_of[x]];
      if (in.stage == InputVc::kGranted && output[in.out_port][in.out_vc].credits)
        send({x, vc_of[x], to, true}, now);
      else
        ++wasted;
    }
  }

  /// A flit crosses the switch, into the queue of its output port.
  void send(const Match& m, Cycle now) {
    const u32 in_port = port_of(m.from), out_port = port_of(m.to);
    InputVc& in = input[in_port][m.vc];
    OutputVc& out = output[out_port][in.out_vc];
    const Flit flit = in.buffer.front();
    in.buffer.pop_front();
    --out.credits;
    ++owed_[in_port][m.vc];
    ++in.sent;
    if (flit.is_head()) in.ready_at = round_;  // body flits need not wait any longer, even after a speculative win
    if (m.moves_pointers) {
      of_input_[m.from].served(m.vc);
      of_output_[m.to].served(m.from);
      next_output_[m.from] = pointer_after(rules_.arbiter, m.to, outputs_);
    }
    note(EventKind::kSwitchGranted, flit, in_port, m.vc, out_port, in.out_vc);
    won_.push_back({flit, in_port, m.vc, out_port, in.out_vc});
    const Cycle switched = cycle_of(round_after(now, round_, rules_.switch_delay), now);
    queue_[out_port].push_back({won_.back(), switched + rules_.has_several_rounds() - rules_.switch_delay});
    if (flit.is_head()) routes_.note_hop(*flit.packet, index_, out_port, in.out_vc);
    if (!flit.is_tail()) return;
    out.owner = kNone;
    in.packets.pop_front();
    in.hops.pop_front();
    in.stage = InputVc::kIdle;
    if (!in.packets.empty()) start(in, cycle_of(round_ + 1, now), round_ + 1);
  }

  /// End of a cycle: each output port sends the first flit of its queue. A router without queues is not a special case:
  /// at most one flit has won the switch for a port, and only if the channel accepts it, so it leaves in this cycle.
  std::vector<Sent> leave(Cycle now) {
    std::vector<Sent> flits;
    for (u32 p = 0; p < ports_; ++p) {
      if (queue_[p].empty() || queue_[p].front().leaves_from > now || is_busy(p, now)) continue;
      flits.push_back(queue_[p].front().sent);
      queue_[p].pop_front();
      ++sent_on[p];
      if (!top_.peer(index_, p).is_terminal)
        free_at_[p] = std::max<double>(free_at_[p], now) + 1 / rules_.width_of(top_, index_, p);
    }
    return flits;
  }

  /// End of a cycle: each input port returns one of the credits that wait. Where only one flit can win the switch in a
  /// cycle, its credit never waits.
  std::vector<Return> return_credits() {
    std::vector<Return> credits;
    for (u32 p = 0; p < ports_; ++p) {
      List waiting;
      for (u32 v = 0; v < rules_.vcs; ++v)
        if (owed_[p][v]) waiting.push_back(v);
      if (waiting.empty()) continue;
      const u32 vc = first_from(waiting, next_owed_[p]);
      next_owed_[p] = vc + 1;
      --owed_[p][vc];
      credits.push_back({p, vc});
    }
    return credits;
  }

  const Rules& rules_;
  const Routes& routes_;
  const Topology& top_;
  u32 index_, ports_;
  u32 inputs_, outputs_;            ///< numbers of crossbar inputs and outputs
  Cycle round_ = 0;                 ///< number of this round of allocation; there may be several rounds in a cycle
  std::vector<Sent> won_;           ///< flits that have won the switch in this round
  std::map<u32, u32> connections_;  ///< virtual channel of the packet that holds the crossbar, by crossbar input
  std::map<u32, u32> held_;         ///< the same, of the connections that exist in this round
  Cycle connected_at_ = 0;          ///< round in which `connections_` was valid
  List next_output_;                ///< [crossbar input] round-robin pointer over crossbar outputs
  std::vector<Arbiter> of_input_;   ///< [crossbar input] arbiter over its virtual channels
  std::vector<Arbiter> of_output_;  ///< [crossbar output] arbiter over requesting crossbar inputs
  std::vector<bool> closed_;        ///< [output port] no flit may win the switch for it in this round
  std::vector<std::deque<Queued>> queue_;  ///< [output port] flits that have won the switch and have not left
  std::vector<double> free_at_;            ///< [output port] time at which the channel has carried its flits
  std::vector<List> owed_;                 ///< [input port][VC] credits that wait
  List next_owed_;                         ///< [input port] round-robin pointer over virtual channels with such credits
};

}  // namespace flitlab::testing::vc_naive
