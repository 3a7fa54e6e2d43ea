#pragma once
/// Parts of a T3E router's table that follow from the experiment. Each derived delay or size has a function. Delays are
/// in clocks. The paper's delays are from pin to pin; the table's are between steps of the emulator.
#include <vector>

#include "host/config/experiment.hpp"
#include "kernels/routers/t3e/state.hpp"

namespace flitlab::t3e {

/// Clocks from departure to arrival at the next router.
u32 link_delay(const Experiment& e);
/// Clocks from arrival to the first arbitration.
u32 arbitration_wait(const Experiment& e);
/// Clocks from the PE to the router's buffer.
u32 inject_delay(const Experiment& e);
/// Clocks from departure to arrival at the PE.
u32 eject_delay(const Experiment& e);
/// Clocks from a barrier packet's arrival to the router's next message, and from there to the PE.
u32 barrier_wait(const Experiment& e);
u32 barrier_eject(const Experiment& e);

/// Returns the slots of an inbox, a power of two. The delays must have been set.
u32 inbox_slots(const Table& t);

void set_delays(Table& t, const Experiment& e);
void set_barrier_delays(Table& t, const Experiment& e);
void set_special_delays(Table& t, const Experiment& e);
/// Sets the sizes of buffers, descriptor buffers and inboxes. The delays must have been set. `shortest`: shortest
/// packet in flits.
void set_sizes(Table& t, const Experiment& e, u32 shortest);
void set_choices(Table& t, const Experiment& e);

}  // namespace flitlab::t3e
