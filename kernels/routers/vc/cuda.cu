#include "kernels/engines/cuda_unit.cuh"
#include "kernels/routers/vc/lanes/device.cuh"
#include "kernels/routers/vc/model.hpp"

namespace flitlab::vc::lanes {
template <u32 P, bool kRoomy>
using FixedLanes = DeviceLanes<FixedVcTable<P, 4>, kRoomy>;
}  // namespace flitlab::vc::lanes

FLITLAB_CUDA_ENGINE(flitlab::VcModel, vc::lanes::FixedLanes<5, false>, vc::lanes::FixedLanes<7, false>)
