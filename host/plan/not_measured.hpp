#pragma once
/// The value of a quantity that has not been measured, or cannot be computed.
#include <limits>

namespace flitlab {

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

}  // namespace flitlab
