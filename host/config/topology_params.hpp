#pragma once
/// Parameters of networks of routers. Models that support several topologies share them.
#include "kernels/common/param.hpp"

namespace flitlab::param {

inline constexpr struct TopologyParams {
  ParamRecord kind{.path = "topology.kind",
                   .type = ParamType::kChoice,
                   .default_value = "torus",
                   .choices = "mesh|torus|ring|hypercube|graph",
                   .help = "Topology of the network.",
                   .cite = "Dally & Towles ch. 5"};
  ParamRecord shape{.path = "topology.shape",
                    .type = ParamType::kIntList,
                    .default_value = "[8, 8]",
                    .min = 1,
                    .max = 65535,
                    .unit = "routers",
                    .help = "Routers in each dimension; a ring has one dimension, 8 by default.",
                    .cite = "Dally & Towles 5.1",
                    .only_if = "topology.kind=mesh|torus|ring"};
  ParamRecord dimensions{.path = "topology.dimensions",
                         .type = ParamType::kInt,
                         .default_value = "6",
                         .min = 1,
                         .max = 20,
                         .help = "Dimensions of a hypercube; it has 2^dimensions routers.",
                         .only_if = "topology.kind=hypercube"};
  ParamRecord file{
      .path = "topology.file",
      .type = ParamType::kFile,
      .default_value = "",
      .help =
          "Edge list of a graph: CSV lines of two router numbers, '#' comments. router.kind = \"vc\" "
          "accepts two more columns: delay (cycles) and width (flits/cycle) of the edge's channels; 0: as the "
          "other channels.",
      .only_if = "topology.kind=graph"};
  ParamRecord concentration{.path = "topology.concentration",
                            .type = ParamType::kInt,
                            .default_value = "1",
                            .min = 1,
                            .max = 16,
                            .unit = "terminals/router",
                            .help = "Terminals attached to each router."};
} topology{};

/// Channels between routers, if all of them are alike.
inline constexpr struct ChannelParams {
  ParamRecord delay{.path = "topology.channel_delay",
                    .type = ParamType::kInt,
                    .default_value = "1",
                    .min = 1,
                    .max = 64,
                    .unit = "cycles",
                    .help = "Delay of a flit on a channel between routers."};
} channels{};

}  // namespace flitlab::param
