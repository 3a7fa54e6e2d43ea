#pragma once
/// Parameters of S-Connect: fabrics of TICs, their channels, buffers and hosts. A cycle is a routing cycle of 6 clocks;
/// a flit is a message of fixed length, 80 bits and what protects them.
#include "kernels/common/param.hpp"
#include "kernels/routers/sconnect/choices.hpp"
#include "kernels/routers/sconnect/clock_params.hpp"

namespace flitlab::sconnect::param {

inline constexpr struct TopologyParams {
  ParamRecord kind{.path = "topology.kind",
                   .type = ParamType::kChoice,
                   .default_value = "mesh",
                   .choices = "mesh|hypercube|random|tree|graph",
                   .help = "Family of fabrics; random: a random regular graph.",
                   .cite = "S-Connect, 2; 4.2"};
  ParamRecord shape{.path = "topology.shape",
                    .type = ParamType::kIntList,
                    .default_value = "[4, 4]",
                    .min = 1,
                    .max = 65535,
                    .unit = "nodes",
                    .help = "Nodes in each dimension.",
                    .cite = "S-Connect, 4.2",
                    .only_if = "topology.kind=mesh"};
  ParamRecord dimensions{.path = "topology.dimensions",
                         .type = ParamType::kInt,
                         .default_value = "4",
                         .min = 1,
                         .max = 8,
                         .help = "Dimensions of a hypercube, which has 2^dimensions nodes.",
                         .only_if = "topology.kind=hypercube"};
  ParamRecord nodes{
      .path = "topology.nodes",
      .type = ParamType::kInt,
      .default_value = "64",
      .min = 2,
      .max = 16384,
      .help = "Nodes of a random regular graph. Making the tables takes seconds for 1024, a minute or two for 4096.",
      .cite = "S-Connect, 4.2; 6",
      .only_if = "topology.kind=random"};
  ParamRecord degree{.path = "topology.degree",
                     .type = ParamType::kInt,
                     .default_value = "4",
                     .min = 2,
                     .max = 8,
                     .unit = "channels",
                     .help = "Channels of each node of a random regular graph.",
                     .only_if = "topology.kind=random"};
  ParamRecord wiring_seed{.path = "topology.wiring_seed",
                          .type = ParamType::kInt,
                          .default_value = "1",
                          .min = 0,
                          .max = 4294967295.0,
                          .help = "Seed of the random graph.",
                          .only_if = "topology.kind=random"};
  ParamRecord arity{.path = "topology.arity",
                    .type = ParamType::kInt,
                    .default_value = "3",
                    .min = 2,
                    .max = 11,
                    .help = "Children of each inner node of a tree.",
                    .only_if = "topology.kind=tree"};
  ParamRecord levels{.path = "topology.levels",
                     .type = ParamType::kInt,
                     .default_value = "3",
                     .min = 2,
                     .max = 10,
                     .help = "Levels of a tree, root and leaves included.",
                     .only_if = "topology.kind=tree"};
  ParamRecord inner{
      .path = "topology.inner",
      .type = ParamType::kChoice,
      .default_value = "nodes",
      .choices = "nodes|switches",
      .help = "What the inside of a tree is made of: nodes as at its leaves, or switches of two or three TICs.",
      .cite = "S-Connect, 3, Figure 10",
      .only_if = "topology.kind=tree"};
  ParamRecord file{.path = "topology.file",
                   .type = ParamType::kFile,
                   .default_value = "",
                   .help =
                       "Any graph: CSV lines a,b of two node numbers, or node,NAME[,tics], switch,NAME[,tics] and "
                       "channel,A,B[,clocks]; '#' comments.",
                   .only_if = "topology.kind=graph"};
  ParamRecord node{.path = "topology.node",
                   .type = ParamType::kChoice,
                   .default_value = "single",
                   .choices = "single|dual",
                   .help = "TICs of a node: one with 4 channels, or two with 8.",
                   .cite = "S-Connect, 3, Figure 9"};
  ParamRecord host_ports{.path = "topology.host_ports",
                         .type = ParamType::kInt,
                         .default_value = "1",
                         .min = 1,
                         .max = 2,
                         .unit = "parallel ports",
                         .help =
                             "Parallel ports from a node's TICs to its host; each is a terminal. A dual node has one "
                             "at each TIC, or one at its first.",
                         .cite = "S-Connect, 3; 4.1 (the alpha board uses one)"};
  ParamRecord channel_delay{.path = "topology.channel_delay",
                            .type = ParamType::kInt,
                            .default_value = "8",
                            .min = 6,
                            .max = 360,
                            .unit = "clocks",
                            .help =
                                "Time from a transmitter to the receiver, serialisation included. A message then waits "
                                "for the turn of the port that it comes by, so its way takes up to 5 clocks more. 8: "
                                "2 m of cable, from the least that a node was seen to add.",
                            .cite = "S-Connect, 3.2; 4.1"};
  ParamRecord parallel_vcs{.path = "topology.parallel_vcs",
                           .type = ParamType::kInt,
                           .default_value = "1",
                           .min = 1,
                           .max = 2,
                           .unit = "virtual channels",
                           .help =
                               "Of parallel ports between the TICs of a node or switch. 1: none, one queue for each "
                               "priority; 2: as serial channels, which is not the paper's.",
                           .cite = "S-Connect, 3"};
  ParamRecord phases{.path = "topology.phases",
                     .type = ParamType::kChoice,
                     .default_value = "random",
                     .choices = "random|equal",
                     .help =
                         "When routing cycles of 6 clocks begin. random: each node and switch has a phase of 0 to 5 "
                         "clocks, and so a message waits where it arrives; equal: all begin together, and a channel "
                         "takes whole routing cycles, whatever the turns of its two ports: not the paper's.",
                     .cite = "S-Connect, 3.2; 4.1"};
  ParamRecord phase_seed{.path = "topology.phase_seed",
                         .type = ParamType::kInt,
                         .default_value = "1",
                         .min = 0,
                         .max = 4294967295.0,
                         .help = "Seed of the phases, which cables give a real machine.",
                         .cite = "S-Connect, 4.1",
                         .only_if = "topology.phases=random"};
} topology{};

inline constexpr struct RoutingParams {
  ParamRecord tables{.path = "routing.tables",
                     .type = ParamType::kChoice,
                     .default_value = "shortest",
                     .choices = "shortest|tree|file|none",
                     .help =
                         "shortest: packets take shortest paths on virtual channels assigned so that no circle of "
                         "waiting can form, and the tree to destinations where that fails; tree: up a spanning tree on "
                         "virtual channel 0, down on 1; none: TICs have no routes until control messages write them.",
                     .cite = "S-Connect, 2.4"};
  ParamRecord entries{.path = "routing.entries",
                      .type = ParamType::kChoice,
                      .default_value = "either",
                      .choices = "either|mixed",
                      .help =
                          "What an entry of a table may hold. either: virtual channels of serial ports, or parallel "
                          "ports; mixed: both at once, which is not the paper's.",
                      .cite = "S-Connect, 3.1"};
  ParamRecord age{
      .path = "routing.age",
      .type = ParamType::kChoice,
      .default_value = "requeued",
      .choices = words_of(Age{}),
      .help =
          "What a message's age decides, which is how often it has come back. requeued: what comes back goes to the "
          "head of a queue, behind what has come back there and is older; head: before that too, so no age decides; "
          "all: the oldest is first in every queue, wherever it came back.",
      .cite = "S-Connect, 2.2, Figure 4; 3; 3.2"};
  ParamRecord file{.path = "routing.file",
                   .type = ParamType::kFile,
                   .default_value = "",
                   .help = "Tables: CSV lines TIC,destination node,port,virtual channel; '#' comments.",
                   .only_if = "routing.tables=file"};
} routing{};

inline constexpr struct RouterParams {
  ParamRecord buffers{
      .path = "router.buffers",
      .type = ParamType::kInt,
      .default_value = "64",
      .min = 8,
      .max = 64,
      .unit = "messages",
      .help = "Pool of a TIC. A message that has been sent keeps its buffer until its outcome is known.",
      .cite = "S-Connect, 3.1; 3.2"};
  ParamRecord reserve{
      .path = "router.reserve",
      .type = ParamType::kIntList,
      .default_value = "[]",
      .min = 0,
      .max = 64,
      .unit = "messages",
      .help =
          "Buffers promised to each queue, one number for all priorities or one for each; every virtual channel of "
          "every channel has a queue for each priority. Empty: three quarters of the pool, divided among the queues of "
          "the priorities that hosts use, and four for each queue of quads.",
      .cite = "S-Connect, 2.4; 3.1 (the numbers are not given)"};
  ParamRecord control_buffers{
      .path = "router.control_buffers",
      .type = ParamType::kIntOrAuto,
      .default_value = "auto",
      .min = 0,
      .max = 16,
      .unit = "messages",
      .help =
          "Buffers of each TIC kept for control requests, and as many for replies, so that software can read and "
          "change a full fabric; auto: one, if router.reserve leaves two.",
      .cite = "S-Connect, 2.4; 3.4"};
  ParamRecord host_buffers{
      .path = "router.host_buffers",
      .type = ParamType::kIntOrAuto,
      .default_value = "auto",
      .min = 1,
      .max = 64,
      .unit = "messages",
      .help =
          "A TIC accepts messages from hosts while fewer buffers than this are in use; auto: hosts "
          "may fill the pool. Fewer hold hosts back, for messages on their way: not the paper's.",
      .cite = "S-Connect, 3.1 (which says nothing of hosts)"};
} router{};

inline constexpr struct ChannelParams {
  ParamRecord error_rate{
      .path = "channel.error_rate",
      .type = ParamType::kFloat,
      .default_value = "0",
      .min = 0,
      .max = 0.02,
      .unit = "errors/bit",
      .help = "Bit errors of serial channels. An error spoils the whole slot of 96 bits; all errors are detected.",
      .cite = "S-Connect, 2.6; 3.2"};
} channel{};

inline constexpr struct HostParams {
  ParamRecord priorities{.path = "host.priorities",
                         .type = ParamType::kIntList,
                         .default_value = "[1, 0, 0, 0]",
                         .min = 0,
                         .max = 1000000,
                         .help = "Weights with which packets get priority 0, 1, 2 and 3; 3 goes first.",
                         .cite = "S-Connect, 2.3; 3"};
  ParamRecord second_priorities{
      .path = "host.second_priorities",
      .type = ParamType::kIntList,
      .default_value = "[]",
      .min = 0,
      .max = 1000000,
      .help = "The same for packets from a node's second parallel port; empty: as from the first.",
      .cite = "S-Connect, 2.3; 3"};
  ParamRecord queues{
      .path = "host.queues",
      .type = ParamType::kChoice,
      .default_value = "priorities",
      .choices = "priorities|single",
      .help =
          "Queues of what a host sends by a port. priorities: one for each priority; in a cycle the port offers the "
          "oldest packet of each, the highest first, and the TIC takes the first for which it has a buffer (of a "
          "trace, among the next 64 packets). single: one for all, whose oldest packet holds up those behind it.",
      .cite = "S-Connect, 2.3; 3 (flow control signals and means to control priorities)"};
  ParamRecord quad_priority{.path = "host.quad_priority",
                            .type = ParamType::kInt,
                            .default_value = "0",
                            .min = 0,
                            .max = 3,
                            .help = "Priority of all quads but replies; its queues need four buffers each.",
                            .cite = "S-Connect, 3.2 (that quads have one priority is a reading)"};
  ParamRecord reply_priority{
      .path = "host.reply_priority",
      .type = ParamType::kIntOrAuto,
      .default_value = "auto",
      .min = 0,
      .max = 3,
      .help =
          "Priority of replies in a closed loop, at least that of any request. auto: one above, so that requests that "
          "wait keep no "
          "reply "
          "from moving; 3 if requests have that. With that of requests both may wait for one another for ever.",
      .cite = "S-Connect, 2.3; 3.4 (of control messages; hosts' replies are not the paper's)"};
  ParamRecord refuses{.path = "host.refuses",
                      .type = ParamType::kIntList,
                      .default_value = "[]",
                      .min = 0,
                      .max = 3,
                      .help = "Priorities of packets that hosts never take out of the fabric.",
                      .cite = "S-Connect, 2.3"};
} host{};

}  // namespace flitlab::sconnect::param
