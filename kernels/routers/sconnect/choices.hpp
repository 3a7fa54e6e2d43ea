#pragma once
/// Configurable choices of S-Connect's routers.
#include "kernels/common/choices.hpp"

namespace flitlab::sconnect {

/// Messages whose age counts in a queue (routing.age).
FLITLAB_CHOICES(Age, (kRequeued, "requeued"), (kHead, "head"), (kAll, "all"))

}  // namespace flitlab::sconnect
