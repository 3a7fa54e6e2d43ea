#pragma once
/// What a model's `cuda.cu` consists of: this header, its model, and FLITLAB_CUDA_ENGINE(Model).
#include "kernels/engines/device_tables.cuh"
#include "kernels/engines/make_engine.hpp"

#define FLITLAB_CUDA_ENGINE(Model)                                                                 \
  template <>                                                                                      \
  std::unique_ptr<flitlab::Engine> flitlab::make_cuda_engine<Model::Table>(                        \
      const Model::Table& table, const StateLayout& layout, const std::vector<ReplicaRow>& rows) { \
    return std::make_unique<TabledCudaEngine<Model>>(table, layout, rows);                         \
  }
