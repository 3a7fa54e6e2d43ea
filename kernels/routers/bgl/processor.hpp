#pragma once
/// Processors that need time for every packet: one puts it into an injection FIFO, or takes it out of a reception FIFO,
/// and has no hand free for another one meanwhile. A node has one, or two: one for the FIFOs of the plus directions and
/// one for those of the minus directions, as the prototype's plane fill did (paper, "Line and plane fill").
#include "kernels/routers/bgl/calendar.hpp"

namespace flitlab::bgl {

enum Task : u8 { kIdle, kPuts, kTakes };

/// The processor of an injection FIFO; the normal ones are used in turn, or have a direction each.
template <class T>
FLITLAB_HD constexpr u32 processor_of_injection(const T& t, u32 fifo) {
  return t.processors == 2 ? fifo & 1 : 0;
}
/// What moves in a plus direction comes in by a minus port, and goes into its reception FIFO.
template <class T>
FLITLAB_HD constexpr u32 processor_of_reception(const T& t, u32 fifo) {
  return t.processors == 2 ? (fifo % 7 + 1) & 1 : 0;
}

template <class V, int W>
FLITLAB_INLINE Processor& processor_at(const V& v, const Item<W>& terminal, u32 number) {
  return terminal.at(v.t.software_fields.processor, number);
}

/// FIFOs that somebody has a hand free for, as bits: all of them where software takes no time. `of`: those of each of
/// two processors.
template <class V, int W>
FLITLAB_INLINE u32 at_hand(const V& v, const Item<W>& terminal, const u32 (&of)[2]) {
  if (v.t.processors == 2)
    return (processor_at(v, terminal, 0).task == kIdle ? of[0] : 0) |
           (processor_at(v, terminal, 1).task == kIdle ? of[1] : 0);
  return !v.t.processors || processor_at(v, terminal, 0).task == kIdle ? of[0] | of[1] : 0;
}
template <class V, int W>
FLITLAB_INLINE u32 injection_at_hand(const V& v, const Item<W>& terminal) {
  return at_hand(v, terminal, {0x55, 0xAA});
}
template <class V, int W>
FLITLAB_INLINE u32 reception_at_hand(const V& v, const Item<W>& terminal) {
  return at_hand(v, terminal, {0x152A, 0x2AD5});
}

/// A processor begins to put or to take a packet of so many chunks; the calendar wakes it when it is done.
template <class V, int W>
FLITLAB_INLINE Processor& begin(const V& v, const Item<W>& terminal, u32 index, u32 number, Task task, u32 fifo,
                                u32 chunks, Cycle now) {
  Processor& processor = processor_at(v, terminal, number);
  processor.task = task;
  processor.fifo = static_cast<u8>(fifo);
  processor.until = now + v.t.handling[chunks];
  wake_software(v, index, processor.until);
  return processor;
}

}  // namespace flitlab::bgl
