#pragma once
/// Parameters of Blue Gene/L's torus. A cycle is a byte time of a link; a flit is a chunk of 32 bytes.
#include "kernels/common/param.hpp"

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
                           .choices = "dimension|direction",
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
      .choices = "auto|packets|charged",
      .help =
          "Token packets: they wait for the link and then go first (packets), or they never wait, and their time is "
          "charged to every packet that a link carries (charged). auto: packets, but charged with "
          "router.link_protocol.",
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

inline constexpr struct InjectionParams {
  ParamRecord fifos{.path = "injection.fifos",
                    .type = ParamType::kInt,
                    .default_value = "6",
                    .min = 1,
                    .max = 6,
                    .help = "Normal injection FIFOs in use, filled in turn. Two more are for packets of high priority.",
                    .cite = "BG/L torus, Torus network"};
  ParamRecord fifo_flits{.path = "injection.fifo_flits",
                         .type = ParamType::kInt,
                         .default_value = "32",
                         .min = 8,
                         .max = 248,
                         .unit = "chunks",
                         .help = "Size of an injection FIFO."};
  ParamRecord infinite{
      .path = "injection.infinite",
      .type = ParamType::kBool,
      .default_value = "false",
      .help = "Injection FIFOs without limit: a packet enters when it is created, as in the paper's simulator.",
      .cite = "BG/L torus, Simulator overview"};
  ParamRecord put_interval{
      .path = "injection.put_interval",
      .type = ParamType::kInt,
      .default_value = "0",
      .min = 0,
      .max = 1000,
      .unit = "cycles/chunk",
      .help = "Time that software takes to put a chunk into a FIFO, or waits so as not to flood the network.",
      .cite = "BG/L torus, Alltoall"};
  ParamRecord priority_share{.path = "injection.priority_share",
                             .type = ParamType::kFloat,
                             .default_value = "0",
                             .min = 0,
                             .max = 1,
                             .help = "Part of the packets that have high priority.",
                             .cite = "BG/L torus, Torus network"};
} injection{};

inline constexpr struct ReceptionParams {
  ParamRecord fifo_flits{.path = "reception.fifo_flits",
                         .type = ParamType::kInt,
                         .default_value = "32",
                         .min = 8,
                         .max = 248,
                         .unit = "chunks",
                         .help = "Size of a reception FIFO."};
  ParamRecord groups{.path = "reception.groups",
                     .type = ParamType::kInt,
                     .default_value = "1",
                     .min = 1,
                     .max = 2,
                     .help = "Groups of seven reception FIFOs in use; with two, a packet is for either processor.",
                     .cite = "BG/L torus, Torus network"};
  ParamRecord take_interval{.path = "reception.take_interval",
                            .type = ParamType::kInt,
                            .default_value = "0",
                            .min = 0,
                            .max = 500,
                            .unit = "cycles/packet",
                            .help = "Time that software takes to take a packet out of a reception FIFO."};
} reception{};

/// The paper gives no times; a processor has four cycles in a byte time ("Torus network").
inline constexpr struct SoftwareParams {
  ParamRecord packet_time{
      .path = "software.packet_time",
      .type = ParamType::kInt,
      .default_value = "0",
      .min = 0,
      .max = 10000,
      .unit = "processor cycles/packet",
      .help =
          "Time of a processor for a packet that it puts into a FIFO or takes out of one, beside that for its chunks.",
      .cite = "BG/L torus, Sample hardware performance measurements"};
  ParamRecord chunk_time{.path = "software.chunk_time",
                         .type = ParamType::kInt,
                         .default_value = "0",
                         .min = 0,
                         .max = 1000,
                         .unit = "processor cycles/chunk",
                         .help = "Time of a processor for each chunk that it puts or takes.",
                         .cite = "BG/L torus, Sample hardware performance measurements"};
  ParamRecord processors{
      .path = "software.processors",
      .type = ParamType::kInt,
      .default_value = "1",
      .min = 1,
      .max = 2,
      .help = "Processors that put and take packets: one, or one for plus and one for minus directions.",
      .cite = "BG/L torus, Line and plane fill"};
  ParamRecord start_spread{.path = "software.start_spread",
                           .type = ParamType::kInt,
                           .default_value = "0",
                           .min = 0,
                           .max = 1000000,
                           .unit = "cycles",
                           .help = "Each node's software puts its first packet at a random time within so many cycles.",
                           .cite = "BG/L torus, Alltoall"};
} software{};

inline constexpr struct BroadcastParams {
  ParamRecord root{.path = "broadcast.root",
                   .type = ParamType::kInt,
                   .default_value = "0",
                   .min = 0,
                   .max = 16777215,
                   .help = "Node that sends to all others of the line or plane (traffic.mode = \"broadcast\").",
                   .cite = "BG/L torus, Line and plane fill"};
  ParamRecord dimensions{.path = "broadcast.dimensions",
                         .type = ParamType::kIntList,
                         .default_value = "[0]",
                         .min = 0,
                         .max = 2,
                         .help =
                             "Dimension of the line, or the two of the plane: 0 is x. In a plane software sends every "
                             "colour on as it arrives.",
                         .cite = "BG/L torus, Line and plane fill"};
  ParamRecord packets{.path = "broadcast.packets",
                      .type = ParamType::kInt,
                      .default_value = "1000",
                      .min = 1,
                      .max = 1000000,
                      .unit = "packets/colour",
                      .help = "Packets of 8 chunks of each colour; a line has two colours, a plane four.",
                      .cite = "BG/L torus, Line and plane fill"};
} broadcast{};

}  // namespace flitlab::bgl::param
