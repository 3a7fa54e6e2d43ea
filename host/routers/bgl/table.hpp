#pragma once
/// The parts of a Blue Gene/L node's table that follow from the experiment. A delay or a size that is derived has a
/// function of its own. Delays in cycles.
#include "host/config/experiment.hpp"
#include "host/topology/topology.hpp"
#include "kernels/routers/bgl/state.hpp"

namespace flitlab::bgl {

/// A head's leave to its first request in the next node.
u32 hop_delay(const Experiment& e);
/// A tail's leave to the sender's knowledge of the free space.
u32 token_delay(const Experiment& e);
/// Whether tokens come in packets of their own, which take links.
bool has_token_packets(const Experiment& e);
/// Link cycles of a packet beyond its chunks.
u32 packet_overhead(const Experiment& e);

/// Slots of the cycles ahead, all powers of two: of tokens and heads; of what software does; of each link's heads, of
/// which a place must be free again when it is needed; of the calendar's notes.
u32 mail_slots(const Table& t, const Experiment& e);
u32 software_slots(const Table& t);
u32 head_slots(const Table& t);
u32 calendar_slots(const Table& t);

/// Routers and where their ports lead. The tables point into the topology.
void set_network(Table& t, const Topology& topology);
/// Virtual channels of a link, as numbers and as sets.
void set_vcs(Table& t, const Experiment& e);
/// Buffers, FIFOs and their rings; after VCs. `shortest`: packet, chunks.
void set_buffers(Table& t, const Experiment& e, u32 shortest);
void set_delays(Table& t, const Experiment& e);
/// What arbiters may do, and how often they do what by chance.
void set_choices(Table& t, const Experiment& e);
void set_software(Table& t, const Experiment& e);
/// After delays and software.
void set_slots(Table& t, const Experiment& e);
void set_broadcast(Table& t, const Experiment& e);

}  // namespace flitlab::bgl
