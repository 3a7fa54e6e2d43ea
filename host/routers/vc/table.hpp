#pragma once
/// The parts of a virtual-channel router's table that follow from the experiment and the wiring. A delay or a size that
/// is derived has a function of its own.
#include "host/config/experiment.hpp"
#include "host/topology/topology.hpp"
#include "kernels/routers/vc/state.hpp"

namespace flitlab::vc {

/// Switch grant to the channel, cycles.
u32 crossing_delay(const Experiment& e);
/// Switch grant to arrival at the next router.
u32 link_delay(const Experiment& e);
/// Switch grant to arrival at the terminal.
u32 eject_delay(const Experiment& e);

/// Slots of mail, a power of two: no mail may arrive in the slot of the cycle it is written in.
u32 mail_slots(const VcTable& t);
/// log2 of the ports whose virtual channels a word of a set holds; a small router has one word for all.
u32 set_shift(const VcTable& t);
u32 set_words(const VcTable& t);

/// Routers, ports and where they lead. The tables point into the topology.
void set_network(VcTable& t, const Topology& topology);
void set_addresses(VcTable& t, const Topology& topology);
void set_delays(VcTable& t, const Experiment& e);
/// Buffers, rings and words; after delays. `shortest`: packet, flits.
void set_sizes(VcTable& t, const Experiment& e, u32 shortest);
/// Allocators, arbiters and routing.
void set_choices(VcTable& t, const Experiment& e);

}  // namespace flitlab::vc
