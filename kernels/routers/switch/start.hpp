#pragma once
/// State before cycle 0: empty inputs and outputs, the terminals' first creations.
#include "kernels/routers/switch/phases.hpp"

namespace flitlab::sw {

struct StartSwitch {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    for (u32 i = 0; i < t.terminals; ++i) {
      v.routers[index].at(t.fields.input, i).output = kNone;
      TerminalControl& control = v.terminals[i].at(t.terminal_fields.control);
      control.next = first_creation(t.traffic, *v.row, i);
      if (never_sends(t.traffic, i)) control.next.at = kNever;
      control.oldest = control.next;
    }
  }
};

}  // namespace flitlab::sw
