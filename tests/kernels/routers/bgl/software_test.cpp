/// Rates at which the software of Blue Gene/L's nodes takes packets out of FIFOs and puts them into FIFOs. Times are
/// derived by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/bgl/bgl.hpp"

namespace flitlab::bgl_software_test {
namespace {

using testing::BglLine;
using testing::BglTorus;
using testing::integer;

/// Six packets arrive from six neighbours at once. Software takes one packet from every FIFO in a cycle, or one per
/// interval.
TEST(BglSoftware, TakesAPacketInAnInterval) {
  for (u32 interval : {0u, 1u, 100u}) {
    const u32 here = 13;  // (1,1,1) of a 3x3x3 torus
    BglTorus torus(
        {3, 3, 3},
        {{0, 12, here, 2}, {0, 14, here, 2}, {0, 10, here, 2}, {0, 16, here, 2}, {0, 4, here, 2}, {0, 22, here, 2}},
        {{"reception.take_interval", integer(interval)}});
    torus.drain();
    std::vector<u32> times;
    for (u32 id = 0; id < 6; ++id) times.push_back(torus.delivered(id));
    std::sort(times.begin(), times.end());
    for (u32 i = 0; i < 6; ++i) EXPECT_EQ(times[i], 3u + 21 + 64 + 1 + i * interval) << interval;
  }
}

/// Software takes packets of high priority first.
TEST(BglSoftware, TakesHighPriorityFirst) {
  BglTorus torus(
      {3, 3, 3},
      {{0, 12, 13, 2}, {0, 14, 13, 2}, {0, 10, 13, 2}, {100, 16, 13, 2, bgl::kHighPriority}, {100, 4, 13, 2}},
      {{"reception.take_interval", integer(100)}});
  torus.drain();
  EXPECT_EQ(torus.delivered(3), 189u);  // complete since 188; taken 100 cycles after the first one, in 89 + 100
  EXPECT_LT(torus.delivered(3), torus.delivered(4));
}

/// Software puts packets for six neighbours into six FIFOs in one cycle, or one after the other with an interval for
/// each chunk.
TEST(BglSoftware, PutsAChunkInAnInterval) {
  for (u32 interval : {0u, 1u, 60u, 1000u}) {
    const u32 chunks[] = {8, 1, 5, 3, 2, 7};
    const u32 to[] = {12, 14, 10, 16, 4, 22};
    std::vector<BglLine> lines;
    for (u32 i = 0; i < 6; ++i) lines.push_back({0, 13, to[i], chunks[i]});
    BglTorus torus({3, 3, 3}, lines, {{"injection.put_interval", integer(interval)}});
    torus.drain();
    for (u32 i = 0, at = 3; i < 6; at += interval * chunks[i++]) EXPECT_EQ(torus.leaves(i, 13), at) << interval;
  }
}

/// A FIFO accepts one packet a cycle, and the FIFOs take turns. So a seventh packet waits a cycle and leaves after the
/// first one.
TEST(BglSoftware, FillsItsFifosInTurn) {
  const u32 to[] = {12, 14, 10, 16, 4, 22};
  for (int fifos : {1, 4, 6}) {
    std::vector<BglLine> lines;
    for (u32 i = 0; i < 6; ++i) lines.push_back({0, 13, to[i], 2});
    BglTorus torus({3, 3, 3}, lines, {{"injection.fifos", integer(fifos)}});
    torus.drain();
    for (u32 i = 0; i < 6; ++i)
      EXPECT_EQ(torus.leaves(i, 13), 3 + 64 * (i / static_cast<u32>(fifos))) << fifos << " " << i;
  }
}

/// A processor that needs time for a packet. Six packets are complete in cycle 89, and the processor takes them one
/// after the other, 12 cycles each: 40 + 2 x 4 processor cycles, of which 4 are one cycle. With two processors, each
/// takes the packets of three receivers.
TEST(BglSoftware, AProcessorTakesOnePacketAtATime) {
  for (u32 processors : {1u, 2u}) {
    BglTorus torus({3, 3, 3},
                   {{0, 12, 13, 2}, {0, 14, 13, 2}, {0, 10, 13, 2}, {0, 16, 13, 2}, {0, 4, 13, 2}, {0, 22, 13, 2}},
                   {{"software.packet_time", integer(40)},
                    {"software.chunk_time", integer(4)},
                    {"software.processors", integer(processors)}});
    torus.drain();
    std::vector<u32> times;
    for (u32 id = 0; id < 6; ++id) times.push_back(torus.delivered(id));
    std::sort(times.begin(), times.end());
    // The sources also need 12 cycles to put the packets into FIFOs.
    for (u32 i = 0; i < 6; ++i) EXPECT_EQ(times[i], 12u + 89 + 12 * (i / processors + 1)) << processors;
  }
}

TEST(BglSoftware, AProcessorPutsOnePacketAtATime) {
  for (u32 processors : {1u, 2u}) {
    const u32 to[] = {12, 14, 10, 16, 4, 22};
    std::vector<BglLine> lines;
    for (u32 i = 0; i < 6; ++i) lines.push_back({0, 13, to[i], 1});
    BglTorus torus({3, 3, 3}, lines,
                   {{"software.packet_time", integer(41)}, {"software.processors", integer(processors)}});
    torus.drain();
    // 41 processor cycles round up to 11 cycles.
    for (u32 i = 0; i < 6; ++i) EXPECT_EQ(torus.leaves(i, 13), 3u + 11 * (i / processors + 1)) << processors;
  }
}

/// The only processor both takes and puts packets, and it takes before it puts. A packet of one chunk is complete in
/// cycle 3 + 21 + 32 + 1 + 10, while the second of three packets is being put. It is taken before the third is put.
TEST(BglSoftware, AProcessorTakesBeforeItPuts) {
  BglTorus torus({3, 3, 3}, {{0, 13, 14, 1}, {0, 13, 14, 1}, {0, 13, 14, 1}, {0, 12, 13, 1}},
                 {{"software.packet_time", integer(200)}});
  torus.drain();
  // A processor needs 50 cycles for a packet. Node 12 puts its packet until cycle 50; the packet leaves in 53 and is
  // complete in node 13 in 53 + 21 + 32 + 1 = 107. Node 13 puts its own packets, all created in cycle 0, until 50, 100
  // and 150, so it is putting the third one then.
  EXPECT_EQ(torus.leaves(0, 13), 53u);
  EXPECT_EQ(torus.leaves(1, 13), 103u);
  EXPECT_EQ(torus.leaves(2, 13), 153u);
  EXPECT_EQ(torus.delivered(3), 200u);
  BglTorus busy({3, 3, 3}, {{0, 13, 14, 1}, {0, 13, 14, 1}, {0, 13, 14, 1}, {0, 13, 14, 1}, {0, 12, 13, 1}},
                {{"software.packet_time", integer(200)}});
  busy.drain();
  EXPECT_EQ(busy.delivered(4), 200u);
  EXPECT_EQ(busy.leaves(3, 13), 253u);  // put from cycle 200 on, after the packet that arrived was taken
}

/// Nodes start at random cycles within `software.start_spread`.
TEST(BglSoftware, BeginsWithinASpread) {
  std::vector<BglLine> lines;
  for (u32 node = 0; node < 27; ++node) lines.push_back({0, node, (node + 1) % 27, 1});
  for (u32 node = 0; node < 27; ++node) lines.push_back({5000, node, (node + 1) % 27, 1});
  BglTorus torus({3, 3, 3}, lines, {{"software.start_spread", integer(1000)}});
  torus.drain();
  std::vector<u32> begins;
  for (u32 node = 0; node < 27; ++node) {
    begins.push_back(torus.leaves(node, node) - 3);
    EXPECT_EQ(torus.leaves(27 + node, node), 5003u);
  }
  std::sort(begins.begin(), begins.end());
  EXPECT_LT(begins.back(), 1000u);
  EXPECT_GT(begins.back() - begins.front(), 700u);
}

/// Software puts a packet only into a FIFO with enough room. A FIFO of eight chunks that holds a packet of five has
/// room one cycle after the packet's tail has left.
TEST(BglSoftware, WaitsForRoomInAFifo) {
  for (u32 second : {3u, 4u}) {
    BglTorus torus({3, 3, 3}, {{0, 13, 12, 5}, {0, 13, 14, second}},
                   {{"injection.fifos", integer(1)}, {"injection.fifo_flits", integer(8)}});
    torus.drain();
    EXPECT_EQ(torus.leaves(1, 13), 3 + 160 + (second == 3 ? 0 : 1 + 3u));
  }
}

}  // namespace
}  // namespace flitlab::bgl_software_test
