/// Copies of the arrays to which a plan's table points. The test copies them as for a device and destroys the plan;
/// then an engine continues. It would read an array that was not copied after its destruction.
#include <gtest/gtest.h>

#include <list>

#include "host/plan/terminal_plan.hpp"
#include "host/routers/bgl/plan.hpp"
#include "host/routers/t3e/plan.hpp"
#include "kernels/engines/make_engine.hpp"
#include "tests/support/build.hpp"

namespace flitlab::engines_moved_tables_test {
namespace {

using namespace testing;

template <class MovedPlan>
void expect_the_same_run(const Experiment& e) {
  testing::Network whole(e);
  whole.step(300);

  auto plan = std::make_unique<MovedPlan>(e);
  auto table = plan->table();
  const StateLayout layout = plan->layout();
  std::list<std::vector<std::byte>> copies;
  const auto move = [&]<class T>(const T*& array, std::size_t n) {
    if (!array || !n) return;
    const auto* bytes = reinterpret_cast<const std::byte*>(array);
    array = reinterpret_cast<const T*>(copies.emplace_back(bytes, bytes + n * sizeof(T)).data());
  };
  for_each_array(table, move);
  for_each_array(table.traffic, move);
  plan.reset();
  const auto engine = make_engine(table, layout, make_rows({e}), EngineChoice{"cpu", 1, false, 1});
  const u32 only[] = {0};
  engine->advance(300, only);
  EXPECT_EQ(engine->state_hash(0), whole.engine->state_hash(0));
}

RawConfig of_kind(const char* kind, RawConfig changes) {
  changes["router.kind"] = word(kind);
  return changes;
}

TEST(MovedTables, AreAllOfTheT3e) {
  for (const RawConfig& changes :
       {Settings("topology.partitions=[0,15,16,9] barrier.units=3 traffic.load=0.3"),
        Settings("routing.vc_select=full io.nodes=[3,8] traffic.pattern=transpose topology.partitions=[0,15]")})
    expect_the_same_run<T3ePlan>(experiment(of_kind("t3e", changes)));
}

TEST(MovedTables, AreAllOfBlueGeneL) {
  for (const RawConfig& changes :
       {Settings("topology.shape=[4,3,2] traffic.load=0.2 traffic.packet_flits=[[1,0.5],[8,0.5]]"),
        Settings("traffic.pattern=hot_spot traffic.load=0.2 router.dynamic_vcs=1"),
        Settings("traffic.load=0.2 faults.nodes=[6] routing.hints=", IntList{0, 5, 0b100100}),
        Settings("traffic.pattern=transpose traffic.load=0.2")})
    expect_the_same_run<BglPlan>(experiment(of_kind("bgl", changes)));
}

}  // namespace
}  // namespace flitlab::engines_moved_tables_test
