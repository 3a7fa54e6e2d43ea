#pragma once
/// Processors that need time for packets: a processor puts one packet into an injection FIFO, or takes one out of a
/// reception FIFO, at a time. A node has one processor, or two: one for the FIFOs of the plus directions and one for
/// the minus directions, as in the prototype's plane fill (paper, "Line and plane fill").
#include "kernels/routers/bgl/calendar.hpp"

namespace flitlab::bgl {

enum Task : u8 { kIdle, kPuts, kTakes };

/// Returns the processor of an injection FIFO. In broadcasts, normal FIFO d is for direction d.
template <class T>
FLITLAB_HD constexpr u32 processor_of_injection(const T& t, u32 fifo) {
  return t.processors == 2 ? fifo & 1 : 0;
}
/// Returns the processor of a reception FIFO. A packet that moves in a plus direction arrives at a minus port, and goes
/// into the reception FIFO of that port.
template <class T>
FLITLAB_HD constexpr u32 processor_of_reception(const T& t, u32 fifo) {
  return t.processors == 2 ? (fifo % 7 + 1) & 1 : 0;
}

template <class V, int W>
FLITLAB_INLINE Processor& processor_at(const V& v, const Item<W>& terminal, u32 number) {
  return terminal.at(v.t.software_fields.processor, number);
}

/// Returns the FIFOs whose processor is idle; all FIFOs if software takes no time. `of[p]`: the FIFOs of processor p if
/// a node has two processors.
template <class V, int W>
FLITLAB_INLINE u32 fifos_of_idle(const V& v, const Item<W>& terminal, const u32 (&of)[2]) {
  if (v.t.processors == 2)
    return (processor_at(v, terminal, 0).task == kIdle ? of[0] : 0) |
           (processor_at(v, terminal, 1).task == kIdle ? of[1] : 0);
  return !v.t.processors || processor_at(v, terminal, 0).task == kIdle ? of[0] | of[1] : 0;
}
template <class V, int W>
FLITLAB_INLINE u32 injection_fifos_of_idle(const V& v, const Item<W>& terminal) {
  return fifos_of_idle(v, terminal, {0x55, 0xAA});
}
template <class V, int W>
FLITLAB_INLINE u32 reception_fifos_of_idle(const V& v, const Item<W>& terminal) {
  return fifos_of_idle(v, terminal, {0x152A, 0x2AD5});
}

/// Starts a processor's task for a packet of `chunks` chunks, and wakes software when the task ends. Returns the
/// processor.
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
