/// Memory that runs out at any moment: the error reaches the caller, and nothing hangs, leaks or is partly changed.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "host/config/registry.hpp"
#include "host/run/run.hpp"
#include "host/run/stepped.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/philox.hpp"
#include "tests/support/build.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::run_allocation_test {

std::atomic<bool> counts{false};
std::atomic<std::int64_t> made{0}, refused{-1};

/// Allocations smaller than this number of bytes never fail in this test. If a copy of a std::variant of strings and
/// vectors finds no memory for a string, GCC 12's library destroys an object that it has not constructed and
/// terminates.
constexpr std::size_t kLeast = 256;

/// Allocates memory for every `operator new` of this process. Throws for the allocation of the chosen number, counted
/// from the start of counting.
void* memory(std::size_t bytes, std::size_t alignment) {
  if (bytes >= kLeast && counts.load(std::memory_order_relaxed) && made.fetch_add(1) == refused) throw std::bad_alloc();
  bytes = std::max<std::size_t>(bytes, 1);
  void* p = alignment <= alignof(std::max_align_t)
                ? std::malloc(bytes)
                : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (!p) throw std::bad_alloc();
  return p;
}

}  // namespace flitlab::run_allocation_test

// If these were inlined, GCC would warn that memory from `new` is passed to free().
[[gnu::noinline]] void* operator new(std::size_t n) { return flitlab::run_allocation_test::memory(n, 1); }
[[gnu::noinline]] void* operator new[](std::size_t n) { return flitlab::run_allocation_test::memory(n, 1); }
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
  return flitlab::run_allocation_test::memory(n, static_cast<std::size_t>(a));
}
[[gnu::noinline]] void* operator new[](std::size_t n, std::align_val_t a) {
  return flitlab::run_allocation_test::memory(n, static_cast<std::size_t>(a));
}
[[gnu::noinline]] void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return std::malloc(n ? n : 1); }
[[gnu::noinline]] void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return std::malloc(n ? n : 1); }
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace flitlab::run_allocation_test {
namespace {

using namespace testing;

/// Counts allocations during its lifetime and makes one of them fail.
struct Refusal {
  explicit Refusal(std::int64_t which) {
    made = 0;
    refused = which;
    counts = true;
  }
  ~Refusal() { counts = false; }
};

class AllocationOf : public ::testing::TestWithParam<std::string> {};

TEST_P(AllocationOf, NetworksAndRuns) {
  const RawConfig config = Settings("router.kind=", GetParam().c_str(), " traffic.mode=batch traffic.batch_packets=2");
  const std::string path = testing::temporary(".checkpoint");
  // The work: a batch is stepped, saved, loaded, and run to its end on three threads that share it.
  const auto work = [&] {
    const Experiment e = experiment(config);
    SteppedNetwork first(e, "cpu", 1, false), second(e, "cpu", 2, false);
    first.step(30);
    first.save(path);
    second.load(path);
    second.step(30);
    return std::pair(second.state_hash(), run_job({e}, {"cpu", 3, false, 1}, nullptr, {}).front().state_hash);
  };
  const auto whole = work();
  std::int64_t all = 0;
  {
    Refusal nothing(-1);
    work();
    all = made;
  }
  ASSERT_GT(all, 50);
  u32 seen = 0;
  for (u32 n = 0; n < testing::trials(120); ++n) {
    const u64 draw = philox(7, 1, 0, n).word[0];
    const std::int64_t which = n < 20 ? n : static_cast<std::int64_t>(draw % static_cast<u64>(all));
    try {
      Refusal refusal(which);
      work();
    } catch (const std::bad_alloc&) {
      ++seen;
    } catch (const ConfigError& error) {  // a stream of the checkpoint ran out of memory
      EXPECT_NE(std::string(error.what()).find("checkpoint"), std::string::npos) << error.what();
      ++seen;
    } catch (const RunError& error) {
      EXPECT_NE(std::string(error.what()).find("threads cannot be started"), std::string::npos) << error.what();
      ++seen;
    }
    EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
  }
  EXPECT_GT(seen, testing::trials(120) / 2);
  EXPECT_EQ(work(), whole);
}

INSTANTIATE_TEST_SUITE_P(Models, AllocationOf, ::testing::ValuesIn(testing::kinds()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace flitlab::run_allocation_test
