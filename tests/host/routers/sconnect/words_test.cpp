/// The state of a TIC in the machine's terms: its buffer pool, reservations and slots (S-Connect, 2.4 and 3.2).
#include <gtest/gtest.h>

#include "host/routers/sconnect/plan.hpp"
#include "tests/support/build.hpp"
#include "tests/support/words.hpp"

namespace flitlab::sconnect_words_test {
namespace {

using namespace testing;

/// If routing cycles start together, a channel of 8 clocks takes 2 routing cycles in each direction. So 2 + 2 + 2 slots
/// are sent until the answer for a slot returns.
TEST(SconnectWords, PoolReservationsAndSlots) {
  Network net(experiment("router.kind=sconnect topology.shape=[3,3] topology.phases=equal router.reserve=[5,0,0,0]"));
  std::vector<std::byte> state = net.engine->state(0);
  const sconnect::Table& t = dynamic_cast<const SconnectPlan&>(*net.plan).table();
  const Item<1> tic = item_of(state, net.plan->layout(), 0, 4);
  ASSERT_EQ(t.links[4 * sconnect::kPorts + 1].round, 6u);
  sconnect::TicControl& control = tic.at(t.fields.control);
  control.used = 12;
  control.reserved = 31;
  control.held[1 * sconnect::kQueuesOfPort + 0 * sconnect::kVcs + 1] = 3;  // port 1, priority 0, VC 1
  for (const u32 slot : {0u, 4u}) tic.at(t.fields.slot, t.slot_first[4 * sconnect::kPorts + 1] + slot).buffer = 9;
  const std::vector<PortSnapshot> ports = in_words(*net.plan, state, 4, 20);
  EXPECT_EQ(ports[1].note,
            "pool: 12 of 64 buffers in use, 31 reserved; of 6 slots 2 hold messages, and slot 2 is next");
  EXPECT_EQ(ports[1].vcs[0].name, "queues, VC 0");
  EXPECT_EQ(ports[1].vcs[1].name, "queues, VC 1");
  EXPECT_EQ(ports[1].vcs[0].note, "priority 0: 0 buffered, 5 reserved");
  EXPECT_EQ(ports[1].vcs[1].note, "priority 0: 3 buffered, 5 reserved");
}

}  // namespace
}  // namespace flitlab::sconnect_words_test
