/// Access to single elements of a state: it agrees with access to whole fields on every engine, and an access to a
/// register copies only the state of its node.
#include "host/plan/elements.hpp"

#include <gtest/gtest.h>

#include <set>

#include "host/config/registry.hpp"
#include "host/plan/console.hpp"
#include "kernels/routers/vc/state.hpp"
#include "tests/support/build.hpp"
#include "tests/support/networks.hpp"

namespace flitlab::plan_elements_test {
namespace {

using testing::experiment;
using testing::integer;
using testing::Network;
using testing::word;

const EngineChoice kPlain{"cpu", 1, false, 1, 1, LaneUse::kNever}, kInLanes{"cpu", 1, false, 1, 1, LaneUse::kAlways},
    kWide{"cpu", 1, false, 1, testing::kWide};

class Elements : public ::testing::TestWithParam<std::string> {};

TEST_P(Elements, AgreeWithWholeFields) {
  const Experiment e = experiment({{"router.kind", GetParam()}, {"traffic.load", 0.3}});
  Network reference(e, kPlain);
  reference.step(100);
  for (const EngineChoice& choice : {kPlain, kInLanes, kWide}) {
    Network net(e, choice);
    net.step(100);
    const StateLayout& layout = net.engine->layout();
    for (u32 kind = 0; kind < layout.kinds.size(); ++kind)
      for (const FieldInfo& field : layout.kinds[kind].fields) {
        const std::size_t bytes = std::size_t{field.count} * field.element_bytes;
        std::vector<std::byte> all(layout.kinds[kind].count * bytes);
        reference.engine->get_field(0, kind, field, all.data());
        for (u32 item : std::set<u32>{0, 1, layout.kinds[kind].count / 2, layout.kinds[kind].count - 1}) {
          if (item >= layout.kinds[kind].count) continue;
          const std::vector<std::byte> right(&all[item * bytes], &all[item * bytes] + bytes);
          std::vector<std::byte> copy(bytes);
          net.engine->get_item(0, kind, item, field, copy.data());
          ASSERT_EQ(copy, right) << field.name;
          for (std::byte& b : copy) b ^= std::byte{0x5A};
          const u32 last = field.count - 1;
          std::copy_n(right.end() - field.element_bytes, field.element_bytes, copy.end() - field.element_bytes);
          net.engine->set_item(0, kind, item, field, copy.data());
          copy.back() ^= std::byte{0xFF};
          net.engine->set_item(0, kind, item, field.only(last), &copy[last * field.element_bytes]);
          std::vector<std::byte> changed = all;
          std::copy(copy.begin(), copy.end(), &changed[item * bytes]);
          reference.engine->set_field(0, kind, field, changed.data());
          ASSERT_EQ(net.engine->state_hash(0), reference.engine->state_hash(0)) << field.name << " of " << item;
          reference.engine->set_field(0, kind, field, all.data());
          net.engine->set_item(0, kind, item, field, right.data());
        }
      }
    ASSERT_EQ(net.engine->state_hash(0), reference.engine->state_hash(0));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Elements, ::testing::ValuesIn(testing::kinds()));

/// A change of an element reaches the lane state.
TEST(ElementsOfLanes, AreConverted) {
  Network scalar(experiment({{"traffic.load", 0.3}}), kPlain), lanes(experiment({{"traffic.load", 0.3}}), kInLanes);
  for (Network* net : {&scalar, &lanes}) {
    net->step(50);
    change_element<vc::PortState>(*net->engine, 0, 0, 5, "port", 2, [](vc::PortState& p) { p.flits_sent += 1000; });
    net->step(50);
  }
  EXPECT_GT(get_element<vc::PortState>(*lanes.engine, 0, 0, 5, "port", 2).flits_sent, 1000u);
  EXPECT_EQ(lanes.engine->state_hash(0), scalar.engine->state_hash(0));
}

/// A wrong type or index would write to other elements.
TEST(Element, OfAnotherTypeOrBeyondTheFieldIsAnError) {
  Network net(experiment({{"traffic.load", 0.3}}), kPlain);
  const u32 ports = net.engine->layout().kinds[0].field("port").count;
  const vc::PortState last = get_element<vc::PortState>(*net.engine, 0, 0, 5, "port", ports - 1);
  EXPECT_THROW(get_element<vc::PortState>(*net.engine, 0, 0, 5, "port", ports), std::logic_error);
  EXPECT_THROW(set_element(*net.engine, 0, 0, 5, "port", last, ports), std::logic_error);
  EXPECT_THROW(get_element<u8>(*net.engine, 0, 0, 5, "port"), std::logic_error);
  EXPECT_THROW(set_element<u8>(*net.engine, 0, 0, 5, "port", 0), std::logic_error);
  EXPECT_THROW(get_elements<u8>(*net.engine, 0, 0, 5, "port"), std::logic_error);
}

/// Forwards accesses to the state to an engine, and records them.
class Recorder final : public Engine {
 public:
  explicit Recorder(Engine& engine) : engine_(engine) {}

  mutable std::set<u32> read;  ///< routers and tables that were read, by number
  mutable std::size_t bytes = 0;
  std::set<u32> written;

  std::string backend() const override { return engine_.backend(); }
  std::string device() const override { return engine_.device(); }
  u32 threads() const override { return engine_.threads(); }
  u32 replicas() const override { return engine_.replicas(); }
  Cycle now() const override { return engine_.now(); }
  void advance(u32 cycles, std::span<const u32> active) override { engine_.advance(cycles, active); }
  CounterShard counters(u32 replica) override { return engine_.counters(replica); }
  void set_row(u32 replica, const ReplicaRow& row) override { engine_.set_row(replica, row); }
  const ReplicaRow& row(u32 replica) const override { return engine_.row(replica); }
  FaultReport audit(u32 replica) override { return engine_.audit(replica); }
  const StateLayout& layout() const override { return engine_.layout(); }
  u64 state_hash(u32 replica) const override { return engine_.state_hash(replica); }
  void set_counters(u32 replica, const CounterShard& counters) override { engine_.set_counters(replica, counters); }
  void set_now(Cycle now) override { engine_.set_now(now); }
  std::vector<std::vector<Event>> take_events(u32 replica) override { return engine_.take_events(replica); }

  std::vector<std::byte> state(u32 replica) const override {
    bytes += layout().bytes(1);
    return engine_.state(replica);
  }
  void set_state(u32 replica, const std::vector<std::byte>& state) override {
    bytes += state.size();
    engine_.set_state(replica, state);
  }
  void get_field(u32 replica, u32 kind, const FieldInfo& field, void* out) const override {
    bytes += std::size_t{layout().kinds[kind].count} * field.count * field.element_bytes;
    engine_.get_field(replica, kind, field, out);
  }
  void set_field(u32 replica, u32 kind, const FieldInfo& field, const void* in) override {
    bytes += std::size_t{layout().kinds[kind].count} * field.count * field.element_bytes;
    engine_.set_field(replica, kind, field, in);
  }
  void get_item(u32 replica, u32 kind, u32 item, const FieldInfo& field, void* out) const override {
    bytes += std::size_t{field.count} * field.element_bytes;
    read.insert(item);
    engine_.get_item(replica, kind, item, field, out);
  }
  void set_item(u32 replica, u32 kind, u32 item, const FieldInfo& field, const void* in) override {
    bytes += std::size_t{field.count} * field.element_bytes;
    written.insert(item);
    engine_.set_item(replica, kind, item, field, in);
  }

 private:
  Engine& engine_;
};

/// A network of 512 nodes (METRO: of more than 512 routers), and registers of it that concern one node only.
struct Machine {
  RawConfig config;
  std::vector<std::pair<std::string, u64>> writable;  ///< with a value to write
  std::string read_only;
  bool reads_neighbours = false;  ///< a read also shows words that neighbours or hosts hold
};

const Machine kMachines[] = {
    {{{"router.kind", word("t3e")}, {"topology.shape", IntList{8, 8, 8}}},
     {{"R_SW", ~0ull},
      {"R_SGET_RTRN", 7},
      {"R_PWHO", 1},
      {"R_CHAN5", 1},
      {"R_NET_LUT0", 3 << 15},
      {"R_NET_LUT543", 3 << 15}},
     "R_ORIENT"},
    {{{"router.kind", word("sconnect")}, {"topology.shape", IntList{32, 16}}},
     {{"address", 1}, {"enabled", 1}, {"timer", 1}, {"counting", 1}, {"counter", 1}, {"table.511", 1}},
     "used",
     true},
    {{{"router.kind", word("metro")},
      {"topology.radix", IntList{4, 4, 4, 4}},
      {"topology.dilation", IntList{2, 2, 2, 1}}},
     {{"dilation", 1}, {"on.b1", 0}, {"drive.f0", 1}, {"turn_delay.b0", 0}, {"fast.f1", 0}},
     "state.f0",
     true},
    {{{"router.kind", word("bgl")}, {"topology.shape", IntList{8, 8, 8}}, {"router.link_protocol", true}},
     {},
     "INJECTION_SUM 0"}};

TEST(ElementsOfRegisters, AreCopiedFromOneNodeOnly) {
  for (const Machine& m : kMachines) {
    Network net(experiment(m.config), kPlain);
    net.step(20);
    const auto console = net.plan->console();
    const u32 node = 300;
    std::size_t one_of_each = 0;
    for (const ItemKind& kind : net.engine->layout().kinds) one_of_each += kind.item_bytes;
    const auto access = [&](const std::string& operation, const std::string& name, std::size_t most, u64 value = 0) {
      Recorder engine(*net.engine);
      Datum::Map arguments{{"node", node}};
      if (!name.empty()) arguments.emplace_back("name", name);
      if (operation == "write_register") arguments.emplace_back("value", value);
      console->call(engine, operation, arguments);
      EXPECT_GT(engine.bytes, 0u) << name;
      EXPECT_LE(engine.bytes, most) << operation << ' ' << name;
      EXPECT_TRUE(m.reads_neighbours || engine.read == std::set<u32>{node}) << operation << ' ' << name;
      for (u32 item : engine.written) EXPECT_EQ(item, node) << operation << ' ' << name;
      EXPECT_EQ(engine.written.empty(), operation != "write_register") << name;
    };
    for (const auto& [name, value] : m.writable) {
      access("write_register", name, 2 * one_of_each, value);
      access("read_register", name, one_of_each);
    }
    access("read_register", m.read_only, one_of_each);
    access("registers", "", one_of_each);
  }
}

}  // namespace
}  // namespace flitlab::plan_elements_test
