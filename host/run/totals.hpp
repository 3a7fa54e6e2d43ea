#pragma once
/// Arithmetic on totals.
#include <numeric>
#include <vector>

#include "kernels/common/counters.hpp"

namespace flitlab {

inline u64 get(const Totals& totals, Total total) { return total_of(totals, total); }

inline double number(const Totals& totals, Total total) { return static_cast<double>(get(totals, total)); }

inline double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace flitlab
