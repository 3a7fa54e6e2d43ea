#pragma once
/// Functions that compute the parameters of a virtual-channel router (struct VcTable: delays, sizes, options) from the
/// experiment and the topology.
#include "host/config/experiment.hpp"
#include "host/topology/topology.hpp"
#include "kernels/routers/vc/state.hpp"

namespace flitlab::vc {

/// Virtual channels from `first` up to but not including `end`.
struct VcRange {
  u32 first, end;
};
/// Returns the virtual channels of a class of packets; with one class of packets, of a message class.
VcRange vcs_of_class(const Experiment& e, u32 number);
/// Returns the fewest virtual channels of a class.
u32 fewest_vcs_of_class(const Experiment& e);
/// Throws ConfigError if ranges of virtual channels do not fit the network's, or if two overlap whose parts, one for
/// each of `parts` routing classes, would not be the same.
void check_class_ranges(const Experiment& e, u32 parts);

/// Returns the cycles from switch grant to the flit's entry into the channel. With several rounds in a cycle, a flit
/// that wins the switch in a late round takes one more (vc::first_late_round()).
u32 crossing_delay(const Experiment& e);
/// Returns the cycles from switch grant to arrival at the terminal.
u32 eject_delay(const Experiment& e);

/// Returns the slots of an inbox: a power of two, large enough that a flit or credit is never written into the slot
/// of the current cycle.
u32 inbox_slots(const VcTable& t);
/// A set of virtual channels is a bit mask in one or more 64-bit words (RouterControl). Returns log2 of the number of
/// ports whose virtual channels fit into a word. In a small router one word holds the virtual channels of all ports.
u32 set_shift(const VcTable& t);
/// Returns the number of words of such a set.
u32 set_words(const VcTable& t);

/// Sets the routers, their ports and connections. `t` keeps pointers into the topology.
void set_network(VcTable& t, const Topology& topology);
/// Sets the addresses of the routers, from which the routing function computes.
void set_addresses(VcTable& t, const Topology& topology);
/// Gives the channels of a network with groups the delays and widths of lists: the first number within a group, the
/// second one between groups. Throws ConfigError if topology.channel_width has a number that channels cannot have.
void set_group_channels(Topology& topology, const Experiment& e);
/// Gives the channels of a network with topology.delay_by_distance their delays. Throws ConfigError if one is too long.
void set_distance_channels(Topology& topology, const Experiment& e);
/// Returns the channels of each network port [routers][network_ports]; empty if all channels of the network are alike.
/// Throws ConfigError if topology.channel_width has a number that channels cannot have.
std::vector<PortChannel> make_channels(const Experiment& e, const Topology& topology);
/// Sets the delays of pipeline stages, channels and credits. Requires that t.channel has been set.
void set_delays(VcTable& t, const Experiment& e);
/// Sets the sizes of buffers, packet queues and inboxes, and the number of words of a set of virtual channels. Requires
/// that the delays have been set. `shortest`: length of the shortest packet, flits.
void set_sizes(VcTable& t, const Experiment& e, u32 shortest);
/// Sets the kinds of allocators, arbiters and routing.
void set_choices(VcTable& t, const Experiment& e);

}  // namespace flitlab::vc
