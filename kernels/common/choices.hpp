#pragma once
/// Enumerations that a parameter of type kChoice selects from. Each enumerator stands beside its word, so code and
/// configuration cannot disagree about their order.
#include <string_view>

#include "kernels/common/for_each.hpp"
#include "kernels/common/types.hpp"

/// FLITLAB_CHOICES(Enumeration, (kName, "word"), ...) declares the enumeration, and words_of(Enumeration{}): its words
/// as ParamRecord::choices holds them. An enumerator without a word, `(kName)`, is one that no configuration can name.
#define FLITLAB_CHOICES(Enumeration, ...)                                                                \
  enum class Enumeration : ::flitlab::u8 { FLITLAB_FOR_EACH(FLITLAB_CHOICE_ENUMERATOR, , __VA_ARGS__) }; \
  constexpr std::string_view words_of(Enumeration) {                                                     \
    return std::string_view(FLITLAB_FOR_EACH(FLITLAB_CHOICE_WORD, , __VA_ARGS__)).substr(1);             \
  }
#define FLITLAB_CHOICE_ENUMERATOR(unused, enumerator, ...) enumerator,
#define FLITLAB_CHOICE_WORD(unused, enumerator, ...) __VA_OPT__("|" __VA_ARGS__)
