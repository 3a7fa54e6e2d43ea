#pragma once
/// Enumerations for the traffic parameters that select one of several choices.
#include "kernels/common/choices.hpp"

namespace flitlab {

/// Injection process (traffic.injection). kAllAtOnce: all packets of a batch are created in the first cycle of traffic.
FLITLAB_CHOICES(Injection, (kBernoulli, "bernoulli"), (kPeriodic, "periodic"), (kOnOff, "on_off"), (kAllAtOnce))
/// Order of destinations in all-to-all traffic (traffic.order).
FLITLAB_CHOICES(Order, (kRandom, "random"), (kRotated, "rotated"), (kSame, "same"))

}  // namespace flitlab
