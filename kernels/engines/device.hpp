#pragma once
/// The devices of this machine.
#include <string>
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab {

struct CudaDevice {
  std::string name;
  u32 multiprocessors;
  u64 bytes;  ///< of memory
};

/// Those that CUDA shows, which CUDA_VISIBLE_DEVICES may limit and order; the first is used. None without a CUDA
/// engine.
std::vector<CudaDevice> cuda_devices();

/// Memory that the device in use has free, bytes.
u64 cuda_free_memory();

}  // namespace flitlab
