#pragma once
/// Checks of conditions between parameters, and quantities that several parameters determine, such as the number of
/// terminals.
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "kernels/traffic/program_state.hpp"

namespace flitlab {

/// Checks the conditions between parameters: conditions of the model, and of traffic (patterns that need certain
/// sizes, bursts that cannot give the load). Throws ConfigError for the first condition that fails.
void check_together(const Experiment& experiment);

/// Checks the conditions between the parameters in host/config/topology_params.hpp. Throws ConfigError for the first
/// condition that fails.
void check_topology(const Experiment& experiment);

/// Throws ConfigError if a pattern does not fit this number of terminals. Patterns that fit any number pass. `shape`:
/// Topology::shape. No other code checks this rule.
void check_permutation(const std::string& pattern, const std::vector<u32>& shape, u32 terminals);

/// Returns a parameter with its choice for messages: `path = "choice"`.
std::string quoted(const Experiment& experiment, const ParamRecord& parameter);
/// Returns router.kind with its choice for messages.
std::string quoted_kind(const Experiment& experiment);
/// Returns a list as TOML text.
std::string list_text(const std::vector<u32>& list);

/// Returns the parameter that sets the size of the network, with its value, for messages: `topology.dimensions = 20`.
std::string size_text(const Experiment& experiment);

/// Returns whether links of the canonical router's network have failed.
bool has_failures(const Experiment& experiment);
/// Returns whether topology.kind has a regular grid of routers, which failed links and routers would leave irregular.
bool is_grid(const Experiment& experiment);
/// Returns whether packets need routes from tables: the network is no grid, or links have failed.
bool is_graph(const Experiment& experiment);
/// Returns the number of terminals; 0 for a network from a file.
u32 terminal_count(const Experiment& experiment);

/// Returns the number of terminals of a Cartesian network. ConfigError if a packet cannot address so many.
u32 count_terminals(const std::vector<u32>& shape, u32 concentration);

/// Returns whether the pattern is one in which the number of a terminal determines several destinations: fft or divide.
bool is_exchange(const std::string& pattern);

/// Returns whether the shape is a square of two dimensions.
bool is_square(const std::vector<u32>& shape);

/// Returns the number of message classes (for example, requests and replies). Each class needs separate virtual
/// channels for all routing classes.
u32 message_classes(const Experiment& experiment);
/// Returns text for messages about virtual channels: " with traffic.message_classes = 2"; "" with one set of VCs.
std::string message_classes_text(const Experiment& experiment);

/// Returns the number of classes of packets of an open loop, or of packets that a program offers; in other modes 1.
u32 traffic_classes(const Experiment& experiment);
/// Returns the share of the load that a class of packets has; the shares of all classes add up to 1.
double class_share(const Experiment& experiment, u32 number);
/// Returns the experiment that has only the packets of one class.
Experiment class_of(const Experiment& experiment, u32 number);

/// Returns the radix of each dimension; for a hypercube 2 for each, for a multistage network the number of endpoints.
/// Returns {} if the network is read from a file.
std::vector<u32> grid_shape(const Experiment& experiment);

/// Returns the mean of the geometric distribution of packet lengths, flits, before lengths are limited to
/// geometric_longest().
u32 geometric_mean(const Experiment& experiment);

/// Returns the limit of geometric packet lengths, flits.
u32 geometric_longest(const Experiment& experiment);

/// Returns how messages of a program are divided into packets.
PacketFormat packet_format(const Experiment& experiment);

/// Returns the keys that set the lengths of packets, for messages: of programs, with their values.
std::string length_keys(const Experiment& experiment);

/// Returns the length of the longest packet, flits; 1 for traces, because their lines are checked when they are read.
u32 longest_packet(const Experiment& experiment);

/// Returns whether packets come from the host: from a trace file, or from the program that steps the network.
bool comes_from_host(const Experiment& experiment);

/// Returns the length of the shortest packet, flits.
u32 shortest_packet(const Experiment& experiment);

/// Returns the mean packet length, flits. For geometric lengths it takes their limit into account.
double mean_packet(const Experiment& experiment);

}  // namespace flitlab
