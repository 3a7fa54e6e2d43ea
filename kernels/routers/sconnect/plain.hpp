#pragma once
/// Conditions under which a TIC can be processed by the steps for single data messages (bulk.hpp, block.hpp), for its
/// present state and for the messages that arrive. EightPorts::work() has the conditions of each port.
#include "kernels/routers/sconnect/tic.hpp"

namespace flitlab::sconnect {

/// Returns whether software has changed a TIC or control messages are in it.
template <class V, int W>
FLITLAB_INLINE u32 software_active(const Tic<V, W>& tic) {
  const TicControl& c = tic.control;
  u32 any =
      u32{c.held_control[0]} | c.held_control[1] | (c.enabled ^ ((1u << kPorts) - 1)) | u32{c.counting <= kEveryCycle};
  for (u32 p = kSerial; p < kPorts; ++p)
    if (tic.link(p).kind == LinkKind::kHost)
      any |= tic.v.terminals[tic.link(p).far].at(tic.v.t.host_fields.host).out_count;
  return any;
}

/// Returns whether a message is a control message, or can enter a queue ahead of other messages.
template <class Table>
FLITLAB_INLINE u32 needs_single_path(const Table& t, const Message& m) {
  return m.control | (t.age == Age::kAll ? m.age : 0u);
}

}  // namespace flitlab::sconnect
