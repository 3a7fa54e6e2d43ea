/// A device gets copies of the arrays that a plan's table points to. Here they are copied as for a device, the plan is
/// destroyed, and an engine runs on: an array that was forgotten would be read after it is gone.
#include <gtest/gtest.h>

#include <list>

#include "host/models/t3e_engines.hpp"
#include "host/models/t3e_plan.hpp"
#include "host/models/terminal_plan.hpp"
#include "tests/support/build.hpp"

namespace flitlab {
namespace {

using testing::experiment;
using testing::integer;
using testing::word;

TEST(MovedTables, AreAllOfThem) {
  const auto machine = [](RawConfig changes) {
    changes["router.kind"] = word("t3e");
    return experiment(changes);
  };
  const Experiment cases[] = {
      machine({{"topology.partitions", IntList{0, 15, 16, 9}}, {"barrier.units", integer(3)}, {"traffic.load", 0.3}}),
      machine({{"routing.vc_select", word("full")},
               {"io.nodes", IntList{3, 8}},
               {"traffic.pattern", word("transpose")},
               {"topology.partitions", IntList{0, 15}}}),
  };
  for (const Experiment& e : cases) {
    testing::Network whole(e);
    whole.step(300);

    auto plan = std::make_unique<T3ePlan>(e);
    t3e::Table table = plan->table();
    const StateLayout layout = plan->layout();
    std::list<std::vector<std::byte>> copies;
    const auto move = [&]<class T>(const T*& array, std::size_t n) {
      if (!array || !n) return;
      const auto* bytes = reinterpret_cast<const std::byte*>(array);
      array = reinterpret_cast<const T*>(copies.emplace_back(bytes, bytes + n * sizeof(T)).data());
    };
    t3e::for_each_array(table, move);
    for_each_array(table.traffic, move);
    plan.reset();
    const auto engine = make_t3e_cpu_engine(table, layout, make_rows({e}), {"cpu", 1, false, 1});
    const u32 only[] = {0};
    engine->advance(300, only);
    EXPECT_EQ(engine->state_hash(0), whole.engine->state_hash(0));
  }
}

}  // namespace
}  // namespace flitlab
