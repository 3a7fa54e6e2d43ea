#pragma once
/// Barrier and eureka units of the second implementation of the T3E (naive.hpp), and the programs of PEs that use them.
/// A message waits in a queue for its port, which sends the oldest message first.
#include <array>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "kernels/common/philox.hpp"
#include "kernels/routers/t3e/streams.hpp"
#include "tests/support/t3e/naive_terminals.hpp"

namespace flitlab::testing::t3e_naive {

class NaiveBarriers : public NaiveTerminals {
 public:
  enum Message : u32 { kJoin, kEureka, kDone, kFound };
  enum State : u32 { kBar, kArm, kEur };
  struct Unit {
    State state = kBar;
    u32 round = 0;
    Cycle next = kNever;  // cycle of the PE's next action
    Cycle armed = 0;
    std::deque<Message> out;
  };

  NaiveBarriers(const Experiment& e, const T3ePlan& plan)
      : NaiveTerminals(e, plan),
        trees_(plan.table().barrier),
        units_(e.u32_of(t3e::param::barrier.units)),
        eureka_(e.str(t3e::param::barrier.operation) == "eureka"),
        by_hand_(e.str(t3e::param::barrier.operation) == "by_hand"),
        work_(e.u32_of(t3e::param::barrier.work)),
        unit_delay_(e.u32_of(t3e::param::barrier.router_delay)),
        unit_to_pe_(e.u32_of(t3e::param::router.destination_delay) - (unit_delay_ - link_delay_)),
        pes_(nodes(), std::vector<Unit>(units_)),
        nodes_(nodes(), std::vector<Node>(units_)),
        busy_(nodes()) {
    for (u32 n = 0; n < nodes(); ++n)
      for (u32 unit = 0; unit < units_; ++unit)
        if (tree(n, unit).children >> kPe & 1) pes_[n][unit].next = next_action(n, unit);
  }

  /// Software signals a eureka, joins, or both (barrier.operation = "by_hand").
  void operate_unit(u32 pe, u32 unit, bool finds, bool joins) {
    Unit& u = pes_[pe][unit];
    if (finds) u.out.push_back(kEureka);
    if (joins) u.out.push_back(kJoin);
    u.state = joins ? kArm : kEur;
  }
  const Unit& unit(u32 pe, u32 number) const { return pes_[pe][number]; }
  u64 barriers = 0, barrier_wait = 0;

 protected:
  void run_barriers() {
    for (const auto& [pe, unit, message] : to_pe_[now_]) take_message(pe, unit, message);
    to_pe_.erase(now_);
    for (u32 pe = 0; pe < nodes(); ++pe) {
      bool sent = false;  // a PE sends one barrier packet per clock; its lowest unit goes first
      for (u32 unit = 0; unit < units_; ++unit) {
        Unit& u = pes_[pe][unit];
        if (u.state != kArm && u.next == now_) act(pe, unit);
        if (sent || u.out.empty()) continue;
        to_router_[now_ + from_pe_].insert({pe, kPe, unit, u.out.front()});
        u.out.pop_front();
        sent = true;
      }
    }
    for (const auto& [node, port, unit, message] : to_router_[now_]) receive_message(node, port, unit, message);
    to_router_.erase(now_);
    for (u32 node = 0; node < nodes(); ++node) send_messages(node);
  }

  std::vector<std::set<u32>>& busy() { return busy_; }

 private:
  struct Node {
    u32 joined = 0;
    std::array<std::deque<Message>, kAllPorts> out;
  };

  const t3e::BarrierRegister& tree(u32 node, u32 unit) const { return trees_[unit * nodes() + node]; }

  /// Returns the time of the next action, uniform from 0 to twice the mean time of work.
  Cycle next_action(u32 pe, u32 unit) const {
    if (by_hand_) return kNever;
    if (!work_) return now_;
    const Random4 r = philox(run_seed(), t3e::stream::kBarrier, pe * 32 + unit, pes_[pe][unit].round);
    return now_ + below(r.word[0], 2 * work_ + 1);
  }

  void take_message(u32 pe, u32 unit, Message message) {
    Unit& u = pes_[pe][unit];
    if (message == kDone) {
      u.state = kBar;
      ++u.round;
      ++barriers;
      barrier_wait += now_ - u.armed;
      u.next = next_action(pe, unit);
    } else if (u.state == kBar) {
      u.state = kEur;
      u.next = next_action(pe, unit);
    }
  }

  /// A PE joins. If the program uses eurekas, one PE, drawn for each round, signals instead.
  void act(u32 pe, u32 unit) {
    Unit& u = pes_[pe][unit];
    if (eureka_ && u.state == kBar) {
      const TrafficGroup group = group_of(traffic_, pe);
      const Random4 r = philox(run_seed(), t3e::stream::kBarrier, ~unit, u.round);
      if (below(r.word[0], group.count) != group.rank) return;
      u.out.push_back(kEureka);
    }
    u.out.push_back(kJoin);
    u.armed = now_;
    u.state = kArm;
  }

  /// Equal messages that follow one another share one slot of the register.
  void put(u32 node, u32 unit, u32 port, Message message) {
    std::deque<Message>& out = nodes_[node][unit].out[port];
    if (out.empty() || out.back() != message) out.push_back(message);
  }
  void send_down(u32 node, u32 unit, Message message) {
    for (u32 port = 0; port < kIo; ++port)
      if (tree(node, unit).children >> port & 1) put(node, unit, port, message);
  }

  void receive_message(u32 node, u32 port, u32 unit, Message message) {
    const t3e::BarrierRegister& node_register = tree(node, unit);
    if (message == kDone || message == kFound) return send_down(node, unit, message);
    if (message == kJoin) {
      u32& joined = nodes_[node][unit].joined;
      joined |= 1u << port;
      if (joined != node_register.children) return;
      joined = 0;
    }
    if (node_register.parent == t3e::kNoParent)
      send_down(node, unit, message == kJoin ? kDone : kFound);
    else
      put(node, unit, node_register.parent, message);
  }

  /// Sends messages. Units take turns; a port carries one packet per clock, and special packets go first. A broken link
  /// loses the message.
  void send_messages(u32 node) {
    for (u32 i = 0; i < 32; ++i) {
      const u32 unit = (now_ + i) % 32;
      if (unit >= units_) continue;
      for (u32 port = 0; port < kIo; ++port) {
        std::deque<Message>& out = nodes_[node][unit].out[port];
        if (out.empty() || !busy_[node].insert(port).second) continue;
        const Peer& peer = topology_.peer(node, port);
        if (port == kPe)
          to_pe_[now_ + unit_to_pe_].insert({node, unit, out.front()});
        else if (!is_broken(node, port))
          to_router_[now_ + unit_delay_].insert({peer.item, peer.port, unit, out.front()});
        out.pop_front();
      }
    }
  }

  const t3e::BarrierRegister* trees_;  // [unit][node]
  u32 units_;
  bool eureka_, by_hand_;
  u32 work_, unit_delay_, unit_to_pe_;
  std::vector<std::vector<Unit>> pes_;    // [node][unit]
  std::vector<std::vector<Node>> nodes_;  // [node][unit]
  std::map<Cycle, std::set<std::tuple<u32, u32, Message>>> to_pe_;
  std::map<Cycle, std::set<std::tuple<u32, u32, u32, Message>>> to_router_;  // (router, port, unit, message)
  std::vector<std::set<u32>> busy_;  // [node] outputs that special and barrier packets use in this cycle
};

}  // namespace flitlab::testing::t3e_naive
