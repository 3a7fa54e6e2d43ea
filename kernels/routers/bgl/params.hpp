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
          "Delay of a byte from sender to receiver, serialisation included; the paper: at least 10 between midplanes.",
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
      .help = "Size for which a bubble-channel packet counts: full, or actual (earlier rule; can deadlock).",
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
                     .help = "A packet may bypass its virtual channel if the channel is empty.",
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
      .help = "Duration of the phases of arbitration; passes before a packet presents its request.",
      .cite = "BG/L torus, Torus network; Simulator overview"};
  ParamRecord fifo_delay{.path = "router.fifo_delay",
                         .type = ParamType::kInt,
                         .default_value = "4",
                         .min = 0,
                         .max = 64,
                         .unit = "cycles",
                         .help = "Further delay of a packet that enters its virtual channel instead of bypassing it."};
  ParamRecord jsq{
      .path = "router.jsq",
      .type = ParamType::kBool,
      .default_value = "true",
      .help = "Dynamic packets join the shortest queue (most tokens, in four ranges); false: a random open one.",
      .cite = "BG/L torus, Torus network; Figure 4"};
  ParamRecord slq{
      .path = "router.slq",
      .type = ParamType::kFloat,
      .default_value = "0.75",
      .min = 0,
      .max = 1,
      .help = "Fraction of cycles in which arbiters serve the longest queue (in four ranges); else a random one.",
      .cite = "BG/L torus, Arbitration policies; Figure 5"};
  ParamRecord network_first{
      .path = "router.network_first",
      .type = ParamType::kFloat,
      .default_value = "1.0",
      .min = 0,
      .max = 1,
      .help = "Fraction of cycles in which senders prefer packets in the network to packets in injection FIFOs.",
      .cite = "BG/L torus, Torus network"};
  ParamRecord arbitration_gap{
      .path = "router.arbitration_gap",
      .type = ParamType::kBool,
      .default_value = "false",
      .help = "Gap found in verification: a blocked receiver requests one cycle late, after the injection FIFOs.",
      .cite = "BG/L torus, Performance verification"};
  ParamRecord trailer_bytes{.path = "router.trailer_bytes",
                            .type = ParamType::kInt,
                            .default_value = "4",
                            .min = 0,
                            .max = 32,
                            .unit = "bytes",
                            .help = "CRC and valid indicator at the end of a packet.",
                            .cite = "BG/L torus, Alltoall"};
  ParamRecord ack_bytes{.path = "router.ack_bytes",
                        .type = ParamType::kInt,
                        .default_value = "8",
                        .min = 0,
                        .max = 32,
                        .unit = "bytes",
                        .help = "Token or ack-only packet in the opposite direction.",
                        .cite = "BG/L torus, Alltoall"};
  ParamRecord acks{
      .path = "router.acks",
      .type = ParamType::kChoice,
      .default_value = "auto",
      .choices = "charged|packets|auto",
      .help =
          "Token packets wait for the link and have priority (packets), or their time is charged to every packet on a "
          "link and they never wait (charged; faster). auto: packets, if router.ack_bytes is not 0.",
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
      .help = "Count token messages to nodes with a blocked head, and messages that unblock one (slower).",
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
      .help = "Sender's retransmission FIFO; it accepts a packet only with room for a full one.",
      .cite = "BG/L torus, Torus network",
      .only_if = "router.link_protocol=true"};
  ParamRecord retransmission_timeout{
      .path = "router.retransmission_timeout",
      .type = ParamType::kInt,
      .default_value = "1024",
      .min = 1,
      .max = 1000000,
      .unit = "cycles",
      .help = "Time without an acknowledgment after which a sender retransmits all kept packets.",
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
          "Time (up to twice this) without tokens of a virtual channel after which a receiver repeats the count of "
          "returned tokens, which recovers lost token packets. Only if router.acks is packets.",
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
      .help = "Fraction of packets that are routed dynamically; the others take the escape channel, in its order.",
      .cite = "BG/L torus, Torus network"};
  ParamRecord ties{
      .path = "routing.ties",
      .type = ParamType::kChoice,
      .default_value = "registers",
      .choices = "registers|random",
      .help =
          "Direction of packets half-way round a dimension: by the node, minus if the sum of its coordinates is odd "
          "(registers), or random for every packet (random).",
      .cite = "BG/L torus, Torus network"};
  ParamRecord hints{.path = "routing.hints",
                    .type = ParamType::kIntList,
                    .default_value = "[]",
                    .min = 0,
                    .max = 16777215,
                    .help =
                        "Hint bits that software sets, three numbers for each pair of nodes: source, destination and "
                        "the bits x+ x- y+ y- z+ z-, as in [0, 5, 0b100100]. For other pairs hardware sets them, or "
                        "software if dead nodes have to be avoided.",
                    .cite = "BG/L torus, Torus network"};
} routing{};

inline constexpr struct FaultsParams {
  ParamRecord nodes{.path = "faults.nodes",
                    .type = ParamType::kIntList,
                    .default_value = "[]",
                    .min = 0,
                    .max = 16777215,
                    .help =
                        "Dead nodes, at most 8: they do not send, receive or forward. Software sets hint bits that "
                        "avoid them.",
                    .cite = "BG/L torus, Torus network"};
  ParamRecord error_rate{.path = "faults.error_rate",
                         .type = ParamType::kFloat,
                         .default_value = "0",
                         .min = 0,
                         .max = 0.01,
                         .unit = "per byte and link",
                         .help = "Probability that a link corrupts a byte of a packet or of an acknowledgment.",
                         .cite = "BG/L torus, Torus network",
                         .only_if = "router.link_protocol=true"};
  ParamRecord crc_bits{
      .path = "faults.crc_bits",
      .type = ParamType::kInt,
      .default_value = "24",
      .min = 1,
      .max = 24,
      .unit = "bits",
      .help = "Length of packets' CRCs. They miss one in 2^bits corrupted packets; only running CRCs show these.",
      .cite = "BG/L torus, Torus network",
      .only_if = "router.link_protocol=true"};
} faults{};

}  // namespace flitlab::bgl::param
