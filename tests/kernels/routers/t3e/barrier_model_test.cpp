/// Barrier and eureka units of the T3E against a naive model, written from the paper's section 6 alone. In the model
/// every message waits in a queue for its port, which sends the oldest first. Also tests the watch, which reports units
/// that have stopped.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "host/routers/t3e/barriers.hpp"
#include "host/routers/t3e/plan.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"

namespace flitlab::t3e_barrier_model_test {
namespace {

using t3e::BarrierState;
using t3e::BarrierUnit;
using testing::experiment;
using testing::integer;
using testing::Network;
using testing::word;

constexpr u32 kPe = t3e::kNodePort, kPorts = t3e::kPorts, kUnits = t3e::kBarrierUnits;

/// The barrier units of a machine. A message takes 7 clocks from a PE to its router and `router_delay` from router to
/// router. The PE receives it 10 clocks after the pins of the last router.
class NaiveUnits {
  template <class Map>
  static typename Map::mapped_type take(Map& messages, u32 now) {
    const auto found = messages.find(now);
    if (found == messages.end()) return {};
    const auto list = found->second;
    messages.erase(found);
    return list;
  }

 public:
  enum Message : u8 { kJoin, kEureka, kDone, kFound };
  struct Pe {
    BarrierState state = BarrierState::kBar;
    u32 round = 0;
    std::deque<Message> out;
  };

  NaiveUnits(const T3ePlan& plan, u32 units, u32 router_delay)
      : plan_(plan),
        units_(units),
        hop_(router_delay),
        eject_(10 - (router_delay - 3)),
        pes(plan.table().routers, std::vector<Pe>(units)),
        nodes_(plan.table().routers, std::vector<Node>(units)) {}

  void operate(u32 pe, u32 unit, bool finds, bool joins) {
    Pe& p = pes[pe][unit];
    if (finds) p.out.push_back(kEureka);
    if (joins) p.out.push_back(kJoin);
    p.state = joins ? BarrierState::kArm : BarrierState::kEur;
  }

  void clock(u32 now) {
    for (const auto& [pe, unit, message] : take(to_pe_, now)) {
      Pe& p = pes[pe][unit];
      if (message == kDone)
        p.state = BarrierState::kBar, ++p.round;
      else if (p.state == BarrierState::kBar)
        p.state = BarrierState::kEur;
    }
    for (u32 pe = 0; pe < pes.size(); ++pe)
      for (u32 unit = 0; unit < units_; ++unit) {  // a PE sends one packet per clock; its lowest unit goes first
        std::deque<Message>& out = pes[pe][unit].out;
        if (out.empty()) continue;
        to_router_[now + 7].insert({pe, kPe, unit, out.front()});
        out.pop_front();
        break;
      }
    for (const auto& [node, port, unit, message] : take(to_router_, now)) receive(node, port, unit, message);
    for (u32 node = 0; node < nodes_.size(); ++node) send(node, now);
  }

 private:
  struct Node {
    u32 joined = 0;
    std::array<std::deque<Message>, 8> out;
  };
  using Arrival = std::tuple<u32, u32, u32, Message>;  // (router, port, unit, message)

  const t3e::BarrierRegister& tree(u32 node, u32 unit) const {
    return plan_.table().barrier[unit * plan_.table().routers + node];
  }

  /// Equal messages that follow one another share one slot of the register.
  void put(u32 node, u32 unit, u32 port, Message message) {
    std::deque<Message>& out = nodes_[node][unit].out[port];
    if (out.empty() || out.back() != message) out.push_back(message);
  }

  void complete(u32 node, u32 unit, Message message) {
    for (u32 port = 0; port < kPorts; ++port)
      if (tree(node, unit).children >> port & 1) put(node, unit, port, message);
  }

  void receive(u32 node, u32 port, u32 unit, Message message) {
    const t3e::BarrierRegister& node_register = tree(node, unit);
    const bool root = node_register.parent == t3e::kNoParent;
    if (message == kDone || message == kFound) return complete(node, unit, message);
    if (message == kJoin) {
      u32& joined = nodes_[node][unit].joined;
      joined |= 1u << port;
      if (joined != node_register.children) return;
      joined = 0;
    }
    if (root)
      complete(node, unit, message == kJoin ? kDone : kFound);
    else
      put(node, unit, node_register.parent, message);
  }

  /// Sends waiting messages. Units take turns; a port carries one packet per clock.
  void send(u32 node, u32 now) {
    std::array<bool, 8> busy{};
    for (u32 i = 0; i < kUnits; ++i) {
      const u32 unit = (now + i) % kUnits;
      if (unit >= units_) continue;
      for (u32 port = 0; port < kPorts; ++port) {
        std::deque<Message>& out = nodes_[node][unit].out[port];
        if (out.empty() || busy[port]) continue;
        busy[port] = true;
        const Peer& peer = plan_.topology().peer(node, port);
        if (port == kPe)
          to_pe_[now + eject_].insert({node, unit, out.front()});
        else
          to_router_[now + hop_].insert({peer.item, peer.port, unit, out.front()});
        out.pop_front();
      }
    }
  }

  const T3ePlan& plan_;
  u32 units_, hop_, eject_;

 public:
  std::vector<std::vector<Pe>> pes;  ///< [PE][unit]

 private:
  std::vector<std::vector<Node>> nodes_;  ///< [router][unit]
  std::map<u32, std::set<std::tuple<u32, u32, Message>>> to_pe_;
  std::map<u32, std::set<Arrival>> to_router_;
};

Experiment machine(RawConfig changes) {
  changes["router.kind"] = std::string("t3e");
  changes["traffic.load"] = 0.0;
  return experiment(changes);
}

const T3ePlan& plan_of(const Network& net) { return dynamic_cast<const T3ePlan&>(*net.plan); }

std::vector<BarrierUnit> units(const Network& net) {
  const t3e::Table& t = plan_of(net).table();
  std::vector<BarrierUnit> list(std::size_t{t.terminals} * t.barrier_units);
  net.engine->get_field(0, 1, net.plan->layout().kinds[1].field("barrier"), list.data());
  return list;
}

std::string stopped(const Network& net) { return net.plan->find_stopped(net.engine->state(0), net.engine->now()); }

using Random = std::mt19937;
u32 draw(Random& random, u32 below) { return static_cast<u32>(random() % below); }

/// Returns one to three applications on neighbouring PEs: the numbers of the first and last PE of each.
IntList partitions(Random& random, u32 nodes) {
  IntList list;
  for (u32 first = draw(random, 2); first < nodes && list.size() < 6;) {
    const u32 last = first + draw(random, nodes - first);
    list.insert(list.end(), {std::int64_t{first}, std::int64_t{last - first}});
    first = last + 1 + draw(random, 2);
  }
  return list;
}

/// PEs operate their units by hand at random times, some as early as allowed. In every cycle emulator and naive model
/// have the same states and rounds, and the watch reports nothing.
TEST(T3eBarrierModel, UnitsAgreeWithANaiveModel) {
  u64 rounds = 0;
  for (u32 trial = 0; trial < testing::trials(40); ++trial) {
    Random random(trial);
    const std::vector<IntList> shapes = {{8, 2, 1}, {4, 4, 2}, {2, 2, 1}, {2, 2, 3}, {4, 4, 1}, {2, 4, 2}};
    const IntList shape = shapes[draw(random, static_cast<u32>(shapes.size()))];
    const u32 nodes = static_cast<u32>(shape[0] * shape[1] * shape[2]);
    const u32 count = draw(random, 2) ? kUnits : 1 + draw(random, kUnits), delay = 3 + draw(random, 4);
    Network net(machine({{"topology.shape", shape},
                         {"topology.partitions", partitions(random, nodes)},
                         {"barrier.units", integer(count)},
                         {"barrier.root", integer(draw(random, nodes))},
                         {"barrier.router_delay", integer(delay)},
                         {"barrier.operation", word("by_hand")}}));
    const T3ePlan& plan = plan_of(net);
    NaiveUnits naive(plan, count, delay);
    const u32 patience = std::array{1u, 1u, 4u, 30u}[draw(random, 4)];
    const bool barriers_too = draw(random, 4) == 0;
    for (u32 now = 0; now < 1500; ++now) {
      const std::vector<BarrierUnit> all = units(net);
      for (u32 pe = 0; pe < nodes; ++pe)
        for (u32 unit = 0; unit < count; ++unit) {
          const BarrierUnit& u = all[pe * count + unit];
          const NaiveUnits::Pe& other = naive.pes[pe][unit];
          ASSERT_EQ(u.state, other.state) << "trial " << trial << " cycle " << now << " PE " << pe << " unit " << unit;
          ASSERT_EQ(u.round, other.round) << "trial " << trial << " cycle " << now << " PE " << pe << " unit " << unit;
          if (!(plan.table().barrier[unit * nodes + pe].children >> kPe & 1)) continue;
          if (u.state == BarrierState::kArm || draw(random, patience)) continue;
          bool finds = false, joins = true;
          if (u.state == BarrierState::kBar) {
            finds = !(barriers_too && draw(random, 2));
            if (finds && draw(random, 4)) continue;  // most PEs wait for another PE's eureka
            joins = !finds || draw(random, 2);
          }
          t3e::operate_barrier(*net.engine, plan, pe, unit, !finds ? "OP_BAR" : joins ? "OP_EUR_B" : "OP_EUR");
          naive.operate(pe, unit, finds, joins);
        }
      naive.clock(now);
      net.step(1);
      if (now % 97 == 0) {
        ASSERT_EQ(stopped(net), "") << "trial " << trial << " cycle " << now;
      }
    }
    for (const BarrierUnit& u : units(net)) rounds += u.round;
  }
  EXPECT_GT(rounds, testing::trials(40) * u64{1000});
}

/// PEs run their own programs in small and large applications that share routers: no unit stops.
TEST(T3eBarrierModel, NoUnitStops) {
  struct Case {
    IntList shape, partitions;
  };
  for (const auto& [shape, parts] : {Case{{8, 2, 1}, {0, 1, 2, 13}}, Case{{4, 4, 2}, {0, 1, 2, 29}}}) {
    Network net(machine({{"topology.shape", shape},
                         {"topology.partitions", parts},
                         {"barrier.units", integer(kUnits)},
                         {"barrier.operation", word("eureka")}}));
    std::vector<BarrierUnit> before = units(net);
    for (int interval = 0; interval < 20; ++interval) {
      net.step(1000);
      const std::vector<BarrierUnit> after = units(net);
      for (std::size_t i = 0; i < after.size(); ++i)
        if (plan_of(net).table().barrier[i % kUnits * plan_of(net).table().routers + i / kUnits].children >> kPe & 1) {
          ASSERT_GT(after[i].round, before[i].round) << "PE " << i / kUnits << " unit " << i % kUnits;
        }
      before = after;
      ASSERT_EQ(stopped(net), "");
    }
  }
}

/// One message of a program is lost on its way to a router or to a PE. Either the watch reports this unit and no other,
/// or the unit continues, because a PE that has joined needs no eureka.
TEST(T3eBarrierModel, TheWatchReportsAnyLostMessage) {
  u32 lost[4][2] = {};
  for (u32 trial = 0; trial < testing::trials(60); ++trial) {
    Random random(trial);
    const bool eureka = trial % 2;
    Network net(machine({{"topology.shape", IntList{4, 2, 2}},
                         {"barrier.units", integer(3)},
                         {"barrier.work", integer(draw(random, 40))},
                         {"barrier.operation", word(eureka ? "eureka" : "barrier")}}));
    net.step(100 + draw(random, 200));
    const StateLayout& layout = net.plan->layout();
    const bool to_pe = trial % 4 / 2;
    const FieldInfo& field = layout.kinds[to_pe].field("barrier_mail");
    std::vector<u8> messages(std::size_t{layout.kinds[to_pe].count} * field.count * (to_pe ? 1 : 8));
    u32 unit = 0;
    for (bool found = false; !found;) {  // until a message exists
      net.step(1);
      net.engine->get_field(0, to_pe, field, messages.data());
      const std::size_t from = draw(random, static_cast<u32>(messages.size()));
      for (std::size_t i = 0; i < messages.size() && !found; ++i) {
        u8& byte = messages[(from + i) % messages.size()];
        if (!(byte & t3e::kBarrierMark)) continue;
        found = true;
        unit = byte & 31;
        const u32 message = byte >> 5 & 3;
        ++lost[message][to_pe];
        byte = 0;
      }
    }
    net.engine->set_field(0, to_pe, field, messages.data());
    net.step(2000);
    const std::string text = stopped(net);
    if (eureka && text.empty()) {
      const std::vector<BarrierUnit> before = units(net);
      net.step(1000);
      const std::vector<BarrierUnit> after = units(net);
      for (u32 pe = 0; pe < 16; ++pe) ASSERT_GT(after[pe * 3 + unit].round, before[pe * 3 + unit].round);
      continue;
    }
    EXPECT_EQ(text.find("1 barrier unit has stopped (" + std::to_string(unit) + "): "), 0u) << trial << ": " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
  for (u32 message : {0u, 2u}) EXPECT_GT(lost[message][message == 2], 3u) << message;
}

}  // namespace
}  // namespace flitlab::t3e_barrier_model_test
