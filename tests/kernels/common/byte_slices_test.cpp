/// Operations on the elements of a 32-bit machine word at once, compared with the same operations element by element.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/common/byte_slices.hpp"

namespace flitlab::byte_slices_test {
namespace {

using namespace lanes;

template <class E>
class ByteSlices : public ::testing::Test {
 protected:
  using S = Slice<E>;
  static constexpr u32 kBits = 8 * sizeof(E), kItems = S::items;
  static constexpr E kAll = static_cast<E>(~E{0});

  static E element(S x, u32 i) { return static_cast<E>(x.word >> (kBits * i)); }

  /// Calls `work` with pairs of elements that matter for carries and signs, next to random elements in the same word.
  template <class Work>
  static void for_pairs(Work work) {
    std::mt19937 random(3);
    for (u32 trial = 0; trial < 256; ++trial) {
      const u32 a = trial < 128 ? trial : trial < 192 ? kAll - (trial & 63) : static_cast<u32>(random()) & kAll;
      for (u32 b : {0u, 1u, 2u, 0x0Fu, kAll / 2u, kAll / 2u + 1, kAll / 2u + 2, kAll - 1u, u32{kAll}, a, kAll - a}) {
        const u32 shift = static_cast<u32>(random() % kItems) * kBits, others = ~(u32{kAll} << shift);
        work(S::of((static_cast<u32>(random()) & others) | a << shift),
             S::of((static_cast<u32>(random()) & others) | b << shift));
      }
    }
  }

  template <class Slices, class Elements>
  static void expect(const char* what, Slices slices, Elements elements) {
    for_pairs([&](S a, S b) {
      const S result = slices(a, b);
      for (u32 i = 0; i < kItems; ++i)
        ASSERT_EQ(element(result, i), static_cast<E>(elements(element(a, i), element(b, i))))
            << what << ' ' << a.word << ' ' << b.word;
    });
  }
};

using Elements = ::testing::Types<u8, u16, u32>;
TYPED_TEST_SUITE(ByteSlices, Elements);

u32 lowest(u32 set) { return set & (0 - set); }

TYPED_TEST(ByteSlices, OperationsAgreeWithElements) {
  using S = Slice<TypeParam>;
  constexpr u32 kAll = TestFixture::kAll;
  const auto expect = [](const char* what, auto slices, auto elements) { TestFixture::expect(what, slices, elements); };
  expect("+", [](S a, S b) { return a + b; }, [](u32 a, u32 b) { return a + b; });
  expect("-", [](S a, S b) { return a - b; }, [](u32 a, u32 b) { return a - b; });
  expect("&", [](S a, S b) { return a & b; }, [](u32 a, u32 b) { return a & b; });
  expect("|", [](S a, S b) { return a | b; }, [](u32 a, u32 b) { return a | b; });
  expect("^", [](S a, S b) { return a ^ b; }, [](u32 a, u32 b) { return a ^ b; });
  expect("~", [](S a, S) { return ~a; }, [](u32 a, u32) { return ~a; });
  expect("==", [](S a, S b) { return a == b; }, [](u32 a, u32 b) { return a == b ? kAll : 0; });
  expect(">", [](S a, S b) { return a > b; }, [](u32 a, u32 b) { return a > b ? kAll : 0; });
  expect(">=", [](S a, S b) { return a >= b; }, [](u32 a, u32 b) { return a >= b ? kAll : 0; });
  expect("nonzero", [](S a, S) { return nonzero(a); }, [](u32 a, u32) { return a ? kAll : 0; });
  expect("above", [](S a, S) { return above(a); }, [](u32 a, u32) { return ~(a | (a - 1)); });
  expect("pick", [](S a, S b) { return pick(a, b); }, [](u32 a, u32 b) { return lowest(a & b ? a & b : a); });
  expect("every", [](S, S) { return S(TypeParam{0x5A}); }, [](u32, u32) { return 0x5A; });
  for (u32 m = 0; m < TestFixture::kBits; ++m) {
    expect("has", [&](S a, S) { return has(a, m); }, [&](u32 a, u32) { return a >> m & 1 ? kAll : 0; });
    const auto put = [&](S a, S b) {
      S to = b;
      put_where(to, a, m, a);
      return to;
    };
    expect("put_where", put, [&](u32 a, u32 b) { return a >> m & 1 ? a : b; });
  }
  const auto chosen = [](S a, S b) { return select(a == b, a, S(TypeParam{7})); };
  expect("select", chosen, [](u32 a, u32 b) { return a == b ? a : 7; });
}

TYPED_TEST(ByteSlices, CountsAndElements) {
  using S = Slice<TypeParam>;
  TestFixture::for_pairs([](S a, S) {
    u32 count = 0;
    for (u32 i = 0; i < S::items; ++i) count += TestFixture::element(a, i) != 0;
    ASSERT_EQ(count_members(a), count);
    const S& same = a;
    for (u32 lane = 0; lane < 12; ++lane) ASSERT_EQ(lane_of(same, lane), TestFixture::element(a, lane % S::items));
    lane_of(a, 7) = TypeParam{0xC3};
    ASSERT_EQ(TestFixture::element(a, 7 % S::items), 0xC3);
  });
}

}  // namespace
}  // namespace flitlab::byte_slices_test
