#pragma once
/// Configurable choices of the minimal adaptive router.
#include "kernels/common/choices.hpp"

namespace flitlab::adaptive {

FLITLAB_CHOICES(Assignment, (kGreedy, "greedy"), (kFixed, "fixed"), (kOptimal, "optimal"))

}  // namespace flitlab::adaptive
