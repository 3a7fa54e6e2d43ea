/// Choice of the lane code for this processor, at run time.
#include "kernels/routers/vc/lanes/lanes.hpp"

extern "C" {
const void* flitlab_vc_lanes_16(const void* choice);
#ifdef FLITLAB_WIDE_LANES
const void* flitlab_vc_lanes_32(const void* choice);
const void* flitlab_vc_lanes_64(const void* choice);
#endif
#ifdef FLITLAB_SLOW_LANES
const void* flitlab_vc_lanes_64_for_tests(const void* choice);
#endif
}

namespace flitlab::vc::lanes {

const Code& code_for(const CodeChoice& choice) {
  const void* (*lanes)(const void*) = flitlab_vc_lanes_16;
  [[maybe_unused]] const u32 width = lane_width();
#ifdef FLITLAB_SLOW_LANES
  if (width == 64) lanes = flitlab_vc_lanes_64_for_tests;
#endif
#ifdef FLITLAB_WIDE_LANES
  if (width == 32) lanes = flitlab_vc_lanes_32;
  if (width == 64 && has_vectors(64)) lanes = flitlab_vc_lanes_64;
#endif
  return *static_cast<const Code*>(lanes(&choice));
}

}  // namespace flitlab::vc::lanes
