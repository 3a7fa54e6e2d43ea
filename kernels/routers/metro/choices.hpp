#pragma once
/// Configurable choices of METRO's endpoints.
#include "kernels/common/choices.hpp"

namespace flitlab::metro {

/// End-to-end check that follows a message (endpoint.checksum).
FLITLAB_CHOICES(Checksum, (kNone, "none"), (kCrc8, "crc8"), (kCrc16, "crc16"), (kCrc32, "crc32"))

}  // namespace flitlab::metro
