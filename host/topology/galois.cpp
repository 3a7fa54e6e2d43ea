#include "host/topology/galois.hpp"

namespace flitlab {
namespace {

/// Returns the smallest divisor of q above 1.
u32 smallest_divisor(u32 q) {
  for (u32 p = 2; p * p <= q; ++p)
    if (q % p == 0) return p;
  return q;
}

using Digits = std::vector<u32>;  ///< coefficients of a polynomial, the constant one first

Digits digits_of(u32 x, u32 p, u32 n) {
  Digits digits(n);
  for (u32& digit : digits) digit = x % p, x /= p;
  return digits;
}

u32 number_of(const Digits& digits, u32 p) {
  u32 x = 0;
  for (std::size_t i = digits.size(); i-- > 0;) x = x * p + digits[i];
  return x;
}

/// Returns x times a polynomial, modulo the polynomial x^n - `reduction`.
Digits times_x(const Digits& a, const Digits& reduction, u32 p) {
  Digits product(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) product[i] = ((i ? a[i - 1] : 0) + a.back() * reduction[i]) % p;
  return product;
}

/// Returns the product of two elements of the prime field or, for n > 1, one more power of x.
Digits next_power(const Digits& a, const Digits& reduction, u32 p, u32 generator) {
  if (a.size() > 1) return times_x(a, reduction, p);
  return {a[0] * generator % p};
}

}  // namespace

bool is_prime_power(u32 q) {
  if (q < 2) return false;
  const u32 p = smallest_divisor(q);
  while (q % p == 0) q /= p;
  return q == 1;
}

GaloisField::GaloisField(u32 q) : q_(q), sum_(q * q), negative_(q), log_(q) {
  const u32 p = smallest_divisor(q);
  u32 n = 0;
  for (u32 rest = q; rest > 1; rest /= p) ++n;
  for (u32 a = 0; a < q; ++a)
    for (u32 b = 0; b < q; ++b) {
      Digits sum = digits_of(a, p, n);
      for (u32 i = 0; i < n; ++i) sum[i] = (sum[i] + digits_of(b, p, n)[i]) % p;
      sum_[a * q + b] = number_of(sum, p);
      if (sum_[a * q + b] == 0) negative_[a] = b;
    }
  // A reduction polynomial (n = 1: a number) whose powers reach all elements except 0 makes a field: x generates it.
  for (u32 candidate = 1; candidate < q; ++candidate) {
    power_.clear();
    Digits power = digits_of(1, p, n);
    const Digits reduction = digits_of(candidate, p, n);
    do {
      power_.push_back(number_of(power, p));
      power = next_power(power, reduction, p, candidate);
    } while (number_of(power, p) > 1 && power_.size() < q);
    if (power_.size() == q - 1 && number_of(power, p) == 1) break;
  }
  for (u32 i = 0; i + 1 < q; ++i) log_[power_[i]] = i;
}

}  // namespace flitlab
