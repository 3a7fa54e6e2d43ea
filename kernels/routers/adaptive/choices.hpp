#pragma once
/// What a configuration chooses of the minimal adaptive router.
#include "kernels/common/choices.hpp"

namespace flitlab::adaptive {

FLITLAB_CHOICES(Assignment, (kGreedy, "greedy"), (kFixed, "fixed"), (kOptimal, "optimal"))

}  // namespace flitlab::adaptive
