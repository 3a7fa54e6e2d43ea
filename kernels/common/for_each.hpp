#pragma once
/// FLITLAB_FOR_EACH(macro, (a, b), (c, d), ...): macro((a, b)) macro((c, d)) ..., for up to 64 items. Lists that
/// declare a thing and describe it in one place are made of it.
#define FLITLAB_EXPAND(...) FLITLAB_EXPAND3(FLITLAB_EXPAND3(FLITLAB_EXPAND3(FLITLAB_EXPAND3(__VA_ARGS__))))
#define FLITLAB_EXPAND3(...) FLITLAB_EXPAND2(FLITLAB_EXPAND2(FLITLAB_EXPAND2(FLITLAB_EXPAND2(__VA_ARGS__))))
#define FLITLAB_EXPAND2(...) FLITLAB_EXPAND1(FLITLAB_EXPAND1(FLITLAB_EXPAND1(FLITLAB_EXPAND1(__VA_ARGS__))))
#define FLITLAB_EXPAND1(...) __VA_ARGS__
#define FLITLAB_AGAIN() FLITLAB_FOR_EACH_HELPER
#define FLITLAB_PARENTHESES ()
#define FLITLAB_FOR_EACH_HELPER(macro, item, ...) \
  macro(item) __VA_OPT__(FLITLAB_AGAIN FLITLAB_PARENTHESES(macro, __VA_ARGS__))
#define FLITLAB_FOR_EACH(macro, ...) __VA_OPT__(FLITLAB_EXPAND(FLITLAB_FOR_EACH_HELPER(macro, __VA_ARGS__)))
