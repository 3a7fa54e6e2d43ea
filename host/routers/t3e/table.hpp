#pragma once
/// Functions that compute the parameters of a T3E network (struct Table: delays, sizes, options; not the routing
/// tables) from an experiment. Delays are in clocks. The paper gives delays from pin to pin; the functions convert them
/// to delays between the events that flitlab emulates, such as departure, arrival and arbitration.
#include <vector>

#include "host/config/experiment.hpp"
#include "kernels/routers/t3e/state.hpp"

namespace flitlab::t3e {

/// Returns the clocks from a flit's departure to its arrival at the next router.
u32 link_delay(const Experiment& e);
/// Returns the clocks from a head flit's arrival to its first arbitration.
u32 arbitration_wait(const Experiment& e);
/// Returns the clocks from a flit's departure at the PE to its arrival in the router's buffer.
u32 inject_delay(const Experiment& e);
/// Returns the clocks from a flit's departure to its arrival at the PE.
u32 eject_delay(const Experiment& e);
/// Return the clocks from a barrier packet's arrival to the departure of the router's next message, and from this
/// departure to the arrival at the PE.
u32 barrier_wait(const Experiment& e);
u32 barrier_eject(const Experiment& e);

/// Returns the number of slots of an inbox, a power of two. Requires that the delays have been set.
u32 inbox_slots(const Table& t);

void set_delays(Table& t, const Experiment& e);
void set_barrier_delays(Table& t, const Experiment& e);
void set_special_delays(Table& t, const Experiment& e);
/// Sets the sizes of buffers, descriptor buffers and inboxes. Requires that the delays have been set. `shortest`:
/// length of the shortest packet, flits.
void set_sizes(Table& t, const Experiment& e, u32 shortest);
void set_choices(Table& t, const Experiment& e);

}  // namespace flitlab::t3e
