/// traffic.start: the same packets are created as without it, `start` cycles later.
#include <gtest/gtest.h>

#include "tests/support/build.hpp"

namespace flitlab::traffic_start_test {
namespace {

using namespace testing;

TEST(TrafficStart, DelaysAllCreations) {
  constexpr u32 kStart = 700;
  for (RawConfig changes :
       {Settings("traffic.load=0.2"), Settings("traffic.load=0.2 traffic.injection=periodic"),
        Settings("traffic.load=0.2 traffic.injection=on_off"), Settings("traffic.mode=batch traffic.batch_packets=30"),
        Settings("traffic.mode=request_reply traffic.load=0.2")}) {
    Network now(experiment(changes));
    changes["traffic.start"] = integer(kStart);
    Network later(experiment(changes));
    later.step(kStart);
    EXPECT_EQ(later.total(Total::kPacketsCreated), 0u);
    for (int i = 0; i < 20; ++i) {
      now.step(11);
      later.step(11);
      ASSERT_EQ(now.total(Total::kPacketsCreated), later.total(Total::kPacketsCreated));
      ASSERT_EQ(now.total(Total::kFlitsDelivered), later.total(Total::kFlitsDelivered));
    }
    EXPECT_GT(now.total(Total::kFlitsDelivered), 100u);
  }
}

}  // namespace
}  // namespace flitlab::traffic_start_test
