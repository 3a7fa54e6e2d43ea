/// Every kind of barrier and atomic of the CUDA engine is needed. On the device that the host emulates
/// (tests/cuda_on_host), the omission of one kind changes state or counters. So tests that compare engines detect a
/// missing barrier.
#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/engines/make_engine.hpp"
#include "tests/support/build.hpp"
#include "tests/support/device_calls.hpp"
#include "tests/support/networks.hpp"

namespace flitlab::without_gpu_test {
namespace {

using namespace testing;

class GpuStepWithout : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::device_calls()) GTEST_SKIP() << "needs a build with FLITLAB_CUDA=HOST";
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "this test causes data races";
#endif
  }
  void TearDown() override { unsetenv("FLITLAB_GPU_SYNC"); }
};
class GpuWithout : public GpuStepWithout, public ::testing::WithParamInterface<std::string> {};

/// Expects that the engines differ if the device omits `what`, and agree if it omits nothing. The result without a
/// barrier is undefined, so each comparison runs in a separate process.
void expect_another(const RawConfig& config, const char* what, const char* threads = "512", u32 cycles = 60) {
  const Experiment e = experiment(config);
  testing::Network cpu(e);
  cpu.step(cycles);
  const auto compare = [&](const char* without) {
    setenv("CUDA_ON_HOST_THREADS", threads, 1);
    setenv("CUDA_ON_HOST_WITHOUT", without, 1);
    testing::Network gpu(e, {"cuda", 1, false, 1});
    gpu.step(cycles);
    unsetenv("CUDA_ON_HOST_WITHOUT");
    const bool same = gpu.engine->state_hash(0) == cpu.engine->state_hash(0) &&
                      gpu.engine->totals(std::vector<u32>{0}) == cpu.engine->totals(std::vector<u32>{0});
    std::_Exit(same ? 0 : 1);
  };
  EXPECT_EXIT(compare("nothing"), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(compare(what), [](int status) { return status != 0; }, "") << "no difference without " << what;
  EXPECT_GT(cpu.total(Total::kFlitsCreated), 0u);
}

RawConfig model(const std::string& kind) {
  RawConfig config = Settings("router.kind=", kind, " traffic.load=0.3");
  if (kind == "vc") config["router.routing_delay"] = integer(8);  // so that no lane state is used
  return config;
}

TEST_P(GpuWithout, TheBarrierOfABlock) { expect_another(model(GetParam()), "block"); }

TEST_P(GpuWithout, TheBarrierOfTheGrid) {
  RawConfig config = testing::network_of_a_grid(GetParam());
  config.merge(model(GetParam()));
  // Nodes of Blue Gene/L affect one another after tens of cycles only.
  expect_another(config, "grid", "32", GetParam() == "bgl" ? 600 : 60);
}

/// The barrier between the parts of a step that a block of threads makes together (block_lists.hpp).
TEST_F(GpuStepWithout, ItsBarrier) {
  for (const char* kind : {"bgl", "metro", "sconnect"}) expect_another(model(kind), "1", "512", 300);
}

TEST_P(GpuWithout, Atomics) { expect_another(model(GetParam()), "atomics"); }

/// Barriers and atomics of lane state. Barriers of a warp group have number 1 (for the warps that process ports) and
/// number 2. Two warp groups are in one block, or in a grid, in which they synchronise by flags or at a barrier.
class GpuLanesWithout : public GpuWithout {};

/// Lets tiles of a grid synchronise at the grid's barrier, or by flags if these are omitted. Without another barrier,
/// warps of a group may wait for flags that none of them announces any more.
void choose_sync(const std::string& without) {
  setenv("FLITLAB_GPU_SYNC", without == "flags" ? "flags" : "barrier", 1);
}

TEST_P(GpuLanesWithout, What) {
  choose_sync(GetParam());
  expect_another(Settings("topology.shape=[12,12] router.vcs=4 traffic.load=0.3"), GetParam().c_str(),
                 GetParam() == "grid" || GetParam() == "flags" ? "256" : "768");
}

/// The same for kernels of any options. All warp groups of a network are in one grid.
class GpuAnyLanesWithout : public GpuWithout {};

TEST_P(GpuAnyLanesWithout, What) {
  choose_sync(GetParam());
  for (const char* options :
       {"router.vc_allocator=islip router.switch_allocator=islip router.arbiter=oldest_first",
        "router.vc_allocator=wavefront router.speculative=true traffic.mode=request_reply topology.concentration=2"})
    expect_another(Settings("topology.shape=[12,12] router.vcs=4 traffic.load=0.3 ", options), GetParam().c_str());
}

INSTANTIATE_TEST_SUITE_P(Models, GpuWithout, ::testing::ValuesIn(testing::kinds(true)));
INSTANTIATE_TEST_SUITE_P(Kinds, GpuLanesWithout,
                         ::testing::Values("1", "2", "warp", "atomics", "block", "grid", "flags"));
// Without barrier 1, kernels of any options may not end when blocks of threads drift apart.
INSTANTIATE_TEST_SUITE_P(Kinds, GpuAnyLanesWithout, ::testing::Values("2", "warp", "atomics", "grid", "flags"));

}  // namespace
}  // namespace flitlab::without_gpu_test
