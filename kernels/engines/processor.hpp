#pragma once
/// Vector width of this machine's processor.
#include "kernels/common/types.hpp"

namespace flitlab {

/// Returns the width in bytes (16, 32 or 64) of the widest vectors that this processor has and for which lane code is
/// compiled; it equals the number of items per block in lane state, if elements have one byte. For tests, the
/// environment variable FLITLAB_LANES limits the width; 0 turns lane state off. Builds with tests have lane code of 64
/// bytes for any processor, but use it on a processor without such vectors only if FLITLAB_LANES = 64.
u32 lane_width();

/// Returns whether the processor has vectors of `bytes` bytes and lane code of that width has been compiled.
bool has_vectors(u32 bytes);

}  // namespace flitlab
