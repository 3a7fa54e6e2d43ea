#pragma once
/// Parameters of Blue Gene/L's torus. A cycle is a byte time of a link; a flit is a chunk of 32 bytes.
#include "kernels/common/param.hpp"
#include "kernels/routers/bgl/choices.hpp"
#include "kernels/routers/bgl/software_params.hpp"

namespace flitlab::bgl::param {

inline constexpr struct TopologyParams {
  ParamRecord shape{.path = "topology.shape",
                    .type = ParamType::kIntList,
                    .default_value = "[8, 8, 8]",
                    .min = 1,
                    .max = 256,
                    .unit = "nodes",
                    .help = "Nodes in x, y and z of the torus; a dimension of 1 has no links.",
                    .cite = "BG/L torus, Introduction"};
  ParamRecord channel_delay{
      .path = "topology.channel_delay",
      .type = ParamType::kInt,
      .default_value = "10",
      .min = 1,
      .max = 64,
      .unit = "cycles",
      .help =
          "Time of a byte from sender to receiver, serialisation included; at least 10 between the paper's midplanes.",
      .cite = "BG/L torus, Simulator overview"};
} topology{};

inline constexpr struct RouterParams {
  ParamRecord dynamic_vcs{.path = "router.dynamic_vcs",
                          .type = ParamType::kInt,
                          .default_value = "2",
                          .min = 0,
                          .max = 5,
                          .help = "Dynamic virtual channels of a link.",
                          .cite = "BG/L torus, Torus network"};
  ParamRecord dynamic_flits{.path = "router.dynamic_flits",
                            .type = ParamType::kInt,
                            .default_value = "32",
                            .min = 8,
                            .max = 248,
                            .unit = "chunks",
                            .help = "Buffer of a dynamic virtual channel; 32 chunks are 1 KB.",
                            .cite = "BG/L torus, Torus network"};
  ParamRecord escape{.path = "router.escape",
                     .type = ParamType::kChoice,
                     .default_value = "bubble",
                     .choices = "bubble|dateline",
                     .help = "Escape virtual channels: one with the bubble rule, or a pair with a dateline.",
                     .cite = "BG/L torus, Virtual channel architecture"};
  ParamRecord escape_order{.path = "router.escape_order",
                           .type = ParamType::kChoice,
                           .default_value = "dimension",
                           .choices = words_of(Order{}),
                           .help = "Order of the hops on an escape channel: x, y, z, or x+, y+, z+, x-, y-, z-.",
                           .cite = "BG/L torus, Virtual channel architecture"};
  ParamRecord escape_flits{.path = "router.escape_flits",
                           .type = ParamType::kInt,
                           .default_value = "32",
                           .min = 8,
                           .max = 248,
                           .unit = "chunks",
                           .help = "Buffer of an escape virtual channel.",
                           .cite = "BG/L torus, Torus network"};
  ParamRecord bubble_rule{
      .path = "router.bubble_rule",
      .type = ParamType::kChoice,
      .default_value = "full_size",
      .choices = "full_size|actual_size",
      .help = "Size that a packet on the bubble channel counts as: full, or its own (earlier rule; can deadlock).",
      .cite = "BG/L torus, Torus network",
      .only_if = "router.escape=bubble"};
  ParamRecord priority_flits{.path = "router.priority_flits",
                             .type = ParamType::kInt,
                             .default_value = "32",
                             .min = 16,
                             .max = 248,
                             .unit = "chunks",
                             .help = "Buffer of the high-priority bubble channel.",
                             .cite = "BG/L torus, Torus network"};
  ParamRecord paths{.path = "router.paths",
                    .type = ParamType::kInt,
                    .default_value = "2",
                    .min = 1,
                    .max = 8,
                    .help = "Transfer buses from each receiver to the senders.",
                    .cite = "BG/L torus, Torus network; Figure 2"};
  ParamRecord bypass{.path = "router.bypass",
                     .type = ParamType::kBool,
                     .default_value = "true",
                     .help = "A packet may bypass its virtual channel if that is empty.",
                     .cite = "BG/L torus, Torus network"};
  ParamRecord pipeline_delay{.path = "router.pipeline_delay",
                             .type = ParamType::kInt,
                             .default_value = "8",
                             .min = 1,
                             .max = 64,
                             .unit = "cycles",
                             .help = "Time of a packet through a receiver's input pipeline.",
                             .cite = "BG/L torus, Torus network"};
  ParamRecord arbitration_delay{
      .path = "router.arbitration_delay",
      .type = ParamType::kInt,
      .default_value = "3",
      .min = 1,
      .max = 64,
      .unit = "cycles",
      .help = "Time of the phases of arbitration; it passes before a packet presents its request.",
      .cite = "BG/L torus, Torus network; Simulator overview"};
  ParamRecord fifo_delay{.path = "router.fifo_delay",
                         .type = ParamType::kInt,
                         .default_value = "4",
                         .min = 0,
                         .max = 64,
                         .unit = "cycles",
                         .help = "Time that a packet loses if it enters its virtual channel instead of bypassing it."};
  ParamRecord jsq{
      .path = "router.jsq",
      .type = ParamType::kBool,
      .default_value = "true",
      .help = "Dynamic packets join the shortest queue (most tokens, in four ranges); false: any that is open.",
      .cite = "BG/L torus, Torus network; Figure 4"};
  ParamRecord slq{
      .path = "router.slq",
      .type = ParamType::kFloat,
      .default_value = "0.75",
      .min = 0,
      .max = 1,
      .help = "Part of the cycles in which arbiters serve the longest queue (in four ranges); in the others, any.",
      .cite = "BG/L torus, Arbitration policies; Figure 5"};
  ParamRecord network_first{
      .path = "router.network_first",
      .type = ParamType::kFloat,
      .default_value = "1.0",
      .min = 0,
      .max = 1,
      .help = "Part of the cycles in which senders prefer packets in the network to those in injection FIFOs.",
      .cite = "BG/L torus, Torus network"};
  ParamRecord arbitration_gap{
      .path = "router.arbitration_gap",
      .type = ParamType::kBool,
      .default_value = "false",
      .help = "The gap that verification found: a receiver that was blocked asks a cycle late, after injection FIFOs.",
      .cite = "BG/L torus, Performance verification"};
  ParamRecord trailer_bytes{.path = "router.trailer_bytes",
                            .type = ParamType::kInt,
                            .default_value = "4",
                            .min = 0,
                            .max = 32,
                            .unit = "bytes",
                            .help = "CRC and valid indicator after a packet.",
                            .cite = "BG/L torus, Alltoall"};
  ParamRecord ack_bytes{.path = "router.ack_bytes",
                        .type = ParamType::kInt,
                        .default_value = "8",
                        .min = 0,
                        .max = 32,
                        .unit = "bytes",
                        .help = "Acknowledgment or token packet of the other direction, sent for every packet.",
                        .cite = "BG/L torus, Alltoall"};
  ParamRecord acks{
      .path = "router.acks",
      .type = ParamType::kChoice,
      .default_value = "auto",
      .choices = "charged|packets|auto",
      .help =
          "Token packets: they wait for the link and then go first (packets); or their time is charged to every packet "
          "that a link carries, and they never wait (charged; faster). auto: packets, if router.ack_bytes is not 0.",
      .cite = "BG/L torus, Torus network; Alltoall"};
  ParamRecord gap_bytes{.path = "router.gap_bytes",
                        .type = ParamType::kInt,
                        .default_value = "2",
                        .min = 0,
                        .max = 32,
                        .unit = "bytes",
                        .help = "Gap between packets; it keeps the link trained.",
                        .cite = "BG/L torus, Alltoall"};
  ParamRecord count_unblocking{
      .path = "router.count_unblocking",
      .type = ParamType::kBool,
      .default_value = "false",
      .help = "Count token messages to nodes with a blocked receiver, and those that let a packet move (slower).",
      .cite = "BG/L torus, Figure 9"};
  ParamRecord link_protocol{
      .path = "router.link_protocol",
      .type = ParamType::kBool,
      .default_value = "false",
      .help = "Sequence numbers, CRCs, acknowledgments, retransmission, running CRCs, injection checksums (slower).",
      .cite = "BG/L torus, Torus network"};
  ParamRecord retransmission_flits{
      .path = "router.retransmission_flits",
      .type = ParamType::kInt,
      .default_value = "64",
      .min = 8,
      .max = 128,
      .unit = "chunks",
      .help = "Sender's store of unacknowledged packets; it must have room for one of full size to take another.",
      .cite = "BG/L torus, Torus network",
      .only_if = "router.link_protocol=true"};
  ParamRecord retransmission_timeout{
      .path = "router.retransmission_timeout",
      .type = ParamType::kInt,
      .default_value = "1024",
      .min = 1,
      .max = 1000000,
      .unit = "cycles",
      .help = "A sender sends all that it keeps again if no acknowledgment comes for this long.",
      .cite = "BG/L torus, Torus network",
      .only_if = "router.link_protocol=true"};
  ParamRecord idle_acks{
      .path = "router.idle_acks",
      .type = ParamType::kInt,
      .default_value = "4096",
      .min = 1024,
      .max = 1000000,
      .unit = "cycles",
      .help =
          "A receiver that has returned no tokens of a virtual channel for this long (up to twice) says once more how "
          "many it has returned since the start: lost token packets are made up for. Only where they are packets.",
      .cite = "BG/L torus, Simulator overview",
      .only_if = "router.link_protocol=true"};
} router{};

inline constexpr struct RoutingParams {
  ParamRecord dynamic{
      .path = "routing.dynamic",
      .type = ParamType::kFloat,
      .default_value = "1.0",
      .min = 0,
      .max = 1,
      .help = "Part of the packets that are routed dynamically; the others take the escape channel, in its order.",
      .cite = "BG/L torus, Torus network"};
  ParamRecord ties{
      .path = "routing.ties",
      .type = ParamType::kChoice,
      .default_value = "registers",
      .choices = "registers|random",
      .help =
          "Half-way round a dimension: as a node's two registers say, minus where the sum of its coordinates is odd "
          "(registers), or each direction as likely for every packet (random).",
      .cite = "BG/L torus, Torus network"};
  ParamRecord hints{.path = "routing.hints",
                    .type = ParamType::kIntList,
                    .default_value = "[]",
                    .min = 0,
                    .max = 16777215,
                    .help =
                        "Hint bits that software sets, three numbers for each pair of nodes: source, destination and "
                        "the bits x+ x- y+ y- z+ z-, as in [0, 5, 0b100100]. Hardware sets the bits of other pairs, or "
                        "software if a dead node is in the way.",
                    .cite = "BG/L torus, Torus network"};
} routing{};

inline constexpr struct FaultsParams {
  ParamRecord nodes{.path = "faults.nodes",
                    .type = ParamType::kIntList,
                    .default_value = "[]",
                    .min = 0,
                    .max = 16777215,
                    .help =
                        "Dead nodes, at most 8: they do not send, receive or forward. Software sets hint bits so that "
                        "packets avoid them.",
                    .cite = "BG/L torus, Torus network"};
  ParamRecord error_rate{.path = "faults.error_rate",
                         .type = ParamType::kFloat,
                         .default_value = "0",
                         .min = 0,
                         .max = 0.01,
                         .unit = "per byte and link",
                         .help = "Chance that a link spoils a byte of a packet or of an acknowledgment.",
                         .cite = "BG/L torus, Torus network",
                         .only_if = "router.link_protocol=true"};
  ParamRecord crc_bits{
      .path = "faults.crc_bits",
      .type = ParamType::kInt,
      .default_value = "24",
      .min = 1,
      .max = 24,
      .unit = "bits",
      .help = "Length of packets' CRCs. A spoiled packet passes as good once in 2^bits; only running CRCs tell then.",
      .cite = "BG/L torus, Torus network",
      .only_if = "router.link_protocol=true"};
} faults{};

}  // namespace flitlab::bgl::param
