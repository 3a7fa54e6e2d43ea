#pragma once
/// Parameters, packets and arbiters of the second virtual-channel router (naive.hpp).
#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "host/config/cross_checks.hpp"
#include "host/config/run_params.hpp"
#include "host/config/topology_params.hpp"
#include "host/routers/vc/plan.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/common/events.hpp"
#include "kernels/routers/vc/params.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab::testing::vc_naive {

/// Ascending numbers of ports or virtual channels.
using List = std::vector<u32>;

inline bool contains(const List& list, u32 number) { return std::find(list.begin(), list.end(), number) != list.end(); }

/// Returns the numbers first, first + 1, ..., end - 1.
inline List range(u32 first, u32 end) {
  List list;
  for (u32 i = first; i < end; ++i) list.push_back(i);
  return list;
}

/// Round robin: returns the first member at or after `pointer`, otherwise the lowest member.
inline u32 first_from(const List& members, u32 pointer) {
  for (u32 member : members)
    if (member >= pointer) return member;
  return members.at(0);
}

inline bool takes_turns(const std::string& arbiter) {
  return arbiter == "round_robin" || arbiter == "round_robin_by_two";
}
/// Return the round-robin pointer of an arbiter over `n` members after a grant, and before the first one.
inline u32 pointer_after(const std::string& arbiter, u32 winner, u32 n) {
  return arbiter == "round_robin_by_two" ? (winner + 2) % n : winner + 1;
}
inline u32 first_pointer(const std::string& arbiter, u32 n) { return arbiter == "round_robin_by_two" ? 1 % n : 0; }

/// The parameters, with the values of the configuration.
struct Rules {
  explicit Rules(const Experiment& e)
      : flow_control(e.str(vc::param::router.flow_control)),
        vc_allocator(e.str(vc::param::router.vc_allocator)),
        switch_allocator(e.str(vc::param::router.switch_allocator)),
        arbiter(e.str(vc::param::router.arbiter)),
        algorithm(e.str(vc::param::routing.algorithm)),
        assignment(e.has(vc::param::routing.vc_assignment) ? e.str(vc::param::routing.vc_assignment) : ""),
        vcs(e.u32_of(vc::param::router.vcs)),
        buffer(e.u32_of(vc::param::router.buffer_flits)),
        iterations(e.u32_of(vc::param::router.allocator_iterations)),
        input_speedup(e.u32_of(vc::param::router.input_speedup)),
        output_speedup(e.u32_of(vc::param::router.output_speedup)),
        internal_speedup(e.f64(vc::param::router.internal_speedup)),
        output_queue(e.has(vc::param::router.output_queue_flits) ? e.u32_of(vc::param::router.output_queue_flits) : 0),
        routing_delay(e.u32_of(vc::param::router.routing_delay)),
        vc_delay(e.u32_of(vc::param::router.vc_allocation_delay)),
        switch_delay(e.u32_of(vc::param::router.switch_allocation_delay)),
        traversal_delay(e.u32_of(vc::param::router.switch_traversal_delay)),
        channel_delay(e.ints(vc::param::channels.delay)),
        channel_width(e.numbers(vc::param::channels.width)),
        grid(e.has(vc::param::channels.by_distance) && e.flag(vc::param::channels.by_distance)
                 ? e.ints(param::networks.shape)
                 : List{}),
        own_delays(!e.is_single(vc::param::channels.delay) || !grid.empty()),
        credit_delay(e.u32_of(vc::param::router.credit_delay)),
        injection_credit_delay(e.u32_of(vc::param::router.injection_credit_delay)),
        message_classes(flitlab::message_classes(e)),
        first_vc(e.has(param::traffic.class_first_vc) ? e.ints(param::traffic.class_first_vc) : List{}),
        last_vc(e.has(param::traffic.class_last_vc) ? e.ints(param::traffic.class_last_vc) : List{}),
        speculative(e.flag(vc::param::router.speculative)),
        selection(e.has(vc::param::routing.selection) ? e.str(vc::param::routing.selection) : ""),
        stays_on_escape(e.has(vc::param::routing.stay_on_escape) && e.flag(vc::param::routing.stay_on_escape)),
        adaptive_vcs(e.has(vc::param::routing.adaptive_vcs) ? e.u32_of(vc::param::routing.adaptive_vcs) : 0),
        pointer_spans_ports(e.flag(vc::param::router.vc_pointer_spans_ports)),
        by_port(e.has(vc::param::router.vc_arbiter_by_port) && e.flag(vc::param::router.vc_arbiter_by_port)),
        hold_switch(e.flag(vc::param::router.hold_switch_for_packet)),
        wait_for_tail(e.flag(vc::param::router.wait_for_tail_credit)),
        needs_credit(e.flag(vc::param::router.vc_needs_credit)),
        early_credits(e.has(vc::param::router.early_vc_credits) && e.flag(vc::param::router.early_vc_credits)),
        seed(static_cast<u64>(e.i64(param::run.seed))),
        hypercube(e.str(param::topology.kind) == "hypercube"),
        rings(!assignment.empty() && !has_failures(e)),
        by_group(e.has(vc::param::routing.intermediate) && e.str(vc::param::routing.intermediate) == "group"),
        ejects_by_class(e.has(vc::param::routing.ejection_vcs) && e.str(vc::param::routing.ejection_vcs) == "class"),
        by_class(e.has(vc::param::routing.congestion) && e.str(vc::param::routing.congestion) == "class"),
        children(e.has("topology.children") ? e.ints(param::networks.children) : List{}),
        hyperx(e.has("topology.copies") ? e.ints(param::topology.shape) : List{}),
        threshold(e.has(vc::param::routing.threshold) ? e.i64(vc::param::routing.threshold) : 0),
        priority(e.has(param::traffic.class_priority) ? e.ints(param::traffic.class_priority) : List{}) {
    if (priority.empty()) priority.assign(8, 0);
    if (!injection_credit_delay) injection_credit_delay = credit_delay;
  }

  /// Returns whether several flits may win the switch for an output port in a cycle, so that it needs a queue.
  bool has_output_queues() const { return output_speedup > 1 || has_several_rounds(); }
  bool has_several_rounds() const { return internal_speedup > 1; }
  /// Returns the number of a cycle's first round. Whole numbers are reached despite errors of rounding.
  u32 first_round(Cycle cycle) const { return static_cast<u32>(cycle * internal_speedup + 1e-6); }
  bool wormhole() const { return flow_control == "wormhole"; }
  /// Returns the free slots that a virtual channel's buffer must have before a packet may take it.
  u32 room_for(u32 flits) const { return wait_for_tail ? buffer : wormhole() ? needs_credit : flits; }
  /// Returns the same for an adaptive virtual channel of Duato's protocol.
  u32 adaptive_room_for(u32 flits) const { return wormhole() && !stays_on_escape ? buffer : room_for(flits); }
  bool adaptive() const { return algorithm == "minimal_adaptive"; }
  bool deroutes() const { return algorithm == "dal" || algorithm == "dimwar" || algorithm == "omniwar"; }
  bool goes_via() const { return algorithm == "valiant" || algorithm == "ugal_l" || algorithm == "par"; }

  /// Returns the member of a list for all channels, or for each dimension.
  template <class L>
  auto of_dimension(const L& list, u32 port) const {
    return list.at(list.size() == 1 ? 0 : hypercube ? port : port / 2);
  }
  /// Returns the member of a list for all channels, or for those within groups and those between them.
  template <class L>
  auto of_groups(const L& list, const Topology& top, u32 router, u32 port) const {
    return list.at(list.size() > 1 && top.group.at(router) != top.group.at(top.peer(router, port).item));
  }
  /// Return the delay and width of the channels of a network port. Lists have a number for each dimension; columns of a
  /// graph's file come first.
  u32 delay_of(const Topology& top, u32 router, u32 port) const {
    if (!top.group.empty()) return of_groups(channel_delay, top, router, port);
    if (!grid.empty()) return channel_delay.at(0) * distance(router, top.peer(router, port).item);
    const Channel own = top.channel(router, port);
    return own.delay ? own.delay : of_dimension(channel_delay, port);
  }
  double width_of(const Topology& top, u32 router, u32 port) const {
    if (!top.group.empty()) return of_groups(channel_width, top, router, port);
    const Channel own = top.channel(router, port);
    return own.cycles ? double(own.flits) / own.cycles : of_dimension(channel_width, port);
  }
  /// Returns the steps between two routers of a grid.
  u32 distance(u32 a, u32 b) const {
    u32 steps = 0, size = 1;
    for (u32 radix : grid) {
      const u32 from = a / size % radix, to = b / size % radix;
      steps += std::max(from, to) - std::min(from, to);
      size *= radix;
    }
    return steps;
  }
  /// Returns the cycles that credits take in addition to credit_delay.
  u32 extra_credit_delay(const Topology& top, u32 router, u32 port) const {
    return own_delays || top.channel(router, port).delay ? delay_of(top, router, port) - 1 : 0;
  }

  std::string flow_control, vc_allocator, switch_allocator, arbiter, algorithm, assignment;
  u32 vcs, buffer, iterations;
  u32 input_speedup, output_speedup;  ///< inputs and outputs of the crossbar for each port
  double internal_speedup;            ///< mean rounds of allocation in a cycle
  u32 output_queue;                   ///< places in the queue of an output port; 0: no limit
  u32 routing_delay, vc_delay, switch_delay, traversal_delay;
  List channel_delay;                 ///< of all channels, or of each dimension
  std::vector<double> channel_width;  ///< of all channels, or of each dimension
  List grid;                          ///< numbers of routers in each dimension; empty: delays are not by distance
  bool own_delays;                    ///< channels have delays of their own
  u32 credit_delay, injection_credit_delay, message_classes;
  List first_vc, last_vc;  ///< [class] range of virtual channels; empty: equal shares
  bool speculative;
  std::string selection;
  bool stays_on_escape;
  u32 adaptive_vcs;
  bool pointer_spans_ports;
  bool by_port;  ///< an output virtual channel chooses an input port, then one of its virtual channels
  bool hold_switch, wait_for_tail, needs_credit;
  bool early_credits;  ///< VC allocation sees a credit one cycle before switch allocation
  u64 seed;
  bool hypercube, rings;
  bool by_group;         ///< a packet need not reach its intermediate router, only that router's group
  bool ejects_by_class;  ///< channels to terminals have classes of virtual channels, too
  bool by_class;         ///< queues of a packet's own virtual channels are compared
  List children;         ///< children of routers in a fat tree, by level
  List hyperx;           ///< routers in each dimension of a HyperX network
  std::int64_t threshold;
  List priority;  ///< of each class of packets
};

/// The last channel between routers that a packet's head has crossed.
struct LastHop {
  u32 dimension = kNone;  ///< kNone: the head comes from the terminal
  u32 vc = 0;
  bool by_class = false;    ///< the VC belongs to a dateline class, not to the adaptive VCs
  bool second_leg = false;  ///< the leg after Valiant's intermediate router
  u32 entered = 0;          ///< coordinate at which it entered this ring on this leg
};

struct Packet {
  u32 source, id, destination, flits, message_class = 0, tag = 0;
  Cycle created, injected = 0;
  u32 hops = 0;
  u32 via = kNone;             ///< intermediate router of Valiant and ROMM routing
  bool second_leg = false;     ///< the packet has reached the intermediate router
  bool highest_first = false;  ///< O1TURN: takes the highest dimension first
  LastHop last;
  // Networks without a grid:
  bool decided = false;      ///< UGAL: has chosen between the shortest route and the one over `via`
  bool on_shortest = false;  ///< chose the shortest route
  u32 decided_at = kNone;    ///< router of the last choice
  List detours;              ///< DAL: dimensions of hops that did not align a coordinate
  u32 last_dimension = kNone;
  bool escaped = false;             ///< Duato: has taken an escape channel
  u32 vc_class = 0;                 ///< class of the last channel
  u32 last_rank = kNone;            ///< rank of the last channel
  bool from_another_group = false;  ///< the last channel leads from group to group

  /// Returns a hash of source and number of the packet, which decides ties.
  u64 hash() const { return mix64((u64{source} << 32) + id); }
};
using PacketPtr = std::shared_ptr<Packet>;

/// Flit `number` of a packet.
struct Flit {
  PacketPtr packet;
  u32 number;

  bool is_head() const { return number == 0; }
  bool is_tail() const { return number + 1 == packet->flits; }
  u8 mark() const { return static_cast<u8>((is_head() ? kHeadFlit : 0) + (is_tail() ? kTailFlit : 0)); }
};

/// An arbiter of the switch allocator (Dally & Towles chapter 18).
class Arbiter {
 public:
  Arbiter(const std::string& kind, u32 members)
      : kind_(kind), next_(first_pointer(kind, members)), least_recent_(range(0, members)) {}

  /// Returns the winner. `rank(member)`: rank of the packet for which a member requests; the highest one wins.
  template <class Rank>
  u32 pick(const List& members, Rank rank) const {
    if (takes_turns(kind_)) return first_from(members, next_);
    u32 best = members.at(0);
    if (kind_ == "fixed_priority") return best;
    for (u32 member : members)
      if (kind_ == "matrix" ? before(member, best) : rank(member) > rank(best)) best = member;
    return best;
  }
  /// Returns whether `a` was served less recently than `b`.
  bool before(u32 a, u32 b) const {
    const auto rank = [&](u32 member) { return std::find(least_recent_.begin(), least_recent_.end(), member); };
    return rank(a) < rank(b);
  }
  void served(u32 member) {
    next_ = pointer_after(kind_, member, static_cast<u32>(least_recent_.size()));
    least_recent_.erase(std::find(least_recent_.begin(), least_recent_.end(), member));
    least_recent_.push_back(member);
  }

 private:
  std::string kind_;
  u32 next_;
  List least_recent_;
};

/// An input virtual channel and its packets, of which the front one is being processed.
struct InputVc {
  enum Stage { kIdle, kRouting, kWaiting, kGranted };

  std::deque<Flit> buffer;
  std::deque<PacketPtr> packets;  ///< packets whose head has arrived and whose tail has not left
  std::deque<u32> hops;           ///< their hops when the head arrived
  Stage stage = kIdle;
  u32 ready_at = 0;  ///< first round in which the present pipeline stage may act
  u32 out_port = 0, out_vc = 0;
  List allowed;      ///< output virtual channels that the packet may take
  u32 sent = 0;      ///< number of flits of the packet that have left
  u32 next_vc = 0;   ///< round-robin pointer over output virtual channels
  bool bid = false;  ///< has requested an output virtual channel in this round

  const Packet& front() const { return *packets.front(); }
};

/// An output virtual channel: the sender's view of the next input virtual channel.
struct OutputVc {
  u32 credits = 0;
  u32 early = 0;       ///< of these, the ones that only VC allocation may use in this cycle
  u32 owner = kNone;   ///< input virtual channel (port * vcs + vc) that holds it
  u32 next_input = 0;  ///< round-robin pointer over input virtual channels, or over input ports (by_port)
  List next_of_port;   ///< by_port: [input port] round-robin pointer over its virtual channels

  u32 usable() const { return credits - early; }
  void start(const Rules& rules, u32 ports, bool wired) {
    credits = wired ? rules.buffer : 0;
    next_input = first_pointer(rules.arbiter, rules.by_port ? ports : ports * rules.vcs);
    next_of_port.assign(ports, first_pointer(rules.arbiter, rules.vcs));
  }
};

/// Returns the winner of an output virtual channel that chooses an input port, and then one of its virtual channels.
/// Bidders have numbers port * vcs + virtual channel.
inline u32 first_of_ports(const List& bidders, const OutputVc& out, u32 vcs) {
  List ports, of_port;
  for (u32 bidder : bidders) ports.push_back(bidder / vcs);
  const u32 port = first_from(ports, out.next_input);
  for (u32 bidder : bidders)
    if (bidder / vcs == port) of_port.push_back(bidder % vcs);
  return port * vcs + first_from(of_port, out.next_of_port[port]);
}

}  // namespace flitlab::testing::vc_naive
