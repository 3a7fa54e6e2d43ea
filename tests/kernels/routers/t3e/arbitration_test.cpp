/// The rules of the T3E's arbiter (paper, section 7) and of its routing, one by one. Packets meet at node (2,2,2) of an
/// 8x8x8 machine, far from the datelines. Clocks are derived by hand: a packet created at clock t in a neighbour's PE
/// leaves that node at t + 7, arrives here at t + 10 and may leave through the crossbar from t + 13 on; one of this PE
/// may leave from t + 7 on. Flits follow a clock apart.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "host/routers/t3e/plan.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/t3e/route.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::t3e_arbitration_test {
namespace {

using testing::experiment;
using testing::integer;
using testing::Network;
using testing::TextFile;
using testing::word;

constexpr u32 at(u32 x, u32 y, u32 z) { return x + 8 * (y + 8 * z); }
constexpr u32 kHere = at(2, 2, 2);
/// Neighbours, named by where they lie if +X is east, +Y north and +Z up.
constexpr u32 kWest = at(1, 2, 2), kEast = at(3, 2, 2), kSouth = at(2, 1, 2), kBelow = at(2, 2, 1),
              kTwoBelow = at(2, 2, 0);
/// Output ports, and the adaptive virtual channel.
constexpr u32 kPlusX = 0, kPlusY = 1, kMinusZ = t3e::kMinusZ, kAdaptive = t3e::kDeterministicVcs;

struct Line {
  u32 clock, src, dst, flits;
};

/// One flit leaves a router.
struct Departure {
  u32 clock, node;
  Event event;
};

using Clocks = std::vector<u32>;
using Outputs = std::vector<std::pair<u32, u32>>;  // port and VC

Clocks from(u32 first, u32 flits) {
  Clocks list(flits);
  for (u32 n = 0; n < flits; ++n) list[n] = first + n;
  return list;
}

/// A machine that runs a trace. Packets do not adapt and every SELECT bit is 0 unless a test says otherwise.
class Machine {
 public:
  explicit Machine(std::vector<Line> lines, RawConfig changes = {}) : trace_(text(std::move(lines))) {
    changes.insert({{"router.kind", word("t3e")},
                    {"topology.shape", IntList{8, 8, 8}},
                    {"routing.adaptive", false},
                    {"routing.vc_select", word("time_of_crossing")}});
    if (!changes.contains("traffic.mode")) {
      changes["traffic.mode"] = word("trace");
      changes["traffic.trace_file"] = trace_.path;
    }
    net_ = std::make_unique<Network>(experiment(changes), EngineChoice{"cpu", 1, true, 1});
  }

  template <class Change>
  void registers(u32 node, Change change) {
    edit<t3e::Registers>(0, "registers", node, change);
  }
  /// Packets that turn into a direction here, or start in it, towards nodes with this ordinate use set 1.
  void select_one(u32 node, u32 direction, u32 ordinate) {
    registers(node, [&](t3e::Registers& r) { r.vcsel[direction] |= static_cast<u16>(1u << ordinate); });
  }
  void no_adapt(u32 node, u32 direction) {
    registers(node, [&](t3e::Registers& r) { r.chan[direction] |= t3e::kNoAdapt; });
  }
  /// Changes the routing tag from one PE to another.
  template <class Change>
  void tag(u32 src, u32 dst, Change change) {
    edit<t3e::Tag>(2, "lut", src * t3e::kLutRegisters + dst, change);
  }
  void adapt(u32 src, u32 dst) {
    tag(src, dst, [](t3e::Tag& tag) { tag |= 1u << 18; });
  }

  void run(u32 clocks) {
    for (u32 n = 0; n < clocks; ++n, ++now_) {
      net_->step(1);
      const auto events = net_->engine->take_events(0);
      for (u32 node = 0; node < 512; ++node)
        for (const Event& event : events[node])
          if (event.kind == EventKind::kSwitchGranted) departures.push_back({now_, node, event});
    }
    check_conservation(*net_->engine, *net_->plan, 0);
  }

  /// When the flits of a PE's n-th packet leave this node.
  Clocks clocks(u32 src, u32 n = 0) const {
    std::map<u32, Clocks> packets;  // by number, which rises along the trace
    for (const Departure& d : departures)
      if (d.event.src == src) {
        Clocks& list = packets[d.event.id];
        if (d.node == kHere) list.push_back(d.clock);
      }
    return n < packets.size() ? std::next(packets.begin(), n)->second : Clocks{};
  }
  /// By what the heads of a PE's packets leave a node, in the order of their departure.
  Outputs outputs(u32 src, u32 node = kHere) const {
    Outputs list;
    for (const Departure& d : departures)
      if (d.node == node && d.event.src == src && (d.event.flit & 1))
        list.emplace_back(d.event.out_port, d.event.out_vc);
    return list;
  }
  u64 total(TotalIndex t) { return net_->total(t); }
  const t3e::Table& table() const { return dynamic_cast<const T3ePlan&>(*net_->plan).table(); }

  std::vector<Departure> departures;

 private:
  static std::string text(std::vector<Line> lines) {
    std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.clock < b.clock; });
    std::string all;
    for (const Line& l : lines)
      all += std::to_string(l.clock) + "," + std::to_string(l.src) + "," + std::to_string(l.dst) + "," +
             std::to_string(l.flits) + "\n";
    return all;
  }
  template <class T, class Change>
  void edit(u32 kind, const char* name, u32 place, Change change) {
    const ItemKind& items = net_->plan->layout().kinds[kind];
    const FieldInfo& field = items.field(name);
    std::vector<T> all(std::size_t{items.count} * field.count);
    net_->engine->get_field(0, kind, field, all.data());
    change(all[place]);
    net_->engine->set_field(0, kind, field, all.data());
  }

  TextFile trace_;
  std::unique_ptr<Network> net_;
  u32 now_ = 0;
};

/// Two packets want one output on different virtual channels. The first holds it to its end, whether its flits come one
/// a clock from a link or from the PE; if both ask at once, round robin begins at VC 0.
TEST(T3eArbitration, APacketLeavesInOnePiece) {
  for (u32 created = 3; created <= 8; ++created) {
    Machine m({{0, kWest, kBelow, 10}, {created, kHere, kTwoBelow, 10}});
    m.select_one(kHere, kMinusZ, 0);
    m.run(60);
    const bool link_first = created >= 6;
    EXPECT_EQ(m.clocks(kWest), from(link_first ? 13 : created + 17, 10)) << created;
    EXPECT_EQ(m.clocks(kHere), from(link_first ? 23 : created + 7, 10)) << created;
    EXPECT_EQ(m.outputs(kHere), (Outputs{{kMinusZ, 1}}));
  }
}

/// A packet from the PE leaves from 7 to 16. One that comes straight on in between finds the output held, and the
/// short-circuit path closed; from 17 on the path is open.
TEST(T3eArbitration, NothingPassesStraightIntoAPacketFromThePe) {
  for (u32 created = 0; created <= 8; ++created) {
    Machine m({{0, kHere, kEast, 10}, {created, kWest, at(4, 2, 2), 10}});
    m.select_one(kWest, kPlusX, 4);
    m.run(60);
    EXPECT_EQ(m.clocks(kHere), from(7, 10)) << created;
    EXPECT_EQ(m.clocks(kWest), from(created + 10 >= 17 ? created + 10 : std::max(created + 13, 17u), 10)) << created;
  }
}

/// A place in the next buffer is free again 3 + 3 + 3 clocks after a flit has left for it: with 9 places a credit comes
/// in the very clock in which it is needed, and the packet is not blocked. With 8 it is, for a clock, and loses the
/// output to the packet that waits. (The way from the PE is shortened, for its buffer has no more places.)
TEST(T3eArbitration, ABlockedPacketLosesTheOutput) {
  for (int places : {9, 8}) {
    Machine m({{0, kHere, kBelow, 10}, {0, kWest, kTwoBelow, 4}},
              {{"router.deterministic_buffer_flits", integer(places)}, {"router.source_delay", integer(6)}});
    m.select_one(kHere, kMinusZ, 0);
    m.run(60);
    EXPECT_EQ(m.clocks(kHere), places == 9 ? from(3, 10) : (Clocks{3, 4, 5, 6, 7, 8, 9, 10, 15, 16}));
    EXPECT_EQ(m.clocks(kWest), from(places == 9 ? 13 : 11, 4));
  }
}

/// To know a clock ahead what comes, the arbiter needs delays of two clocks.
TEST(T3eArbitration, RefusesDelaysOfOneClock) {
  const auto machine = [](const char* path, int clocks) {
    return experiment({{"router.kind", word("t3e")}, {path, integer(clocks)}});
  };
  EXPECT_NO_THROW(machine("router.source_delay", 5));
  EXPECT_THROW(machine("router.source_delay", 4), ConfigError);
  EXPECT_NO_THROW(machine("router.credit_delay", 2));
  EXPECT_THROW(machine("router.credit_delay", 1), ConfigError);
}

/// After a packet on VC 0 it is VC 1's turn, and the other way about. The first packet leaves from 13 to 22.
TEST(T3eArbitration, OutputVcsTakeTurns) {
  for (bool first_on_one : {false, true}) {
    Machine m({{0, kEast, first_on_one ? kTwoBelow : kBelow, 10}, {1, kSouth, kBelow, 10}, {1, kWest, kTwoBelow, 10}});
    m.select_one(kHere, kMinusZ, 0);
    m.run(80);
    EXPECT_EQ(m.clocks(kEast), from(13, 10));
    EXPECT_EQ(m.clocks(kSouth), from(first_on_one ? 23 : 33, 10));
    EXPECT_EQ(m.clocks(kWest), from(first_on_one ? 33 : 23, 10));
  }
}

/// A virtual channel that two inputs want goes to each in turn. The second packet from the east may leave from 23 on,
/// as the first one's tail has left.
TEST(T3eArbitration, OutputVcsServeInputsInTurn) {
  Machine m({{0, kEast, kBelow, 10}, {0, kEast, kBelow, 10}, {1, kSouth, kBelow, 10}});
  m.run(80);
  EXPECT_EQ(m.clocks(kEast, 0), from(13, 10));
  EXPECT_EQ(m.clocks(kSouth), from(23, 10));
  EXPECT_EQ(m.clocks(kEast, 1), from(33, 10));
}

/// So does an adaptive one: twice a packet from the south and one of this PE ask for it in the same clock, at 13 and at
/// 53. Who does not get it leaves by its deterministic VC.
TEST(T3eArbitration, AdaptiveVcsServeInputsInTurn) {
  const u32 north = at(2, 3, 1), east = at(3, 2, 1);
  Machine m({{0, kSouth, north, 2}, {6, kHere, east, 2}, {40, kSouth, north, 2}, {46, kHere, east, 2}});
  m.adapt(kSouth, north);
  m.adapt(kHere, east);
  m.no_adapt(kSouth, kMinusZ);
  m.registers(kHere, [](t3e::Registers& r) { r.chan[kPlusY] |= t3e::kNoFast; });
  m.run(80);
  EXPECT_EQ(m.outputs(kSouth), (Outputs{{kMinusZ, kAdaptive}, {kPlusY, 0}}));
  EXPECT_EQ(m.outputs(kHere), (Outputs{{kPlusX, 0}, {kMinusZ, kAdaptive}}));
}

/// Three packets from the west, on input VCs 0, 1 and 0. The first wants an output that another packet sends by from 13
/// to 22, on a virtual channel of its own: it has won all but the output, and keeps the right to ask though the second
/// could leave. Then the input VCs take turns.
TEST(T3eArbitration, TheRightToAskIsKept) {
  Machine m({{0, kEast, kTwoBelow, 10}, {1, kWest, kBelow, 3}, {1, kWest, kEast, 3}, {1, kWest, kBelow, 3}});
  m.select_one(kHere, kMinusZ, 0);
  m.select_one(kWest, kPlusX, 3);
  m.run(60);
  EXPECT_EQ(m.clocks(kEast), from(13, 10));
  EXPECT_EQ(m.clocks(kWest, 0), from(23, 3));
  EXPECT_EQ(m.clocks(kWest, 1), from(26, 3));
  EXPECT_EQ(m.clocks(kWest, 2), from(29, 3));
}

/// The same, but the first wants the very virtual channel of the packet that sends: it does not win it, and gives up
/// the right to ask, so that the second leaves as soon as it can, at 1 + 3 + 13.
TEST(T3eArbitration, TheRightToAskIsGivenUp) {
  Machine m({{0, kEast, kBelow, 10}, {1, kWest, kBelow, 3}, {1, kWest, kEast, 3}, {1, kWest, kBelow, 3}});
  m.select_one(kWest, kPlusX, 3);
  m.run(60);
  EXPECT_EQ(m.clocks(kWest, 1), from(17, 3));
  EXPECT_EQ(m.clocks(kWest, 0), from(23, 3));
  EXPECT_EQ(m.clocks(kWest, 2), from(26, 3));
}

/// Or if it is blocked: a packet from the east leaves 2 of 12 places below, and its first credit comes 3 + 3 + 20
/// clocks after it began. The first packet from the west sends two flits and has to wait, and the second leaves at
/// once. The credit that comes just then, 3 + 20 clocks after a flit left at 7 to go straight on, is for another
/// virtual channel.
TEST(T3eArbitration, ABlockedPacketGivesUpTheRightToAsk) {
  Machine m({{0, kHere, kTwoBelow, 1}, {5, kEast, kBelow, 10}, {6, kWest, kBelow, 10}, {6, kWest, kEast, 3}},
            {{"router.credit_delay", integer(20)}});
  m.select_one(kHere, kMinusZ, 0);
  m.select_one(kWest, kPlusX, 3);
  m.run(100);
  EXPECT_EQ(m.clocks(kEast), from(18, 10));
  EXPECT_EQ(m.clocks(kWest, 0), (Clocks{28, 29, 44, 45, 46, 47, 48, 49, 50, 51}));
  EXPECT_EQ(m.clocks(kWest, 1), from(30, 3));
}

/// A packet from the west asks for a virtual channel at 14 and gives up its turn to another, which keeps it from 17 to
/// 26, its flits coming one a clock. When the virtual channel is free, at 23, it remembers the first and waits for it,
/// though a packet from the south asks for it all the time.
TEST(T3eArbitration, AnOutputVcRemembersWhoAsked) {
  Machine m({{0, kEast, kBelow, 10}, {1, kWest, kBelow, 3}, {1, kWest, kEast, 10}, {5, kSouth, kBelow, 10}});
  m.select_one(kWest, kPlusX, 3);
  m.run(80);
  EXPECT_EQ(m.clocks(kEast), from(13, 10));
  EXPECT_EQ(m.clocks(kWest, 1), from(17, 10));
  EXPECT_EQ(m.clocks(kWest, 0), from(27, 3));
  EXPECT_EQ(m.clocks(kSouth), from(30, 10));
}

/// The packet of this PE asks for VC 0 of +X, which one from the west has from 10 to 19, and leaves by the adaptive VC
/// at once. VC 0 does not wait for it, but serves the PE's next packet.
TEST(T3eArbitration, WhoGoesTheOtherWayIsForgotten) {
  Machine m({{0, kWest, kEast, 10}, {5, kHere, at(3, 2, 1), 10}, {5, kHere, kEast, 10}});
  m.adapt(kHere, at(3, 2, 1));
  m.run(60);
  EXPECT_EQ(m.clocks(kWest), from(10, 10));
  EXPECT_EQ(m.clocks(kHere, 0), from(12, 10));
  EXPECT_EQ(m.clocks(kHere, 1), from(22, 10));
  EXPECT_EQ(m.outputs(kHere), (Outputs{{kMinusZ, kAdaptive}, {kPlusX, 0}}));
}

/// The adaptive packet of this PE, whose deterministic VC is taken until 28, and a deterministic one from the south
/// wait for an output that is held until 22. Round robin would come to the adaptive VC next, but it is last.
TEST(T3eArbitration, AdaptiveVcsAreLast) {
  Machine m({{0, kEast, kBelow, 10}, {2, kSouth, kBelow, 10}, {6, kWest, kEast, 10}, {13, kHere, at(3, 2, 1), 10}});
  m.adapt(kHere, at(3, 2, 1));
  m.run(80);
  EXPECT_EQ(m.clocks(kEast), from(13, 10));
  EXPECT_EQ(m.clocks(kWest), from(19, 10));
  EXPECT_EQ(m.clocks(kSouth), from(23, 10));
  EXPECT_EQ(m.clocks(kHere), from(29, 10));
  EXPECT_EQ(m.outputs(kHere), (Outputs{{kPlusX, 0}}));
}

/// Unless their packet has begun. The short-circuit path at the western node is closed by a packet that crosses there
/// after three flits of the adaptive one, whose other flits come three clocks late: a bubble, in which a packet on VC 1
/// takes the output. Then it is the adaptive VC's turn, not that of a packet on VC 0 which waits too.
TEST(T3eArbitration, AnAdaptiveVcWhosePacketHasBegunIsNotLast) {
  const u32 far_west = at(0, 2, 2), to = at(3, 2, 1);
  Machine m(
      {{0, far_west, to, 10}, {2, at(1, 1, 2), at(1, 2, 1), 1}, {5, kSouth, kTwoBelow, 10}, {8, kEast, kBelow, 10}});
  m.adapt(far_west, to);
  m.no_adapt(far_west, kMinusZ);
  m.no_adapt(kWest, kMinusZ);
  m.registers(kHere, [](t3e::Registers& r) { r.chan[kPlusX] |= t3e::kNoFast; });
  m.select_one(kHere, kMinusZ, 0);
  m.run(80);
  EXPECT_EQ(m.clocks(far_west), (Clocks{16, 17, 18, 29, 30, 31, 32, 33, 34, 35}));
  EXPECT_EQ(m.clocks(kSouth), from(19, 10));
  EXPECT_EQ(m.clocks(kEast), from(36, 10));
  EXPECT_EQ(m.outputs(far_west), (Outputs{{kMinusZ, kAdaptive}}));
}

/// A packet goes to an adaptive buffer only if all of it has room. The first leaves `places` - 10, for credits take 64
/// clocks.
TEST(T3eArbitration, AnAdaptiveBufferTakesWholePackets) {
  for (const auto& [places, flits, fits] : {std::tuple{20, 10u, true}, {19, 10u, false}, {19, 9u, true}}) {
    Machine m({{0, kHere, at(3, 2, 1), 10}, {0, kHere, at(3, 2, 1), flits}},
              {{"router.adaptive_buffer_flits", integer(places)}, {"router.credit_delay", integer(64)}});
    m.adapt(kHere, at(3, 2, 1));
    m.run(40);
    const std::pair<u32, u32> first{kMinusZ, kAdaptive}, other{kPlusX, 0};
    EXPECT_EQ(m.outputs(kHere), (Outputs{first, fits ? first : other})) << places << " " << flits;
  }
}

/// A packet that has won both its outputs takes the adaptive one; if both are the same, the deterministic VC, even when
/// it would be the adaptive one's turn.
TEST(T3eArbitration, TheAdaptiveOutputIsTakenUnlessItIsTheSame) {
  Machine m({{0, kHere, at(3, 2, 1), 10}, {30, kHere, kBelow, 10}, {30, kHere, kBelow, 10}});
  m.adapt(kHere, at(3, 2, 1));
  m.adapt(kHere, kBelow);
  m.run(80);
  EXPECT_EQ(m.outputs(kHere), (Outputs{{kMinusZ, kAdaptive}, {kMinusZ, 0}, {kMinusZ, 0}}));
}

/// "any": the adaptive VC with most room, of equals the highest direction. Each of the first two packets leaves 12
/// places where it goes, as no credit is back yet; the third finds most room in +X, where its deterministic VC is.
TEST(T3eArbitration, AnyTakesTheAdaptiveVcWithMostRoom) {
  const u32 to = at(3, 3, 1);
  Machine m({{0, kHere, to, 10}, {0, kHere, to, 10}, {0, kHere, to, 10}},
            {{"router.adaptive_choice", word("any")}, {"router.credit_delay", integer(64)}});
  m.adapt(kHere, to);
  m.run(60);
  EXPECT_EQ(m.outputs(kHere), (Outputs{{kMinusZ, kAdaptive}, {kPlusY, kAdaptive}, {kPlusX, 0}}));
}

/// With 4 places in every buffer a sender waits for credits: 4 flits in the time that a flit takes to the buffer and
/// through it, and its credit back. The slowest of three senders sets the pace: the PE, if it is farthest from its
/// router; the router, if both PEs are near; or the last router, whose credits come from the PE. The tenth flit is two
/// rounds and a flit behind the first.
TEST(T3eArbitration, CreditsTakeTheirTime) {
  const struct {
    u32 source, destination, round;
  } kSlowest[] = {{14, 4, 11}, {5, 4, 3 + 3}, {5, 14, 11}};
  for (const auto& [source, destination, round] : kSlowest)
    for (u32 delay : {2, 3, 7}) {
      Machine m({{0, kHere, kEast, 10}}, {{"router.deterministic_buffer_flits", integer(4)},
                                          {"router.source_delay", integer(source)},
                                          {"router.destination_delay", integer(destination)},
                                          {"router.credit_delay", integer(delay)}});
      m.run(100);
      EXPECT_EQ(m.total(Total::kLastDelivery), source + destination + 2 * (round + delay) + 1)
          << source << " " << destination << " " << delay;
    }
}

/// The PE's packets enter on set 0 and set 1 in turn, and on the other one if a set has no room: here the first packet
/// takes all places of set 0 until its credits are back.
TEST(T3eInjection, UsesBothSets) {
  for (bool room : {true, false}) {
    const u32 flits = room ? 2 : 9;
    Machine m({{0, kHere, kEast, flits}, {0, kHere, kEast, 2}, {0, kHere, kEast, 2}, {0, kHere, kEast, 2}},
              {{"router.deterministic_buffer_flits", integer(room ? 12 : 9)}, {"router.credit_delay", integer(30)}});
    m.run(100);
    Clocks sets;
    for (const Departure& d : m.departures)
      if (d.node == kHere && (d.event.flit & 1)) sets.push_back(d.event.vc);
    EXPECT_EQ(sets, room ? (Clocks{0, 1, 0, 1}) : (Clocks{0, 1, 1, 1}));
  }
}

/// Ordered requests do not adapt; their responses do (paper, section 5).
TEST(T3eInjection, OrderedRequestsDoNotAdapt) {
  for (bool ordered : {false, true}) {
    Machine m({}, {{"routing.adaptive", true},
                   {"routing.ordered_requests", ordered},
                   {"traffic.mode", word("request_reply")},
                   {"traffic.load", 0.2}});
    m.run(200);
    u32 adaptive[2] = {};  // requests, responses
    for (const Departure& d : m.departures) adaptive[d.event.id >> 31] += d.event.out_vc >= kAdaptive;
    EXPECT_EQ(adaptive[0] == 0, ordered);
    EXPECT_GT(adaptive[1], 0u);
  }
}

/// Adaptive packets make no initial and no final hop (manual, Adaptive Routing): the tag's +Y and -Z are
/// for others.
TEST(T3eInjection, AdaptivePacketsMakeNoExtraHops) {
  for (bool adapt : {false, true}) {
    Machine m({{0, kHere, kEast, 1}});
    m.tag(kHere, kEast, [&](t3e::Tag& tag) { tag = (tag & ~(3u << 15)) | 1u << 15 | 1u << 17 | u32{adapt} << 18; });
    m.run(60);
    EXPECT_EQ(m.outputs(kHere), (Outputs{{adapt ? kPlusX : kPlusY, 0}}));
    EXPECT_EQ(m.outputs(kHere, kEast), (Outputs{{adapt ? t3e::kNodePort : kMinusZ, 0}}));
  }
}

/// SELECT decides at a turn, whatever set the packet came on; a packet that goes on straight stays on its set.
TEST(T3eSelect, IsConsultedAtTurnsOnly) {
  for (u32 before : {0, 1})
    for (u32 after : {0, 1}) {
      Machine m({{0, kWest, kBelow, 1}, {20, kWest, kEast, 1}});
      for (u32 x : {2, 3})
        if (before) m.select_one(kWest, kPlusX, x);
      if (after) m.select_one(kHere, kMinusZ, 1), m.select_one(kHere, kPlusX, 3);
      m.run(60);
      EXPECT_EQ(m.outputs(kWest, kWest), (Outputs{{kPlusX, before}, {kPlusX, before}}));
      EXPECT_EQ(m.outputs(kWest), (Outputs{{kMinusZ, after}, {kPlusX, before}}));
    }
}

/// A packet comes from above on the adaptive VC and must leave it here: SELECT says for which set.
TEST(T3eSelect, IsConsultedOnLeavingTheAdaptiveVc) {
  const u32 above = at(2, 2, 3), to = at(3, 2, 1);
  for (u32 set : {0, 1}) {
    Machine m({{0, above, to, 1}});
    m.adapt(above, to);
    m.no_adapt(kHere, kMinusZ);
    if (set) m.select_one(kHere, kPlusX, 3);
    m.run(60);
    EXPECT_EQ(m.outputs(above, above), (Outputs{{kMinusZ, kAdaptive}}));
    EXPECT_EQ(m.outputs(above), (Outputs{{kPlusX, set}}));
  }
}

/// Even one that goes on in its direction, which it does if its deterministic VC was taken where it turned to adapt: it
/// asks the table. On a deterministic VC it would stay on its set.
TEST(T3eSelect, IsConsultedOnLeavingTheAdaptiveVcStraightOn) {
  const Machine m({});
  const struct {
    const t3e::Table& t;
  } view{m.table()};
  t3e::Registers registers = view.t.registers[kHere];
  Packet packet{};
  packet.dst = t3e::pack_address(2, 2, 1);
  packet.route_bits = 4 | t3e::kNoHop << t3e::kInitialShift | t3e::kAdaptBit;
  const auto choice = [&](u32 vc) { return t3e::choose(view, registers, kHere, packet, t3e::opposite(kMinusZ), vc); };
  for (u32 set : {0, 1}) {
    registers.vcsel[kMinusZ] = static_cast<u16>(set << 1);
    EXPECT_EQ(choice(kAdaptive).port, kMinusZ);
    EXPECT_EQ(choice(kAdaptive).vc, set);
    EXPECT_EQ(choice(0).vc, 0);
    EXPECT_EQ(choice(1).vc, 1);
  }
}

}  // namespace
}  // namespace flitlab::t3e_arbitration_test
