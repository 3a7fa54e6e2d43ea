/// The earlier bubble rule, which counted packets by their actual size, deadlocks with packets of different sizes: the
/// space that a ring reserves for one packet of full size breaks up into pieces (paper, "Torus network"). The rule that
/// counts every packet as one of full size does not deadlock.
#include <gtest/gtest.h>

#include "kernels/common/error.hpp"
#include "tests/support/bgl/bgl.hpp"

namespace flitlab::bgl_bubble_test {
namespace {

using namespace testing;

/// A ring of seven nodes with 16 chunks of bubble channel each, in which every node sends to the right. Buffer i is the
/// one at node i that node i - 1 fills. The arbitration gap lets packets from injection FIFOs go before packets that
/// wait in the ring, so a node with many packets to send keeps others waiting; each node has one FIFO.
///
///   Buffer 0: one chunk (0), one (1) and eight (2) from nodes 6 and 5. Node 0 sends seven packets of its own to its
///   neighbour, so they wait, and there is room for six.
///   Buffers 6 to 2, one after the other: first one chunk, from the node before; it stays, since the next buffer has no
///   room for eight. Then eight chunks, which come along the ring and find room for fifteen, leave room for seven.
///   The eight chunks for buffer 2 are node 0's seventh packet. Its last one, of eight chunks, stays in buffer 1.
///   Behind it comes packet 0, which leaves room for seven in buffer 1, and in buffer 0.
///
/// No packet has arrived and each still has a hop to make. No buffer has room for eight chunks, but all together have
/// room for 49.
std::vector<BglLine> fragmented_ring() {
  std::vector<BglLine> lines{{0, 6, 1, 1}, {0, 5, 1, 1}, {0, 5, 1, 8}, {0, 5, 0, 1}};
  for (u32 n = 0; n < 6; ++n) lines.push_back({0, 0, 1, 8});
  // A packet from node 4 goes through node 5 to buffer 6 and then to buffer 5. 300 cycles later node 3 sends the same
  // kind of packet, and so on.
  for (u32 n = 0; n < 4; ++n) {
    lines.push_back({400 + 300 * n, 4 - n, 6 - n, 8});
    lines.push_back({400 + 300 * n, 4 - n, 6 - n, 1});
  }
  lines.push_back({1500, 0, 2, 8});
  lines.push_back({1500, 0, 2, 8});
  return lines;
}

RawConfig ring_config(const char* rule) {
  return Settings("router.escape_flits=16 router.bubble_rule=", rule, " router.arbitration_gap=true injection.fifos=1");
}

TEST(BglBubbleRule, TheEarlierOneFragmentsARing) {
  BglTorus torus({7}, fragmented_ring(), ring_config("actual_size"));
  torus.run(2500);
  const u32 bubble = torus.table().dynamic_vcs;
  u32 together = 0;
  for (u32 n = 0; n < 7; ++n) {
    const VcSnapshot buffer = torus.vc(n, kMinusX, bubble);
    const u32 room = torus.tokens((n + 6) % 7, kPlusX, bubble);
    EXPECT_EQ(buffer.packets, 2u) << n;
    EXPECT_EQ(buffer.stage, "waiting") << n;
    EXPECT_NE(buffer.dst_router, n);
    EXPECT_EQ(room, 7u) << n;
    together += room;
  }
  EXPECT_EQ(together, 49u);
  const std::string found = torus.net().plan->find_deadlock(torus.net().engine->state(0));
  EXPECT_NE(found.find("7 virtual channels are deadlocked; 7 of them wait for one another in a cycle"),
            std::string::npos)
      << found;
  EXPECT_NE(found.find("node 0 (0) receiver -x VC 2 waits for"), std::string::npos) << found;
  const u64 moves = torus.net().total(Total::kFlitMoves);
  torus.run(5000);
  EXPECT_EQ(torus.net().total(Total::kFlitMoves), moves);
}

TEST(BglBubbleRule, TheCorrectOneDoesNot) {
  BglTorus torus({7}, fragmented_ring(), ring_config("full_size"));
  for (u32 n = 0; n < 100; ++n) {
    torus.run(100);
    EXPECT_EQ(torus.net().plan->find_deadlock(torus.net().engine->state(0)), "");
  }
  EXPECT_EQ(torus.net().total(Total::kPacketsDelivered), fragmented_ring().size());
}

/// Rings of 24 nodes fill up with packets of one and eight chunks. With the earlier rule most seeds end in a deadlock
/// error. With the correct rule, and with a dateline pair, all runs finish.
TEST(BglBubbleRule, TheEarlierOneDeadlocksUnderLoad) {
  const auto run = [](std::int64_t seed, RawConfig changes) {
    changes.merge(Settings(
        "router.kind=bgl topology.shape=[24] routing.dynamic=0.0 router.escape_flits=40 router.acks=charged "
        "router.trailer_bytes=32 router.slq=0.0 router.arbitration_gap=true traffic.mode=batch traffic.pattern=tornado "
        "traffic.batch_packets=30 traffic.packet_flits=[[1,3.0],[8,1.0]] run.watchdog_cycles=1000 run.seed=",
        seed));
    return run_job({experiment(changes)}, {"cpu", 1, false}, nullptr).front();
  };
  u32 deadlocks = 0;
  for (std::int64_t seed = 1; seed <= 10; ++seed) {
    try {
      run(seed, Settings("router.bubble_rule=actual_size"));
    } catch (const RunError& e) {
      EXPECT_NE(std::string(e.what()).find("deadlock (replica 0"), std::string::npos) << e.what();
      ++deadlocks;
    }
    EXPECT_EQ(run(seed, Settings("router.bubble_rule=full_size")).packets.delivered, 24u * 30);
    EXPECT_EQ(run(seed, Settings("router.escape=dateline")).packets.delivered, 24u * 30);
  }
  EXPECT_GE(deadlocks, 5u);
}

}  // namespace
}  // namespace flitlab::bgl_bubble_test
