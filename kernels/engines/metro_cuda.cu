/// The CUDA engine for METRO.
#include "host/models/metro_engines.hpp"
#include "kernels/engines/device_tables.cuh"
#include "kernels/routers/metro/model.hpp"

namespace flitlab {
namespace {

metro::Table upload(metro::Table t, DeviceTables& device) {
  metro::for_each_array(t, [&](auto& array, std::size_t n) { device.move(array, n); });
  device.move(t.traffic);
  return t;
}

}  // namespace

std::unique_ptr<Engine> make_metro_cuda_engine(const metro::Table& table, const StateLayout& layout,
                                               std::vector<ReplicaRow> rows) {
  return std::make_unique<TabledCudaEngine<MetroModel>>(table, upload, layout, std::move(rows));
}

}  // namespace flitlab
