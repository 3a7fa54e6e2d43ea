#pragma once
/// Methods that make routing tables, without an Experiment.
#include "host/config/text_source.hpp"
#include "host/routers/sconnect/tables.hpp"

namespace flitlab {

/// Returns tables of shortest paths: of meshes and hypercubes by coordinates (grid.hpp); of other fabrics by an order
/// of the TICs (order.hpp) if one of a few keeps all shortest paths, otherwise by an order of the queues (queues.hpp),
/// and of large graphs by turns (turns.hpp).
SconnectTables shortest_sconnect_tables(const SconnectFabric& fabric);

/// Returns tables over a spanning tree: up on virtual channel 0 until the destination is below, then down on 1. The
/// paths are those through the root (S-Connect, 2.4) without the channels that these use in both directions.
SconnectTables tree_sconnect_tables(const SconnectFabric& fabric);

/// Returns tables from CSV lines TIC,destination node,port,virtual channel, any number for each pair. TICs with a port
/// to the destination's host need no line; the other TIC of its node uses the parallel port unless a line overrides
/// that. ConfigError for a bad line, or a fault that sconnect_table_fault finds.
SconnectTables read_sconnect_tables(const SconnectFabric& fabric, const TextSource& text);

/// Returns tables that contain only the entries from TICs to the hosts of their own node.
std::vector<u16> sconnect_host_entries(const SconnectFabric& fabric);
/// Returns tables without a fault together with their properties.
SconnectTables given_sconnect_tables(const SconnectFabric& fabric, std::vector<u16> entry);

}  // namespace flitlab
