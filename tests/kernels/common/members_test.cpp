/// Branch-free functions that list the members of a set, compared with loops that branch.
#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "kernels/common/bits.hpp"
#include "kernels/common/members.hpp"
#include "kernels/common/select.hpp"

namespace flitlab::common_members_test {
namespace {

constexpr u32 kItems = 32;
using Pairs = std::vector<std::pair<u32, u32>>;

/// Returns machine words in which some or all bytes are 0.
std::vector<u64> words(u32 seed) {
  std::mt19937_64 random(seed);
  std::vector<u64> list(1 + random() % kItems);
  for (u64& word : list)
    for (u32 byte = 0; byte < 8; ++byte)
      if (random() % 4 < seed % 5) word |= (random() & 0xFF) << (8 * byte);
  return list;
}

/// Returns the bytes that are not 0, in order: index of the word, and byte.
Pairs bytes_of(const std::vector<u64>& words) {
  Pairs list;
  for (u32 i = 0; i < words.size(); ++i)
    for (u32 byte = 0; byte < 8; ++byte)
      if (words[i] >> (8 * byte) & 0xFF) list.emplace_back(i, byte);
  return list;
}

TEST(Members, AreVisitedOnceAndInOrder) {
  for (u32 seed = 0; seed < 200; ++seed) {
    const std::vector<u64> all = words(seed);
    Members<kItems> members;
    u32 n = 0;
    for (u32 i = 0; i < all.size(); ++i) n = members.add(n, i, bytes_present(all[i]));
    Pairs visited;
    for_each_member(members.set, n, [&](u32 i, u64 set) {
      visited.emplace_back(members.index[i], lowest_bit(set) / 8);
      return set & (set - 1);
    });
    ASSERT_EQ(visited, bytes_of(all)) << seed;
  }
}

TEST(PortList, HasThePortsThatHaveSomething) {
  for (u32 seed = 0; seed < 200; ++seed) {
    const std::vector<u64> all = words(seed);
    PortList<kItems> list;
    for (u32 i = 0; i < all.size(); ++i) list.add(i, bytes_present(all[i]));
    Pairs visited;
    for (u32 i = 0; i < list.count; ++i) visited.emplace_back(list.entry[i] / 8, list.entry[i] % 8);
    ASSERT_EQ(visited, bytes_of(all)) << seed;
  }
}

TEST(Select, IsAChoice) {
  for (u32 yes : {0u, 1u, 255u, ~0u})
    for (u32 no : {0u, 7u, ~0u}) {
      EXPECT_EQ(select(true, yes, no), yes);
      EXPECT_EQ(select(false, yes, no), no);
    }
}

}  // namespace
}  // namespace flitlab::common_members_test
