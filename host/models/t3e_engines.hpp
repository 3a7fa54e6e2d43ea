#pragma once
/// The engines built for the T3E, each in a translation unit of its own.
#include <memory>
#include <vector>

#include "host/plan.hpp"
#include "kernels/routers/t3e/state.hpp"

namespace flitlab {

std::unique_ptr<Engine> make_t3e_cpu_engine(const t3e::Table& table, const StateLayout& layout,
                                            std::vector<ReplicaRow> rows, const EngineChoice& choice);

/// Throws ConfigError in a build without CUDA; callers ask cuda_unavailable() first.
std::unique_ptr<Engine> make_t3e_cuda_engine(const t3e::Table& table, const StateLayout& layout,
                                             std::vector<ReplicaRow> rows);

}  // namespace flitlab
