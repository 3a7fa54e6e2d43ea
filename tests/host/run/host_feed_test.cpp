/// Packets from the program that steps the network: compared with a trace of the same packets, for every model, and
/// independent of how the program steps.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "host/config/registry.hpp"
#include "host/run/host_feed.hpp"
#include "host/run/run.hpp"
#include "host/run/stepped.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/philox.hpp"
#include "tests/support/build.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab {

bool operator==(const ArrivedPacket& a, const ArrivedPacket& b) {
  return a.tag == b.tag && a.source == b.source && a.destination == b.destination && a.flits == b.flits &&
         a.hops == b.hops && a.created == b.created && a.injected == b.injected && a.head == b.head &&
         a.cycle == b.cycle;
}

}  // namespace flitlab

namespace flitlab::run_host_feed_test {
namespace {

using namespace testing;

u32 flits_of(std::string_view kind, u32 draw) { return kind == "metro" ? 4 : kind == "vc" ? 1 + draw % 6 : 1; }

/// Returns random packets between eight terminals, by rising cycle. Their tags are their numbers.
std::vector<OfferedPacket> random_packets(std::string_view kind, u32 count, u32 spacing) {
  std::vector<OfferedPacket> packets;
  u64 cycle = 0;
  for (u32 n = 0; n < count; ++n) {
    const Random4 r = philox(5, 98, 0, n);
    cycle += r.word[0] % (spacing + 1);
    const u64 source = r.word[1] % 8;
    packets.push_back({source, (source + 1 + r.word[2] % 7) % 8, flits_of(kind, r.word[3]), n, cycle});
  }
  return packets;
}

RawConfig network_of(std::string_view kind) { return Settings("router.kind=", std::string(kind)); }

Experiment hosted(RawConfig config) {
  set(config, "traffic.mode=host");
  return experiment(config);
}

struct Latencies {
  std::map<std::string, u64> totals;
  std::vector<ArrivedPacket> arrivals;
};

Latencies end_of(SteppedNetwork& net, std::vector<ArrivedPacket> arrivals, std::size_t packets) {
  for (u32 part = 0; arrivals.size() < packets && part < 400; ++part) {
    net.step(1000);
    const std::vector<ArrivedPacket> more = net.take_arrivals();
    arrivals.insert(arrivals.end(), more.begin(), more.end());
  }
  EXPECT_EQ(arrivals.size(), packets);
  return {net.totals(), arrivals};
}

/// Offers each packet in the cycle in which it is to be created.
std::vector<ArrivedPacket> offer_in_time(SteppedNetwork& net, const std::vector<OfferedPacket>& packets) {
  std::vector<ArrivedPacket> arrivals;
  for (std::size_t n = 0; n < packets.size();) {
    std::vector<OfferedPacket> now;
    for (; n < packets.size() && packets[n].cycle <= net.cycle(); ++n) {
      now.push_back(packets[n]);
      now.back().cycle = 0;
    }
    EXPECT_EQ(net.offer(now), now.size());
    net.step(1);
    for (const ArrivedPacket& a : net.take_arrivals()) {
      EXPECT_EQ(a.cycle, net.cycle() - 1);
      arrivals.push_back(a);
    }
  }
  return arrivals;
}

class HostFeedOf : public ::testing::TestWithParam<std::string> {};

TEST_P(HostFeedOf, PacketsTravelAsThoseOfATrace) {
  const std::vector<OfferedPacket> packets = random_packets(GetParam(), 600, 4);
  const std::string path = testing::temporary(".csv");
  {
    std::ofstream file(path);
    for (const OfferedPacket& p : packets)
      file << p.cycle << ',' << p.source << ',' << p.destination << ',' << p.flits << '\n';
  }
  RawConfig trace = network_of(GetParam());
  set(trace, "traffic.mode=trace traffic.trace_file=", path);
  SteppedNetwork replayed(experiment(trace), "cpu", 1, true), host(hosted(network_of(GetParam())), "cpu", 1, false);
  std::map<u32, ArrivedPacket> expected;
  for (u32 i = 0; i < 40; ++i) {
    replayed.step(250);
    for (const TimedEvent& e : replayed.take_events())
      if (e.event.kind == EventKind::kDelivered) expected[e.event.id].cycle = static_cast<Cycle>(e.cycle);
  }
  ASSERT_EQ(expected.size(), packets.size());
  EXPECT_EQ(host.offer(packets), packets.size());
  const Latencies found = end_of(host, {}, packets.size());
  Cycle last = 0;
  for (const ArrivedPacket& a : found.arrivals) {
    const OfferedPacket& p = packets.at(a.tag);
    EXPECT_EQ(a.source, p.source);
    EXPECT_EQ(a.destination, p.destination);
    EXPECT_EQ(a.flits, p.flits);
    EXPECT_GE(a.created, p.cycle);
    EXPECT_GE(a.injected, a.created);
    EXPECT_GE(a.cycle, a.injected);
    EXPECT_GE(a.cycle, last) << "not in order";
    last = a.cycle;
    if (a.head != kNever) {
      EXPECT_GE(a.head, a.injected);
      EXPECT_GE(a.cycle, a.head + a.flits - 1);
    }
  }
  u64 latency = 0, network_latency = 0;
  for (const ArrivedPacket& a : found.arrivals) {
    latency += a.cycle - a.created;
    network_latency += a.cycle - a.injected;
  }
  std::map<std::string, u64> of_trace = replayed.totals();
  for (const char* total : {"latency_sum", "network_latency_sum", "flit_moves", "packets_delivered"})
    EXPECT_EQ(found.totals.at(total), of_trace.at(total)) << total;
  // The source of a message in METRO checks the acknowledgement for three cycles after its arrival.
  const u64 late = GetParam() == "metro" ? 3 * packets.size() : 0;
  EXPECT_EQ(latency, of_trace["latency_sum"] + late);
  EXPECT_EQ(network_latency, of_trace["network_latency_sum"] + late);
  // In bless and adaptive, the event of a delivery comes when the packet leaves the last router.
  if (GetParam() == "metro" || GetParam() == "bless" || GetParam() == "adaptive") return;
  for (const ArrivedPacket& a : found.arrivals) EXPECT_EQ(a.cycle, expected[static_cast<u32>(a.tag)].cycle);
}

TEST_P(HostFeedOf, ItDoesNotMatterHowTheProgramSteps) {
  const std::vector<OfferedPacket> packets = random_packets(GetParam(), 400, 3);
  const Experiment e = hosted(network_of(GetParam()));
  SteppedNetwork at_once(e, "cpu", 1, false), one_by_one(e, "cpu", 1, false), traced(e, "cpu", 1, true),
      in_time(e, "cpu", 1, false);
  for (SteppedNetwork* net : {&at_once, &one_by_one, &traced}) net->offer(packets);
  at_once.step(700);
  for (u32 i = 0; i < 700; ++i) one_by_one.step(1);
  for (u32 i = 0; i < 7; ++i) traced.step(100);
  EXPECT_EQ(at_once.state_hash(), one_by_one.state_hash());
  EXPECT_EQ(at_once.state_hash(), traced.state_hash());
  const Latencies first = end_of(at_once, {}, packets.size());
  EXPECT_TRUE(first.arrivals == end_of(one_by_one, {}, packets.size()).arrivals);
  EXPECT_TRUE(first.arrivals == end_of(traced, {}, packets.size()).arrivals);
  std::vector<ArrivedPacket> arrivals = offer_in_time(in_time, packets);
  EXPECT_TRUE(first.arrivals == end_of(in_time, arrivals, packets.size()).arrivals);
}

TEST_P(HostFeedOf, ACheckpointKeepsWhatIsOnItsWay) {
  const std::vector<OfferedPacket> packets = random_packets(GetParam(), 400, 3);
  const Experiment e = hosted(network_of(GetParam()));
  SteppedNetwork net(e, "cpu", 1, false), other(e, "cpu", 1, false);
  net.offer(packets);
  net.step(333);
  const std::string path = testing::temporary(".checkpoint");
  net.save(path);
  other.load(path);
  EXPECT_EQ(net.arrivals(), other.arrivals());
  EXPECT_TRUE(end_of(net, {}, packets.size()).arrivals == end_of(other, {}, packets.size()).arrivals);
}

TEST_P(HostFeedOf, StepsToEachArrival) {
  std::vector<OfferedPacket> packets = random_packets(GetParam(), 100, 40);
  packets.push_back({0, 3, flits_of(GetParam(), 0), 100, 60'000});
  const Experiment e = hosted(network_of(GetParam()));
  SteppedNetwork net(e, "cpu", 1, false), all(e, "cpu", 1, false);
  net.offer(packets);
  all.offer(packets);
  all.step(70'000);
  std::vector<ArrivedPacket> arrivals;
  while (net.step_to_arrival(kEndOfTime))
    for (const ArrivedPacket& a : net.take_arrivals()) {
      EXPECT_EQ(a.cycle + 1, net.cycle());
      arrivals.push_back(a);
    }
  EXPECT_TRUE(arrivals == all.take_arrivals());
  EXPECT_EQ(arrivals.size(), packets.size());
  EXPECT_LT(net.cycle(), 62'000u) << "without packets, the network does not step to the end of time";
}

/// A packet that is offered for a later cycle has no effect on packets of the same source that were offered before.
TEST_P(HostFeedOf, LaterPacketsDoNotChangeEarlierOnes) {
  const Experiment e = hosted(network_of(GetParam()));
  SteppedNetwork net(e, "cpu", 1, false), other(e, "cpu", 1, false);
  for (u32 n = 0; n < 150; ++n) {
    const std::vector<OfferedPacket> packet{{0, 1 + n % 7, flits_of(GetParam(), n), n, 0}};
    net.offer(packet);
    other.offer(packet);
  }
  net.step(20);
  other.step(20);
  other.offer(std::vector<OfferedPacket>{{0, 1, flits_of(GetParam(), 0), 150, 50'000}});
  net.step(20'000);
  other.step(20'000);
  const std::vector<ArrivedPacket> arrivals = net.take_arrivals();
  EXPECT_EQ(arrivals.size(), 150u);
  EXPECT_TRUE(arrivals == other.take_arrivals());
}

INSTANTIATE_TEST_SUITE_P(Models, HostFeedOf, ::testing::ValuesIn(testing::kinds()),
                         [](const auto& info) { return info.param; });

/// Two packets alone in a 4x4 mesh: the second begins 1000 cycles later, and arrives as long after its creation.
TEST(HostFeed, StepsToAnArrival) {
  SteppedNetwork net(hosted(Settings("topology.kind=mesh")), "cpu", 1, false);
  net.offer(std::vector<OfferedPacket>{{0, 5, 3, 70, 10}, {0, 5, 3, 71, 1010}});
  ASSERT_TRUE(net.step_to_arrival(5000));
  const u64 first = net.cycle();
  EXPECT_EQ(net.arrivals(), 1u);
  EXPECT_TRUE(net.step_to_arrival(5000));  // does nothing: a packet is waiting to be taken
  EXPECT_EQ(net.cycle(), first);
  const std::vector<ArrivedPacket> one = net.take_arrivals(), none = net.take_arrivals();
  ASSERT_EQ(one.size(), 1u);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(one[0].tag, 70u);
  EXPECT_EQ(one[0].created, 10u);
  EXPECT_EQ(one[0].cycle, first - 1);
  EXPECT_EQ(one[0].hops, 2u);
  EXPECT_EQ(one[0].head + 2, one[0].cycle);
  ASSERT_TRUE(net.step_to_arrival(5000));
  EXPECT_EQ(net.cycle(), first + 1000);
  EXPECT_EQ(net.take_arrivals().at(0).tag, 71u);
  EXPECT_FALSE(net.step_to_arrival(1'000'000'000));
  EXPECT_EQ(net.cycle(), 1'000'000'000u);
  EXPECT_FALSE(net.step_to_arrival(~u64{0}));  // nothing is on its way
  EXPECT_EQ(net.cycle(), 1'000'000'000u);
}

/// Without a way to a destination METRO drops messages; waiting for an arrival then ends all the same.
TEST(HostFeed, DroppedPacketsDoNotHoldUpTheClock) {
  SteppedNetwork net(hosted(Settings("router.kind=metro endpoint.most_attempts=1")), "cpu", 1, false);
  std::vector<OfferedPacket> packets;
  for (u32 n = 0; n < 200; ++n) packets.push_back({n % 8, 9, 4, n, n});
  net.offer(packets);
  u64 arrived = 0;
  while (net.step_to_arrival(kEndOfTime)) arrived += net.take_arrivals().size();
  const u64 dropped = net.totals()["packets_dropped"];
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(arrived + dropped, packets.size());
  EXPECT_LT(net.cycle(), 100'000u);
}

/// A full source refuses packets until the head of one of its packets has left.
TEST(HostFeed, AFullSourceRefusesPackets) {
  SteppedNetwork net(hosted(Settings("topology.kind=mesh traffic.source_packets=3")), "cpu", 1, false);
  const std::vector<OfferedPacket> five(5, {2, 9, 8, 1, 0});
  EXPECT_EQ(net.offer(five), 3u);
  EXPECT_EQ(net.waiting(2), 3u);
  EXPECT_EQ(net.offer(five), 0u);
  EXPECT_EQ(net.offer(std::vector<OfferedPacket>{{3, 9, 8, 2, 0}}), 1u);
  net.step(1);
  EXPECT_EQ(net.waiting(2), 2u);  // the head of the first packet has left
  EXPECT_EQ(net.offer(five), 1u);
  net.step(500);
  EXPECT_EQ(net.waiting(2), 0u);
  EXPECT_EQ(net.take_arrivals().size(), 5u);
}

/// Lanes, the canonical state and the memory layout of GPUs deliver the same packets when the host offers some in any
/// cycle.
TEST(HostFeed, EnginesAgree) {
  const Experiment e = hosted(Settings("topology.shape=[8,8] router.vcs=4"));
  EngineChoice lanes{"cpu", 1, false, 1}, canonical = lanes, wide = lanes;
  lanes.lanes = LaneUse::kAlways;
  canonical.lanes = LaneUse::kNever;
  wide.width = kWide;
  Network nets[] = {Network(e, lanes), Network(e, canonical), Network(e, wide)};
  std::vector<ArrivedPacket> arrivals[3];
  for (u32 now = 0; now < 3000; ++now) {
    std::vector<OfferedPacket> packets;
    for (u32 n = 0; n < (now < 2000 ? 4 : 0); ++n) {
      const Random4 r = philox(8, 97, now, n);
      packets.push_back({r.word[0] % 64, r.word[1] % 64, 1 + r.word[2] % 5, now * 4 + n, r.word[3] % 3 ? 0 : now + 90});
    }
    for (u32 i = 0; i < 3; ++i) {
      HostFeed& feed = dynamic_cast<HostFeed&>(*nets[i].feeds[0]);
      feed.offer(packets, *nets[i].engine, 0);
      nets[i].step(1);
      feed.collect(*nets[i].engine, 0);
      for (const ArrivedPacket& a : feed.take(now + 1, ~std::size_t{0})) arrivals[i].push_back(a);
    }
    for (u32 i = 1; i < 3 && now % 500 == 7; ++i)
      ASSERT_EQ(nets[0].engine->state_hash(0), nets[i].engine->state_hash(0)) << now << ", engine " << i;
  }
  EXPECT_EQ(arrivals[0].size(), 8000u);
  EXPECT_TRUE(arrivals[0] == arrivals[1]);
  EXPECT_TRUE(arrivals[0] == arrivals[2]);
}

/// Packets of several classes travel as in an open loop that creates the same packets in the same cycles.
TEST(HostFeed, ClassesTravelAsInAnOpenLoop) {
  for (const char* options : {"2 traffic.class_vcs=shared", "3 traffic.class_priority=[1,0,2]",
                              "2 traffic.class_vcs=ranges traffic.class_first_vc=[0,1] traffic.class_last_vc=[2,3] "
                              "router.arbiter=highest_priority_first traffic.class_priority=[0,3]"}) {
    const std::string common = std::string("topology.kind=mesh router.vcs=6 traffic.classes=") + options;
    SteppedNetwork open(experiment(Settings("traffic.load=0.5 traffic.packet_flits=[[1,0.5],[6,0.5]] ", common)), "cpu",
                        1, true);
    open.step(3000);
    const u32 classes = options[0] - '0';
    std::vector<OfferedPacket> packets;
    std::map<std::pair<u32, u32>, u64> number, expected;  // of a source and a packet's number
    for (const TimedEvent& e : open.take_events()) {
      const Event& event = e.event;
      if (event.kind == EventKind::kCreated) {
        number[{event.src, event.id}] = packets.size();
        packets.push_back({event.src, event.dst, event.flits, packets.size(), e.cycle, event.id % classes});
      } else if (event.kind == EventKind::kDelivered) {
        expected[{event.src, event.id}] = e.cycle;
      }
    }
    ASSERT_GT(expected.size(), 4000u);
    for (const LaneUse lanes : {LaneUse::kAlways, LaneUse::kNever}) {
      EngineChoice choice{"cpu", 1, false, 1};
      choice.lanes = lanes;
      Network net(hosted(Settings(common)), choice);
      HostFeed& feed = dynamic_cast<HostFeed&>(*net.feeds[0]);
      EXPECT_EQ(feed.offer(packets, *net.engine, 0), packets.size());
      net.step(3000);
      feed.collect(*net.engine, 0);
      std::map<u64, u64> arrivals;
      for (const ArrivedPacket& a : feed.take(3000, ~std::size_t{0})) arrivals[a.tag] = a.cycle;
      EXPECT_EQ(arrivals.size(), expected.size()) << options;
      for (const auto& [packet, cycle] : expected) ASSERT_EQ(arrivals.at(number.at(packet)), cycle) << options;
    }
  }
}

/// A damaged checkpoint: queued packets to terminals that do not exist, or of other lengths, are not loaded.
TEST(HostFeed, LoadsOnlyPossibleQueues) {
  Network from(hosted(Settings("topology.kind=mesh")));
  const auto saved = [&](const OfferedPacket& queued) {
    dynamic_cast<HostFeed&>(*from.feeds[0]).offer(std::vector<OfferedPacket>{queued}, *from.engine, 0);
    std::stringstream memory;
    Saver saver(memory);
    from.feeds[0]->save(saver);
    return memory.str();
  };
  const auto load = [](const std::string& bytes, const Settings& network) {
    Network to(hosted(network));
    std::stringstream memory(bytes);
    Loader loader(memory);
    to.feeds[0]->load(loader);
  };
  const std::string short_packet = saved({3, 4, 2, 0, 900}), long_packet = saved({3, 4, 9, 0, 900});
  EXPECT_NO_THROW(load(long_packet, Settings("topology.kind=mesh")));
  EXPECT_THROW(load(short_packet, Settings("topology.kind=mesh topology.shape=[2,2]")), ConfigError);
  const Settings cut_through("topology.kind=mesh router.flow_control=virtual_cut_through router.buffer_flits=8");
  EXPECT_NO_THROW(load(short_packet, cut_through));
  EXPECT_THROW(load(long_packet, cut_through), ConfigError);
}

TEST(HostFeed, RefusesPacketsThatTheNetworkCannotCarry) {
  SteppedNetwork net(hosted(Settings("topology.kind=mesh traffic.self=false")), "cpu", 1, false);
  const OfferedPacket good{0, 1, 1, 0, 0};
  const auto message = [&](const OfferedPacket& bad) {
    try {
      net.offer(std::vector<OfferedPacket>{good, bad});
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({16, 1, 1, 0, 0}),
            "packet 1 (16 to 1, 1 flits): terminal 16 does not exist: terminals are numbered 0 to 15.");
  EXPECT_NE(message({0, ~u64{0}, 1, 0, 0}).find("does not exist"), std::string::npos);
  EXPECT_NE(message({3, 3, 1, 0, 0}).find("sends to itself"), std::string::npos);
  EXPECT_NE(message({3, 4, 0, 0, 0}).find("must have 1 to"), std::string::npos);
  EXPECT_NE(message({3, 4, u64{1} << 32, 0, 0}).find("must have 1 to"), std::string::npos);
  EXPECT_NE(message({3, 4, 1, 0, u64{1} << 40}).find("the cycle must be below"), std::string::npos);
  EXPECT_EQ(net.waiting(0), 0u) << "the good packet must not be accepted either";
  EXPECT_THROW(net.waiting(16), ConfigError);
  SteppedNetwork open(experiment("topology.kind=mesh"), "cpu", 1, false);
  EXPECT_THROW(open.offer({}), ConfigError);
  EXPECT_THROW(open.take_arrivals(), ConfigError);
  EXPECT_THROW(run_job({hosted(Settings("topology.kind=mesh"))}, {"cpu", 1, false}, nullptr, {}), ConfigError);
}

}  // namespace
}  // namespace flitlab::run_host_feed_test
