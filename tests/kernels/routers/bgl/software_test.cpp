/// How fast the software of Blue Gene/L's nodes takes and puts packets, counted by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/bgl/bgl.hpp"

namespace flitlab::bgl_software_test {
namespace {

using testing::BglLine;
using testing::BglTorus;
using testing::integer;

/// Six packets come from six neighbours at once. Software takes one from every FIFO in a cycle, or one in an interval.
TEST(BglSoftware, TakesAPacketInAnInterval) {
  for (u32 interval : {0u, 1u, 100u}) {
    const u32 here = 13;  // (1,1,1) of 3x3x3
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

/// Those of high priority are taken first.
TEST(BglSoftware, TakesHighPriorityFirst) {
  BglTorus torus(
      {3, 3, 3},
      {{0, 12, 13, 2}, {0, 14, 13, 2}, {0, 10, 13, 2}, {100, 16, 13, 2, bgl::kHighPriority}, {100, 4, 13, 2}},
      {{"reception.take_interval", integer(100)}});
  torus.drain();
  EXPECT_EQ(torus.delivered(3), 189u);  // 89 + 100: whole since 188
  EXPECT_LT(torus.delivered(3), torus.delivered(4));
}

/// Packets for six neighbours are put into six FIFOs in one cycle, or one after the other at the pace of software: an
/// interval for each chunk.
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

/// One packet goes into a FIFO in a cycle, and FIFOs take turns: a seventh packet waits a cycle, and leaves after the
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

/// Software puts packets into a FIFO with room only: into one of eight chunks with five in it, only when these have
/// left, a cycle after their tail.
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
