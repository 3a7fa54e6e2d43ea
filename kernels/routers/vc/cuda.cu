#include "kernels/engines/cuda_unit.cuh"
#include "kernels/routers/vc/lanes/device.cuh"
#include "kernels/routers/vc/model.hpp"

namespace flitlab::vc::lanes {
template <u32 P, bool kRoomy>
using FixedLanes = DeviceLanes<FixedVcTable<P, 4>, Sizes<P, 4, kRoomy>>;
template <u32 P, u32 V>
using OpenLanes = DeviceLanes<OpenVcTable, Sizes<P, V, true>>;
}  // namespace flitlab::vc::lanes

// The engine takes the first type that fits, so types with more compile-time constants come first.
FLITLAB_CUDA_ENGINE(flitlab::VcModel, vc::lanes::FixedLanes<5, false>, vc::lanes::FixedLanes<7, false>,
                    vc::lanes::FixedLanes<5, true>, vc::lanes::FixedLanes<7, true>, vc::lanes::OpenLanes<5, 4>,
                    vc::lanes::OpenLanes<7, 4>, vc::lanes::OpenLanes<5, 8>, vc::lanes::OpenLanes<7, 8>)
