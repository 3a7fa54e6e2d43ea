/// Conservation in METRO: whatever component fails, every message is accepted exactly once or is still being sent.
#include <gtest/gtest.h>

#include "kernels/common/philox.hpp"
#include "kernels/routers/metro/totals.hpp"
#include "tests/support/metro/metro.hpp"

namespace flitlab::metro_conservation_test {
namespace {

using namespace testing;

RawConfig loaded(RawConfig changes = {}) {
  changes.merge(
      Settings("router.kind=metro topology.radix=[2,2,4] topology.dilation=[2,2,1] traffic.load=0.4 "
               "endpoint.checksum=crc32 traffic.packet_flits=[[20,1.0]]"));
  return changes;
}

/// Runs a batch until all messages are delivered, with an audit every 500 cycles.
void deliver_all(RawConfig changes, u32 packets, u32 most = 400000) {
  changes.erase("traffic.load");
  set(changes, "traffic.mode=batch traffic.batch_packets=", packets);
  Network net(experiment(changes));
  const u64 all = u64{packets} * net.plan->topology().terminals;
  u32 cycles = 0;
  for (; net.total(Total::kPacketsDelivered) < all && cycles < most; cycles += 500) {
    net.step(500);
    check_conservation(*net.engine, *net.plan, 0);
  }
  EXPECT_EQ(net.total(Total::kPacketsDelivered), all);
  EXPECT_EQ(net.total(metro::Count::kAccepted), all);
  EXPECT_EQ(net.total(metro::Count::kAcceptedWrong), 0u);
  net.step(500);
  for (u32 r = 0; r < net.plan->topology().routers; ++r)
    for (const PortSnapshot& port : net.plan->inspect_router(net.engine->state(0), r))
      EXPECT_TRUE(port.vcs[0].stage == "idle" || port.vcs[0].stage == "off") << r << " " << port.name;
}

TEST(MetroConservation, WithoutFaults) {
  RawConfig c = loaded();
  c.erase("traffic.load");
  for (const char* retry : {"immediate", "backoff"})
    for (bool fast : {true, false})
      deliver_all(loaded(Settings("endpoint.retry=", retry, " router.fast_reclaim=", fast)), 60);
}

TEST(MetroConservation, OfRandomRouters) {
  for (u32 draw = 0; draw < 24; ++draw) {
    const Random4 r = philox(11, 1, 0, draw), q = philox(11, 2, 0, draw);
    RawConfig c = loaded({{"router.header_words", integer(r.word[0] % 3)},
                          {"router.pipeline_stages", integer(1 + r.word[1] % 3)},
                          {"topology.wire_delay", integer(r.word[2] % 4)},
                          {"topology.entry_delay", integer(r.word[3] % 3)},
                          {"router.cascade", integer(1 + q.word[0] % 4)},
                          {"router.width", integer(4 + q.word[1] % 6)},
                          {"router.random_inputs", integer(1 + q.word[2] % 4)},
                          {"router.fast_reclaim", (q.word[3] & 1) != 0},
                          {"endpoint.closed_by", word(q.word[3] & 2 ? "source" : "destination")},
                          {"endpoint.retry", word(q.word[3] & 4 ? "immediate" : "backoff")},
                          {"topology.wiring", word(q.word[3] & 8 ? "random" : "regular")},
                          {"run.seed", integer(draw + 1)}});
    SCOPED_TRACE(draw);
    deliver_all(c, 25);
  }
}

TEST(MetroConservation, OfAFatTree) {
  for (u32 links : {2u, 4u}) {
    RawConfig c =
        loaded(Settings("topology.kind=fat_tree topology.links=", links, " topology.levels=3 router.max_dilation=4"));
    c.erase("topology.radix");
    c.erase("topology.dilation");
    deliver_all(c, 30);
  }
}

/// Faults under traffic: wires that are dead, stuck or noisy, a router that dies and is repaired, and a slice of a
/// cascaded router that allocates the wrong port.
TEST(MetroConservation, WithFaultsThatAppearAndGo) {
  const TextFile faults(
      "0,noise,0.1.0.1,0.02\n"
      "300,dead,1.2\n"
      "500,stuck1,0.3.1.0,3\n"
      "700,stuck0,1.5.0.0,9\n"
      "900,dead,2.1.2.0\n"
      "1100,noise,e3.0,0.05\n"
      "1500,repair,1.2\n"
      "1700,dead,0.5\n"
      "1900,misallocate,1.0,0.2\n"
      "2100,noise,2.4.1,0.1\n"
      "2500,off,1.3.0.1\n"
      "3000,on,1.3.0.1\n");
  for (u32 cascade : {1u, 2u})
    for (bool fast : {true, false})
      deliver_all(
          loaded(Settings("faults.file=", faults.path, " router.cascade=", cascade, " router.fast_reclaim=", fast)),
          150);
}

/// Any bit of the field that gives the kind of a word is stuck at 0 or 1 on any router's wire. Words change their kind,
/// but no message is lost.
TEST(MetroConservation, WithStuckKinds) {
  for (u32 bit = 0; bit < 3; ++bit)
    for (const char* stuck : {"stuck0", "stuck1"})
      for (bool fast : {true, false}) {
        const std::string at = std::to_string(4 + bit) + "\n";
        const TextFile faults("0," + std::string(stuck) + ",1.0.0," + at + "0," + stuck + ",0.1.1.0," + at +
                              "0,noise,2.1.0,0.1\n");
        SCOPED_TRACE(std::string(stuck) + " bit " + at);
        deliver_all(loaded(Settings("faults.file=", faults.path, " router.fast_reclaim=", fast,
                                    " router.width=4 topology.dilation=[4,4,1] topology.links=4")),
                    100);
      }
}

/// A stuck bit turns STATUS into DATA, and in 4-bit words port 6 looks like an acknowledgment. The source must not
/// accept it as one.
TEST(MetroConservation, StatusIsNoAcknowledgment) {
  const TextFile faults("0,stuck0,1.0.0,6\n");
  Network net(experiment(loaded(Settings("faults.file=", faults.path,
                                         " router.fast_reclaim=false router.width=4 topology.dilation=[4,4,1] "
                                         "topology.links=4 traffic.load=0.3 traffic.packet_flits=[[40,1.0]]"))));
  for (u32 i = 0; i < 60; ++i) {
    net.step(2000);
    ASSERT_NO_THROW(check_conservation(*net.engine, *net.plan, 0)) << net.engine->now();
  }
}

/// In words of one bit, an acknowledgment and a refusal differ in a single bit.
TEST(MetroConservation, OfNarrowWordsWithNoise) {
  const TextFile faults("0,noise,0.0.0.0,0.02\n0,noise,0.1.0.0,0.02\n0,noise,1.0.0,0.02\n0,noise,e1.0,0.02\n");
  deliver_all(loaded(Settings(
                  "faults.file=", faults.path,
                  " router.width=1 topology.radix=[2,2,2] topology.dilation=[1,1,1] traffic.packet_flits=[[60,1.0]]")),
              60, 2000000);
}

/// Slices that disagree for a while, with and without the in-use check that closes their connections.
TEST(MetroConservation, OfSlicesThatDisagreeForAWhile) {
  const TextFile faults(
      "0,misallocate,0.0:1,0.5\n0,misallocate,1.1:2,0.5\n100,dead,1.2:0\n2000,repair,1.2:0\n"
      "2000,misallocate,0.0:1,0\n2000,misallocate,1.1:2,0\n");
  for (const char* retry : {"immediate", "backoff"})
    for (u32 cascade : {3u, 4u})
      for (bool check : {true, false})
        deliver_all(loaded(Settings("faults.file=", faults.path, " router.cascade=", cascade,
                                    " router.in_use_check=", check, " endpoint.retry=", retry)),
                    100);
}

/// With weaker checksums the destination may accept a damaged message. flitlab counts it, and the run continues.
TEST(MetroConservation, WeakChecksAreNoDefect) {
  const TextFile faults("0,misallocate,0.0,0.5\n0,misallocate,0.1,0.5\n0,noise,1.0.0.0,0.1\n");
  for (const char* check : {"none", "crc8", "crc16"}) {
    Network net(experiment(loaded(Settings("faults.file=", faults.path, " endpoint.checksum=", check))));
    for (u32 i = 0; i < 10; ++i) {
      net.step(1000);
      check_conservation(*net.engine, *net.plan, 0);
    }
    EXPECT_TRUE(net.total(metro::Count::kAcceptedWrong) > 0 || std::string(check) != "none");
  }
}

/// A scan register drives a data word onto a wire without end while the far end of the wire is on. The source uses its
/// other link and is not blocked.
TEST(MetroConservation, ABabblingWireDoesNotBlockItsSource) {
  testing::MetroNet net({}, 0, 5, 10);
  net.step(12);
  const metro::Wire wire = net.network().leaving(0, net.source().link);
  MetroRegisters registers(net.engine(), 0, net.table());
  const std::string port = "f" + std::to_string(wire.port);
  registers.set(wire.item, "on." + port, 0, net.network());
  registers.set(wire.item, "drive." + port, metro::make_word(metro::Kind::kData, 6), net.network());
  for (u32 i = 0; i < 100 && !net.total(Total::kPacketsDelivered); ++i) net.step(100);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 1u);  // delivered over the other link
  EXPECT_GT(net.total(metro::Count::kAttempts), 1u);
}

TEST(MetroConservation, WithRandomDeadRoutersAndLinks) {
  for (u32 seed = 1; seed <= 6; ++seed)
    deliver_all(loaded(Settings("faults.dead_routers=0.1 faults.dead_links=0.1 faults.seed=", seed,
                                " faults.cycle=400 faults.masked=", seed % 2 == 0)),
                60);
}

/// One slice of a cascaded router often chooses another port than the other slices. The in-use check closes those
/// connections, so no damaged message is accepted. Without that check, the end-to-end checksums reject the messages.
TEST(MetroCascade, AFaultySliceIsContained) {
  const TextFile faults("0,misallocate,0.2:1,0.5\n");
  for (bool check : {true, false}) {
    RawConfig c =
        loaded(Settings("router.cascade=2 router.width=4 faults.file=", faults.path, " router.in_use_check=", check));
    Network net(experiment(c));
    net.step(6000);
    check_conservation(*net.engine, *net.plan, 0);
    EXPECT_EQ(net.total(metro::Count::kAcceptedWrong), 0u);
    EXPECT_EQ(net.total(metro::Count::kShut) > 0, check);
    EXPECT_GT(net.total(Total::kPacketsDelivered), 300u);
    deliver_all(c, 40);
  }
}

TEST(MetroCascade, AgreesAsLongAsNothingIsWrong) {
  Network net(experiment(loaded(Settings("router.cascade=4 router.width=4"))));
  net.step(5000);
  EXPECT_EQ(net.total(metro::Count::kShut), 0u);
  EXPECT_GT(net.total(Total::kPacketsDelivered), 1000u);
}

/// Without shared randomness cascaded routers disagree all the time.
TEST(MetroCascade, NeedsSharedRandomness) {
  Network net(experiment(loaded(Settings("router.cascade=2 router.width=4 router.shared_random=false"))));
  net.step(5000);
  EXPECT_GT(net.total(metro::Count::kShut), 500u);
  EXPECT_EQ(net.total(metro::Count::kAcceptedWrong), 0u);
  check_conservation(*net.engine, *net.plan, 0);
}

/// The first wrong checksum that the source receives shows behind which stage the faulty wire is.
TEST(MetroFaults, ChecksumsLocateDamage) {
  for (u32 stage = 0; stage < 3; ++stage) {
    const TextFile faults("0,stuck1," + std::to_string(stage) + ".0.0.0,2\n");
    Network net(experiment(loaded(Settings("faults.file=", faults.path, " traffic.load=0.1"))));
    net.step(20000);
    const CounterShard c = net.engine->counters(0);
    for (u32 s = 0; s < 8; ++s) {
      const u64 n = c.total[static_cast<u32>(metro::Count::kDamaged) + s];
      if (s == stage + 1 && stage < 2)
        EXPECT_GT(n, 10u) << stage;
      else
        EXPECT_EQ(n, 0u) << stage << " " << s;
    }
    EXPECT_GT(net.total(metro::Count::kRefused), 10u) << stage;
    EXPECT_EQ(net.total(metro::Count::kAcceptedWrong), 0u);
  }
}

/// Noise in the reverse direction damages no message, and flitlab does not count it as damage to one.
TEST(MetroFaults, ReverseDamageIsNotAttributedToMessages) {
  const TextFile faults("0,noise,1.0.0,0.05\n0,noise,1.1.1,0.05\n");
  Network net(experiment(loaded(Settings("faults.file=", faults.path, " traffic.load=0.1"))));
  net.step(20000);
  EXPECT_EQ(net.total(metro::Count::kRefused), 0u);
  EXPECT_GT(net.total(metro::Count::kDuplicates), 10u);  // messages sent again because noise hit their acknowledgment
  check_conservation(*net.engine, *net.plan, 0);
}

/// Neither a dead router nor the routers behind it return STATUS, so the first missing STATUS locates the fault.
TEST(MetroFaults, MissingStatusLocatesADeadRouter) {
  for (u32 stage = 0; stage < 3; ++stage) {
    const TextFile faults("0,dead," + std::to_string(stage) + ".1\n");
    Network net(experiment(loaded(Settings("faults.file=", faults.path, " traffic.load=0.1"))));
    net.step(20000);
    const CounterShard c = net.engine->counters(0);
    for (u32 s = 0; s < 8; ++s) {
      const u64 n = c.total[static_cast<u32>(metro::Count::kLost) + s];
      if (s == stage)
        EXPECT_GT(n, 100u) << stage;
      else
        EXPECT_EQ(n, 0u) << stage << " " << s;
    }
    check_conservation(*net.engine, *net.plan, 0);
  }
}

/// The source locates where a message was blocked in two ways: by the time of the backward control bit, or by STATUS.
/// Both give the same result.
TEST(MetroFaults, BothModesLocateBlocking) {
  u64 counts[2][3] = {};
  for (bool fast : {true, false}) {
    Network net(experiment(loaded(Settings("router.fast_reclaim=", fast, " traffic.load=0.4"))));
    net.step(40000);
    const CounterShard c = net.engine->counters(0);
    for (u32 s = 0; s < 3; ++s) counts[fast][s] = c.total[static_cast<u32>(metro::Count::kBlocked) + s];
    EXPECT_EQ(c.total[static_cast<u32>(metro::Count::kLost)], 0u);
    u64 blocked = 0;
    for (u32 s = 0; s < 3; ++s) blocked += counts[fast][s];
    EXPECT_NEAR(double(net.total(metro::Count::kAttempts) - net.total(Total::kPacketsDelivered)), double(blocked), 32);
  }
  for (u32 s = 0; s < 3; ++s) EXPECT_GT(counts[0][s], 50u) << s;
  for (u32 s = 0; s < 3; ++s) EXPECT_GT(counts[1][s], 50u) << s;
}

}  // namespace
}  // namespace flitlab::metro_conservation_test
