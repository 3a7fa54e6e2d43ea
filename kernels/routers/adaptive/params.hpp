#pragma once
/// Parameters of the adaptive router. A cycle is a routing cycle, the time of a message; a flit is a message.
#include "kernels/common/param.hpp"

namespace flitlab::adaptive::param {

inline constexpr struct RouterParams {
  ParamRecord assignment{
      .path = "router.assignment",
      .type = ParamType::kChoice,
      .default_value = "greedy",
      .choices = "greedy|fixed|optimal",
      .help =
          "How messages are assigned to channels. greedy: the channel that the fewest messages wait for "
          "chooses first; fixed: channels choose in the order of their numbers; optimal: as many "
          "messages as possible are sent in every cycle.",
      .cite = "S-Connect, 2.2, Figure 4; 3"};
  ParamRecord channel_buffers{
      .path = "router.channel_buffers",
      .type = ParamType::kInt,
      .default_value = "1",
      .min = 0,
      .max = 1,
      .unit = "messages/channel",
      .help =
          "Buffers for each channel that messages can stay in; 0: those of channels are only for what "
          "is just arriving.",
      .cite = "S-Connect, 2.2, Figure 5"};
  ParamRecord spare_buffers{.path = "router.spare_buffers",
                            .type = ParamType::kInt,
                            .default_value = "4",
                            .min = 0,
                            .max = 96,
                            .unit = "messages",
                            .help = "Buffers of a router beyond those of its channels.",
                            .cite = "S-Connect, 2.2, Figure 5"};
  ParamRecord ejection{
      .path = "router.ejection",
      .type = ParamType::kInt,
      .default_value = "1",
      .min = 0,
      .max = 255,
      .unit = "messages/cycle",
      .help =
          "Messages that the terminals of a router take in a cycle, whichever of them they are for; 0: all "
          "that are there.",
      .cite = "S-Connect, 3"};
  ParamRecord message_units{.path = "router.message_units",
                            .type = ParamType::kInt,
                            .default_value = "10",
                            .min = 1,
                            .max = 65535,
                            .unit = "units",
                            .help = "Length of a message. It scales latencies that are given in units, nothing else.",
                            .cite = "S-Connect, 2.2, Figure 5"};
  ParamRecord priorities{
      .path = "router.priorities",
      .type = ParamType::kIntList,
      .default_value = "[1]",
      .min = 0,
      .max = 1000000,
      .help = "How many messages have priority 0, 1, 2 and 3, relative to one another. Higher ones go first.",
      .cite = "S-Connect, 2.2, Figure 4; 2.3"};
} router{};

}  // namespace flitlab::adaptive::param
