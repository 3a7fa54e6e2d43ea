#pragma once
/// Parameters of the Cray T3E. In the citations "paper" is Scott and Thorson, "The Cray T3E Network"; "manual" is
/// HMM-146-0.
#include "kernels/common/param.hpp"
#include "kernels/routers/t3e/choices.hpp"
#include "kernels/routers/t3e/upkeep_params.hpp"

namespace flitlab::t3e::param {

inline constexpr struct TopologyParams {
  ParamRecord shape{.path = "topology.shape",
                    .type = ParamType::kIntList,
                    .default_value = "[8, 8, 8]",
                    .min = 1,
                    .max = 32,
                    .unit = "nodes",
                    .help =
                        "Nodes in X, Y and Z: X is 2, 4 or 8; Y is 2 or a multiple of 4 up to 32; Z is 1 to 9. X = 2 "
                        "is a ring of two with two links, Y = 2 has one link, Z = 1 none.",
                    .cite = "manual, Node Shapes"};
  ParamRecord partial_planes{.path = "topology.partial_planes",
                             .type = ParamType::kIntList,
                             .default_value = "[]",
                             .min = 0,
                             .max = 32,
                             .help =
                                 "Blocks of nodes in partial planes, five numbers each: Z, first Y, nodes in Y, "
                                 "first X, nodes in X. A plane with blocks has only the nodes of its blocks; all "
                                 "other planes are full.",
                             .cite = "manual, Node Shapes; paper, section 2.3"};
  ParamRecord plus_ports{
      .path = "topology.plus_ports",
      .type = ParamType::kIntList,
      .default_value = "[0, 1, 0]",
      .min = 0,
      .max = 1,
      .help =
          "For X, Y and Z: the port, 0 or 1, that leads to the next higher coordinate; for Z on the boards of plane "
          "0. In the manual X0 of router 00 leads to 01 and Y1 to 10; it does not give Z.",
      .cite = "manual, Figures 4 to 6"};
  ParamRecord wiring_z{
      .path = "topology.wiring_z",
      .type = ParamType::kChoice,
      .default_value = "through",
      .choices = "through|alternating",
      .help =
          "How links in Z join ports. through: port 0 to port 1. alternating: odd planes have their ports "
          "exchanged, so that links join like ports, except links between two odd or two even planes.",
      .cite = "manual, Figure 6, which allows both and does not say which shapes use which"};
  ParamRecord logical_format{.path = "topology.logical_format",
                             .type = ParamType::kIntList,
                             .default_value = "[]",
                             .min = 0,
                             .max = 19,
                             .help =
                                 "Bits of R_PWHO that form the logical PE number, highest first; [9, 16, 8, 0] is "
                                 "the manual's format 1. Empty: the node's number, or with routing.lut_mode 1 and 2 "
                                 "four consecutive numbers for each board.",
                             .cite = "manual, Logical Node Number"};
  ParamRecord logical_file{.path = "topology.logical_file",
                           .type = ParamType::kFile,
                           .default_value = "",
                           .help = "CSV file of logical PE numbers, one line x,y,z,number for each node.",
                           .cite = "manual, Logical Node Number"};
  ParamRecord spares{
      .path = "topology.spares",
      .type = ParamType::kIntList,
      .default_value = "[]",
      .min = 0,
      .max = 2175,
      .help =
          "Nodes whose PEs are idle until a node breaks. A spare takes over the logical number of a broken PE, "
          "and its traffic if the node breaks before the run.",
      .cite = "paper, section 9"};
  ParamRecord partitions{
      .path = "topology.partitions",
      .type = ParamType::kIntList,
      .default_value = "[]",
      .min = 0,
      .max = 4095,
      .help =
          "Partitions, two numbers each: base logical PE number and highest virtual PE number. PEs send only within "
          "their partition; PEs outside all partitions are idle. Empty: one partition of all PEs.",
      .cite = "manual, Virtual PE Number"};
} topology{};

inline constexpr struct RouterParams {
  ParamRecord deterministic_buffer_flits{.path = "router.deterministic_buffer_flits",
                                         .type = ParamType::kInt,
                                         .default_value = "12",
                                         .min = 1,
                                         .max = 255,
                                         .unit = "flits",
                                         .help = "Buffer of each of the four deterministic virtual channels.",
                                         .cite = "paper, section 1"};
  ParamRecord adaptive_buffer_flits{
      .path = "router.adaptive_buffer_flits",
      .type = ParamType::kInt,
      .default_value = "22",
      .min = 1,
      .max = 255,
      .unit = "flits",
      .help = "Buffer of an adaptive virtual channel; a packet enters it only if the whole packet fits.",
      .cite = "paper, sections 1 and 5"};
  ParamRecord adaptive_vcs{.path = "router.adaptive_vcs",
                           .type = ParamType::kInt,
                           .default_value = "1",
                           .min = 0,
                           .max = 4,
                           .help = "Adaptive virtual channels of a link; the real machine has one.",
                           .cite = "paper, section 5"};
  ParamRecord adaptive_choice{.path = "router.adaptive_choice",
                              .type = ParamType::kChoice,
                              .default_value = "highest",
                              .choices = "highest|any",
                              .help =
                                  "Directions in which a packet may request an adaptive channel. highest: the "
                                  "highest-ordered direction that it still has to travel (the published arbiter); "
                                  "any: of all these, the one with the most credits.",
                              .cite = "paper, section 7; section 5 says any"};
  ParamRecord short_circuit{.path = "router.short_circuit",
                            .type = ParamType::kBool,
                            .default_value = "true",
                            .help = "Packets that go straight bypass the crossbar of an empty router.",
                            .cite = "paper, section 7"};
  ParamRecord straight_delay{.path = "router.straight_delay",
                             .type = ParamType::kInt,
                             .default_value = "3",
                             .min = 1,
                             .max = 16,
                             .unit = "clocks",
                             .help = "From a router's input pins to the next router's, by the short-circuit path.",
                             .cite = "paper, Table 2"};
  ParamRecord turn_delay{
      .path = "router.turn_delay",
      .type = ParamType::kInt,
      .default_value = "6",
      .min = 2,
      .max = 32,
      .unit = "clocks",
      .help = "From a router's input pins to the next router's, through the crossbar, without contention.",
      .cite = "paper, Table 2"};
  ParamRecord source_delay{.path = "router.source_delay",
                           .type = ParamType::kInt,
                           .default_value = "10",
                           .min = 3,
                           .max = 64,
                           .unit = "clocks",
                           .help = "From the input of the source's router to the next router's input pins.",
                           .cite = "paper, Table 2: End-point, read as the delay of either end"};
  ParamRecord destination_delay{.path = "router.destination_delay",
                                .type = ParamType::kInt,
                                .default_value = "10",
                                .min = 2,
                                .max = 64,
                                .unit = "clocks",
                                .help = "From the input pins of the destination's router to the PE's control chip.",
                                .cite = "paper, Table 2: End-point, read as the delay of either end"};
  ParamRecord credit_delay{
      .path = "router.credit_delay",
      .type = ParamType::kInt,
      .default_value = "3",
      .min = 2,
      .max = 64,
      .unit = "clocks",
      .help =
          "From a flit's departure to the arrival of its credit upstream. Unpublished; the default is a link's "
          "delay.",
      .cite = "paper, section 1"};
  ParamRecord orient_inverts{
      .path = "router.orient_inverts",
      .type = ParamType::kBool,
      .default_value = "true",
      .help =
          "Whether R_ORIENT's bit of a dimension is inverted when it propagates over a link that joins like ports "
          "of that dimension. false shows how packets go wrong without the inversion.",
      .cite = "manual, Direction Assignments: hardware sets R_ORIENT of all other nodes; the mechanism is flitlab's"};
} router{};

inline constexpr struct RoutingParams {
  ParamRecord adaptive{.path = "routing.adaptive",
                       .type = ParamType::kBool,
                       .default_value = "true",
                       .help = "Whether routing tables set the ADAPT bits, which let packets use adaptive channels.",
                       .cite = "manual, R_NET_LUT Format; paper, section 5"};
  ParamRecord ordered_requests{.path = "routing.ordered_requests",
                               .type = ParamType::kBool,
                               .default_value = "false",
                               .help = "Requests never use adaptive channels, whatever tables allow; responses may.",
                               .cite = "paper, section 5"};
  ParamRecord half_way{
      .path = "routing.half_way",
      .type = ParamType::kChoice,
      .default_value = "balanced",
      .choices = "balanced|plus",
      .help =
          "Direction of routes half-way round a ring. balanced: + from even nodes, - from odd ones; plus: "
          "always +, as in the manual. In modes 1 and 2 X and Y use the reverse of balanced.",
      .cite = "paper, section 4; manual, Table 13"};
  ParamRecord lut_mode{.path = "routing.lut_mode",
                       .type = ParamType::kChoice,
                       .default_value = "auto",
                       .choices = "auto|0|1|2",
                       .help =
                           "Mode of R_NET_LUT. 0: one entry per PE, for up to 544 PEs; 1 and 2: one entry per four "
                           "PEs; auto: 0 if the PEs fit, else 1. Mode 3 is set by writing R_LUT_OVERRIDE.",
                       .cite = "manual, R_NET_LUT Format"};
  ParamRecord vc_select{
      .path = "routing.vc_select",
      .type = ParamType::kChoice,
      .default_value = "optimised",
      .choices = "time_of_crossing|optimised|full",
      .help =
          "SELECT bits. time_of_crossing: all 0; optimised: from a search, 8 entries per direction, as in the "
          "machine; full: from a search, one entry per node of the ring, which the machine does not have.",
      .cite = "paper, section 4"};
  ParamRecord vc_seed{.path = "routing.vc_seed",
                      .type = ParamType::kInt,
                      .default_value = "52",
                      .min = 0,
                      .max = 4294967295.0,
                      .help =
                          "Seed of the search for SELECT bits. With most seeds the full table of a ring of 32 just "
                          "misses the paper's balance; with 52 it meets it.",
                      .cite = "paper, section 4, Table 1",
                      .only_if = "routing.vc_select=optimised|full"};
} routing{};

inline constexpr struct BarrierParams {
  ParamRecord units{
      .path = "barrier.units",
      .type = ParamType::kInt,
      .default_value = "0",
      .min = 0,
      .max = 32,
      .help =
          "Barrier and eureka units in use; 0: no barrier network. Unit u serves partition u modulo the number "
          "of partitions.",
      .cite = "paper, section 6"};
  ParamRecord operation{
      .path = "barrier.operation",
      .type = ParamType::kChoice,
      .default_value = "barrier",
      .choices = words_of(BarrierProgram{}),
      .help =
          "What PEs do repeatedly. barrier: every PE joins; eureka: one PE, drawn at random for each round, signals "
          "first, and all join when they are notified; by_hand: PEs act only on barrier_operation, between cycles.",
      .cite = "paper, Figure 6"};
  ParamRecord work{.path = "barrier.work",
                   .type = ParamType::kInt,
                   .default_value = "0",
                   .min = 0,
                   .max = 1000000,
                   .unit = "clocks",
                   .help = "Mean time from a completion to a PE's next operation; uniform from 0 to twice the mean.",
                   .cite = "flitlab's own"};
  ParamRecord root{.path = "barrier.root",
                   .type = ParamType::kInt,
                   .default_value = "0",
                   .min = 0,
                   .max = 16777215,
                   .help = "Root node of the spanning trees of shortest paths; it need not be in the partition.",
                   .cite = "paper, section 6"};
  ParamRecord router_delay{.path = "barrier.router_delay",
                           .type = ParamType::kInt,
                           .default_value = "3",
                           .min = 1,
                           .max = 32,
                           .unit = "clocks",
                           .help =
                               "From a router's input pins to the next router's, for a barrier packet. Unpublished; "
                               "the default is the delay without arbitration.",
                           .cite = "paper, section 6 and Table 2"};
} barrier{};

inline constexpr struct IoParams {
  ParamRecord nodes{.path = "io.nodes",
                    .type = ParamType::kIntList,
                    .default_value = "[]",
                    .min = 0,
                    .max = 2175,
                    .help =
                        "Nodes with a device at their I/O port. Devices are terminals, numbered after the PEs; traces "
                        "and traffic matrices may name them.",
                    .cite = "paper, section 1; manual, Table 9"};
  ParamRecord interval{
      .path = "io.interval",
      .type = ParamType::kInt,
      .default_value = "2",
      .min = 1,
      .max = 64,
      .unit = "clocks",
      .help =
          "Clocks per flit through an I/O port, in each direction. The paper says only that it is slower than "
          "other ports.",
      .cite = "paper, section 1"};
} io{};

}  // namespace flitlab::t3e::param
