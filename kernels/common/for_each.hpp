#pragma once
/// FLITLAB_FOR_EACH(macro, data, (a, b), (c, d), ...) expands to `macro(data, a, b) macro(data, c, d) ...`, for up to
/// 60 tuples. The macros that declare state or totals from one list use it (kernels/common/fields.hpp, total.hpp).
#define FLITLAB_PARENS ()
#define FLITLAB_EXPAND(...) FLITLAB_EXPAND3(FLITLAB_EXPAND3(FLITLAB_EXPAND3(FLITLAB_EXPAND3(__VA_ARGS__))))
#define FLITLAB_EXPAND3(...) FLITLAB_EXPAND2(FLITLAB_EXPAND2(FLITLAB_EXPAND2(FLITLAB_EXPAND2(__VA_ARGS__))))
#define FLITLAB_EXPAND2(...) FLITLAB_EXPAND1(FLITLAB_EXPAND1(FLITLAB_EXPAND1(FLITLAB_EXPAND1(__VA_ARGS__))))
#define FLITLAB_EXPAND1(...) __VA_ARGS__
#define FLITLAB_CALL(macro, ...) macro(__VA_ARGS__)
#define FLITLAB_BARE(...) __VA_ARGS__

#define FLITLAB_FOR_EACH(macro, data, ...) __VA_OPT__(FLITLAB_EXPAND(FLITLAB_EACH(macro, data, __VA_ARGS__)))
#define FLITLAB_EACH(macro, data, tuple, ...)   \
  FLITLAB_CALL(macro, data, FLITLAB_BARE tuple) \
  __VA_OPT__(FLITLAB_EACH_AGAIN FLITLAB_PARENS(macro, data, __VA_ARGS__))
#define FLITLAB_EACH_AGAIN() FLITLAB_EACH
