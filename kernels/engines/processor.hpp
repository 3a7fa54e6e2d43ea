#pragma once
/// Vector width of this machine's processor.
#include "kernels/common/types.hpp"

namespace flitlab {

/// Returns the bytes of the processor's widest byte vectors among those that lanes are compiled for (16, 32, 64): the
/// items of a block in lane state. For tests, the environment variable FLITLAB_LANES limits the width; 0: no lanes.
/// Builds with tests have lanes of 64 for any processor, but use them without such vectors only if FLITLAB_LANES = 64.
u32 lane_width();

/// Returns whether the processor has vectors of `bytes` bytes and lanes of that width have been compiled.
bool has_vectors(u32 bytes);

}  // namespace flitlab
