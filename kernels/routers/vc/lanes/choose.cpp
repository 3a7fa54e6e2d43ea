/// Which lanes this processor has.
#include "kernels/engines/processor.hpp"
#include "kernels/routers/vc/lanes/lanes.hpp"

extern "C" {
const void* flitlab_vc_lanes_16(unsigned ports, int long_packets);
#ifdef FLITLAB_WIDE_LANES
const void* flitlab_vc_lanes_32(unsigned ports, int long_packets);
const void* flitlab_vc_lanes_64(unsigned ports, int long_packets);
#endif
#ifdef FLITLAB_SLOW_LANES
const void* flitlab_vc_lanes_64_for_tests(unsigned ports, int long_packets);
#endif
}

namespace flitlab::vc::lanes {

const Code* code_for(u32 ports, bool long_packets) {
  const void* (*lanes)(unsigned, int) = nullptr;
  const u32 width = lane_width();
  if (width == 16) lanes = flitlab_vc_lanes_16;
#ifdef FLITLAB_SLOW_LANES
  if (width == 64) lanes = flitlab_vc_lanes_64_for_tests;
#endif
#ifdef FLITLAB_WIDE_LANES
  if (width == 32) lanes = flitlab_vc_lanes_32;
  if (width == 64 && has_vectors(64)) lanes = flitlab_vc_lanes_64;
#endif
  if (!lanes) return nullptr;
  return static_cast<const Code*>(lanes(ports, long_packets));
}

u32 longest_packet(const TrafficTable& traffic) {
  if (traffic.length_law == LengthLaw::kGeometric) return traffic.max_flits;
  u32 longest = 0;
  for (u32 i = 0; i < traffic.packets.count; ++i)
    if (longest < traffic.packets.flits[i]) longest = traffic.packets.flits[i];
  return longest;
}

}  // namespace flitlab::vc::lanes
