#pragma once
/// Makes the CUDA engine of a model. A model's `cuda.cu` includes this header and the model, and contains
/// FLITLAB_CUDA_ENGINE(Model), or FLITLAB_CUDA_ENGINE(Model, Lanes...) if it has lane state for GPUs
/// (kernels/engines/cuda_lane_engine.cuh).
#include <mutex>

#include "kernels/engines/device.hpp"
#include "kernels/engines/device_tables.cuh"
#include "kernels/engines/make_engine.hpp"

namespace flitlab {

template <class Model, class Lanes>
class CudaLaneEngine;

/// Device memory that must remain free after an engine has been made, bytes; it is used for hashing.
inline constexpr u64 kRoomToWork = u64{4} << 20;

/// Held while an engine is made. Without it, two jobs that fit one after the other could both find too little memory.
inline std::mutex making_an_engine;

/// Returns an engine with the first type of `Lanes` that supports the table and for which the device has room. If there
/// is no such type, returns an engine without lane state. `beside_others`: if a type supports the table but the device
/// has no room for it, throws DeviceFull instead, because there may be room when other jobs have ended.
template <class Model, class... Lanes>
std::unique_ptr<Engine> cuda_engine(const typename Model::Table& table, const StateLayout& layout,
                                    const std::vector<ReplicaRow>& rows, bool beside_others) {
  const std::lock_guard one_at_a_time(making_an_engine);
  std::unique_ptr<Engine> engine;
  const auto leaves_room = [&] {
    if (cuda_free_memory() >= kRoomToWork) return true;
    engine.reset();
    if (beside_others) throw DeviceFull("the device has too little free memory for this job beside others.");
    return false;
  };
  [[maybe_unused]] const auto fits = [&]<class L>() {
    if (!L::fits(table) || !CudaLaneEngine<Model, L>::has_room()) return false;
    try {
      engine = std::make_unique<TabledCudaEngine<Model, CudaLaneEngine<Model, L>>>(table, layout, rows);
    } catch (const DeviceFull&) {
      if (beside_others) throw;
      return false;
    }
    return leaves_room();
  };
  if ((fits.template operator()<Lanes>() || ...)) return engine;
  engine = std::make_unique<TabledCudaEngine<Model>>(table, layout, rows);
  if (beside_others) leaves_room();
  return engine;
}

}  // namespace flitlab

#define FLITLAB_CUDA_ENGINE(Model, ...)                                                                                \
  template <>                                                                                                          \
  std::unique_ptr<flitlab::Engine> flitlab::make_cuda_engine<Model::Table>(                                            \
      const Model::Table& table, const StateLayout& layout, const std::vector<ReplicaRow>& rows, bool beside_others) { \
    return cuda_engine<Model __VA_OPT__(, ) __VA_ARGS__>(table, layout, rows, beside_others);                          \
  }
