/// Compares the bulk phase, which processes many nodes per call, with the phase for one node. Engines with the memory
/// layout of GPUs use neither bulk phases nor vectors, so both forms run in this test.
#include <gtest/gtest.h>

#include <random>

#include "kernels/routers/bgl/arbitrate.hpp"
#include "tests/support/bgl/random.hpp"
#include "tests/support/same.hpp"

namespace flitlab::bgl_batch_test {
namespace {

using namespace testing;

constexpr u32 kCalendar = 2;

/// Wakes the same random nodes, active or idle, in all networks: in each of `parts` groups of 16 nodes.
void wake_some(std::initializer_list<Network*> nets, std::mt19937_64& random, u32 parts) {
  const StateLayout& layout = (*nets.begin())->plan->layout();
  const u32 nodes = layout.kinds[0].count;
  const FieldInfo& field = layout.kinds[kCalendar].field("again");
  std::vector<u64> wake(layout.kinds[kCalendar].count);
  for (u32 n = 0; n < nodes; ++n) wake[n / 64] |= u64{random() % 16 < parts} << n % 64;
  for (Network* net : nets) {
    std::vector<u64> notes(wake.size() * field.count);
    net->engine->get_field(0, kCalendar, field, notes.data());
    for (u32 group = 0; group < wake.size(); ++group)
      notes[group * field.count + net->engine->now() % field.count] |= wake[group];
    net->engine->set_field(0, kCalendar, field, notes.data());
  }
}

/// Any torus, with or without errors. The woken nodes fill one bulk call, a part of one, or several.
TEST(BglBatch, AgreesWithSingleNodes) {
  if (testing::kWide == 1) GTEST_SKIP() << "no engine for wide layouts in this build";
  u64 acks = 0, delivered = 0;
  for (u32 seed = 1; seed <= testing::trials(15); ++seed) {
    RawConfig config = random_bgl(seed);
    if (seed % 3 == 0) testing::add_errors(config, seed);
    if (seed % 2) config["topology.shape"] = seed % 4 == 1 ? IntList{5, 5, 3} : IntList{8, 4, 8};
    if (seed % 5 == 0) {
      set(config, "traffic.mode=batch traffic.batch_packets=8");
    } else {
      config["traffic.load"] = seed % 5 < 3 ? 0.02 : 0.2;
    }
    const Experiment e = experiment(config);
    Network many(e), one(e, {"cpu", 1, false, 1, testing::kWide});
    std::mt19937_64 random(seed);
    for (u32 cycle = 0; cycle < 400; ++cycle) {
      if (seed % 2) wake_some({&many, &one}, random, cycle % 17);
      many.step(1);
      one.step(1);
      if (cycle % 8) continue;  // compares every 8th cycle only: a difference does not disappear
      ASSERT_EQ(many.engine->state_hash(0), one.engine->state_hash(0)) << "cycle " << cycle << "\n"
                                                                       << described(config);
    }
    ASSERT_NO_FATAL_FAILURE(expect_the_same(*many.engine, *one.engine)) << "seed " << seed;
    ASSERT_EQ(many.engine->audit(0).bits, 0u) << "seed " << seed;
    acks += many.total(bgl::Count::kTokenPackets);
    delivered += many.total(Total::kPacketsDelivered);
  }
  EXPECT_GT(acks, 100u);
  EXPECT_GT(delivered, 100u);
}

/// Bulk phases of the published machine, which are specialised for its parameters, agree as well. Loads are low and
/// high, and runs longer.
TEST(BglBatch, OfThePublishedMachineIsToo) {
  if (testing::kWide == 1) GTEST_SKIP() << "no engine for wide layouts in this build";
  for (double load : {0.005, 0.03}) {
    for (const char* acks : {"auto", "charged"}) {
      const Experiment e = experiment("router.kind=bgl topology.shape=[5,5,5] traffic.load=", load,
                                      " router.acks=", acks, " traffic.packet_flits=[[1,0.2],[4,0.3],[8,0.5]]");
      Network many(e), two(e, {"cpu", 2, false, 1}), one(e, {"cpu", 1, false, 1, testing::kWide});
      std::mt19937_64 random(7);
      for (u32 epoch = 0; epoch < 50; ++epoch) {
        wake_some({&many, &two, &one}, random, 16);
        for (Network* net : {&many, &two, &one}) net->step(20);
        ASSERT_EQ(many.engine->state_hash(0), one.engine->state_hash(0)) << "load " << load << ", epoch " << epoch;
        ASSERT_EQ(many.engine->state_hash(0), two.engine->state_hash(0)) << "load " << load << ", epoch " << epoch;
      }
    }
  }
}

/// Compares vector instructions with loops, over values that differ little, so that both results of each comparison
/// occur.
TEST(BglDirections, AreFoundAtOnce) {
  struct Values {
    u16 halves[bgl::kDirections];
    u16 others[2];  // values behind the array, which must not influence the result
    u32 words[bgl::kDirections];
  };
  std::mt19937_64 random(1);
  for (u32 trial = 0; trial < 20000; ++trial) {
    Values values;
    for (u16& x : values.halves) x = static_cast<u16>(random() % 3 << 8 * (random() % 2));
    for (u16& x : values.others) x = static_cast<u16>(random() % 3);
    for (u32& x : values.words) x = random() % 2 << random() % 32;
    const u16 wanted = static_cast<u16>(random() % 3);
    const Item<1> item{reinterpret_cast<std::byte*>(&values)};
    u64 sets[bgl::kDirections], changed[bgl::kDirections], bytes = 0, all = 0;
    const u32 some = random() % 64, queue = random() % 56;
    u32 equal = 0, nonzero = 0, present = 0;
    for (u32 d = 0; d < bgl::kDirections; ++d) {
      equal |= u32{values.halves[d] == wanted} << d;
      nonzero |= u32{values.words[d] != 0} << d;
      sets[d] = changed[d] = random();
      all |= some >> d & 1 ? sets[d] : 0;
      const u64 byte = random() % 2 << random() % 8;
      present |= u32{byte != 0} << d;
      bytes |= byte << 8 * d;
    }
    EXPECT_EQ(bgl::equal_set(item, Field<u16>{offsetof(Values, halves)}, wanted), equal);
    EXPECT_EQ(bgl::nonzero_set(item, Field<u32>{offsetof(Values, words)}, 0), nonzero);
    EXPECT_EQ(bgl::bytes_set(bytes | random() << 48), present);
    EXPECT_EQ(bgl::union_of(sets, some), all);
    bgl::set_membership(changed, bgl::bit(queue), some);
    for (u32 d = 0; d < bgl::kDirections; ++d)
      EXPECT_EQ(changed[d], some >> d & 1 ? sets[d] | bgl::bit(queue) : sets[d] & ~bgl::bit(queue));
  }
}

/// Each member of a set is drawn with equal frequency, and larger random numbers draw higher members.
TEST(BglDirections, AnyMemberIsDrawn) {
  std::mt19937_64 random(2);
  for (u32 trial = 0; trial < 5000; ++trial) {
    const u64 set = (random() & random()) | u64{1} << random() % 64;
    std::vector<u32> members;
    for (u32 i = 0; i < 64; ++i)
      if (set >> i & 1) members.push_back(i);
    const u32 draw = static_cast<u32>(random());
    EXPECT_EQ(bgl::random_member(set, draw), members[u64{draw} * members.size() >> 32]);
  }
  EXPECT_EQ(bgl::random_member(~u64{0}, 0xFFFFFFFFu), 63u);
}

}  // namespace
}  // namespace flitlab::bgl_batch_test
