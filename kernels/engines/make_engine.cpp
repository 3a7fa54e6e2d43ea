#include "kernels/engines/make_engine.hpp"

#include <algorithm>
#include <thread>

#include "kernels/common/error.hpp"

namespace flitlab {

EngineChoice resolve_backend(EngineChoice choice) {
  if (choice.backend == "cuda" && choice.traced)
    throw ConfigError(
        "--backend cuda: only CPU engines write events. Use --backend cpu or auto for a trace; its states "
        "are the same.");
  const std::string why_not = choice.backend == "cpu" ? "" : cuda_unavailable();
  if (choice.backend == "cuda" && !why_not.empty())
    throw ConfigError("--backend cuda cannot be used: " + why_not + " Use --backend cpu or auto.");
  if (choice.backend == "auto") choice.backend = why_not.empty() && !choice.traced ? "cuda" : "cpu";
  if (choice.threads == 0) choice.threads = std::max(1u, std::thread::hardware_concurrency());
  return choice;
}

void no_wide_engines() {
  throw ConfigError("the layout of GPUs on a CPU is there in builds with tests only: configure with FLITLAB_TESTS=ON.");
}

#ifndef FLITLAB_CUDA
std::string cuda_unavailable() { return "this build has no CUDA engine (no CUDA compiler was found)."; }
#endif

}  // namespace flitlab
