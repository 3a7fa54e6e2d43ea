#pragma once
/// How tables are made, from plain numbers.
#include "host/config/text_source.hpp"
#include "host/routers/sconnect/tables.hpp"

namespace flitlab {

/// Ways by coordinates if there are any (host/routers/sconnect/grid.hpp); else by an order of the TICs
/// (host/routers/sconnect/order.hpp) if one of some keeps all shortest ways, else by an order of
/// queues (host/routers/sconnect/queues.hpp), and in large graphs by turns (host/routers/sconnect/turns.hpp).
SconnectTables shortest_sconnect_tables(const SconnectFabric& fabric);

/// Ways by a spanning tree: up on virtual channel 0 until the destination is below, then down on 1. That is the
/// paper's way through the root (S-Connect, 2.4) without what it goes twice.
SconnectTables tree_sconnect_tables(const SconnectFabric& fabric);

/// Tables by CSV lines TIC,destination node,port,virtual channel, any number for each pair. TICs with hosts of the
/// destination are not among them; a TIC of its node without one takes the parallel port if no line says otherwise.
/// ConfigError for what sconnect_table_fault finds.
SconnectTables read_sconnect_tables(const SconnectFabric& fabric, const TextSource& text);

/// Tables with nothing but the way out to hosts.
std::vector<u16> sconnect_host_entries(const SconnectFabric& fabric);
/// Good tables, measured.
SconnectTables given_sconnect_tables(const SconnectFabric& fabric, std::vector<u16> entry);

}  // namespace flitlab
