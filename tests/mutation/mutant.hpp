#pragma once
/// Mutants by schemata: all changes are compiled into one program, and the environment variable FLITLAB_MUTANT selects
/// the active one (0: none). `a < b` becomes `a < Less<7>{} < b`, which is a < b unless mutant 7 is active. Operator
/// precedence is unchanged. The namespace is not within flitlab, which the build renames in lane code.
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace flitlab_mutant {

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

/// Returns the right operand for a left operand of type A. A number beside a vector has the type of its elements: only
/// a literal, which it no longer is, may have another one.
template <class A, class B>
constexpr auto operand(const B& b) {
  if constexpr (requires(A a) { a[0]; } && !std::is_pointer_v<std::decay_t<A>> && std::is_arithmetic_v<B>)
    return static_cast<std::remove_cvref_t<decltype(std::declval<A&>()[0])>>(b);
  else
    return b;
}

// Defines an operator and its mutant. Types that support only the first of the two operators have no mutant.
#define FLITLAB_MUTANT_OPERATOR(Name, is, becomes)                         \
  template <unsigned K>                                                    \
  struct Name {};                                                          \
  template <class A, unsigned K>                                           \
  constexpr Left<Name<K>, A> operator is(const A & a, Name<K>) {           \
    return {a};                                                            \
  }                                                                        \
  template <unsigned K, class A, class B>                                  \
  constexpr auto operator is(Left<Name<K>, A> left, const B& b) {          \
    const auto& right = operand<A>(b);                                     \
    if constexpr (requires { left.a becomes right; }) {                    \
      if (on(K)) return (decltype(left.a is right))(left.a becomes right); \
    }                                                                      \
    return left.a is right;                                                \
  }

FLITLAB_MUTANT_OPERATOR(Less, <, <=)
FLITLAB_MUTANT_OPERATOR(LessEqual, <=, <)
FLITLAB_MUTANT_OPERATOR(Greater, >, >=)
FLITLAB_MUTANT_OPERATOR(GreaterEqual, >=, >)
FLITLAB_MUTANT_OPERATOR(Equal, ==, !=)
FLITLAB_MUTANT_OPERATOR(NotEqual, !=, ==)
FLITLAB_MUTANT_OPERATOR(Plus, +, -)
FLITLAB_MUTANT_OPERATOR(Minus, -, +)

}  // namespace flitlab_mutant
