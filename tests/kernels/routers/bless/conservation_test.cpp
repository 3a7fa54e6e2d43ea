/// Conservation of flits and packets in BLESS for any network and any load.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "kernels/routers/bless/totals.hpp"
#include "tests/support/bless/bless.hpp"
#include "tests/support/bless/random.hpp"

namespace flitlab::bless_conservation_test {
namespace {

using namespace testing;

using Name = std::pair<u32, u32>;  // source and number of a packet

/// Checks that every packet that was started and not delivered has each of its flits at exactly one location: on a
/// channel, still at its source, or in reassembly at its destination.
void expect_whole_packets(BlessNetwork& net) {
  std::map<Name, std::set<u32>> flying;
  std::map<Name, u32> length, waiting;
  for (const testing::FlyingFlit& f : net.flits()) {
    EXPECT_TRUE(flying[Name(f.flit.src, f.flit.id)].insert(f.flit.via).second) << "a flit twice";
    length[Name(f.flit.src, f.flit.id)] = f.flit.flits;
  }
  const std::vector<std::byte> state = net.engine->state(0);
  std::map<Name, u32> missing;
  for (u32 i = 0; i < net.t.terminals; ++i) {
    const Item<1> terminal = item_of(state, net.bless.layout(), 1, i);
    const Packet& sending = terminal.at(net.t.interface_fields.sending);
    if (const u32 left = terminal.at(net.t.terminal_fields.control).lane.left) {
      waiting[Name(i, sending.id)] = left;
      length[Name(i, sending.id)] = sending.flits;
    }
    for (u32 p = 0; p < terminal.at(net.t.interface_fields.reassembly).open; ++p) {
      const bless::Partial& partial = terminal.at(net.t.interface_fields.partial, p);
      EXPECT_TRUE(missing.emplace(Name(partial.src, partial.id), partial.left).second) << "a packet at two locations";
    }
  }
  for (const auto& [name, left] : missing) EXPECT_TRUE(length.count(name)) << "a packet that can never be complete";
  for (const auto& [name, flits] : length)
    EXPECT_EQ(flying[name].size() + waiting[name], missing.count(name) ? missing[name] : flits)
        << name.first << '#' << name.second;
  EXPECT_EQ(length.size(), net.total(Total::kPacketsInjected) - net.total(Total::kPacketsDelivered));
}

TEST(BlessConservation, HoldsForAllNetworksAndLoads) {
  for (u32 trial = 0; trial < 80; ++trial) {
    std::mt19937 random(1000 + trial);
    RawConfig config = testing::random_bless(random);
    if (trial % 3 == 1) config["router.reassembly_packets"] = integer(1 + random() % 4);
    BlessNetwork net(experiment(config));
    for (u32 part = 0; part < 8; ++part) {
      net.step(53);
      ASSERT_NO_THROW(check_conservation(*net.engine, *net.plan, 0)) << trial;
      expect_whole_packets(net);
      ASSERT_FALSE(::testing::Test::HasFailure()) << trial;
    }
    if (!config.count("router.reassembly_packets")) {
      EXPECT_EQ(net.counted(bless::Count::kRefused), 0u) << "there are enough reassembly buffers";
    }
  }
}

/// When a batch has ended, every terminal has received each packet that was sent to it exactly once.
TEST(BlessConservation, EveryPacketIsDeliveredOnce) {
  for (u32 trial = 0; trial < 40; ++trial) {
    std::mt19937 random(2000 + trial);
    RawConfig config = testing::random_bless(random);
    config.erase("traffic.load");
    set(config, "traffic.mode=batch traffic.batch_packets=60");
    const Experiment e = experiment(config);
    BlessNetwork net(e);
    const ReplicaRow row = make_row(e);
    std::vector<u32> expected(net.t.terminals, 0);
    u64 all = 0;
    for (u32 i = 0; i < net.t.terminals; ++i)
      for (u32 n = 0; n < 60 && !never_sends(net.t.traffic, i); ++n, ++all)
        ++expected[packet_destination(net.t.traffic, row, i, n)];
    for (u32 cycles = 0; cycles < 60000 && net.total(Total::kPacketsDelivered) < all; cycles += 100) net.step(100);
    const std::vector<std::byte> state = net.engine->state(0);
    for (u32 i = 0; i < net.t.terminals; ++i)
      EXPECT_EQ(net.bless.inspect_terminal(state, i).received, expected[i]) << trial << ", terminal " << i;
    EXPECT_TRUE(net.flits().empty());
    expect_whole_packets(net);
    check_conservation(*net.engine, *net.plan, 0);
  }
}

}  // namespace
}  // namespace flitlab::bless_conservation_test
