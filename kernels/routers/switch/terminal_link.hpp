#pragma once
/// What terminals ask of the switch (kernels/traffic/injection.hpp): a message's address is its terminal's number.
#include "kernels/routers/switch/state.hpp"

namespace flitlab::sw {

template <class V>
FLITLAB_INLINE bool is_destination(const V&, u32 index, const Packet& packet) {
  return packet.dst == index;
}

template <class V>
FLITLAB_INLINE bool is_misdelivered(const V&, u32, const Packet&) {
  return false;  // there are no tables that could be wrong
}

}  // namespace flitlab::sw
