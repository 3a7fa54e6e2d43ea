/// Choice of the lane code for this processor, at run time.
#include "kernels/engines/processor.hpp"
#include "kernels/routers/vc/lanes/lanes.hpp"

extern "C" {
const void* flitlab_vc_lanes_16(unsigned ports, unsigned vcs, int table, int roomy);
#ifdef FLITLAB_WIDE_LANES
const void* flitlab_vc_lanes_32(unsigned ports, unsigned vcs, int table, int roomy);
const void* flitlab_vc_lanes_64(unsigned ports, unsigned vcs, int table, int roomy);
#endif
#ifdef FLITLAB_SLOW_LANES
const void* flitlab_vc_lanes_64_for_tests(unsigned ports, unsigned vcs, int table, int roomy);
#endif
}

namespace flitlab::vc::lanes {

const Code* code_for(u32 ports, u32 vcs, TableKind table, bool roomy) {
  const void* (*lanes)(unsigned, unsigned, int, int) = nullptr;
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
  return static_cast<const Code*>(lanes(ports, vcs, static_cast<int>(table), roomy));
}

}  // namespace flitlab::vc::lanes
