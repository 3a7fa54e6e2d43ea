/// The CUDA engine for S-Connect.
#include "host/models/sconnect_engines.hpp"
#include "kernels/engines/device_tables.cuh"
#include "kernels/routers/sconnect/model.hpp"

namespace flitlab {
namespace {

sconnect::Table upload(sconnect::Table t, DeviceTables& device) {
  sconnect::for_each_array(t, [&](auto& array, std::size_t n) { device.move(array, n); });
  device.move(t.traffic);
  return t;
}

}  // namespace

std::unique_ptr<Engine> make_sconnect_cuda_engine(const sconnect::Table& table, const StateLayout& layout,
                                                  std::vector<ReplicaRow> rows) {
  return std::make_unique<TabledCudaEngine<SconnectModel>>(table, upload, layout, std::move(rows));
}

}  // namespace flitlab
