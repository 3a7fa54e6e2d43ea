/// The cache of routing tables: it returns tables only if the same function made them for an equal fabric.
#include "host/routers/sconnect/table_cache.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "host/routers/sconnect/build.hpp"

namespace flitlab::sconnect_kept_tables_test {
namespace {

std::atomic<u32> made{0};

/// Makes tables that identify their fabric and the function that made them.
SconnectTables first_tables(const SconnectFabric& f) {
  ++made;
  SconnectTables t;
  t.entry.assign(std::size_t{f.tics} * f.nodes, static_cast<u16>(f.links[0].far));
  t.mean_hops = f.tics;
  return t;
}
SconnectTables second_tables(const SconnectFabric& f) {
  SconnectTables t = first_tables(f);
  t.tree = true;
  return t;
}

SconnectFabric random_fabric(u32 nodes, u64 seed, const SconnectNodes& of = {}) {
  return make_sconnect_random(nodes, 4, seed, of);
}

TEST(SconnectKeptTables, AreMadeOnce) {
  SconnectTableCache kept(1 << 20);
  const SconnectFabric f = random_fabric(16, 1);
  made = 0;
  const SconnectTables t = kept.get(f, first_tables);
  EXPECT_EQ(made, 1u);
  EXPECT_EQ(t.entry, kept.get(random_fabric(16, 1), first_tables).entry);
  EXPECT_EQ(made, 1u);
  EXPECT_EQ(kept.bytes(), 16u * 16 * 2);
}

TEST(SconnectKeptTables, DependOnTheFabricAndTheFunction) {
  SconnectTableCache kept(1 << 20);
  SconnectFabric other = random_fabric(16, 1);
  kept.get(other, first_tables);
  made = 0;
  EXPECT_TRUE(kept.get(other, second_tables).tree);
  EXPECT_FALSE(kept.get(other, first_tables).tree);
  EXPECT_EQ(made, 1u);
  // Changes, one by one, the properties of a fabric that may affect a table.
  std::swap(other.links[0].far, other.links[1].far);
  std::swap(other.links[0].port, other.links[1].port);
  EXPECT_EQ(kept.get(other, first_tables).entry[0], other.links[0].far);
  EXPECT_EQ(made, 2u);
  other.parallel_vcs = 2;
  kept.get(other, first_tables);
  EXPECT_EQ(made, 3u);
  other.mixed_entries = true;
  kept.get(other, first_tables);
  EXPECT_EQ(made, 4u);
  kept.get(random_fabric(16, 2), first_tables);
  EXPECT_EQ(made, 5u);
  kept.get(random_fabric(16, 1, {.host_ports = 2}), first_tables);
  EXPECT_EQ(made, 6u);
}

TEST(SconnectKeptTables, GoWhenThereIsNoRoom) {
  SconnectTableCache kept(3 * 16 * 16 * 2);
  const auto get = [&](u64 seed) {
    made = 0;
    kept.get(random_fabric(16, seed), first_tables);
    return made.load();
  };
  for (u64 seed : {1, 2, 3}) EXPECT_EQ(get(seed), 1u);
  EXPECT_EQ(get(1), 0u);
  EXPECT_EQ(get(4), 1u);  // replaces fabric 2, which was used least recently
  EXPECT_EQ(get(1), 0u);
  EXPECT_EQ(get(3), 0u);
  EXPECT_EQ(get(2), 1u);
  EXPECT_EQ(kept.bytes(), 3u * 16 * 16 * 2);
  kept.get(random_fabric(32, 1), first_tables);  // larger than the whole cache
  EXPECT_EQ(kept.bytes(), 3u * 16 * 16 * 2);
  EXPECT_EQ(get(2), 0u);
}

TEST(SconnectKeptTables, CanBeUsedByManyThreads) {
  SconnectTableCache kept(2 * 16 * 16 * 2);
  std::vector<std::thread> threads;
  for (u32 i = 0; i < 4; ++i)
    threads.emplace_back([&kept, i] {
      for (u32 n = 0; n < 50; ++n) {
        const SconnectFabric f = random_fabric(16, (n + i) % 3);
        EXPECT_EQ(kept.get(f, first_tables).entry[0], f.links[0].far);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_LE(kept.bytes(), 2u * 16 * 16 * 2);
}

}  // namespace
}  // namespace flitlab::sconnect_kept_tables_test
