#pragma once
/// Checks of conditions between parameters, and sizes that follow from several parameters.
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "kernels/traffic/program_state.hpp"

namespace flitlab {

/// Checks the conditions between parameters: of the model, and of traffic (patterns that need certain sizes, bursts
/// that cannot give the load). Throws ConfigError for the first that fails.
void check_together(const Experiment& experiment);

/// Checks the conditions between the parameters in host/topology/params.hpp. Throws ConfigError for the first that
/// fails.
void check_topology(const Experiment& experiment);

/// Returns `path = "choice"`, as messages show it.
std::string quoted(const Experiment& experiment, const ParamRecord& parameter);
/// The same for router.kind.
std::string quoted_kind(const Experiment& experiment);
/// Returns a list as it is written in a configuration.
std::string list_text(const std::vector<u32>& list);

/// Returns the parameter that sets the size of the network, with its value, for messages: `topology.dimensions = 20`.
std::string size_text(const Experiment& experiment);

/// Returns whether the network, and so its size, is read from a file.
bool is_graph(const Experiment& experiment);
/// Returns the number of terminals; 0 for a network from a file.
u32 terminal_count(const Experiment& experiment);

/// Returns the number of message classes. Each needs separate virtual channels for all routing classes.
u32 message_classes(const Experiment& experiment);

/// Returns the radix of each dimension (of a hypercube: 2 each); of a multistage network, the number of endpoints; {}
/// if the network is read from a file.
std::vector<u32> grid_shape(const Experiment& experiment);

/// Returns the mean of the geometric packet length before it is cut at geometric_longest(), flits.
u32 geometric_mean(const Experiment& experiment);

/// Returns the length at which the geometric packet length is cut, flits.
u32 geometric_longest(const Experiment& experiment);

/// Returns the format by which messages of a program are divided into packets.
PacketFormat packet_format(const Experiment& experiment);

/// Returns the longest packet, flits; 1 for traces, whose lines are checked when they are read.
u32 longest_packet(const Experiment& experiment);

/// Returns the shortest packet, flits.
u32 shortest_packet(const Experiment& experiment);

/// Returns the mean packet length, flits. It is exact also for a geometric length, which is cut.
double mean_packet(const Experiment& experiment);

}  // namespace flitlab
