/// The arbitration rules of Blue Gene/L's torus (paper, "Torus network"), one by one: several packets request a link,
/// and the test checks which one gets it. A scene (a set of packets) is repeated within one run, so that frequencies
/// can be counted.
#include <gtest/gtest.h>

#include "tests/support/bgl/bgl.hpp"
#include "tests/support/chance.hpp"

namespace flitlab::bgl_arbitration_test {
namespace {

using namespace testing;

/// Packets meet at node (2,1) of a 5x3 torus; all of them request the link to the west. In direction order a packet
/// from the south may turn into that link.
constexpr u32 kHere = 7, kEast = 8, kWest = 6, kSouth = 2;
/// A packet of this node that takes the link to the west from cycle 3 on; the link is free again in cycle `kFree`.
constexpr BglLine kHolder{0, kHere, kWest, 8};
constexpr u32 kFree = 273;
constexpr u32 kTimes = 100, kFewTimes = 12;

RawConfig with(RawConfig more) {
  more.merge(
      Settings("router.escape_order=direction router.dynamic_vcs=1 router.dynamic_flits=8 router.escape_flits=16"));
  return more;
}

/// A list of packets ("lines") in the order of their cycles, replayed `times` times.
class Scene {
 public:
  Scene(const std::vector<BglLine>& lines, const RawConfig& changes, u32 times = kFewTimes)
      : size_(static_cast<u32>(lines.size())),
        period_(length(lines)),
        times_(times),
        torus_({5, 3}, repeat(lines), with(changes)) {
    torus_.run(period_ * times);
  }
  /// Returns in how many repetitions line a leaves this node before line b.
  u32 first(u32 a, u32 b) const {
    u32 count = 0;
    for (u32 n = 0; n < times_; ++n) count += leaves(a, n) < leaves(b, n);
    return count;
  }
  bool always_first(u32 a, u32 b) const { return first(a, b) == times_; }
  /// Returns the cycle of the scene in which a line leaves this node; it is the same in every repetition.
  u32 leaves(u32 a) const {
    const u32 at = leaves(a, 0);
    for (u32 n = 1; n < times_; ++n) EXPECT_EQ(leaves(a, n), at) << "line " << a;
    return at;
  }

 private:
  /// Returns a number of cycles in which all packets can be sent one after the other.
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

/// Two channels of one receiver. The lengths of queues are compared by ranges, 0 to 3, each a quarter of the buffer. 2
/// of 8 chunks on the dynamic channel are range 1. On the bubble channel, which has 16 chunks, 3 chunks are range 0, 4
/// and 7 are range 1, and 8 are range 2. Ties, and cycles that do not serve the longest queue, are decided at random.
TEST(BglReceiver, ServesTheLongestQueueInAFractionOfCycles) {
  const struct {
    u32 bubble;
    double share;  ///< share of cycles in which the bubble channel goes first if all cycles serve the longest queue
  } kCases[] = {{3, 0}, {4, 0.5}, {7, 0.5}, {8, 1}};
  for (const auto& [chunks, share] : kCases)
    for (double slq : {0.0, 0.5, 1.0}) {
      const Scene scene({kHolder, {0, kEast, kWest, 2, bgl::kDynamic}, {100, kEast, kWest, chunks}},
                        Settings("router.slq=", slq), kTimes);
      expect_share(scene.first(2, 1), kTimes, slq * share + (1 - slq) / 2,
                   std::to_string(chunks) + " chunks, slq " + std::to_string(slq));
      EXPECT_EQ(scene.first(1, 0), 0u);
    }
}

/// The sender compares receivers by the same ranges: two packets from the south fill 9 of 32 chunks, a packet from the
/// east 7.
TEST(BglSender, ServesTheLongestQueueInAFractionOfCycles) {
  for (double slq : {0.0, 0.5, 1.0}) {
    const Scene scene({kHolder, {0, kSouth, kWest, 1}, {1, kSouth, kWest, 8}, {1, kEast, kWest, 7}},
                      Settings("router.slq=", slq, " router.escape_flits=32"), kTimes);
    expect_share(scene.first(1, 3), kTimes, slq + (1 - slq) / 2, "slq " + std::to_string(slq));
    const Scene equal({kHolder, {0, kSouth, kWest, 7}, {1, kEast, kWest, 4}}, Settings("router.slq=", slq), kTimes);
    expect_share(equal.first(1, 2), kTimes, 0.5, "equals");
  }
}

/// The sender compares injection FIFOs of 16 chunks by the same ranges. The packet that holds the link and line 2 are
/// in one FIFO; lines 1 and 3, together 9 chunks, are in the other. When the link is free again, the packet that held
/// it has left its FIFO.
TEST(BglSender, ServesTheLongestFifo) {
  for (u32 chunks : {7u, 8u}) {
    const Scene scene({kHolder, {10, kHere, kWest, 8}, {11, kHere, kWest, chunks}, {12, kHere, kWest, 1}},
                      Settings("injection.fifos=2 injection.fifo_flits=16 router.slq=1.0"), kTimes);
    expect_share(scene.first(1, 2), kTimes, chunks == 7 ? 1 : 0.5, std::to_string(chunks) + " chunks");
  }
}

/// A packet of high priority goes before a normal one, however long the normal packet's queue is. The packet of high
/// priority may be in the same receiver, in another one or in an injection FIFO. The normal packet may be on the bypass
/// channel, in a virtual channel or in a FIFO.
TEST(BglPriority, WinsEverywhere) {
  for (double slq : {0.0, 1.0}) {
    const RawConfig config = Settings("router.slq=", slq);
    const u32 high = bgl::kHighPriority;
    for (u32 normal : {kEast, kSouth, kHere})
      for (u32 of_high_priority : {kEast, kSouth, kHere}) {
        const Scene scene({kHolder, {1, normal, kWest, 7}, {10, of_high_priority, kWest, 1, high}}, config);
        EXPECT_TRUE(scene.always_first(2, 1)) << normal << " " << of_high_priority;
      }
  }
}

/// In the given fraction of cycles a sender prefers packets that are in the network, even if an injection FIFO is
/// longer. In the other cycles it compares the lengths of queues.
TEST(BglSender, FavoursTheNetworkInAFractionOfCycles) {
  for (double first : {0.0, 0.5, 1.0}) {
    const Scene shorter({kHolder, {0, kEast, kWest, 1}, {10, kHere, kWest, 8}},
                        Settings("router.network_first=", first, " router.slq=1.0"), kTimes);
    expect_share(shorter.first(1, 2), kTimes, first, "the shorter queue");
    const Scene any({kHolder, {0, kEast, kWest, 1}, {10, kHere, kWest, 8}},
                    Settings("router.network_first=", first, " router.slq=0.0"), kTimes);
    expect_share(any.first(1, 2), kTimes, first + (1 - first) / 2, "either");
  }
}

/// The preference for packets in the network does not apply if the only packet of high priority is in an injection
/// FIFO. If the network has a packet of high priority, too, that one goes first.
TEST(BglSender, FavoursTheNetworkUnlessTheOnlyHighPriorityIsInAFifo) {
  const u32 high = bgl::kHighPriority;
  const Scene only({kHolder, {0, kEast, kWest, 4}, {10, kHere, kWest, 1, high}}, {});
  EXPECT_TRUE(only.always_first(2, 1));
  const Scene both({kHolder, {0, kEast, kWest, 4, high}, {10, kHere, kWest, 1, high}}, {});
  EXPECT_TRUE(both.always_first(1, 2));
}

/// A packet that arrives just when the link becomes free could take the bypass channel. Packets that wait in the same
/// receiver go before it, unless it has high priority. Against packets of other receivers it has no disadvantage. A
/// packet that arrives at an empty receiver goes at once.
TEST(BglReceiver, TakesTheBypassLast) {
  const u32 comes = kFree - 24;
  for (double slq : {0.0, 1.0}) {
    const RawConfig config = Settings("router.slq=", slq);
    const BglLine waits{10, kEast, kWest, 1, bgl::kDynamic};
    const Scene last({kHolder, waits, {comes, kEast, kWest, 8}}, config);
    EXPECT_EQ(last.leaves(1), kFree);
    EXPECT_EQ(last.leaves(2), kFree + 32 + 14);
    const Scene high({kHolder, waits, {comes, kEast, kWest, 8, bgl::kHighPriority}}, config);
    EXPECT_EQ(high.leaves(2), kFree);
    const Scene alone({kHolder, {comes, kEast, kWest, 8}}, config);
    EXPECT_EQ(alone.leaves(1), kFree);
  }
  const Scene other({kHolder, {10, kSouth, kWest, 1}, {comes, kEast, kWest, 1}}, Settings("router.slq=0.0"), kTimes);
  expect_share(other.first(2, 1), kTimes, 0.5, "a packet of another receiver");
}

/// The arbitration gap: a receiver whose packet was blocked requests one cycle after the link is free, so a packet in
/// an injection FIFO goes first. A receiver that was not blocked loses no time.
TEST(BglGap, FavoursInjectionFifos) {
  const BglLine waits{10, kEast, kWest, 2}, own{20, kHere, kWest, 2};
  for (bool gap : {false, true}) {
    const RawConfig config = Settings("router.arbitration_gap=", gap);
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
