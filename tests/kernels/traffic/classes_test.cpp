/// Several classes of packets: the order in which a terminal sends their flits, by hand; their shares, and their
/// sources, which do not depend on one another.
#include <gtest/gtest.h>

#include "host/routers/vc/plan.hpp"
#include "kernels/traffic/class_totals.hpp"
#include "tests/support/build.hpp"
#include "tests/support/fields.hpp"

namespace flitlab::traffic_classes_test {
namespace {

using namespace testing;

/// Returns the class whose flit terminal 0 sends in each cycle from cycle 5 on, '-' for none. Its only packets have 6
/// flits and are created in cycles 5 (class 0) and 7 (class 1).
std::string order_of_flits(const char* options) {
  Network net(
      experiment("topology.kind=mesh topology.shape=[2] traffic.pattern=neighbour traffic.load=0.0 "
                 "traffic.packet_flits=6 traffic.classes=2 ",
                 options));
  edit<TerminalControl>(net, 1, "control", [](auto& terminals, u32) { terminals[0].next.at = 5; });
  edit<ClassSource>(net, 1, "source", [](auto& sources, u32) {
    for (u32 c : {0u, 1u}) sources[c].next.at = sources[c].oldest.at = 5 + 2 * c;
  });
  std::string order;
  net.step(5);
  u32 left[2] = {6, 6};
  for (u32 cycle = 0; cycle < 14; ++cycle) {
    net.step(1);
    char sent = '-';
    const std::vector<ClassSource> sources = field<ClassSource>(net, 1, "source");
    for (u32 c : {0u, 1u}) {
      const ClassSource& s = sources[c];
      const u32 now = s.sent ? s.lane.left : 6;
      if (now != left[c]) sent = static_cast<char>('0' + c);
      left[c] = now;
    }
    order += sent;
  }
  return order;
}

TEST(Classes, TerminalsSendByPriorityAndOtherwiseInTurns) {
  EXPECT_EQ(order_of_flits(""), "001010101011--");
  EXPECT_EQ(order_of_flits("traffic.class_priority=[0,1]"), "001111110000--");
  EXPECT_EQ(order_of_flits("traffic.class_priority=[1,0]"), "000000111111--");
}

/// With one virtual channel for both classes, a packet must end before another one starts, whatever its priority.
TEST(Classes, PacketsDoNotMixInAVirtualChannel) {
  EXPECT_EQ(order_of_flits("traffic.class_priority=[0,1] traffic.class_vcs=shared router.vcs=1"), "000000111111--");
  EXPECT_EQ(order_of_flits("traffic.class_priority=[0,1] traffic.class_vcs=shared router.vcs=2"), "001111110000--");
}

/// Each class offers its share of the load, in flits, whatever the length of its packets.
TEST(Classes, SharesAreOfTheLoad) {
  Network net(
      experiment("traffic.classes=3 traffic.class_share=[1,2,5] traffic.class_flits=[1,4,8] traffic.load=0.16 "
                 "router.vcs=6"));
  ReplicaRow row = net.engine->row(0);
  row.window_begin = 0;
  net.engine->set_row(0, row);
  net.step(100000);
  const CounterShard shard = net.engine->counters(0);
  const double slots = 16 * 100000.0;
  for (u32 c = 0; c < 3; ++c) {
    const double share[] = {0.02, 0.04, 0.1},
                 offered = static_cast<double>(total_of(shard, ClassTotal::kOfferedFlits, c)),
                 accepted = static_cast<double>(total_of(shard, ClassTotal::kAcceptedFlits, c));
    EXPECT_NEAR(offered / slots, share[c], 0.03 * share[c]) << c;
    EXPECT_NEAR(accepted, offered, 500) << c;
  }
  u64 offered = 0, delivered = 0, latency = 0;
  for (u32 c = 0; c < 3; ++c) {
    offered += total_of(shard, ClassTotal::kOfferedFlits, c);
    delivered += total_of(shard, ClassTotal::kDelivered, c);
    latency += total_of(shard, ClassTotal::kMeasuredLatency, c);
  }
  EXPECT_EQ(offered, net.total(Total::kFlitsCreated));
  EXPECT_EQ(delivered, net.total(Total::kPacketsDelivered));
  EXPECT_EQ(latency, net.total(Total::kLatencySum));
}

/// Class 0 creates the same packets as without other classes at its share of the load. Another class of the same
/// pattern and rate creates other packets.
TEST(Classes, SourcesAreIndependent) {
  Network both(experiment("traffic.classes=2 traffic.load=0.4")), alone(experiment("traffic.load=0.2"));
  ItemFields<ClassSource> sources(both, 1, "source");
  ItemFields<TerminalControl> single(alone, 1, "control");
  both.step(5000);
  alone.step(5000);
  sources.read();
  single.read();
  u32 same = 0;
  for (u32 terminal = 0; terminal < 16; ++terminal) {
    EXPECT_EQ(sources(terminal, 0).next.at, single(terminal).next.at);
    EXPECT_EQ(sources(terminal, 0).created, single(terminal).created);
    same += sources(terminal, 1).next.at == sources(terminal, 0).next.at;
  }
  EXPECT_LT(same, 8u);
}

/// A class with virtual channels of its own and the highest priority hardly notices that another class floods the
/// network. If routers compare ages instead, it waits for the older packets of the flood.
TEST(Classes, AHighPriorityPassesAFlood) {
  const auto latency = [](double load, const char* arbiter) {
    Network net(
        experiment("topology.shape=[8,8] traffic.classes=2 traffic.class_share=[19,1] "
                   "traffic.class_flits=[4,1] traffic.class_priority=[0,1] traffic.load=",
                   load, " router.arbiter=", arbiter));
    ReplicaRow row = net.engine->row(0);
    row.window_begin = 1000;
    net.engine->set_row(0, row);
    net.step(6000);
    const CounterShard shard = net.engine->counters(0);
    return static_cast<double>(total_of(shard, ClassTotal::kMeasuredLatency, 1)) /
           static_cast<double>(total_of(shard, ClassTotal::kMeasured, 1));
  };
  const double quiet = latency(0.05, "highest_priority_first"), by_priority = latency(0.9, "highest_priority_first"),
               by_age = latency(0.9, "oldest_first");
  EXPECT_LT(by_priority, 1.05 * quiet);
  EXPECT_GT(by_age, 1.3 * quiet);
}

}  // namespace
}  // namespace flitlab::traffic_classes_test
