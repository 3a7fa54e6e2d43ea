#pragma once
/// Functions that fill a Blue Gene/L table from the experiment, and functions for derived delays and sizes. Delays are
/// in cycles.
#include "host/config/experiment.hpp"
#include "host/topology/topology.hpp"
#include "kernels/routers/bgl/state.hpp"

namespace flitlab::bgl {

/// Returns the time from a head's departure to its first request in the next node.
u32 hop_delay(const Experiment& e);
/// Returns the time from a tail's departure until the sender has the tokens.
u32 token_delay(const Experiment& e);
/// Returns whether token packets occupy links (else their time is charged to packets).
bool has_token_packets(const Experiment& e);
/// Returns the link cycles of a packet beyond its chunks.
u32 packet_overhead(const Experiment& e);

/// Return the numbers of future cycles, all powers of two, covered by: the inboxes for tokens and heads' notes;
/// software's inboxes; the inbox for a link's heads, whose slots must be free again when reused; the calendar.
u32 inbox_slots(const Table& t, const Experiment& e);
u32 software_slots(const Table& t);
u32 head_slots(const Table& t);
u32 calendar_slots(const Table& t);

/// Sets the routers and their peers. The table points into `topology`, which must outlive it.
void set_network(Table& t, const Topology& topology);
/// Sets the virtual channels of a link, as numbers and as sets.
void set_vcs(Table& t, const Experiment& e);
/// Sets the sizes of buffers, FIFOs and their circular buffers; call after set_vcs(). `shortest`: shortest packet,
/// chunks.
void set_buffers(Table& t, const Experiment& e, u32 shortest);
void set_delays(Table& t, const Experiment& e);
/// Sets the options of arbiters and the thresholds of random choices.
void set_choices(Table& t, const Experiment& e);
void set_software(Table& t, const Experiment& e);
/// Sets the sizes of inboxes and calendar; call after set_delays() and set_software().
void set_slots(Table& t, const Experiment& e);
void set_broadcast(Table& t, const Experiment& e);

}  // namespace flitlab::bgl
