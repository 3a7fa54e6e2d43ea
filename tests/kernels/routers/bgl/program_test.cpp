/// Message-passing programs on Blue Gene/L nodes: hand-derived times, and bit identity of all engines.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::bgl_program_test {
namespace {

using namespace testing;

Experiment program(const std::string& calls, RawConfig changes = {}) {
  const std::string path = testing::temporary(".csv");
  std::ofstream(path) << calls;
  changes.merge(Settings("router.kind=bgl topology.shape=[8,4,2] traffic.mode=program traffic.program_file=", path));
  return experiment(changes);
}

/// Returns the cycles of a packet over `hops` hops: 3 to the first request, 21 for each hop, 32 for each chunk until
/// the tail is in the reception FIFO, and one more until software takes it.
u32 one_way(u32 hops, u32 chunks) { return 3 + 21 * hops + 32 * chunks + 1; }

TEST(BglProgram, PingPongTakesTheSumOfItsParts) {
  for (u32 peer : {1u, 2u, 3u, 8u, 9u, 41u})
    for (u32 bytes : {0u, 16u, 17u, 240u}) {
      const u32 x = peer % 8, y = peer / 8 % 4, z = peer / 32, chunks = (bytes + 16 + 31) / 32;
      const std::string to = std::to_string(peer), size = "," + std::to_string(bytes) + "\n";
      // Acknowledgments are charged to data packets, because separate token packets could delay the answer.
      Network net(program("0,send," + to + size + "0,recv," + to + "\n" + to + ",recv,0\n" + to + ",send,0" + size,
                          Settings("router.acks=charged")));
      net.step(2000);
      const std::vector<u32> ends = net.plan->program_ends(net.engine->state(0));
      const u32 way = one_way(x + y + z, chunks);
      EXPECT_EQ(ends[peer], way + 1) << peer << ' ' << bytes;  // ends in the cycle after the last packet was put
      EXPECT_EQ(ends[0], 2 * way) << peer << ' ' << bytes;
      EXPECT_EQ(ends[63], 0u);
      EXPECT_EQ(net.total(Total::kProgramsFinished), 64u);
    }
}

TEST(BglProgram, ComputesAndPaysForMessages) {
  Network net(program("0,compute,1000\n0,send,1,240\n1,recv,0\n",
                      Settings("traffic.send_overhead=50 traffic.recv_overhead=30")));
  net.step(4000);
  const std::vector<u32> ends = net.plan->program_ends(net.engine->state(0));
  EXPECT_EQ(ends[0], 1051u);
  EXPECT_EQ(ends[1], 1050 + one_way(1, 8) + 30);
}

TEST(BglProgram, ALongMessageStreamsOverOneLink) {
  // 100 full packets to a neighbour: each takes the only shortest link for 262 cycles, because token packets use the
  // reverse link.
  Network net(program("0,send,1,24000\n1,recv,0\n"));
  net.step(40000);
  EXPECT_EQ(net.plan->program_ends(net.engine->state(0))[1], one_way(1, 8) + 99 * 262);
}

TEST(BglProgram, DistantEndsOfBurstsAreNotSleptThrough) {
  // Bursts start later than the calendar covers, while messages arrive.
  std::string calls = "0,compute,10007\n0,send,1,16\n";
  for (u32 i = 0; i < 20; ++i) calls += "2,compute,333\n2,send,0,16,1\n0,recv,2,16,1\n";
  Network net(program(calls + "1,recv,0\n"));
  net.step(20000);
  EXPECT_EQ(net.plan->program_ends(net.engine->state(0))[1], 10007 + one_way(1, 1));
}

TEST(BglProgram, CollectivesAgreeOnAllEngines) {
  std::string calls;
  for (u32 rank = 0; rank < 64; ++rank)
    calls += std::to_string(rank) + ",barrier\n" + std::to_string(rank) + ",alltoall,500\n" + std::to_string(rank) +
             ",allreduce,64,10\n";
  const Experiment e = program(calls, Settings("injection.put_interval=3 reception.take_interval=40"));
  Network one(e), three(e, {"cpu", 3, false, 1}), wide(e, {"cpu", 2, false, 1, testing::kWide});
  for (u32 i = 0; i < 32; ++i) {
    for (Network* net : {&one, &wide}) net->step(3000);
    if (i < 3) {  // barriers of more threads than cores are slow
      three.step(3000);
      ASSERT_EQ(one.engine->state_hash(0), three.engine->state_hash(0));
    }
    ASSERT_EQ(one.engine->state_hash(0), wide.engine->state_hash(0));
    check_conservation(*one.engine, *one.plan, 0);
  }
  EXPECT_EQ(one.total(Total::kProgramsFinished), 64u);
}

}  // namespace
}  // namespace flitlab::bgl_program_test
