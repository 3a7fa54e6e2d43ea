#pragma once
/// Mutants by schemata: every change is compiled in, and FLITLAB_MUTANT says which one is made; 0: none.
/// `a < b` becomes `a < Less<7>{} < b`, which is a < b unless mutant 7 is on. Binary operators bind as before.
#include <cstdlib>
#include <type_traits>

namespace flitlab::mutant {

inline constexpr unsigned kMost = 8192;
inline unsigned char reached[kMost];  ///< by code that ran
inline const unsigned active = std::getenv("FLITLAB_MUTANT") ? std::atoi(std::getenv("FLITLAB_MUTANT")) : 0;

constexpr bool on(unsigned k) {
  if (std::is_constant_evaluated()) return false;
  reached[k] = 1;
  return active == k;
}

/// What stands left of an operator, and waits for what stands right of it.
template <class Operator, class A>
struct Left {
  const A& a;
};

// An operator, and what its mutant makes of it; where types know only the first, there is no mutant.
#define FLITLAB_MUTANT_OPERATOR(Name, is, becomes)                            \
  template <unsigned K>                                                       \
  struct Name {};                                                             \
  template <class A, unsigned K>                                              \
  constexpr Left<Name<K>, A> operator is(const A & a, Name<K>) {              \
    return {a};                                                               \
  }                                                                           \
  template <unsigned K, class A, class B>                                     \
  constexpr auto operator is(Left<Name<K>, A> left, const B& b) {             \
    if constexpr (requires { left.a becomes b; }) {                           \
      if (on(K)) return static_cast<decltype(left.a is b)>(left.a becomes b); \
    }                                                                         \
    return left.a is b;                                                       \
  }

FLITLAB_MUTANT_OPERATOR(Less, <, <=)
FLITLAB_MUTANT_OPERATOR(LessEqual, <=, <)
FLITLAB_MUTANT_OPERATOR(Greater, >, >=)
FLITLAB_MUTANT_OPERATOR(GreaterEqual, >=, >)
FLITLAB_MUTANT_OPERATOR(Equal, ==, !=)
FLITLAB_MUTANT_OPERATOR(NotEqual, !=, ==)
FLITLAB_MUTANT_OPERATOR(Plus, +, -)
FLITLAB_MUTANT_OPERATOR(Minus, -, +)

}  // namespace flitlab::mutant
