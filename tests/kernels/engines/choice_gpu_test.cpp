/// `backend = auto` and memory limits on a machine with a device. Runs on the device that the host emulates
/// (tests/cuda_on_host). Skipped elsewhere, because a test cannot set the memory size of a GPU.
#include <gtest/gtest.h>

#include <cstdlib>

#include "host/run/stepped.hpp"
#include "kernels/common/error.hpp"
#include "kernels/engines/device.hpp"
#include "kernels/engines/make_engine.hpp"
#include "tests/support/build.hpp"
#include "tests/support/device_calls.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::choice_gpu_test {
namespace {

using namespace testing;

class GpuChoice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::device_calls()) GTEST_SKIP() << "needs a build with FLITLAB_CUDA=HOST";
  }
  void TearDown() override { unsetenv("CUDA_ON_HOST_MEMORY"); }
};

std::string error_of(auto&& act) {
  try {
    act();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(GpuChoice, AutoChoosesByJobSize) {
  const EngineChoice choice{.backend = "auto", .threads = 2};
  const EngineCost slow{.cpu_ns = 100000}, quick{.cpu_ns = 1};
  EXPECT_EQ(resolve_backend(choice, {64, 100}, 0, slow).backend, "cuda");
  EXPECT_EQ(resolve_backend(choice, {64, 100}, 0, quick).backend, "cpu");
  EXPECT_EQ(resolve_backend(choice, {64, 100}, 2000000000, slow).backend, "cpu");  // more memory than the device has
  EXPECT_EQ(resolve_backend({.backend = "auto", .traced = true}, {64, 100}, 0, slow).backend, "cpu");
  EXPECT_EQ(resolve_backend({.backend = "cuda"}, {64, 1}, 0, quick).backend, "cuda");  // a requested cuda is used
  const std::vector<CudaDevice> devices = cuda_devices();
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].multiprocessors, 3u);
  EXPECT_EQ(devices[0].bytes, 1000000000u);
}

TEST_F(GpuChoice, OneSmallNetworkRunsOnTheCpu) {
  const Experiment e = testing::experiment();
  EXPECT_EQ(choose_engine(*make_plan(e), 1, {}).backend, "cpu");
}

TEST_F(GpuChoice, ADeviceThatIsTooSmallIsNamed) {
  const Experiment e = testing::experiment("topology.shape=[64,64]");
  const auto plan = make_plan(e);
  setenv("CUDA_ON_HOST_MEMORY", "3", 1);
  const std::string many = error_of([&] { choose_engine(*plan, 9, {"cuda"}); });
  EXPECT_NE(many.find("MB are needed on the device, and 3 MB are free."), std::string::npos) << many;
  EXPECT_NE(error_of([&] { SteppedNetwork(e, "cuda", 1, false); }).find("routers would fit."), std::string::npos);
  EXPECT_EQ(choose_engine(*plan, 9, {"cpu"}).backend, "cpu");  // device memory does not limit a CPU
  unsetenv("CUDA_ON_HOST_MEMORY");
  EXPECT_EQ(error_of([&] { choose_engine(*plan, 9, {"cuda"}); }), "no error");
}

/// Device memory includes whole blocks of 32 items and the counters of each replica: 16 routers take as much memory as
/// 32.
TEST_F(GpuChoice, MemoryIsWhatTheDeviceAllocates) {
  const Experiment e = testing::experiment();
  const auto plan = make_plan(e);
  const StateLayout& layout = plan->layout();
  EXPECT_GE(cuda_bytes(layout), layout.bytes(32) + sizeof(CounterShard));
  EXPECT_GE(layout.bytes(32), 2 * layout.bytes(1));
  setenv("CUDA_ON_HOST_MEMORY", "3", 1);
  const u64 free = cuda_free_memory();
  const u32 fit = static_cast<u32>(free / cuda_bytes(layout));
  EXPECT_LT((layout.bytes(1) + sizeof(CounterShard)) * (fit + 1), free);  // without blocks of 32 one more would fit
  EXPECT_EQ(error_of([&] { choose_engine(*plan, fit, {"cuda"}); }), "no error");
  const std::string more = error_of([&] { choose_engine(*plan, fit + 1, {"cuda"}); });
  EXPECT_NE(more.find(": " + std::to_string(fit) + " replicas would fit."), std::string::npos) << more;
}

/// Returns the device memory of a job, bytes.
u64 taken(const Experiment& e, u32 replicas) {
  const u64 before = cuda_free_memory();
  const auto plan = make_plan(e);
  const auto engine = plan->make_engine(std::vector<Experiment>(replicas, e), {"cuda"});
  return before - cuda_free_memory();
}

/// Lane state is a second copy of the state. If it does not fit beside the scalar state, a job runs without lane state.
/// Tables may be large as well: here a traffic matrix is.
TEST_F(GpuChoice, ANetworkWithoutRoomForLanesRunsScalar) {
  constexpr u32 kReplicas = 4;
  std::string lines;
  for (u32 n = 0; n < 36 * 36; ++n)
    for (u32 k = 1; k <= 200; ++k) lines += std::to_string(n) + "," + std::to_string((n + k) % (36 * 36)) + ",1\n";
  const testing::TextFile matrix(lines);
  RawConfig config = Settings(
      "topology.shape=[36,36] router.vcs=4 traffic.load=0.2 traffic.pattern=matrix traffic.matrix_file=", matrix.path);
  const Experiment e = testing::experiment(config);
  config["router.routing_delay"] = std::int64_t{8};  // so that no lane state is used
  const u64 with = taken(e, kReplicas), without = taken(testing::experiment(config), kReplicas);
  ASSERT_GT(with, without + 3000000);
  testing::Network cpu(e);
  cpu.step(3);
  u32 in_lanes = 0, one_by_one = 0;
  const auto plan = make_plan(e);
  for (u64 mb = without / 1000000 + 1; mb <= with / 1000000 + 6; ++mb) {
    setenv("CUDA_ON_HOST_MEMORY", std::to_string(mb).c_str(), 1);
    const auto engine = plan->make_engine(std::vector<Experiment>(kReplicas, e), {"cuda"});
    (cuda_free_memory() + (with + without) / 2 < mb * 1000000 ? in_lanes : one_by_one)++;
    engine->advance(3, std::vector<u32>{3});
    EXPECT_EQ(engine->state_hash(3), cpu.engine->state_hash(0)) << mb << " MB";
  }
  EXPECT_GE(in_lanes, 1u);
  EXPECT_GE(one_by_one, 2u);
}

TEST_F(GpuChoice, AJobLargerThanTheDeviceIsAnError) {
  const Experiment e = testing::experiment("topology.shape=[64,64]");
  const auto plan = make_plan(e);
  setenv("CUDA_ON_HOST_MEMORY", "1", 1);
  try {
    plan->make_engine({e}, {"cuda"});  // without choose_engine, which checks the size of states but not of tables
    FAIL() << "no error";
  } catch (const RunError& error) {
    EXPECT_STREQ(error.what(),
                 "the device has no room for 13 MB more of this job. Run fewer replicas at a time, or use "
                 "backend cpu.");
  }
}

}  // namespace
}  // namespace flitlab::choice_gpu_test
