#pragma once
/// The parts of a T3E router's table that follow from the experiment. A delay or a size that is derived has a function
/// of its own. Delays in clocks; the document's are from pin to pin, the table's between what the emulator does.
#include <vector>

#include "host/config/experiment.hpp"
#include "kernels/routers/t3e/state.hpp"

namespace flitlab::t3e {

/// Departure to arrival at the next router.
u32 link_delay(const Experiment& e);
/// Arrival to first arbitration.
u32 arbitration_wait(const Experiment& e);
/// PE to the node's buffer.
u32 inject_delay(const Experiment& e);
/// Departure to arrival at the PE.
u32 eject_delay(const Experiment& e);
/// Arrival of a barrier packet to its answer, and a router's answer to its PE.
u32 barrier_wait(const Experiment& e);
u32 barrier_eject(const Experiment& e);

/// Slots of mail, a power of two; after delays.
u32 mail_slots(const Table& t);

void set_delays(Table& t, const Experiment& e);
void set_barrier_delays(Table& t, const Experiment& e);
void set_special_delays(Table& t, const Experiment& e);
/// Buffers, rings and mail; after delays. `shortest`: packet, flits.
void set_sizes(Table& t, const Experiment& e, u32 shortest);
void set_choices(Table& t, const Experiment& e);

}  // namespace flitlab::t3e
