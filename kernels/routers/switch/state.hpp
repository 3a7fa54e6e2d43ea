#pragma once
/// State and plan of a single switch. Items: the switch, and its terminals, whose state only the switch's phase
/// accesses.
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

/// The head of an input FIFO. Messages behind it are in the terminal's source queue.
struct Input {
  FLITLAB_MEMBERS(Input,
    (u32, output, "", "output port of the head; kNone: the FIFO is empty"),
    (u32, id, "", "message number of the head"),
    (u32, flits, "flits", "length of the head"),
    (Cycle, created, "cycle", "creation of the head"),
    (Cycle, since, "cycle", "first cycle in which the head, or in an empty FIFO a new message, can be switched"),
    (Cycle, free, "cycle", "first cycle in which the channel to the input can bring the next message"))
};
static_assert(sizeof(Input) == 24);

struct Output {
  FLITLAB_MEMBERS(Output,
    (u64, wanted, "", "set of inputs whose heads request it"),
    (Cycle, done, "cycle", "when the tail of the message in service arrives at the terminal"),
    (u8, first, "", "position of the message in service in `ring`"),
    (u8, held, "messages", "in `ring`"),
    (u16, pad))
};
static_assert(sizeof(Output) == 16);

struct Control {
  FLITLAB_MEMBERS(Control,
    (Cycle, next, "cycle", "first cycle in which the state can change; 0 while a trace is replayed"),
    (u32, fault, "", "Fault bits"),
    (u64, moves, "messages", "switched to an output"),
    (u64, waited, "cycles", "that heads waited for their outputs, sum over messages"))
};
static_assert(sizeof(Control) == 24);

struct SwitchFields {
  FLITLAB_FIELDS(SwitchFields,
    (Control, control, 1, "", "next event, fault bits and counts"),
    (Output, output, t.terminals, "", "[port] requesting inputs and stored messages"),
    (Input, input, t.terminals, "", "[port] head of the input FIFO"),
    (Packet, ring, t.terminals * t.output_buffers, "", "[port][position] messages in the output's buffer"))
};

struct Table {
  static constexpr EngineCost cost{.cpu_ns = 1570, .loads = 950, .blocks = 56, .bytes = 29500};

  u32 routers = 1;
  u32 terminals = 8;       ///< N: inputs, and outputs
  u32 output_buffers = 1;  ///< B: messages that an output holds
  u8 stores_messages = 0;  ///< crossbar: a message is stored as a whole before it is switched
  u8 release_by_tail = 0;
  TrafficMode mode = TrafficMode::kOpen;
  TrafficTable traffic;
  SwitchFields fields;
  TerminalFields terminal_fields;
};

/// The plan has no arrays besides the traffic's.
template <class F>
void for_each_array(Table&, F) {}

template <int W, bool Traced>
struct View : ViewBase<W, Traced, sw::Table> {
  Items<W> routers;
  Items<W> terminals;
};

}  // namespace flitlab::sw
