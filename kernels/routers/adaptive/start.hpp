#pragma once
/// State before cycle 0: empty buffers, the terminals' first creations.
#include "kernels/routers/adaptive/source.hpp"

namespace flitlab::adaptive {

struct StartRouter {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    for (u32 position = 0; position < v.t.positions; ++position)
      v.routers[index].at(v.t.router_fields.order, position) = static_cast<u8>(position);
  }
};

struct StartTerminal {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.terminals;
  }
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    TerminalControl& control = v.terminals[index].at(t.terminal_fields.control);
    control.next = first_creation(t.traffic, *v.row, index);
    if (never_sends(t.traffic, index)) control.next.at = kNever;
    control.oldest = control.next;
  }
};

}  // namespace flitlab::adaptive
