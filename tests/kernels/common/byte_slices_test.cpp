/// Operations on the four bytes of a 32-bit machine word at once, compared with the same operations byte by byte.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/common/byte_slices.hpp"

namespace flitlab::byte_slices_test {
namespace {

using namespace lanes;

u8 byte(Slice x, u32 i) { return static_cast<u8>(x.word >> (8 * i)); }

/// Calls `work` with all pairs of bytes that matter for carries and signs, next to random bytes in the same word.
template <class Work>
void for_pairs(Work work) {
  std::mt19937 random(3);
  for (u32 a = 0; a < 256; ++a)
    for (u32 b : {0u, 1u, 2u, 0x0Fu, 0x7Fu, 0x80u, 0x81u, 0xFEu, 0xFFu, a, 255 - a}) {
      const u32 shift = static_cast<u32>(random() % 4) * 8, others = ~(0xFFu << shift);
      work(Slice::of((static_cast<u32>(random()) & others) | a << shift),
           Slice::of((static_cast<u32>(random()) & others) | b << shift));
    }
}

template <class Slices, class Bytes>
void expect(const char* what, Slices slices, Bytes bytes) {
  for_pairs([&](Slice a, Slice b) {
    const Slice result = slices(a, b);
    for (u32 i = 0; i < 4; ++i)
      ASSERT_EQ(byte(result, i), static_cast<u8>(bytes(byte(a, i), byte(b, i))))
          << what << ' ' << a.word << ' ' << b.word;
  });
}

u32 lowest(u32 set) { return set & (0 - set); }

TEST(ByteSlices, OperationsAgreeWithBytes) {
  expect("+", [](Slice a, Slice b) { return a + b; }, [](u32 a, u32 b) { return a + b; });
  expect("-", [](Slice a, Slice b) { return a - b; }, [](u32 a, u32 b) { return a - b; });
  expect("&", [](Slice a, Slice b) { return a & b; }, [](u32 a, u32 b) { return a & b; });
  expect("|", [](Slice a, Slice b) { return a | b; }, [](u32 a, u32 b) { return a | b; });
  expect("^", [](Slice a, Slice b) { return a ^ b; }, [](u32 a, u32 b) { return a ^ b; });
  expect("~", [](Slice a, Slice) { return ~a; }, [](u32 a, u32) { return ~a; });
  expect("==", [](Slice a, Slice b) { return a == b; }, [](u32 a, u32 b) { return a == b ? 0xFF : 0; });
  expect("nonzero", [](Slice a, Slice) { return nonzero(a); }, [](u32 a, u32) { return a ? 0xFF : 0; });
  expect("above", [](Slice a, Slice) { return above(a); }, [](u32 a, u32) { return ~(a | (a - 1)); });
  expect("pick", [](Slice a, Slice b) { return pick(a, b); }, [](u32 a, u32 b) { return lowest(a & b ? a & b : a); });
  expect("every", [](Slice, Slice) { return Slice(u8{0x5A}); }, [](u32, u32) { return 0x5A; });
  for (u32 m = 0; m < 8; ++m) {
    expect("has", [&](Slice a, Slice) { return has(a, m); }, [&](u32 a, u32) { return a >> m & 1 ? 0xFF : 0; });
    const auto put = [&](Slice a, Slice b) {
      Slice to = b;
      put_where(to, a, m, a);
      return to;
    };
    expect("put_where", put, [&](u32 a, u32 b) { return a >> m & 1 ? a : b; });
  }
  const auto chosen = [](Slice a, Slice b) { return select(a == b, a, Slice(u8{7})); };
  expect("select", chosen, [](u32 a, u32 b) { return a == b ? a : 7; });
}

TEST(ByteSlices, CountsAndBytes) {
  for_pairs([](Slice a, Slice) {
    u32 count = 0;
    for (u32 i = 0; i < 4; ++i) count += byte(a, i) != 0;
    ASSERT_EQ(count_members(a), count);
    const Slice& same = a;
    for (u32 lane = 0; lane < 12; ++lane) ASSERT_EQ(lane_of(same, lane), byte(a, lane % 4));
    lane_of(a, 6) = 0xC3;
    ASSERT_EQ(byte(a, 2), 0xC3);
  });
}

TEST(ByteSlices, TransposesBits) {
  std::mt19937 random(5);
  for (u32 trial = 0; trial < 100; ++trial) {
    Slice rows[8], turned[8];
    for (u32 i = 0; i < 8; ++i) turned[i] = rows[i] = Slice::of(static_cast<u32>(random()));
    transpose8(turned);
    for (u32 i = 0; i < 8; ++i)
      for (u32 j = 0; j < 8; ++j)
        for (u32 lane = 0; lane < 4; ++lane) ASSERT_EQ(byte(turned[j], lane) >> i & 1, byte(rows[i], lane) >> j & 1);
  }
}

}  // namespace
}  // namespace flitlab::byte_slices_test
