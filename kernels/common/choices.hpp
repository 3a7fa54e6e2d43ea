#pragma once
/// Macro for enumerations with words: the choices of parameters of type kChoice, kinds of events, verdicts. One list
/// gives each enumerator and its word in configurations and outputs, so code and text cannot disagree.
#include <string_view>

#include "kernels/common/for_each.hpp"
#include "kernels/common/types.hpp"

/// FLITLAB_CHOICES(Enumeration, (kName, "text"), ...) declares the enumeration and the function
/// words_of(Enumeration{}), which returns the enumerators' texts in the form of ParamRecord::choices. A configuration
/// cannot select an enumerator without a text, `(kName)`.
#define FLITLAB_CHOICES(Enumeration, ...)                                                                \
  enum class Enumeration : ::flitlab::u8 { FLITLAB_FOR_EACH(FLITLAB_CHOICE_ENUMERATOR, , __VA_ARGS__) }; \
  constexpr std::string_view words_of(Enumeration) {                                                     \
    return std::string_view(FLITLAB_FOR_EACH(FLITLAB_CHOICE_WORD, , __VA_ARGS__)).substr(1);             \
  }
#define FLITLAB_CHOICE_ENUMERATOR(unused, enumerator, ...) enumerator,
#define FLITLAB_CHOICE_WORD(unused, enumerator, ...) __VA_OPT__("|" __VA_ARGS__)
