#pragma once
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "kernels/traffic/program_state.hpp"

namespace flitlab {

/// Conditions between parameters: those of the model, and those of traffic (patterns that fit only some sizes, bursts
/// that cannot be offered). Throws ConfigError for the first that fails.
void check_together(const Experiment& experiment);

/// Conditions of the networks of kTopologyParams.
void check_topology(const Experiment& experiment);

/// `path = "word"`, as messages show it.
std::string quoted(const Experiment& experiment, const ParamRecord& parameter);
/// The same of router.kind.
std::string quoted_kind(const Experiment& experiment);
/// A list as it would be written in a configuration.
std::string list_text(const std::vector<u32>& list);

/// The parameter that sets the size of a network and its value, as messages show them: `topology.dimensions = 20`.
std::string size_text(const Experiment& experiment);

/// Whether the network is read from a file, which says how large it is.
bool is_graph(const Experiment& experiment);
/// Terminals of any topology but a graph; 0 for a graph.
u32 terminal_count(const Experiment& experiment);

/// Message classes, each of which needs the routing classes on virtual channels of its own.
u32 message_classes(const Experiment& experiment);

/// Radix of each dimension, for a hypercube too; of a multistage network, its endpoints; empty if a file has it.
std::vector<u32> grid_shape(const Experiment& experiment);

/// Mean of a geometric law before it is cut at geometric_longest().
u32 geometric_mean(const Experiment& experiment);

/// The length at which a geometric law is cut, flits.
u32 geometric_longest(const Experiment& experiment);

/// How the messages of a program are cut into packets.
PacketFormat packet_format(const Experiment& experiment);

/// Longest packet in flits. 1 for traces, whose lines are checked when they are read.
u32 longest_packet(const Experiment& experiment);

/// Shortest packet in flits.
u32 shortest_packet(const Experiment& experiment);

/// Mean packet length in flits, of the lengths that really occur: exact for a geometric law that is cut.
double mean_packet(const Experiment& experiment);

}  // namespace flitlab
