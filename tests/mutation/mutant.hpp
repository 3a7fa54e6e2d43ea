#pragma once
/// Mutants by schemata: all changes are compiled into one program, and the environment variable FLITLAB_MUTANT selects
/// the active one (0: none). `a < b` becomes `a < Less<7>{} < b`, which is a < b unless mutant 7 is active. Operator
/// precedence is unchanged.
#include <cstdlib>
#include <type_traits>

namespace flitlab::mutant {

inline constexpr unsigned kMost = 8192;
inline unsigned char reached[kMost];  ///< [mutant] whether its code has run
inline const unsigned active = std::getenv("FLITLAB_MUTANT") ? std::atoi(std::getenv("FLITLAB_MUTANT")) : 0;

constexpr bool on(unsigned k) {
  if (std::is_constant_evaluated()) return false;
  reached[k] = 1;
  return active == k;
}

/// The left operand of a mutated operator, until the right operand follows.
template <class Operator, class A>
struct Left {
  const A& a;
};

// Defines an operator and its mutant. Types that support only the first of the two operators have no mutant.
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
