#pragma once
/// Parts of a virtual-channel router's plan that follow from the experiment and the topology. Each derived delay or
/// size has a function.
#include "host/config/experiment.hpp"
#include "host/topology/topology.hpp"
#include "kernels/routers/vc/state.hpp"

namespace flitlab::vc {

/// Returns the cycles from switch grant to channel.
u32 crossing_delay(const Experiment& e);
/// Returns the cycles from switch grant to arrival at the next router.
u32 link_delay(const Experiment& e);
/// Returns the cycles from switch grant to arrival at the terminal.
u32 eject_delay(const Experiment& e);

/// Returns the slots of an inbox: a power of two, large enough that a flit or credit is never written into the slot
/// of the current cycle.
u32 inbox_slots(const VcTable& t);
/// Returns log2 of the ports in a word of a set of virtual channels; a small router has one word for all.
u32 set_shift(const VcTable& t);
u32 set_words(const VcTable& t);

/// Sets routers, ports and their connections. `t` keeps pointers into the topology.
void set_network(VcTable& t, const Topology& topology);
void set_addresses(VcTable& t, const Topology& topology);
void set_delays(VcTable& t, const Experiment& e);
/// Sets sizes of buffers, packet queues and words; needs the delays. `shortest`: shortest packet, flits.
void set_sizes(VcTable& t, const Experiment& e, u32 shortest);
/// Sets allocators, arbiters and routing.
void set_choices(VcTable& t, const Experiment& e);

}  // namespace flitlab::vc
