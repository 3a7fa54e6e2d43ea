#pragma once
/// Parameters of a Blue Gene/L node's FIFOs and of its software.
#include "kernels/common/param.hpp"

namespace flitlab::bgl::param {

inline constexpr struct InjectionParams {
  ParamRecord fifos{.path = "injection.fifos",
                    .type = ParamType::kInt,
                    .default_value = "6",
                    .min = 1,
                    .max = 6,
                    .help = "Normal injection FIFOs in use, filled in turn. Two more are for high-priority packets.",
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
      .help = "Unlimited injection FIFOs: a packet enters when it is created, as in the paper's simulator.",
      .cite = "BG/L torus, Simulator overview"};
  ParamRecord put_interval{.path = "injection.put_interval",
                           .type = ParamType::kInt,
                           .default_value = "0",
                           .min = 0,
                           .max = 1000,
                           .unit = "cycles/chunk",
                           .help = "Time for which software waits after each chunk that it puts into a FIFO (pacing).",
                           .cite = "BG/L torus, Alltoall"};
  ParamRecord priority_share{.path = "injection.priority_share",
                             .type = ParamType::kFloat,
                             .default_value = "0",
                             .min = 0,
                             .max = 1,
                             .help = "Fraction of packets that have high priority.",
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
                     .help = "Groups of seven reception FIFOs in use; with two, a packet's group is random.",
                     .cite = "BG/L torus, Torus network"};
  ParamRecord take_interval{.path = "reception.take_interval",
                            .type = ParamType::kInt,
                            .default_value = "0",
                            .min = 0,
                            .max = 500,
                            .unit = "cycles/packet",
                            .help = "Time for which software waits after taking a packet out of a reception FIFO."};
} reception{};

/// Times that a node's software needs. The paper gives none; it says that a processor has four cycles in a byte time
/// ("Torus network").
inline constexpr struct SoftwareParams {
  ParamRecord packet_time{
      .path = "software.packet_time",
      .type = ParamType::kInt,
      .default_value = "0",
      .min = 0,
      .max = 10000,
      .unit = "processor cycles/packet",
      .help = "Processor time for each packet put into or taken out of a FIFO, in addition to software.chunk_time.",
      .cite = "BG/L torus, Sample hardware performance measurements"};
  ParamRecord chunk_time{.path = "software.chunk_time",
                         .type = ParamType::kInt,
                         .default_value = "0",
                         .min = 0,
                         .max = 1000,
                         .unit = "processor cycles/chunk",
                         .help = "Processor time for each chunk put or taken.",
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
                           .help = "Cycles within which each node's software puts its first packet, at a random time.",
                           .cite = "BG/L torus, Alltoall"};
} software{};

inline constexpr struct BroadcastParams {
  ParamRecord root{.path = "broadcast.root",
                   .type = ParamType::kInt,
                   .default_value = "0",
                   .min = 0,
                   .max = 16777215,
                   .help = "Node that sends to all other nodes of the line or plane (traffic.mode = \"broadcast\").",
                   .cite = "BG/L torus, Line and plane fill"};
  ParamRecord dimensions{.path = "broadcast.dimensions",
                         .type = ParamType::kIntList,
                         .default_value = "[0]",
                         .min = 0,
                         .max = 2,
                         .help =
                             "Dimension of the line, or the two of the plane: 0 is x. In a plane software forwards "
                             "every colour as it arrives.",
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
