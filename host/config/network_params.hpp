#pragma once
/// Parameters of topology and routing.
#include <array>

#include "kernels/common/param.hpp"

namespace flitlab {

inline constexpr std::array kTopologyParams{
    ParamRecord{.path = "topology.kind",
                .type = ParamType::kChoice,
                .default_value = "torus",
                .choices = "mesh|torus|ring|hypercube|graph",
                .help = "Family of networks.",
                .cite = "Dally & Towles ch. 5"},
    ParamRecord{.path = "topology.shape",
                .type = ParamType::kIntList,
                .default_value = "[8, 8]",
                .min = 1,
                .max = 65535,
                .unit = "routers",
                .help = "Radix of each dimension; a ring has one, 8 by default.",
                .cite = "Dally & Towles 5.1",
                .only_if = "topology.kind=mesh|torus|ring"},
    ParamRecord{.path = "topology.dimensions",
                .type = ParamType::kInt,
                .default_value = "6",
                .min = 1,
                .max = 20,
                .help = "Dimensions of a hypercube, which has 2^dimensions routers.",
                .only_if = "topology.kind=hypercube"},
    ParamRecord{.path = "topology.file",
                .type = ParamType::kFile,
                .default_value = "",
                .help = "Edge list of a graph: CSV lines of two router numbers, '#' comments.",
                .only_if = "topology.kind=graph"},
    ParamRecord{.path = "topology.concentration",
                .type = ParamType::kInt,
                .default_value = "1",
                .min = 1,
                .max = 16,
                .unit = "terminals/router",
                .help = "Terminals attached to each router."},
    ParamRecord{.path = "topology.channel_delay",
                .type = ParamType::kInt,
                .default_value = "1",
                .min = 1,
                .max = 64,
                .unit = "cycles",
                .help = "Time of flight between routers."},
};

inline constexpr std::array kRoutingParams{
    ParamRecord{.path = "routing.algorithm",
                .type = ParamType::kChoice,
                .default_value = "dimension_order",
                .choices = "dimension_order|o1turn|valiant|romm|minimal_adaptive|table",
                .help = "How a route is found. Graphs use tables, all other topologies the other algorithms.",
                .cite = "Dally & Towles ch. 8-11; O1TURN: Seo et al. 2005; ROMM: Nesson & Johnsson 1995; adaptive "
                        "with escape: Duato 1993"},
    ParamRecord{.path = "routing.vc_assignment",
                .type = ParamType::kChoice,
                .default_value = "dateline",
                .choices = "dateline|balanced|by_crossing|any",
                .help = "Virtual channels on rings, in two classes. dateline: 0 until the wrap-around channel has "
                        "been crossed, then 1; balanced: packets that never cross it may use both; by_crossing: 1 "
                        "all along the ring for packets that cross it, 0 for the others; any: one class, which may "
                        "deadlock.",
                .cite = "Dally & Towles 14.2.3",
                .only_if = "topology.kind=torus|ring"},
    ParamRecord{.path = "routing.table_file",
                .type = ParamType::kFile,
                .default_value = "",
                .help = "Routing table to use instead of computed shortest paths: CSV lines router,destination,port.",
                .only_if = "routing.algorithm=table"},
};

}  // namespace flitlab
