/// Layouts of state that are known at compile time equal the plans' layouts. The engines' fast code requires this.
#include "kernels/common/fields.hpp"

#include <gtest/gtest.h>

#include "host/routers/t3e/plan.hpp"
#include "host/routers/vc/plan.hpp"
#include "tests/support/build.hpp"

namespace flitlab::common_fields_test {
namespace {

using namespace testing;

TEST(ConstantFields, AgreeWithThePlan) {
  const VcPlan torus(experiment("router.vcs=4"));
  EXPECT_TRUE((vc::FixedVcTable<5, 4>::fits(torus.table())));
  EXPECT_FALSE((vc::FixedVcTable<5, 2>::fits(torus.table())));
  const VcPlan slow(experiment("router.vcs=4 topology.channel_delay=9"));
  EXPECT_FALSE((vc::FixedVcTable<5, 4>::fits(slow.table())));

  const T3ePlan published(experiment("router.kind=t3e"));
  EXPECT_TRUE(t3e::PublishedTable::fits(published.table()));
  const T3ePlan other(experiment("router.kind=t3e router.adaptive_vcs=2"));
  EXPECT_FALSE(t3e::PublishedTable::fits(other.table()));
}

struct Fields {
  FLITLAB_FIELDS(Fields,
    (u8, one, 1, "", ""),
    (u64, none, t - 3, "", ""),
    (u16, two, t, "", ""),
    (u32, three, 1, "", ""))
};

/// Absent fields take no space.
TEST(ConstantFields, OrderAlignmentAndAbsence) {
  constexpr Fields f = lay_out_fields<Fields>(3u);
  EXPECT_EQ(f.one.offset, 0u);
  EXPECT_EQ(f.none.offset, 0u);
  EXPECT_EQ(f.two.offset, 2u);
  EXPECT_EQ(f.three.offset, 8u);
}

}  // namespace
}  // namespace flitlab::common_fields_test
