#pragma once
/// The engines built for the Blue Gene/L torus, each in a translation unit of its own.
#include <memory>
#include <vector>

#include "host/plan.hpp"
#include "kernels/routers/bgl/state.hpp"

namespace flitlab {

std::unique_ptr<Engine> make_bgl_cpu_engine(const bgl::Table& table, const StateLayout& layout,
                                            std::vector<ReplicaRow> rows, const EngineChoice& choice);

/// Throws ConfigError in a build without CUDA; callers ask cuda_unavailable() first.
std::unique_ptr<Engine> make_bgl_cuda_engine(const bgl::Table& table, const StateLayout& layout,
                                             std::vector<ReplicaRow> rows);

}  // namespace flitlab
