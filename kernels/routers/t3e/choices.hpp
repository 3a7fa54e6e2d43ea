#pragma once
/// Configurable choices of the Cray T3E's barrier units.
#include "kernels/common/choices.hpp"

namespace flitlab::t3e {

/// How the PEs use their barrier units (barrier.operation).
FLITLAB_CHOICES(BarrierProgram, (kBarrier, "barrier"), (kEureka, "eureka"), (kByHand, "by_hand"))

}  // namespace flitlab::t3e
