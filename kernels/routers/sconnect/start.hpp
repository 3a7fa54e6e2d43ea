#pragma once
/// State before cycle 0: empty pools, initial routing tables, free-running clocks, and the first creations.
#include "kernels/routers/sconnect/host_port.hpp"

namespace flitlab::sconnect {

struct StartTic {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    const auto item = v.tics[index];
    TicControl& control = item.at(t.fields.control);
    control.free = ~u64{0} >> (64 - t.buffers);
    control.reserved = static_cast<u8>(2 * t.control_buffers);
    for (u32 q = 0; q < kQueues; ++q)
      control.reserved = static_cast<u8>(control.reserved + reserved_buffers(t, index, q));
    control.enabled = (1u << kPorts) - 1;
    control.counting = kEveryCycle + 1;
    control.address = t.table_given ? t.address[index] : kNoAddress;
    if (t.table_given)
      for (u32 n = 0; n < t.nodes; ++n) item.at(t.fields.table, n) = t.entry[std::size_t{index} * t.nodes + n];
    for (u32 i = 0; i < t.slots; ++i) item.at(t.fields.slot, i).buffer = kNoBuffer;
    for (u32 p = 0; p < kPorts; ++p) {
      Port& port = item.at(t.fields.port, p);
      port.doubtful = port.spoiled = port.sending = port.requeued = kNoBuffer;
    }
    if (!t.clocks) return;
    ClockState& clock = item.at(t.fields.clock.state);
    clock.free = clock.rate = t.clock.free[index];
    clock.phase = static_cast<u64>(t.clock.phase[index]);
    clock.on = 1;
    clock.sends = (1u << kSerial) - 1;
    for (u32 p = 0; p < kSerial; ++p)
      item.at(t.fields.clock.fifo, p).offset = static_cast<u64>(t.clock.offset[index * kSerial + p]);
  }
};

struct StartHost {
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
    for (u32 i = 0; i < t.host_queues(); ++i) v.terminals[index].at(t.host_fields.queue, i).oldest = control.next;
    v.terminals[index].at(t.host_fields.host).address = t.terminal_node[index];
    for (u32 i = 0; i < t.loops() * t.traffic.window; ++i)
      v.terminals[index].at(t.terminal_fields.transaction, i).id = kNone;
    for (u32 i = 0; i < 2 * t.loops(); ++i) v.terminals[index].at(t.host_fields.heard, i).to = kNone;
  }
};

}  // namespace flitlab::sconnect
