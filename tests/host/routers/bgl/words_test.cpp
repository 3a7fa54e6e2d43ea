/// Names of a Blue Gene/L node's virtual channels, and which packets their tokens permit (paper, "Torus network": a
/// full-size packet has 8 chunks, and by the bubble rule a packet enters a ring only if there is space for two of
/// them).
#include <gtest/gtest.h>

#include "host/routers/bgl/plan.hpp"
#include "tests/support/build.hpp"
#include "tests/support/words.hpp"

namespace flitlab::bgl_words_test {
namespace {

using namespace testing;

TEST(BglWords, TokensOfEveryChannel) {
  Network net(experiment("router.kind=bgl topology.shape=[4,4,2]"));
  std::vector<std::byte> state = net.engine->state(0);
  const bgl::Table& t = dynamic_cast<const BglPlan&>(*net.plan).table();
  ASSERT_EQ(t.vcs, 4u);
  const Item<1> node = item_of(state, net.plan->layout(), 0, 5);
  const u32 tokens[] = {7, 8, 15, 16};  // tokens of +y, by virtual channel
  for (u32 v = 0; v < 4; ++v) node.at(t.node_fields.tokens, 2 * t.vcs + v) = static_cast<u8>(tokens[v]);
  const std::vector<PortSnapshot> ports = in_words(*net.plan, state, 5);
  const std::vector<VcSnapshot>& y = ports[2].vcs;
  EXPECT_EQ(y[0].name, "dynamic 0");
  EXPECT_EQ(y[1].name, "dynamic 1");
  EXPECT_EQ(y[2].name, "bubble");
  EXPECT_EQ(y[3].name, "priority");
  EXPECT_EQ(y[0].note, "7 of 32 tokens: closed");
  EXPECT_EQ(y[1].note, "8 of 32 tokens: a full packet may enter");
  EXPECT_EQ(y[2].note, "15 of 32 tokens: a packet may advance along its ring, but not enter");
  EXPECT_EQ(y[3].note, "16 of 32 tokens: a full packet may enter and leave the bubble");
  EXPECT_EQ(ports[0].vcs[2].note, "32 of 32 tokens: a full packet may enter and leave the bubble");
  EXPECT_EQ(ports[6].vcs[0].name, "FIFO 0");
  EXPECT_EQ(ports[6].vcs[7].name, "FIFO 7");
  EXPECT_EQ(ports[6].vcs[7].note, "");
}

TEST(BglWords, APairWithADatelineIsTwoEscapeChannels) {
  Network net(experiment("router.kind=bgl topology.shape=[4,4,2] router.escape=dateline"));
  const std::vector<VcSnapshot> x = in_words(*net.plan, net.engine->state(0), 0)[0].vcs;
  EXPECT_EQ(x[2].name, "escape 0");
  EXPECT_EQ(x[3].name, "escape 1");
  EXPECT_EQ(x[4].name, "priority");
}

}  // namespace
}  // namespace flitlab::bgl_words_test
