#pragma once
/// Selection without a branch, for conditions that cannot be predicted; compilers may turn `c ? a : b` into a branch.
#include "kernels/common/types.hpp"

namespace flitlab {

FLITLAB_HD constexpr u32 select(bool condition, u32 yes, u32 no) { return no ^ ((yes ^ no) & (0u - u32{condition})); }

}  // namespace flitlab
