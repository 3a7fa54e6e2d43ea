#pragma once
/// A choice without a branch, for what cannot be foreseen; compilers make one of `c ? a : b` as they like.
#include "kernels/common/types.hpp"

namespace flitlab {

FLITLAB_HD constexpr u32 select(bool condition, u32 yes, u32 no) { return no ^ ((yes ^ no) & (0u - u32{condition})); }

}  // namespace flitlab
