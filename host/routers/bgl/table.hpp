#pragma once
/// Functions that compute the parameters of a Blue Gene/L torus (struct Table: wiring, delays, sizes, options) from the
/// experiment. Delays are in cycles.
#include "host/config/experiment.hpp"
#include "host/topology/topology.hpp"
#include "kernels/routers/bgl/state.hpp"

namespace flitlab::bgl {

/// Returns the cycles from a head's departure to its first request in the next node.
u32 hop_delay(const Experiment& e);
/// Returns the cycles from a tail's departure until the sender has its tokens back.
u32 token_delay(const Experiment& e);
/// Returns whether token packets occupy the links. If not, every packet is charged for their time.
bool has_token_packets(const Experiment& e);
/// Returns the cycles that a packet occupies a link in addition to its chunks.
u32 packet_overhead(const Experiment& e);

/// Return the number of slots, one for each future cycle and a power of two, of: the inboxes for tokens and for notes
/// on heads; software's inboxes; the inbox for the heads on a link, in which a slot must be free again when it is
/// reused; the calendar.
u32 inbox_slots(const Table& t, const Experiment& e);
u32 software_slots(const Table& t);
u32 head_slots(const Table& t);
u32 calendar_slots(const Table& t);

/// Sets the routers and the peers of their ports. The table points into `topology`, which must outlive it.
void set_network(Table& t, const Topology& topology);
/// Sets the virtual channels of a link, both their numbers and the sets of them.
void set_vcs(Table& t, const Experiment& e);
/// Sets the sizes of buffers and FIFOs, and of their circular buffers of packet descriptors. Call it after set_vcs().
/// `shortest`: length of the shortest packet, chunks.
void set_buffers(Table& t, const Experiment& e, u32 shortest);
void set_delays(Table& t, const Experiment& e);
/// Sets the options of arbiters and the thresholds of random choices.
void set_choices(Table& t, const Experiment& e);
void set_software(Table& t, const Experiment& e);
/// Sets the sizes of the inboxes and of the calendar. Call it after set_delays() and set_software().
void set_slots(Table& t, const Experiment& e);
void set_broadcast(Table& t, const Experiment& e);

}  // namespace flitlab::bgl
