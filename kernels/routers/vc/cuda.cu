#include "kernels/engines/cuda_unit.cuh"
#include "kernels/routers/vc/lanes/device.cuh"
#include "kernels/routers/vc/model.hpp"

namespace flitlab::vc::lanes {
template <u32 P, Room kRoom>
using FixedLanes = DeviceLanes<FixedVcTable<P, 4>, Sizes<P, 4, kRoom, true>>;
template <u32 P, u32 V>
using OpenLanes = DeviceLanes<OpenVcTable, Sizes<P, V, Room::kRoomy, true>>;
/// Routers with any options. Terminals have lane state only in open traffic (OpenVcTable), and not if routes need the
/// registers (has_long_routes()) of a router with more than 8 ports or VCs.
using SmallLanes = DeviceLanes<OpenVcTable, Sizes<8, 8, Room::kRoomy, false>, u8>;
using SmallScalarTerminals = DeviceLanes<VcTable, Sizes<8, 8, Room::kHuge, false>, u8>;
using LargeLanes = DeviceLanes<OpenVcTable, Sizes<16, 16, Room::kHuge, false>, u16>;
using LargeScalarTerminals = DeviceLanes<VcTable, Sizes<12, 16, Room::kHuge, false>, u16>;
using enum Room;
}  // namespace flitlab::vc::lanes

// The engine takes the first type that fits, so types with more compile-time constants come first.
FLITLAB_CUDA_ENGINE(flitlab::VcModel, vc::lanes::FixedLanes<5, vc::lanes::kTight>,
                    vc::lanes::FixedLanes<7, vc::lanes::kTight>, vc::lanes::FixedLanes<5, vc::lanes::kRoomy>,
                    vc::lanes::FixedLanes<7, vc::lanes::kRoomy>, vc::lanes::OpenLanes<5, 4>, vc::lanes::OpenLanes<7, 4>,
                    vc::lanes::OpenLanes<5, 8>, vc::lanes::OpenLanes<7, 8>, vc::lanes::SmallLanes,
                    vc::lanes::SmallScalarTerminals, vc::lanes::LargeLanes, vc::lanes::LargeScalarTerminals)
