/// Explanations of why the head of a queue in a Blue Gene/L node waits. The cycles follow from the delays: a packet of
/// n chunks takes a link for 32 n + 14 cycles. It requests 3 cycles after its creation, and in the next node 21 cycles
/// later. The test sets rare states by hand.
#include <gtest/gtest.h>

#include "kernels/routers/bgl/tokens.hpp"
#include "tests/support/bgl/bgl.hpp"
#include "tests/support/words.hpp"

namespace flitlab::bgl_reasons_test {
namespace {

using namespace testing;

constexpr u32 kFifos = 4;  ///< port number of the injection FIFOs in two dimensions
constexpr u32 kBubble = 2;

class Watched {
 public:
  Watched(std::vector<testing::BglLine> lines, u32 cycles) : torus({5, 3}, std::move(lines)) {
    torus.run(cycles);
    state = torus.net().engine->state(0);
  }
  void run_to(u32 cycle) {
    torus.run(cycle - torus.now());
    state = torus.net().engine->state(0);
  }
  std::string why(u32 node, u32 port, u32 vc) {
    const std::string note = in_words(*torus.net().plan, state, node, torus.now())[port].vcs[vc].note;
    const std::size_t line = note.find('\n');
    return line == std::string::npos ? "" : note.substr(line + 1);
  }

  BglTorus torus;
  std::vector<std::byte> state;
};

/// Both packets of node 0 request in the same cycle; one FIFO wins, and the other waits for the link.
TEST(BglReasons, OfTwoFifosOneLoses) {
  Watched w({{0, 0, 1, 8}, {0, 0, 1, 8}}, 3);
  EXPECT_EQ(w.why(0, kFifos, 0), "");
  w.run_to(4);
  const bool first = w.why(0, kFifos, 0).starts_with("leaves");
  const u32 won = first ? 0 : 1, lost = 1 - won;
  const std::string winner = "FIFO " + std::to_string(won);
  EXPECT_EQ(w.why(0, kFifos, won), "leaves by +x bubble; its tail in cycle 259");
  EXPECT_EQ(w.why(0, kFifos, lost), "denied: requested +x bubble, but " + winner + " was granted +x");
  w.run_to(5);
  EXPECT_EQ(w.why(0, kFifos, lost), "+x sends " + winner + ", whose tail leaves in cycle 259");
  w.run_to(260);
  EXPECT_EQ(w.why(0, kFifos, won), "");
  EXPECT_EQ(w.why(0, kFifos, lost), "+x finishes a packet, until cycle 273");
  w.run_to(273);
  EXPECT_EQ(w.why(0, kFifos, lost), "+x finishes a packet, until cycle 273");
  w.run_to(274);
  EXPECT_EQ(w.why(0, kFifos, lost), "leaves by +x bubble; its tail in cycle 529");
}

TEST(BglReasons, APacketThatHasArrivedGoesIntoItsFifo) {
  Watched w({{0, 0, 1, 8}}, 25);  // packet 0 requests in node 1 in cycle 24
  EXPECT_EQ(w.why(1, kMinusX, kBubble), "goes into its reception FIFO; its tail in cycle 280");
  const bgl::Table& t = w.torus.table();
  const Item<1> node = item_of(w.state, w.torus.net().plan->layout(), 0, 1);
  bgl::NodeControl& control = node.at(t.node_fields.control);
  const u64 me = bgl::bit(bgl::queue_of(kMinusX, kBubble));
  control.arriving = 0;
  control.here = me;
  control.reception_room[kMinusX] = 3;
  EXPECT_EQ(w.why(1, kMinusX, kBubble), "its reception FIFO has space for 3 of 8 chunks");
  control.arriving = bgl::bit(bgl::queue_of(kMinusX, 0));
  EXPECT_EQ(w.why(1, kMinusX, kBubble), "the bus to its reception FIFO is used by -x dynamic 0");
}

/// Node 1 sends from cycle 3 to 259. A packet of node 0 arrives in cycle 24 and waits in its virtual channel.
class BglBehind : public ::testing::Test {
 protected:
  BglBehind()
      : w({{0, 1, 2, 8}, {0, 0, 2, 8}}, 29),
        t(w.torus.table()),
        node(item_of(w.state, w.torus.net().plan->layout(), 0, 1)),
        control(node.at(t.node_fields.control)) {}

  std::string why() { return w.why(1, kMinusX, kBubble); }
  void set_tokens(u32 vc, u32 tokens) {
    bgl::set_tokens(bgl::View<1, false, bgl::Table>{{t, nullptr, nullptr, {}}, {}, {}, {}}, node, kPlusX, vc, tokens);
  }
  /// Marks the link in +x as free.
  void free_link() {
    control.links |= 1u << kPlusX;
    control.sending &= static_cast<u8>(~(1u << kPlusX));
  }

  Watched w;
  const bgl::Table& t;
  Item<1> node;
  bgl::NodeControl& control;
};

TEST_F(BglBehind, ItWaitsForTheLink) {
  EXPECT_EQ(why(), "+x sends FIFO 0, whose tail leaves in cycle 259");
  Watched before({{0, 1, 2, 8}, {0, 0, 2, 8}}, 26);
  EXPECT_EQ(before.why(1, kMinusX, kBubble), "on its way to the arbiters: requests in cycle 28");
}

TEST_F(BglBehind, ItLacksTokens) {
  free_link();
  set_tokens(kBubble, 7);
  EXPECT_EQ(why(), "+x bubble has 7 of 8 tokens to advance along its ring");
  bgl::Queue& queue = node.at(t.node_fields.queue, kMinusX * t.vcs + kBubble);
  queue.route |= bgl::kDynamic;
  set_tokens(0, 3);
  set_tokens(1, 0);
  EXPECT_EQ(why(),
            "+x dynamic 0 has 3 of 8 tokens; +x dynamic 1 has 0 of 8 tokens; "
            "+x bubble has 7 of 8 tokens to advance along its ring");
}

TEST_F(BglBehind, AnotherRingIsEnteredWithABubble) {
  control.links |= 1u << kPlusY;
  node.at(t.node_fields.queue, kMinusX * t.vcs + kBubble).route = 7u << bgl::kLengthShift | 1u << kPlusY;
  bgl::set_tokens(bgl::View<1, false, bgl::Table>{{t, nullptr, nullptr, {}}, {}, {}, {}}, node, kPlusY, kBubble, 15);
  EXPECT_EQ(why(), "+y bubble has 15 of 16 tokens to enter (bubble rule)");
}

TEST_F(BglBehind, BothBusesAreTaken) {
  control.leaving |= bgl::bit(bgl::queue_of(kMinusX, 0)) | bgl::bit(bgl::queue_of(kMinusX, 1));
  EXPECT_EQ(why(), "its receiver's 2 buses carry -x dynamic 0 and -x dynamic 1");
}

/// Another packet, of two chunks, at the same receiver started towards +y in the previous cycle.
TEST_F(BglBehind, ItsReceiverPutsAnotherForward) {
  free_link();
  bgl::Queue& other = node.at(t.node_fields.queue, kMinusX * t.vcs);
  other.route = 1u << bgl::kLengthShift | 1u << kPlusY;
  other.packets = 1;
  other.direction = kPlusY;
  other.vc = 0;
  control.leaving |= bgl::bit(bgl::queue_of(kMinusX, 0));
  control.sending |= 1u << kPlusY;
  control.links &= static_cast<u8>(~(1u << kPlusY));
  node.at(t.node_fields.sender_takes, kPlusY) = static_cast<u8>(bgl::queue_of(kMinusX, 0));
  node.at(t.node_fields.tail_leaves, kPlusY) = 28 + 2 * 32;
  bgl::Queue& queue = node.at(t.node_fields.queue, kMinusX * t.vcs + kBubble);
  queue.direction = kPlusX;
  queue.vc = kBubble;
  EXPECT_EQ(why(), "denied: requested +x bubble, but its receiver presented -x dynamic 0, which was granted +y");
  control.sending &= static_cast<u8>(~(1u << kPlusY));
  control.leaving = 0;
  EXPECT_EQ(why(), "denied: requested +x bubble, but its receiver presented another head, which was denied");
}

}  // namespace
}  // namespace flitlab::bgl_reasons_test
