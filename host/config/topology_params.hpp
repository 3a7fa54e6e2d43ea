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

/// Kinds of networks that have dimension-order routes. The other kinds of NetworkParams are graphs, and routes come
/// from tables.
inline constexpr std::string_view kGrids = "mesh|torus|ring|hypercube|chiplet_mesh|chiplet_torus";

/// Networks of the canonical router: those above, and families without a grid (host/topology/families.hpp).
inline constexpr struct NetworkParams {
  static constexpr ParamRecord also_in(ParamRecord record, std::string_view only_if) {
    record.only_if = only_if;
    return record;
  }
  static constexpr ParamRecord up_to(ParamRecord record, double max) {
    record.max = max;
    return record;
  }

  ParamRecord kind{.path = topology.kind.path,
                   .type = ParamType::kChoice,
                   .default_value = topology.kind.default_value,
                   .choices =
                       "mesh|torus|ring|hypercube|chiplet_mesh|chiplet_torus|graph|full_mesh|hyperx|flattened_"
                       "butterfly|fat_tree|dragonfly|"
                       "megafly|slim_fly|polarfly|jellyfish|cmesh|polarstar",
                   .help = "Topology of the network; docs/networks.md describes each.",
                   .cite = topology.kind.cite};
  ParamRecord shape = also_in(
      topology.shape, "topology.kind=mesh|torus|ring|chiplet_mesh|chiplet_torus|hyperx|flattened_butterfly|cmesh");
  ParamRecord chip_shape{
      .path = "topology.chip_shape",
      .type = ParamType::kIntList,
      .default_value = "[4, 4]",
      .min = 1,
      .max = 65535,
      .unit = "routers",
      .help =
          "Routers of a chip in each dimension; chips divide topology.shape evenly. Channels between "
          "chips have topology.chip_delay and topology.chip_width.",
      .only_if = "topology.kind=chiplet_mesh|chiplet_torus"};
  ParamRecord chip_delay{.path = "topology.chip_delay",
                         .type = ParamType::kInt,
                         .default_value = "5",
                         .min = 1,
                         .max = 4096,
                         .unit = "cycles",
                         .help = "Delay of a flit on a channel between chips: serialiser, wire and deserialiser.",
                         .only_if = "topology.kind=chiplet_mesh|chiplet_torus"};
  ParamRecord chip_width{.path = "topology.chip_width",
                         .type = ParamType::kFloat,
                         .default_value = "0.5",
                         .min = 1.0 / 64,
                         .max = 1,
                         .unit = "flits/cycle",
                         .help =
                             "Width of a channel between chips, the inverse of the serialiser's ratio: a channel of "
                             "width 1/4 accepts a flit in every fourth cycle.",
                         .only_if = "topology.kind=chiplet_mesh|chiplet_torus"};
  ParamRecord dimensions = topology.dimensions;
  ParamRecord file = topology.file;
  ParamRecord terminal_routers{.path = "topology.terminal_routers",
                               .type = ParamType::kInt,
                               .default_value = "0",
                               .min = 0,
                               .max = 65535,
                               .unit = "routers",
                               .help =
                                   "Number of routers of a graph that have terminals: the first ones. 0: all "
                                   "routers.",
                               .only_if = "topology.kind=graph"};
  ParamRecord places{.path = "topology.places",
                     .type = ParamType::kNumberOrList,
                     .default_value = "0",
                     .min = -1e6,
                     .max = 1e6,
                     .help =
                         "Places of the routers of a graph in drawings: x and y of router 0, of router 1 and so on; y "
                         "points up. 0: flitlab computes them.",
                     .only_if = "topology.kind=graph"};
  ParamRecord routers{.path = "topology.routers",
                      .type = ParamType::kInt,
                      .default_value = "8",
                      .min = 2,
                      .max = 16384,
                      .help = "Routers of a full mesh or a random graph.",
                      .only_if = "topology.kind=full_mesh|jellyfish"};
  ParamRecord degree{.path = "topology.degree",
                     .type = ParamType::kInt,
                     .default_value = "4",
                     .min = 2,
                     .max = 63,
                     .unit = "links",
                     .help = "Links of each router to other routers.",
                     .cite = "Singla et al., NSDI 2012",
                     .only_if = "topology.kind=jellyfish"};
  ParamRecord seed{.path = "topology.seed",
                   .type = ParamType::kInt,
                   .default_value = "1",
                   .min = 0,
                   .max = 9007199254740992,
                   .help = "Seed of the random links; run.seed does not change them.",
                   .only_if = "topology.kind=jellyfish"};
  ParamRecord copies{.path = "topology.copies",
                     .type = ParamType::kInt,
                     .default_value = "1",
                     .min = 1,
                     .max = 16,
                     .unit = "links",
                     .help = "Parallel links between two routers that differ in one coordinate.",
                     .cite = "Ahn et al., SC 2009, section 2",
                     .only_if = "topology.kind=hyperx|flattened_butterfly"};
  ParamRecord children{.path = "topology.children",
                       .type = ParamType::kIntList,
                       .default_value = "[4, 4]",
                       .min = 1,
                       .max = 63,
                       .unit = "links",
                       .help =
                           "Links down of a router of the second level, of the third, and so on. The terminals of a "
                           "router of the first level are topology.concentration.",
                       .cite = "Ohring et al., IPPS 1995",
                       .only_if = "topology.kind=fat_tree"};
  ParamRecord parents{.path = "topology.parents",
                      .type = ParamType::kIntList,
                      .default_value = "[4, 4]",
                      .min = 1,
                      .max = 63,
                      .unit = "links",
                      .help =
                          "Links up of a router of the first level, of the second, and so on. Fewer links up than "
                          "down taper the tree.",
                      .cite = "Ohring et al., IPPS 1995",
                      .only_if = "topology.kind=fat_tree"};
  ParamRecord groups{.path = "topology.groups",
                     .type = ParamType::kInt,
                     .default_value = "9",
                     .min = 2,
                     .max = 4096,
                     .help =
                         "Groups. The largest number is group_routers x global_channels + 1, with one channel between "
                         "any two groups.",
                     .cite = "Kim et al., ISCA 2008, section 3",
                     .only_if = "topology.kind=dragonfly|megafly"};
  ParamRecord group_routers{.path = "topology.group_routers",
                            .type = ParamType::kInt,
                            .default_value = "4",
                            .min = 1,
                            .max = 63,
                            .unit = "routers",
                            .help =
                                "Routers of a dragonfly's group; in a Megafly, leaf routers of a group, and as many "
                                "spine routers.",
                            .only_if = "topology.kind=dragonfly|megafly"};
  ParamRecord global_channels{.path = "topology.global_channels",
                              .type = ParamType::kInt,
                              .default_value = "2",
                              .min = 1,
                              .max = 63,
                              .unit = "links",
                              .help = "Links of a router (Megafly: of a spine router) to other groups.",
                              .only_if = "topology.kind=dragonfly|megafly"};
  ParamRecord arrangement{.path = "topology.arrangement",
                          .type = ParamType::kChoice,
                          .default_value = "absolute",
                          .choices = "absolute|relative|palm_tree|circulant",
                          .help =
                              "Where global channels lead: channel k of group i to group k (k + 1 if k >= i), i + k + "
                              "1, i - k - 1, or alternately to i + 1, i - 1, i + 2, i - 2 and so on.",
                          .cite = "Hastings et al. 2015; Camarero et al. 2014",
                          .only_if = "topology.kind=dragonfly|megafly"};
  ParamRecord order{.path = "topology.order",
                    .type = ParamType::kInt,
                    .default_value = "5",
                    .min = 2,
                    .max = 64,
                    .help =
                        "Order q of the finite field, a prime power: 2 q^2 routers (Slim Fly) or q^2 + q + 1 "
                        "(PolarFly).",
                    .cite = "Besta & Hoefler, SC 2014; Lakhotia et al., SC 2022",
                    .only_if = "topology.kind=slim_fly|polarfly|polarstar"};
  ParamRecord supernode{.path = "topology.supernode",
                        .type = ParamType::kInt,
                        .default_value = "5",
                        .min = 5,
                        .max = 61,
                        .unit = "routers",
                        .help =
                            "Routers of a supernode, a prime power 4w + 1; supernodes are joined like the routers of a "
                            "PolarFly.",
                        .cite = "Lakhotia et al., SPAA 2024",
                        .only_if = "topology.kind=polarstar"};
  ParamRecord express{.path = "topology.express",
                      .type = ParamType::kInt,
                      .default_value = "2",
                      .min = 2,
                      .max = 65535,
                      .unit = "routers",
                      .help =
                          "Distance that an express channel spans: routers whose coordinate is a multiple of it are "
                          "also joined to the next such router.",
                      .cite = "Dally 1991; Balfour & Dally, ICS 2006",
                      .only_if = "topology.kind=cmesh"};
  ParamRecord concentration = up_to(topology.concentration, 63);
  ParamRecord failed_links{.path = "topology.failed_links",
                           .type = ParamType::kIntList,
                           .default_value = "[]",
                           .min = 0,
                           .max = 16777215,
                           .help =
                               "Links that have failed, in both directions: pairs of router numbers, such as [0, 1, 5, "
                               "6]. Routes avoid them, by a routing algorithm for graphs; by default \"table\"."};
  ParamRecord failed_routers{
      .path = "topology.failed_routers",
      .type = ParamType::kIntList,
      .default_value = "[]",
      .min = 0,
      .max = 16777215,
      .help =
          "Routers that have failed, with their links and terminals. The routers behind a failed "
          "one, and their terminals, get lower numbers, without a gap. topology.failed_links "
          "has the numbers of the whole network."};
  ParamRecord random_failures{.path = "topology.random_failures",
                              .type = ParamType::kInt,
                              .default_value = "0",
                              .min = 0,
                              .max = 65535,
                              .unit = "links",
                              .help =
                                  "Links that have failed at random, in addition; all routers can still reach one "
                                  "another."};
  ParamRecord failure_seed{.path = "topology.failure_seed",
                           .type = ParamType::kInt,
                           .default_value = "1",
                           .min = 0,
                           .max = 9007199254740992,
                           .help = "Seed that selects the random failures; run.seed does not change them.",
                           .only_if = "topology.random_failures!=0"};
} networks{};

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
