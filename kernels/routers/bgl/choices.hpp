#pragma once
/// Configurable choices of Blue Gene/L's torus.
#include "kernels/common/choices.hpp"

namespace flitlab::bgl {

/// Order in which the escape channel takes the hint bits (router.escape_order).
FLITLAB_CHOICES(Order, (kDimension, "dimension"), (kDirection, "direction"))

}  // namespace flitlab::bgl
