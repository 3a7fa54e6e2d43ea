/// The CUDA engine for the single switch.
#include "host/models/switch_engines.hpp"
#include "kernels/engines/device_tables.cuh"
#include "kernels/routers/switch/model.hpp"

namespace flitlab {
namespace {

sw::Table upload(sw::Table t, DeviceTables& device) {
  device.move(t.traffic);
  return t;
}

}  // namespace

std::unique_ptr<Engine> make_switch_cuda_engine(const sw::Table& table, const StateLayout& layout,
                                                std::vector<ReplicaRow> rows) {
  return std::make_unique<TabledCudaEngine<SwitchModel>>(table, upload, layout, std::move(rows));
}

}  // namespace flitlab
