#pragma once
/// The phase of the routers.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/bless/step.hpp"

namespace flitlab::bless {

struct RouterPhase {
  static constexpr const char* name = "router";

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }

  /// Returns whether a flit arrives, or the terminal creates or sends one.
  template <class V>
  FLITLAB_INLINE static bool due(const V& v, u32 index, Cycle now) {
    const auto router = v.routers[index];
    const TerminalControl& control = v.terminals[index].at(v.t.terminal_fields.control);
    const auto came = arriving(v.t, v.t.router_fields.came, now);
    u32 flags = 0;
    if constexpr (V::Table::kPlane && V::width == 1)
      __builtin_memcpy(&flags, &router.at(came), sizeof flags);
    else
      for (u32 channel = 0; channel < v.t.channels; ++channel) flags |= router.at(came, channel);
    return (flags | control.lane.left | (control.sent ^ control.created) | u32{creates(v, control, now)}) != 0;
  }

  template <class V>
  FLITLAB_INLINE static void work(const V& v, u32 index, Cycle now) {
    step<1>(v, &index, 1, now);
  }
  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    work(v, index, now);
  }

  static constexpr u32 batch = 32;

  /// Runs up to `batch` routers of a two-dimensional network in one call. Without the vectors of four.hpp a batch is
  /// slower than one router at a time: 0.83 to 1.0 times its rate in one, three and four dimensions.
  template <class V>
    requires(V::Table::kPlane && !V::traced && V::width == 1)
  FLITLAB_INLINE static void work_in_bulk(const V& v, const u32* list, u32 n, Cycle now) {
    step<batch>(v, list, n, now);
  }
};

}  // namespace flitlab::bless
