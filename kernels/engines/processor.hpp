#pragma once
/// What this machine's processor has.
#include "kernels/common/types.hpp"

namespace flitlab {

/// Bytes of its widest vectors of bytes, of those that lanes are compiled for (16, 32, 64): the items of a block of
/// lanes. FLITLAB_LANES in the environment asks for narrower ones, for tests; 0: none. Builds with tests have lanes of
/// 64 for any processor, but only who asks for them gets them where it has no such vectors.
u32 lane_width();

/// Whether it has vectors of so many bytes, and lanes for them have been compiled.
bool has_vectors(u32 bytes);

}  // namespace flitlab
