#pragma once
/// Dead nodes of a Blue Gene/L torus, hint bits that software sets to avoid dead nodes, and configured hint bits.
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/topology/topology.hpp"
#include "kernels/routers/bgl/state.hpp"

namespace flitlab {

/// Returns a topology without the links from and to the given nodes.
Topology without_nodes(Topology topology, const std::vector<u32>& nodes);

/// Adds dead nodes to a table that is otherwise complete. Returns warnings. Throws ConfigError if two live nodes cannot
/// reach each other.
std::vector<std::string> set_dead_nodes(bgl::Table& table, const Topology& topology, const std::vector<u32>& nodes);

/// Returns the hint bits of `routing.hints`, sorted by addresses, and adds warnings about them to `warnings`. `table`
/// must already contain the dead nodes. Throws ConfigError for hint bits that cannot lead to the destination.
std::vector<bgl::GivenHints> read_hints(const Experiment& experiment, const Topology& topology, const bgl::Table& table,
                                        std::vector<std::string>& warnings);

/// Returns a node's number and coordinates as text: "5 (1,1,0)".
std::string shown_node(const Topology& topology, u32 node);

}  // namespace flitlab
