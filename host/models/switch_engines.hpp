#pragma once
/// The engines built for the single switch, each in a translation unit of its own.
#include <memory>
#include <vector>

#include "host/plan.hpp"
#include "kernels/routers/switch/state.hpp"

namespace flitlab {

std::unique_ptr<Engine> make_switch_cpu_engine(const sw::Table& table, const StateLayout& layout,
                                               std::vector<ReplicaRow> rows, const EngineChoice& choice);

/// Throws ConfigError in a build without CUDA; callers ask cuda_unavailable() first.
std::unique_ptr<Engine> make_switch_cuda_engine(const sw::Table& table, const StateLayout& layout,
                                                std::vector<ReplicaRow> rows);

}  // namespace flitlab
