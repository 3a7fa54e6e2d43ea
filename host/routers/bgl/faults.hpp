#pragma once
/// Dead nodes of a Blue Gene/L torus, and the hint bits that software sets because of them or because it is told to.
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/topology/topology.hpp"
#include "kernels/routers/bgl/state.hpp"

namespace flitlab {

/// Takes all links of some nodes away.
Topology without_nodes(Topology topology, const std::vector<u32>& nodes);

/// Enters dead nodes into a table that is complete otherwise. Returns what a user should know. ConfigError if there are
/// nodes that cannot reach one another.
std::vector<std::string> set_dead_nodes(bgl::Table& table, const Topology& topology, const std::vector<u32>& nodes);

/// `routing.hints`, sorted; the table knows the dead nodes. ConfigError if some cannot lead to the destination; what a
/// user should know is added to `warnings`.
std::vector<bgl::GivenHints> read_hints(const Experiment& experiment, const Topology& topology, const bgl::Table& table,
                                        std::vector<std::string>& warnings);

/// A node by its number and its place: "5 (1,1,0)".
std::string shown_node(const Topology& topology, u32 node);

}  // namespace flitlab
