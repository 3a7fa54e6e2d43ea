#pragma once
/// Configurable choices of traffic.
#include "kernels/common/choices.hpp"

namespace flitlab {

/// Injection process (traffic.injection). kAllAtOnce: the packets of a batch.
FLITLAB_CHOICES(Injection, (kBernoulli, "bernoulli"), (kPeriodic, "periodic"), (kOnOff, "on_off"), (kAllAtOnce))
/// Order of destinations in all-to-all traffic (traffic.order).
FLITLAB_CHOICES(Order, (kRandom, "random"), (kRotated, "rotated"), (kSame, "same"))

}  // namespace flitlab
