#pragma once
/// Methods that make routing tables, without an Experiment.
#include "host/config/text_source.hpp"
#include "host/routers/sconnect/tables.hpp"

namespace flitlab {

/// Returns tables of shortest paths that cannot deadlock. For meshes and hypercubes they follow from coordinates
/// (grid.hpp). In other fabrics each virtual channel's part of a path may only ascend an order of the TICs (order.hpp).
/// A few orders are tried. If none of them permits all shortest paths, paths ascend an order of the queues
/// (queues.hpp). In large graphs paths use permitted turns only (turns.hpp).
SconnectTables shortest_sconnect_tables(const SconnectFabric& fabric);

/// Returns tables over a spanning tree. Messages go up on virtual channel 0 until the destination is below them, then
/// down on virtual channel 1. In S-Connect, 2.4, paths lead through the root; here they turn at the lowest common
/// ancestor, because the rest of the way to the root and back would use channels in both directions.
SconnectTables tree_sconnect_tables(const SconnectFabric& fabric);

/// Returns tables read from CSV lines TIC,destination node,port,virtual channel. A pair (TIC, destination) may have
/// several lines. A TIC with a port to the destination's host needs no line. The other TIC of that node uses the
/// parallel port unless a line says otherwise. ConfigError for a malformed line, or a fault that sconnect_table_fault
/// finds.
SconnectTables read_sconnect_tables(const SconnectFabric& fabric, const TextSource& text);

/// Returns tables that contain only the entries from TICs to the hosts of their own node.
std::vector<u16> sconnect_host_entries(const SconnectFabric& fabric);
/// Returns the given tables, which must have no fault, together with their properties.
SconnectTables given_sconnect_tables(const SconnectFabric& fabric, std::vector<u16> entry);

}  // namespace flitlab
