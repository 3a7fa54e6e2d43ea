#pragma once
/// Finite fields of prime-power order.
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab {

/// Returns whether q is a prime power, at least 2.
bool is_prime_power(u32 q);

/// The field of q = p^n elements. An element is the number whose digits in base p are the coefficients of a polynomial;
/// 0 and 1 are the neutral elements.
class GaloisField {
 public:
  /// `q`: a prime power.
  explicit GaloisField(u32 q);

  u32 size() const { return q_; }
  u32 add(u32 a, u32 b) const { return sum_[a * q_ + b]; }
  u32 multiply(u32 a, u32 b) const { return a && b ? power(log_[a] + log_[b]) : 0; }
  u32 negative(u32 a) const { return negative_[a]; }
  /// Returns the power of a fixed element that generates all elements except 0.
  u32 power(u32 exponent) const { return power_[exponent % (q_ - 1)]; }

 private:
  u32 q_;
  std::vector<u32> sum_;             ///< [q][q]
  std::vector<u32> negative_, log_;  ///< [q]
  std::vector<u32> power_;           ///< [q - 1]
};

}  // namespace flitlab
