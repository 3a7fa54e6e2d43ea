#pragma once
/// State before cycle 0: an empty network, and each terminal's first packet creation.
#include "kernels/routers/bless/interface.hpp"

namespace flitlab::bless {

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

}  // namespace flitlab::bless
