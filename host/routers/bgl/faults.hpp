#pragma once
/// Dead nodes of a Blue Gene/L torus, and the hint bits that software sets to avoid them or as configured.
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/topology/topology.hpp"
#include "kernels/routers/bgl/state.hpp"

namespace flitlab {

/// Returns a topology without the links from and to some nodes.
Topology without_nodes(Topology topology, const std::vector<u32>& nodes);

/// Enters dead nodes into a table that is complete otherwise. Returns warnings. Throws ConfigError if some live nodes
/// cannot reach one another.
std::vector<std::string> set_dead_nodes(bgl::Table& table, const Topology& topology, const std::vector<u32>& nodes);

/// Returns `routing.hints` sorted by addresses, and adds to `warnings`. `table` must contain the dead nodes. Throws
/// ConfigError for hint bits that cannot lead to the destination.
std::vector<bgl::GivenHints> read_hints(const Experiment& experiment, const Topology& topology, const bgl::Table& table,
                                        std::vector<std::string>& warnings);

/// Returns a node's number and coordinates as text: "5 (1,1,0)".
std::string shown_node(const Topology& topology, u32 node);

}  // namespace flitlab
