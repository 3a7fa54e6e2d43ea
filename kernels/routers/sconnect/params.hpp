#pragma once
/// Parameters of S-Connect: fabrics of TICs, their channels, buffers and hosts. A cycle is a routing cycle of 6 clocks;
/// a flit is a message of fixed length: 80 bits, plus 16 bits of CRC and handshake on serial channels.
#include "kernels/common/param.hpp"
#include "kernels/routers/sconnect/choices.hpp"
#include "kernels/routers/sconnect/clock_params.hpp"

namespace flitlab::sconnect::param {

inline constexpr struct TopologyParams {
  ParamRecord kind{.path = "topology.kind",
                   .type = ParamType::kChoice,
                   .default_value = "mesh",
                   .choices = "mesh|hypercube|random|tree|graph",
                   .help = "Topology of the fabric; random: a random regular graph; graph: read from topology.file.",
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
      .help =
          "Nodes of a random regular graph. Computing the routing tables takes seconds for 1024, a minute or two "
          "for 4096.",
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
      .help = "Inner vertices of a tree: nodes with hosts like the leaves, or switches of two or three TICs.",
      .cite = "S-Connect, 3, Figure 10",
      .only_if = "topology.kind=tree"};
  ParamRecord file{.path = "topology.file",
                   .type = ParamType::kFile,
                   .default_value = "",
                   .help =
                       "CSV file of any graph: lines a,b of two node numbers, or node,NAME[,tics], switch,NAME[,tics] "
                       "and "
                       "channel,A,B[,clocks]; '#' starts a comment.",
                   .only_if = "topology.kind=graph"};
  ParamRecord node{.path = "topology.node",
                   .type = ParamType::kChoice,
                   .default_value = "single",
                   .choices = "single|dual",
                   .help = "TICs of a node: one TIC with 4 channels, or two TICs with 8.",
                   .cite = "S-Connect, 3, Figure 9"};
  ParamRecord host_ports{.path = "topology.host_ports",
                         .type = ParamType::kInt,
                         .default_value = "1",
                         .min = 1,
                         .max = 2,
                         .unit = "parallel ports",
                         .help =
                             "Parallel ports from a node's TICs to its host; each is a terminal. A dual node has one "
                             "at each TIC, or one at its first TIC.",
                         .cite = "S-Connect, 3; 4.1 (the alpha board uses one)"};
  ParamRecord channel_delay{.path = "topology.channel_delay",
                            .type = ParamType::kInt,
                            .default_value = "8",
                            .min = 6,
                            .max = 360,
                            .unit = "clocks",
                            .help =
                                "Time from a transmitter to the receiver, serialisation included. The message then "
                                "waits "
                                "up to 5 clocks for the turn of the receiving port. The default fits the least "
                                "latency that the paper measured per node, with 2 m of cable.",
                            .cite = "S-Connect, 3.2; 4.1"};
  ParamRecord parallel_vcs{.path = "topology.parallel_vcs",
                           .type = ParamType::kInt,
                           .default_value = "1",
                           .min = 1,
                           .max = 2,
                           .unit = "virtual channels",
                           .help =
                               "Virtual channels of parallel ports between the TICs of a node or switch. 1: one queue "
                               "for each priority, as in the paper; 2: as on serial channels.",
                           .cite = "S-Connect, 3"};
  ParamRecord phases{.path = "topology.phases",
                     .type = ParamType::kChoice,
                     .default_value = "random",
                     .choices = "random|equal",
                     .help =
                         "Clock in which the routing cycles of nodes begin. random: each node and switch has a phase "
                         "of 0 "
                         "to 5 clocks, and an arriving message waits for its port's turn; equal: all begin together, "
                         "and a channel takes whole routing cycles regardless of its ports' turns (not in the "
                         "paper).",
                     .cite = "S-Connect, 3.2; 4.1"};
  ParamRecord phase_seed{.path = "topology.phase_seed",
                         .type = ParamType::kInt,
                         .default_value = "1",
                         .min = 0,
                         .max = 4294967295.0,
                         .help = "Seed of the random phases; in a real machine the cables set them.",
                         .cite = "S-Connect, 4.1",
                         .only_if = "topology.phases=random"};
} topology{};

inline constexpr struct RoutingParams {
  ParamRecord tables{.path = "routing.tables",
                     .type = ParamType::kChoice,
                     .default_value = "shortest",
                     .choices = "shortest|tree|file|none",
                     .help =
                         "Routing tables. shortest: shortest paths, with a virtual-channel assignment that has no "
                         "cyclic "
                         "dependency, and the tree for destinations where flitlab finds none; tree: up a spanning tree "
                         "on virtual channel 0, down on 1; file: read from routing.file; none: empty until control "
                         "messages write them.",
                     .cite = "S-Connect, 2.4"};
  ParamRecord entries{.path = "routing.entries",
                      .type = ParamType::kChoice,
                      .default_value = "either",
                      .choices = "either|mixed",
                      .help =
                          "Ports that a table entry may name. either: serial ports or parallel ports, as in the paper; "
                          "mixed: both at once.",
                      .cite = "S-Connect, 3.1"};
  ParamRecord age{
      .path = "routing.age",
      .type = ParamType::kChoice,
      .default_value = "requeued",
      .choices = words_of(Age{}),
      .help =
          "Effect of a message's age, the number of its failed transmissions. requeued: a returned message goes to the "
          "head of a queue, behind older returned messages; head: to the head, regardless of age; all: every queue is "
          "ordered by age, wherever the messages failed.",
      .cite = "S-Connect, 2.2, Figure 4; 3; 3.2"};
  ParamRecord file{.path = "routing.file",
                   .type = ParamType::kFile,
                   .default_value = "",
                   .help = "Routing tables: CSV lines TIC,destination node,port,virtual channel; '#' starts a comment.",
                   .only_if = "routing.tables=file"};
} routing{};

inline constexpr struct RouterParams {
  ParamRecord buffers{.path = "router.buffers",
                      .type = ParamType::kInt,
                      .default_value = "64",
                      .min = 8,
                      .max = 64,
                      .unit = "messages",
                      .help = "Buffer pool of a TIC. A sent message keeps its buffer until it is acknowledged.",
                      .cite = "S-Connect, 3.1; 3.2"};
  ParamRecord reserve{
      .path = "router.reserve",
      .type = ParamType::kIntList,
      .default_value = "[]",
      .min = 0,
      .max = 64,
      .unit = "messages",
      .help =
          "Buffers reserved for each queue: one number for all priorities, or four, one for each. Every virtual "
          "channel "
          "of every port has a queue for each priority. Empty: three quarters of the pool, divided among the queues of "
          "the priorities that hosts use, and at least four for each queue of quads.",
      .cite = "S-Connect, 2.4; 3.1 (the numbers are not given)"};
  ParamRecord control_buffers{
      .path = "router.control_buffers",
      .type = ParamType::kIntOrAuto,
      .default_value = "auto",
      .min = 0,
      .max = 16,
      .unit = "messages",
      .help =
          "Buffers of each TIC reserved for control requests, and as many for their replies, so that software can "
          "reach "
          "the TICs of a full fabric; auto: one each, if router.reserve leaves two.",
      .cite = "S-Connect, 2.4; 3.4"};
  ParamRecord host_buffers{
      .path = "router.host_buffers",
      .type = ParamType::kIntOrAuto,
      .default_value = "auto",
      .min = 1,
      .max = 64,
      .unit = "messages",
      .help =
          "A TIC accepts messages from hosts while fewer buffers than this are in use; auto: hosts may fill the pool. "
          "A "
          "limit, which the paper does not have, leaves buffers to messages in transit.",
      .cite = "S-Connect, 3.1 (gives no rule for hosts)"};
} router{};

inline constexpr struct ChannelParams {
  ParamRecord error_rate{
      .path = "channel.error_rate",
      .type = ParamType::kFloat,
      .default_value = "0",
      .min = 0,
      .max = 0.02,
      .unit = "errors/bit",
      .help =
          "Bit error rate of serial channels. An error damages the whole slot of 96 bits; receivers detect all "
          "errors.",
      .cite = "S-Connect, 2.6; 3.2"};
} channel{};

inline constexpr struct HostParams {
  ParamRecord priorities{.path = "host.priorities",
                         .type = ParamType::kIntList,
                         .default_value = "[1, 0, 0, 0]",
                         .min = 0,
                         .max = 1000000,
                         .help = "Relative shares of packets with priority 0, 1, 2 and 3; 3 is served first.",
                         .cite = "S-Connect, 2.3; 3"};
  ParamRecord second_priorities{
      .path = "host.second_priorities",
      .type = ParamType::kIntList,
      .default_value = "[]",
      .min = 0,
      .max = 1000000,
      .help = "Relative shares of priorities at a node's second parallel port; empty: as at the first.",
      .cite = "S-Connect, 2.3; 3"};
  ParamRecord queues{
      .path = "host.queues",
      .type = ParamType::kChoice,
      .default_value = "priorities",
      .choices = "priorities|single",
      .help =
          "Source queues of a host's port. priorities: one for each priority; in each cycle the port offers the oldest "
          "packet of each, the highest priority first, and the TIC accepts the first for which it has a buffer (of a "
          "trace, among the next 64 packets). single: one FIFO queue.",
      .cite = "S-Connect, 2.3; 3 (flow control signals and means to control priorities)"};
  ParamRecord quad_priority{.path = "host.quad_priority",
                            .type = ParamType::kInt,
                            .default_value = "0",
                            .min = 0,
                            .max = 3,
                            .help = "Priority of all quads except replies; its queues need four buffers each.",
                            .cite = "S-Connect, 3.2 (that quads have one priority is a reading)"};
  ParamRecord reply_priority{
      .path = "host.reply_priority",
      .type = ParamType::kIntOrAuto,
      .default_value = "auto",
      .min = 0,
      .max = 3,
      .help =
          "Priority of replies in a closed loop, at least that of any request. auto: one above, at most 3, so that "
          "waiting requests do not block replies. With the priority of requests, requests and replies can deadlock.",
      .cite = "S-Connect, 2.3; 3.4 (of control messages; hosts' replies are not the paper's)"};
  ParamRecord refuses{.path = "host.refuses",
                      .type = ParamType::kIntList,
                      .default_value = "[]",
                      .min = 0,
                      .max = 3,
                      .help = "Priorities of packets that hosts never accept from the fabric.",
                      .cite = "S-Connect, 2.3"};
} host{};

}  // namespace flitlab::sconnect::param
