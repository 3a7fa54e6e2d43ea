#pragma once
/// Interface between terminals and the switch, as kernels/traffic/injection.hpp requires it. A message's address is the
/// number of its terminal.
#include "kernels/routers/switch/state.hpp"

namespace flitlab::sw {

template <class V>
FLITLAB_INLINE bool is_destination(const V&, u32 index, const Packet& packet) {
  return packet.dst == index;
}

template <class V>
FLITLAB_INLINE bool is_misdelivered(const V&, u32, const Packet&) {
  return false;  // the switch has no routing tables
}

}  // namespace flitlab::sw
