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
