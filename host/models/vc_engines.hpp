#pragma once
/// The engines built for the virtual-channel router, each in a translation unit of its own.
#include <memory>
#include <vector>

#include "host/plan.hpp"
#include "kernels/routers/vc/state.hpp"

namespace flitlab {

std::unique_ptr<Engine> make_vc_cpu_engine(const vc::VcTable& table, const StateLayout& layout,
                                           std::vector<ReplicaRow> rows, const EngineChoice& choice);

/// Throws ConfigError in a build without CUDA; callers ask cuda_unavailable() first.
std::unique_ptr<Engine> make_vc_cuda_engine(const vc::VcTable& table, const StateLayout& layout,
                                            std::vector<ReplicaRow> rows);

}  // namespace flitlab
