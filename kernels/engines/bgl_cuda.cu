/// The CUDA engine for Blue Gene/L's torus.
#include "host/models/bgl_engines.hpp"
#include "kernels/engines/device_tables.cuh"
#include "kernels/routers/bgl/model.hpp"

namespace flitlab {
namespace {

bgl::Table upload(bgl::Table t, DeviceTables& device) {
  bgl::for_each_array(t, [&](auto& array, std::size_t n) { device.move(array, n); });
  device.move(t.traffic);
  return t;
}

}  // namespace

std::unique_ptr<Engine> make_bgl_cuda_engine(const bgl::Table& table, const StateLayout& layout,
                                             std::vector<ReplicaRow> rows) {
  return std::make_unique<TabledCudaEngine<BglModel>>(table, upload, layout, std::move(rows));
}

}  // namespace flitlab
