/// The CUDA engine for the T3E.
#include "host/models/t3e_engines.hpp"
#include "kernels/engines/device_tables.cuh"
#include "kernels/routers/t3e/model.hpp"

namespace flitlab {
namespace {

t3e::Table upload(t3e::Table t, DeviceTables& device) {
  const std::size_t n = t.routers;
  device.move(t.peers, n * t3e::kPorts);
  device.move(t.registers, n);
  device.move(t.lut, n * t.lut_entries);
  device.move(t.software, n);
  device.move(t.broken, n);
  device.move(t.full_select, n * t3e::kDirections);
  device.move(t.barrier, n * t.barrier_units);
  device.move(t.traffic);
  return t;
}

}  // namespace

std::unique_ptr<Engine> make_t3e_cuda_engine(const t3e::Table& table, const StateLayout& layout,
                                             std::vector<ReplicaRow> rows) {
  return std::make_unique<TabledCudaEngine<T3eModel>>(table, upload, layout, std::move(rows));
}

}  // namespace flitlab
