/// The arbitration rules of Blue Gene/L's torus (paper, "Torus network"), one by one: which of several packets that
/// request a link gets it. Each scene is repeated within one run, so that frequencies can be counted.
#include <gtest/gtest.h>

#include "tests/support/bgl/bgl.hpp"
#include "tests/support/chance.hpp"

namespace flitlab::bgl_arbitration_test {
namespace {

using testing::BglGrant;
using testing::BglLine;
using testing::BglTorus;
using testing::expect_share;
using testing::integer;
using testing::kMinusX;
using testing::kPlusX;
using testing::kPlusY;
using testing::word;

/// Packets meet at node (2,1) of a 5x3 torus; all request the link to the left. In direction order a packet from the
/// south may turn there.
constexpr u32 kHere = 7, kEast = 8, kWest = 6, kSouth = 2;
/// A packet of this node that takes the link to the west from cycle 3 on; the link is free again in cycle `kFree`.
constexpr BglLine kHolder{0, kHere, kWest, 8};
constexpr u32 kFree = 273;
constexpr u32 kTimes = 100, kFewTimes = 12;

RawConfig with(RawConfig more) {
  more.insert({{"router.escape_order", word("direction")},
               {"router.dynamic_vcs", integer(1)},
               {"router.dynamic_flits", integer(8)},
               {"router.escape_flits", integer(16)}});
  return more;
}

/// Packets in the order of their cycles, replayed `times` times.
class Scene {
 public:
  Scene(const std::vector<BglLine>& lines, const RawConfig& changes, u32 times = kFewTimes)
      : size_(static_cast<u32>(lines.size())),
        period_(length(lines)),
        times_(times),
        torus_({5, 3}, repeat(lines), with(changes)) {
    torus_.run(period_ * times);
  }
  /// How often line a leaves this node before line b.
  u32 first(u32 a, u32 b) const {
    u32 count = 0;
    for (u32 n = 0; n < times_; ++n) count += leaves(a, n) < leaves(b, n);
    return count;
  }
  bool always_first(u32 a, u32 b) const { return first(a, b) == times_; }
  /// Cycle of the scene in which a line leaves this node; the same in every repetition.
  u32 leaves(u32 a) const {
    const u32 at = leaves(a, 0);
    for (u32 n = 1; n < times_; ++n) EXPECT_EQ(leaves(a, n), at) << "line " << a;
    return at;
  }

 private:
  /// Cycles that suffice for all packets to go one after the other.
  static u32 length(const std::vector<BglLine>& lines) {
    u32 cycles = 300;
    for (const BglLine& l : lines) cycles += 32 * l.chunks + 14;
    return cycles;
  }
  std::vector<BglLine> repeat(const std::vector<BglLine>& lines) const {
    std::vector<BglLine> all;
    for (u32 n = 0; n < times_; ++n)
      for (BglLine l : lines) l.cycle += n * period_, all.push_back(l);
    return all;
  }
  u32 leaves(u32 a, u32 n) const {
    const u32 at = torus_.leaves(n * size_ + a, kHere);
    EXPECT_NE(at, kNone) << "line " << a;
    return at - n * period_;
  }

  u32 size_, period_, times_;
  BglTorus torus_;
};

/// Two channels of one receiver. The dynamic one holds 2 of 8 chunks: range 1 of 0 to 3. On the bubble, of 16, 3 chunks
/// are range 0, 4 and 7 range 1, 8 range 2. Ties, and cycles that do not serve the longest queue, are decided at
/// random.
TEST(BglReceiver, ServesTheLongestQueueInAFractionOfCycles) {
  const struct {
    u32 bubble;
    double share;  ///< share of cycles in which the bubble goes first if all cycles serve the longest queue
  } kCases[] = {{3, 0}, {4, 0.5}, {7, 0.5}, {8, 1}};
  for (const auto& [chunks, share] : kCases)
    for (double slq : {0.0, 0.5, 1.0}) {
      const Scene scene({kHolder, {0, kEast, kWest, 2, bgl::kDynamic}, {100, kEast, kWest, chunks}},
                        {{"router.slq", slq}}, kTimes);
      expect_share(scene.first(2, 1), kTimes, slq * share + (1 - slq) / 2,
                   std::to_string(chunks) + " chunks, slq " + std::to_string(slq));
      EXPECT_EQ(scene.first(1, 0), 0u);
    }
}

/// The same between receivers, at the sender: two packets from the south, 9 of 32 chunks, against 7.
TEST(BglSender, ServesTheLongestQueueInAFractionOfCycles) {
  for (double slq : {0.0, 0.5, 1.0}) {
    const Scene scene({kHolder, {0, kSouth, kWest, 1}, {1, kSouth, kWest, 8}, {1, kEast, kWest, 7}},
                      {{"router.slq", slq}, {"router.escape_flits", integer(32)}}, kTimes);
    expect_share(scene.first(1, 3), kTimes, slq + (1 - slq) / 2, "slq " + std::to_string(slq));
    const Scene equal({kHolder, {0, kSouth, kWest, 7}, {1, kEast, kWest, 4}}, {{"router.slq", slq}}, kTimes);
    expect_share(equal.first(1, 2), kTimes, 0.5, "equals");
  }
}

/// The same between injection FIFOs of 16 chunks. The holder and line 2 are in one; lines 1 and 3 are in the other, 9
/// chunks together. When the link is free again, the holder has left its FIFO.
TEST(BglSender, ServesTheLongestFifo) {
  for (u32 chunks : {7u, 8u}) {
    const Scene scene({kHolder, {10, kHere, kWest, 8}, {11, kHere, kWest, chunks}, {12, kHere, kWest, 1}},
                      {{"injection.fifos", integer(2)}, {"injection.fifo_flits", integer(16)}, {"router.slq", 1.0}},
                      kTimes);
    expect_share(scene.first(1, 2), kTimes, chunks == 7 ? 1 : 0.5, std::to_string(chunks) + " chunks");
  }
}

/// A packet of high priority goes first wherever it is: in the same receiver, in another one or in an injection FIFO,
/// and however long the other queue is; the normal packet may be on the bypass, in the network or in a FIFO.
TEST(BglPriority, WinsEverywhere) {
  for (double slq : {0.0, 1.0}) {
    const RawConfig config{{"router.slq", slq}};
    const u32 high = bgl::kHighPriority;
    for (u32 normal : {kEast, kSouth, kHere})
      for (u32 of_high_priority : {kEast, kSouth, kHere}) {
        const Scene scene({kHolder, {1, normal, kWest, 7}, {10, of_high_priority, kWest, 1, high}}, config);
        EXPECT_TRUE(scene.always_first(2, 1)) << normal << " " << of_high_priority;
      }
  }
}

/// In the given fraction of cycles senders prefer packets in the network, even to a longer injection FIFO; in the other
/// cycles they compare queues as usual.
TEST(BglSender, FavoursTheNetworkInAFractionOfCycles) {
  for (double first : {0.0, 0.5, 1.0}) {
    const Scene shorter({kHolder, {0, kEast, kWest, 1}, {10, kHere, kWest, 8}},
                        {{"router.network_first", first}, {"router.slq", 1.0}}, kTimes);
    expect_share(shorter.first(1, 2), kTimes, first, "the shorter queue");
    const Scene any({kHolder, {0, kEast, kWest, 1}, {10, kHere, kWest, 8}},
                    {{"router.network_first", first}, {"router.slq", 0.0}}, kTimes);
    expect_share(any.first(1, 2), kTimes, first + (1 - first) / 2, "either");
  }
}

/// That preference does not apply if the only packet of high priority is in an injection FIFO. If the network has one
/// too, that one goes first.
TEST(BglSender, FavoursTheNetworkUnlessTheOnlyHighPriorityIsInAFifo) {
  const u32 high = bgl::kHighPriority;
  const Scene only({kHolder, {0, kEast, kWest, 4}, {10, kHere, kWest, 1, high}}, {});
  EXPECT_TRUE(only.always_first(2, 1));
  const Scene both({kHolder, {0, kEast, kWest, 4, high}, {10, kHere, kWest, 1, high}}, {});
  EXPECT_TRUE(both.always_first(1, 2));
}

/// A packet that arrives just when the link becomes free could use the bypass, but packets that wait in the same
/// receiver go before it, unless it has high priority. Against packets of other receivers it has no disadvantage. A
/// packet that arrives at an empty receiver goes at once.
TEST(BglReceiver, TakesTheBypassLast) {
  const u32 comes = kFree - 24;
  for (double slq : {0.0, 1.0}) {
    const RawConfig config{{"router.slq", slq}};
    const BglLine waits{10, kEast, kWest, 1, bgl::kDynamic};
    const Scene last({kHolder, waits, {comes, kEast, kWest, 8}}, config);
    EXPECT_EQ(last.leaves(1), kFree);
    EXPECT_EQ(last.leaves(2), kFree + 32 + 14);
    const Scene high({kHolder, waits, {comes, kEast, kWest, 8, bgl::kHighPriority}}, config);
    EXPECT_EQ(high.leaves(2), kFree);
    const Scene alone({kHolder, {comes, kEast, kWest, 8}}, config);
    EXPECT_EQ(alone.leaves(1), kFree);
  }
  const Scene other({kHolder, {10, kSouth, kWest, 1}, {comes, kEast, kWest, 1}}, {{"router.slq", 0.0}}, kTimes);
  expect_share(other.first(2, 1), kTimes, 0.5, "a packet of another receiver");
}

/// The arbitration gap: a receiver whose packet was blocked requests one cycle after the link is free, so a packet in
/// an injection FIFO goes before it. A receiver that was not blocked loses nothing.
TEST(BglGap, FavoursInjectionFifos) {
  const BglLine waits{10, kEast, kWest, 2}, own{20, kHere, kWest, 2};
  for (bool gap : {false, true}) {
    const RawConfig config{{"router.arbitration_gap", gap}};
    EXPECT_EQ(Scene({kHolder, waits}, config).leaves(1), kFree + gap);
    EXPECT_EQ(Scene({kHolder, own}, config).leaves(1), kFree);
    EXPECT_EQ(Scene({kHolder, {kFree - 24, kEast, kWest, 2}}, config).leaves(1), kFree);
    const Scene both({kHolder, waits, own}, config);
    EXPECT_EQ(both.leaves(gap ? 2 : 1), kFree);
    EXPECT_EQ(both.leaves(gap ? 1 : 2), kFree + 78 + gap);
  }
}

}  // namespace
}  // namespace flitlab::bgl_arbitration_test
