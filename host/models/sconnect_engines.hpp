#pragma once
/// The engines built for S-Connect, each in a translation unit of its own.
#include <memory>
#include <vector>

#include "host/plan.hpp"
#include "kernels/routers/sconnect/state.hpp"

namespace flitlab {

std::unique_ptr<Engine> make_sconnect_cpu_engine(const sconnect::Table& table, const StateLayout& layout,
                                                 std::vector<ReplicaRow> rows, const EngineChoice& choice);

/// Throws ConfigError in a build without CUDA; callers ask cuda_unavailable() first.
std::unique_ptr<Engine> make_sconnect_cuda_engine(const sconnect::Table& table, const StateLayout& layout,
                                                  std::vector<ReplicaRow> rows);

}  // namespace flitlab
