#pragma once
/// The CUDA devices of this machine.
#include <string>
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab {

struct CudaDevice {
  std::string name;
  u32 multiprocessors;
  u64 bytes;  ///< memory, bytes
};

/// Returns the devices that CUDA shows (CUDA_VISIBLE_DEVICES may limit and order them); flitlab uses the first. The
/// list is empty if the build has no CUDA engine.
std::vector<CudaDevice> cuda_devices();

/// Returns the free memory of the device in use, bytes.
u64 cuda_free_memory();

}  // namespace flitlab
