#pragma once
/// Makes the CUDA engine of a model. A model's `cuda.cu` includes this header and the model, and contains
/// FLITLAB_CUDA_ENGINE(Model), or FLITLAB_CUDA_ENGINE(Model, Lanes...) if it has lane state for GPUs
/// (kernels/engines/cuda_lane_engine.cuh).
#include "kernels/engines/device.hpp"
#include "kernels/engines/device_tables.cuh"
#include "kernels/engines/make_engine.hpp"

namespace flitlab {

template <class Model, class Lanes>
class CudaLaneEngine;

/// Device memory that must remain free after an engine has been made, bytes; it is used for lists of replicas and for
/// hashing.
inline constexpr u64 kRoomToWork = u64{4} << 20;

/// Returns an engine with the first type of `Lanes` that supports the table and for which the device has room. If there
/// is no such type, returns an engine without lane state.
template <class Model, class... Lanes>
std::unique_ptr<Engine> cuda_engine(const typename Model::Table& table, const StateLayout& layout,
                                    const std::vector<ReplicaRow>& rows) {
  std::unique_ptr<Engine> engine;
  [[maybe_unused]] const auto fits = [&]<class L>() {
    if (!L::fits(table) || !CudaLaneEngine<Model, L>::has_room()) return false;
    try {
      engine = std::make_unique<TabledCudaEngine<Model, CudaLaneEngine<Model, L>>>(table, layout, rows);
    } catch (const DeviceFull&) {
      return false;
    }
    if (cuda_free_memory() < kRoomToWork) engine.reset();
    return engine != nullptr;
  };
  if (!(fits.template operator()<Lanes>() || ...))
    engine = std::make_unique<TabledCudaEngine<Model>>(table, layout, rows);
  return engine;
}

}  // namespace flitlab

#define FLITLAB_CUDA_ENGINE(Model, ...)                                                            \
  template <>                                                                                      \
  std::unique_ptr<flitlab::Engine> flitlab::make_cuda_engine<Model::Table>(                        \
      const Model::Table& table, const StateLayout& layout, const std::vector<ReplicaRow>& rows) { \
    return cuda_engine<Model __VA_OPT__(, ) __VA_ARGS__>(table, layout, rows);                     \
  }
