/// The CUDA engine for adaptive routers.
#include "host/models/adaptive_engines.hpp"
#include "kernels/engines/device_tables.cuh"
#include "kernels/routers/adaptive/model.hpp"

namespace flitlab {
namespace {

adaptive::Table upload(adaptive::Table t, DeviceTables& device) {
  adaptive::for_each_array(t, [&](auto& array, std::size_t n) { device.move(array, n); });
  device.move(t.traffic);
  return t;
}

}  // namespace

std::unique_ptr<Engine> make_adaptive_cuda_engine(const adaptive::Table& table, const StateLayout& layout,
                                                  std::vector<ReplicaRow> rows) {
  return std::make_unique<TabledCudaEngine<AdaptiveModel>>(table, upload, layout, std::move(rows));
}

}  // namespace flitlab
