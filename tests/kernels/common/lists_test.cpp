/// Branch-free lists of work, compared with loops that branch.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>
#include <vector>

#include "kernels/common/bits.hpp"
#include "kernels/common/lists.hpp"
#include "kernels/common/select.hpp"

namespace flitlab::common_lists_test {
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

/// Appends to a list of `kMost` items by `add(list, item, word)` and returns what it visits, item by item: a list of
/// one item holds one item at a time.
template <template <u32> class List, u32 kMost, class Add>
Pairs visited(const std::vector<u64>& all, Add&& add) {
  Pairs pairs;
  for (u32 first = 0; first < all.size(); first += kMost) {
    List<kMost> list;
    const u32 last = std::min<u32>(first + kMost, static_cast<u32>(all.size()));
    for (u32 i = first; i < last; ++i) add(list, i - first, all[i]);
    list.for_each([&](u32 item, u32 place, auto... byte) {
      pairs.emplace_back(first + item, place);
      [[maybe_unused]] const auto check = [&](u32 b) { EXPECT_EQ(b, all[first + item] >> 8 * (place % 8) & 0xFF); };
      (check(byte), ...);
    });
  }
  return pairs;
}
template <u32 kMost>
using Members = BitList<kMost, 64>;

TEST(Lists, VisitEachEntryOnceAndInOrderAtEveryWidth) {
  const auto set = [](auto& list, u32 item, u64 word) { list.add(item, bytes_present(word) >> 7); };
  const auto ports = [](auto& list, u32 item, u64 word) {
    list.add(item, static_cast<u32>((bytes_present(word) >> 7) * 0x0102040810204080ull >> 56));
  };
  const auto bytes = [](auto& list, u32 item, u64 word) { list.add(item, word, bytes_present(word)); };
  const auto members = [](auto& list, u32 item, u64 word) {
    for (u32 byte = 0; byte < 8; ++byte) list.add((word >> 8 * byte & 0xFF) != 0, item, 8 * byte);
  };
  const auto by_eight = [](Pairs pairs) {
    for (auto& [item, member] : pairs) member /= 8;
    return pairs;
  };
  for (u32 seed = 0; seed < 200; ++seed) {
    const std::vector<u64> all = words(seed);
    const Pairs expected = bytes_of(all);
    ASSERT_EQ(by_eight(visited<SetList, kItems>(all, set)), expected) << seed;
    ASSERT_EQ(by_eight(visited<SetList, 1>(all, set)), expected) << seed;
    ASSERT_EQ((visited<PortList, kItems>(all, ports)), expected) << seed;
    ASSERT_EQ((visited<PortList, 1>(all, ports)), expected) << seed;
    ASSERT_EQ((visited<ByteList, kItems>(all, bytes)), expected) << seed;
    ASSERT_EQ((visited<ByteList, 1>(all, bytes)), expected) << seed;
    ASSERT_EQ((visited<RareByteList, kItems>(all, bytes)), expected) << seed;
    ASSERT_EQ((visited<RareByteList, 1>(all, bytes)), expected) << seed;
    ASSERT_EQ(by_eight(visited<Members, kItems>(all, members)), expected) << seed;
    ASSERT_EQ(by_eight(visited<Members, 1>(all, members)), expected) << seed;
  }
}

/// The byte of a move belongs to the member's group of eight.
TEST(Lists, KeepTheByteOfEachMove) {
  MoveList<kItems, 8> many;
  MoveList<1, 8> one;
  for (u32 port = 0; port < 8; port += 2) {
    many.add(true, 0, 8 * port + port % 8, 200 + port);
    one.add(true, 0, 8 * port + port % 8, 200 + port);
    many.add(false, 0, 8 * port + 7, 1);
    one.add(false, 0, 8 * port + 7, 1);
    one.add(false, 0, 255, 255);
  }
  const auto all = [](const auto& list) {
    std::vector<std::array<u32, 3>> entries;
    list.for_each([&](u32 item, u32 member, u32 byte) { entries.push_back({item, member, byte}); });
    return entries;
  };
  const std::vector<std::array<u32, 3>> expected{{0, 0, 200}, {0, 18, 202}, {0, 36, 204}, {0, 54, 206}};
  EXPECT_EQ(all(many), expected);
  EXPECT_EQ(all(one), expected);
  EXPECT_EQ(many.count, 4u);
  EXPECT_EQ(one.count, 4u);
}

TEST(Lists, OfSetsHaveTheSetsThatAreNotEmpty) {
  const auto all = [](auto&& list, std::vector<u64> sets) {
    for (u32 i = 0; i < sets.size(); ++i) list.add(i, sets[i]);
    std::vector<std::pair<u32, u64>> entries;
    list.for_each_set([&](u32 item, u64 set) { entries.emplace_back(item, set); });
    return entries;
  };
  using Entries = std::vector<std::pair<u32, u64>>;
  EXPECT_EQ(all(SetList<4>(), {5, 0, 1ull << 63, 0}), (Entries{{0, 5}, {2, 1ull << 63}}));
  EXPECT_EQ(all(SetList<1>(), {6}), (Entries{{0, 6}}));
  EXPECT_EQ(all(SetList<1>(), {0}), Entries{});
}

TEST(Lists, OfItemsHaveTheItemsThatMatch) {
  ItemList<4> many;
  for (u32 i = 0; i < 4; ++i) many.add(i, i % 2 == 1);
  EXPECT_EQ(std::vector<u32>(many.begin(), many.end()), (std::vector<u32>{1, 3}));
  for (bool if_so : {false, true}) {
    ItemList<1> one;
    one.add(0, if_so);
    u32 visits = 0;
    for (u32 i : one) visits += 1 + i;
    EXPECT_EQ(visits, u32{if_so});
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
}  // namespace flitlab::common_lists_test
