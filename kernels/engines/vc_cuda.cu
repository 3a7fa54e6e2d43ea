/// The CUDA engine for the virtual-channel router.
#include "host/models/vc_engines.hpp"
#include "kernels/engines/device_tables.cuh"
#include "kernels/routers/vc/model.hpp"

namespace flitlab {
namespace {

vc::VcTable upload(vc::VcTable t, DeviceTables& device) {
  const std::size_t n = t.routers;
  device.move(t.peers, n * t.ports);
  device.move(t.address, n);
  device.move(t.next_port, n * n);
  device.move(t.layer, n * n);
  device.move(t.traffic);
  return t;
}

}  // namespace

std::string cuda_unavailable() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return std::string("no CUDA device answers (") + cudaGetErrorString(status) + ").";
  return count ? "" : "there is no CUDA device in this machine.";
}

std::unique_ptr<Engine> make_vc_cuda_engine(const vc::VcTable& table, const StateLayout& layout,
                                            std::vector<ReplicaRow> rows) {
  return std::make_unique<TabledCudaEngine<VcModel>>(table, upload, layout, std::move(rows));
}

}  // namespace flitlab
