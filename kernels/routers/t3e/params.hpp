#pragma once
/// Parameters of the Cray T3E. "Paper" is Scott and Thorson, "The Cray T3E Network"; "manual" is HMM-146-0.
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
                                 "Blocks of nodes in planes that are not full, five numbers each: Z, first Y, nodes in "
                                 "Y, first X, nodes in X. A plane that is named has these nodes only.",
                             .cite = "manual, Node Shapes; paper, section 2.3"};
  ParamRecord plus_ports{
      .path = "topology.plus_ports",
      .type = ParamType::kIntList,
      .default_value = "[0, 1, 0]",
      .min = 0,
      .max = 1,
      .help =
          "Ports of X, Y and Z that lead to the next higher coordinate, 0 or 1; in Z of the boards in plane 0. By the "
          "manual X0 of router 00 leads to 01 and Y1 to 10; which port leads where in Z it leaves open.",
      .cite = "manual, Figures 4 to 6"};
  ParamRecord wiring_z{
      .path = "topology.wiring_z",
      .type = ParamType::kChoice,
      .default_value = "through",
      .choices = "through|alternating",
      .help =
          "What links of Z join. through: port 0 with port 1. alternating: odd planes have their ports the other way "
          "round, so that like ports are joined, but for one link of odd rings and where a line leaves a plane out.",
      .cite = "manual, Figure 6, which has both; which shapes have which it leaves open"};
  ParamRecord logical_format{.path = "topology.logical_format",
                             .type = ParamType::kIntList,
                             .default_value = "[]",
                             .min = 0,
                             .max = 19,
                             .help =
                                 "Bits of R_PWHO that form the logical PE number, highest first; [9, 16, 8, 0] is the "
                                 "manual's format 1. Empty: logical numbers are the numbers of the nodes.",
                             .cite = "manual, Logical Node Number"};
  ParamRecord logical_file{.path = "topology.logical_file",
                           .type = ParamType::kFile,
                           .default_value = "",
                           .help = "CSV file of logical PE numbers, lines x,y,z,number.",
                           .cite = "manual, Logical Node Number"};
  ParamRecord spares{
      .path = "topology.spares",
      .type = ParamType::kIntList,
      .default_value = "[]",
      .min = 0,
      .max = 2175,
      .help = "Nodes whose PEs idle until one breaks; a spare takes the broken PE's logical number and work.",
      .cite = "paper, section 9"};
  ParamRecord partitions{
      .path = "topology.partitions",
      .type = ParamType::kIntList,
      .default_value = "[]",
      .min = 0,
      .max = 4095,
      .help =
          "Partitions, two numbers each: base logical PE number and virtual PE limit. PEs send to others of their "
          "partition, by virtual numbers; PEs in none are idle. Empty: one partition of all PEs.",
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
      .help = "Buffer of an adaptive virtual channel; a packet enters only if all of it fits.",
      .cite = "paper, sections 1 and 5"};
  ParamRecord adaptive_vcs{.path = "router.adaptive_vcs",
                           .type = ParamType::kInt,
                           .default_value = "1",
                           .min = 0,
                           .max = 4,
                           .help = "Adaptive virtual channels of a link; the machine has one.",
                           .cite = "paper, section 5"};
  ParamRecord adaptive_choice{.path = "router.adaptive_choice",
                              .type = ParamType::kChoice,
                              .default_value = "highest",
                              .choices = "highest|any",
                              .help =
                                  "Direction in which a packet may ask for an adaptive channel: the highest-ordered "
                                  "one that it still has to go (the published arbiter), or the one with most room.",
                              .cite = "paper, section 7; section 5 says any"};
  ParamRecord short_circuit{.path = "router.short_circuit",
                            .type = ParamType::kBool,
                            .default_value = "true",
                            .help = "Packets that do not turn bypass the crossbar of an empty router.",
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
                                .help = "From the input pins of the destination's router to its control chip.",
                                .cite = "paper, Table 2: End-point, read as the delay of either end"};
  ParamRecord credit_delay{
      .path = "router.credit_delay",
      .type = ParamType::kInt,
      .default_value = "3",
      .min = 2,
      .max = 64,
      .unit = "clocks",
      .help = "From a flit's departure to its place being known free upstream; unpublished, as a link's delay.",
      .cite = "paper, section 1"};
  ParamRecord orient_inverts{
      .path = "router.orient_inverts",
      .type = ParamType::kBool,
      .default_value = "true",
      .help =
          "R_ORIENT is told over a link that joins like ports with the bit of its dimension inverted. false: to see "
          "what becomes of packets without that.",
      .cite = "manual, Direction Assignments: hardware sets R_ORIENT of all other nodes; how, is our reading"};
} router{};

inline constexpr struct RoutingParams {
  ParamRecord adaptive{.path = "routing.adaptive",
                       .type = ParamType::kBool,
                       .default_value = "true",
                       .help = "Routing tables set the ADAPT bits: packets may take adaptive channels.",
                       .cite = "manual, R_NET_LUT Format; paper, section 5"};
  ParamRecord ordered_requests{.path = "routing.ordered_requests",
                               .type = ParamType::kBool,
                               .default_value = "false",
                               .help = "Requests never adapt, whatever the tables say; their responses may.",
                               .cite = "paper, section 5"};
  ParamRecord half_way{
      .path = "routing.half_way",
      .type = ParamType::kChoice,
      .default_value = "balanced",
      .choices = "balanced|plus",
      .help = "Routes half-way round a ring. balanced: + from even nodes, - from odd ones; plus: +, as in the manual.",
      .cite = "paper, section 4; manual, Table 13"};
  ParamRecord lut_mode{.path = "routing.lut_mode",
                       .type = ParamType::kChoice,
                       .default_value = "auto",
                       .choices = "auto|0|1|2",
                       .help =
                           "Mode of R_NET_LUT. 0: an entry for each PE, up to 544 of them; 1 and 2: one for four PEs; "
                           "auto: 0 if they fit, else 1. Writing R_LUT_OVERRIDE sets mode 3.",
                       .cite = "manual, R_NET_LUT Format"};
  ParamRecord vc_select{
      .path = "routing.vc_select",
      .type = ParamType::kChoice,
      .default_value = "optimised",
      .choices = "time_of_crossing|optimised|full",
      .help =
          "SELECT bits. time_of_crossing: all 0; optimised: searched for, 8 entries a direction, as in the machine; "
          "full: searched for, an entry for every node, which the machine does not have.",
      .cite = "paper, section 4"};
  ParamRecord vc_seed{.path = "routing.vc_seed",
                      .type = ParamType::kInt,
                      .default_value = "52",
                      .min = 0,
                      .max = 4294967295.0,
                      .help =
                          "Seed of the search for SELECT bits. Most seeds miss the paper's balance of a full table for "
                          "a ring of 32 by a link or two; 52 does not.",
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
      .help = "Barrier and eureka units in use; 0: none. Unit u serves partition u modulo the number of partitions.",
      .cite = "paper, section 6"};
  ParamRecord operation{
      .path = "barrier.operation",
      .type = ParamType::kChoice,
      .default_value = "barrier",
      .choices = words_of(BarrierProgram{}),
      .help =
          "What PEs do over and over. barrier: every PE joins; eureka: one PE, drawn anew each time, signals first, "
          "and all join when they learn of it. by_hand: PEs do what they are told between cycles.",
      .cite = "paper, Figure 6"};
  ParamRecord work{.path = "barrier.work",
                   .type = ParamType::kInt,
                   .default_value = "0",
                   .min = 0,
                   .max = 1000000,
                   .unit = "clocks",
                   .help = "Mean time from a completion to a PE's next operation; uniform from 0 to twice that.",
                   .cite = "flitlab's own"};
  ParamRecord root{.path = "barrier.root",
                   .type = ParamType::kInt,
                   .default_value = "0",
                   .min = 0,
                   .max = 16777215,
                   .help = "Root of the spanning trees of shortest paths; it need not be in the partition.",
                   .cite = "paper, section 6"};
  ParamRecord router_delay{.path = "barrier.router_delay",
                           .type = ParamType::kInt,
                           .default_value = "3",
                           .min = 1,
                           .max = 32,
                           .unit = "clocks",
                           .help =
                               "From a router's input pins to the next router's, for a barrier packet. Unpublished; "
                               "the default is that of a packet that needs no arbitration.",
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
      .help = "Time of a flit through an I/O port, either way. The paper only says that it is slower than other ports.",
      .cite = "paper, section 1"};
} io{};

}  // namespace flitlab::t3e::param
