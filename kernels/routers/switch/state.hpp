#pragma once
/// State of a single switch. Items: the switch itself, and its terminals, whose state only the switch's phase touches.
#include "kernels/common/counters.hpp"
#include "kernels/common/events.hpp"
#include "kernels/common/fault.hpp"
#include "kernels/common/fields.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/packet.hpp"
#include "kernels/common/view.hpp"
#include "kernels/engines/engine_cost.hpp"
#include "kernels/traffic/terminal_state.hpp"
#include "kernels/traffic/traffic.hpp"

namespace flitlab::sw {

inline constexpr u32 kMaxPorts = 64;

/// An input: the head of its FIFO. Those behind it are in the terminal's source queue.
struct Input {
  FLITLAB_MEMBERS(Input,
    (u32, output, "", "that the head wants; kNone: the FIFO is empty"),
    (u32, id, "", "of the head"),
    (u32, flits, "flits", "its length"),
    (Cycle, created, "cycle", "when the head was"),
    (Cycle, since, "cycle", "first cycle in which it can be switched; if there is none, in which another one could"),
    (Cycle, free, "cycle", "first cycle in which the channel to the input can bring the message after it"))
};
static_assert(sizeof(Input) == 24);

struct Output {
  FLITLAB_MEMBERS(Output,
    (u64, wanted, "", "inputs whose heads want it, as bits"),
    (Cycle, done, "cycle", "when the tail of the message in service arrives at the terminal"),
    (u8, first, "", "ring position of the message in service"),
    (u8, held, "messages", "in the ring"),
    (u16, pad))
};
static_assert(sizeof(Output) == 16);

struct Control {
  FLITLAB_MEMBERS(Control,
    (Cycle, next, "cycle", "first cycle in which anything can happen; 0 while a trace is replayed"),
    (u32, fault, "", "Fault bits"),
    (u64, moves, "messages", "that have got their outputs"),
    (u64, waited, "cycles", "that they could have been switched, but for their outputs"))
};
static_assert(sizeof(Control) == 24);

struct SwitchFields {
  FLITLAB_FIELDS(SwitchFields,
    (Control, control, 1, "", "what has been counted"),
    (Output, output, t.terminals, "", "[port] who wants it, and the messages that it holds"),
    (Input, input, t.terminals, "", "[port] the head of its FIFO"),
    (Packet, ring, t.terminals * t.output_buffers, "", "[port][place] messages that outputs hold"))
};

struct Table {
  static constexpr EngineCost cost{.cpu_ns = 1570, .loads = 950, .blocks = 56, .bytes = 29500};

  u32 routers = 1;
  u32 terminals = 8;       ///< N
  u32 output_buffers = 1;  ///< B
  u8 stored = 0;           ///< messages are switched when they have arrived as a whole
  u8 release_by_tail = 0;
  TrafficMode mode = TrafficMode::kOpen;
  TrafficTable traffic;
  SwitchFields fields;
  TerminalFields terminal_fields;
};

/// A plan has no arrays but its traffic's.
template <class F>
void for_each_array(Table&, F) {}

template <int W, bool Traced>
struct View : ViewBase<W, Traced, sw::Table> {
  Items<W> routers;
  Items<W> terminals;
};

}  // namespace flitlab::sw
