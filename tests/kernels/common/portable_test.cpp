/// Replacements for library functions that some compilers lack, compared with the library's functions.
#include "kernels/common/portable.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab::portable {
namespace {

#if defined(__cpp_lib_to_chars)

std::string of_library(double x) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

TEST(Portable, NumbersAreWrittenAsTheLibraryWritesThem) {
  std::vector<double> numbers = {0.0,    -0.0, 1,    0.1,   0.3,  1e5,      100000, 123456789, 1e22,     1e23,
                                 5e-324, 1e-5, 1e-4, 2.5e3, 1e21, -0.00012, 1e16,   1e17,      12345e20, 1.0 / 3};
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const double x = std::bit_cast<double>(random());
    if (x - x == 0) numbers.push_back(x);
    numbers.push_back(static_cast<double>(random() % 100000) / 1000);
  }
  for (const double x : numbers) {
    // Beyond 2^53 the library may print an integer with other digits than the shortest ones.
    if (fallback::shortest_text(x) != of_library(x)) {
      EXPECT_GE(std::abs(x), 9007199254740992.0) << of_library(x);
    }
    EXPECT_EQ(std::strtod(fallback::shortest_text(x).c_str(), nullptr), x);
  }
}

TEST(Portable, NumbersAreReadAsTheLibraryReadsThem) {
  for (const std::string text : {"",       "-",   "+1",    " 1",        "1",     "-1",  "1.",   ".5",
                                 "-.5",    ".",   "1.5",   "1e3",       "1e",    "1e+", "1e-",  "1E-3x",
                                 "0x10",   "1,2", "1e400", "-1e400",    "1.2.3", "--1", "e5",   "12345678901234567890",
                                 "0.1e-1", "1 ",  "inf",   "-INFinity", "infin", "nan", "-NaN", "nano",
                                 "in",     "i",   "-n"}) {
    double ours = -7, of_library_text = -7;
    const char* last = text.data() + text.size();
    const auto [end, error] = fallback::from_chars(text.data(), last, ours);
    const auto [expected_end, expected_error] = std::from_chars(text.data(), last, of_library_text);
    EXPECT_EQ(error, expected_error) << text;
    EXPECT_EQ(end - text.data(), expected_end - text.data()) << text;
    EXPECT_TRUE(ours == of_library_text || (std::isnan(ours) && std::isnan(of_library_text))) << text;
  }
}

TEST(Portable, WrittenNumbersAreReadBack) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 5000; ++i) {
    const double x = static_cast<double>(random()) / static_cast<double>(random() | 1);
    const std::string text = fallback::shortest_text(x);
    double back = 0;
    EXPECT_EQ(fallback::from_chars(text.data(), text.data() + text.size(), back).ptr, text.data() + text.size());
    EXPECT_EQ(back, x) << text;
  }
}

#endif

TEST(Portable, AThreadIsWaitedForAtItsEnd) {
  std::atomic<u32> done{0};
  {
    std::vector<fallback::Thread> pool;
    for (u32 i = 0; i < 4; ++i) pool.emplace_back([&done] { ++done; });
  }
  EXPECT_EQ(done, 4u);
}

TEST(Portable, AReferenceIsToTheVariable) {
  u32 word = 3;
  const fallback::AtomicRef<u32> at(word);
  at.store(5, std::memory_order_release);
  EXPECT_EQ(word, 5u);
  word = 6;
  EXPECT_EQ(at.load(std::memory_order_acquire), 6u);
}

}  // namespace
}  // namespace flitlab::portable
