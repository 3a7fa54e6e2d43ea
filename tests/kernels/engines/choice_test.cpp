/// The engine that results from a user's choice of backend.
#include <gtest/gtest.h>

#include "kernels/common/error.hpp"
#include "kernels/engines/make_engine.hpp"

namespace flitlab {
namespace {

/// The CUDA engine writes no events, so flitlab rejects a trace with it instead of writing an empty one.
TEST(EngineChoice, NoTraceOnADevice) {
  try {
    resolve_backend({.backend = "cuda", .traced = true});
    ADD_FAILURE() << "a trace by the CUDA engine would be empty";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("only CPU engines write events"), std::string::npos) << error.what();
  }
  EXPECT_EQ(resolve_backend({.backend = "auto", .traced = true}).backend, "cpu");
  EXPECT_EQ(resolve_backend({.backend = "cpu", .threads = 3, .traced = true}).threads, 3u);
}

}  // namespace
}  // namespace flitlab
