/// The state of a METRO router in the machine's terms: words that arrive at each port, and connections (METRO, 4 and
/// 5.1).
#include <gtest/gtest.h>

#include "host/routers/metro/plan.hpp"
#include "kernels/routers/metro/word.hpp"
#include "tests/support/build.hpp"
#include "tests/support/words.hpp"

namespace flitlab::metro_words_test {
namespace {

using metro::Kind;
using metro::make_word;
using metro::PortState;
using namespace testing;

TEST(MetroWords, WordsOfThisCycleAndConnections) {
  Network net(experiment("router.kind=metro"));
  std::vector<std::byte> state = net.engine->state(0);
  const metro::Table& t = dynamic_cast<const MetroPlan&>(*net.plan).table();
  ASSERT_GE(t.inputs, 3u);
  const Item<1> node = item_of(state, net.plan->layout(), 0, 0);
  const Cycle now = 7;
  const auto comes_in = [&](u32 port, Cycle at, metro::Word received) {
    node.at(t.router_fields.mail, (at & t.slot_mask) * t.ports() + port) = received;
  };
  comes_in(0, now, make_word(Kind::kData, 42));
  comes_in(0, now + 1, make_word(Kind::kDrop));  // arrives a cycle later, so it has no effect yet
  comes_in(1, now, make_word(Kind::kTurn));
  comes_in(t.inputs + 2, now, make_word(Kind::kStatus, 3));
  metro::ForwardPort& connected = node.at(t.router_fields.forward, 0);
  connected.state = PortState::kForward;
  connected.out = 2;
  metro::ForwardPort& blocked = node.at(t.router_fields.forward, 1);
  blocked.state = PortState::kBlocked;
  blocked.direction = 3;
  const std::vector<PortSnapshot> ports = in_words(*net.plan, state, 0, now);
  EXPECT_EQ(ports[0].vcs[0].name, "forward");
  EXPECT_EQ(ports[0].vcs[0].note, "DATA 42 arrives, connected to backward 2");
  EXPECT_EQ(ports[1].vcs[0].note, "TURN arrives, blocked: no backward port free in direction 3");
  EXPECT_EQ(ports[2].vcs[0].note, "nothing arrives");
  EXPECT_EQ(ports[t.inputs + 2].vcs[0].name, "backward");
  EXPECT_EQ(ports[t.inputs + 2].vcs[0].note, "STATUS 3 arrives, connected to forward 0");
  EXPECT_EQ(in_words(*net.plan, state, 0, now + 1)[0].vcs[0].note, "DROP arrives, connected to backward 2");
  blocked.state = PortState::kDiscard;
  EXPECT_EQ(in_words(*net.plan, state, 0, now)[1].vcs[0].note,
            "TURN arrives, released: blocked in this router or in a later one");
  connected.state = PortState::kReverse;
  EXPECT_EQ(in_words(*net.plan, state, 0, now)[0].vcs[0].note, "DATA 42 arrives, connected to backward 2, turned");
}

}  // namespace
}  // namespace flitlab::metro_words_test
