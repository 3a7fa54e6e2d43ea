#pragma once
/// Parameters of the adaptive router. A cycle is a routing cycle, the time of one message; a message is one flit.
#include "kernels/common/param.hpp"
#include "kernels/routers/adaptive/choices.hpp"

namespace flitlab::adaptive::param {

inline constexpr struct RouterParams {
  ParamRecord assignment{.path = "router.assignment",
                         .type = ParamType::kChoice,
                         .default_value = "greedy",
                         .choices = words_of(Assignment{}),
                         .help =
                             "How a router assigns messages to channels. greedy: the channel that the fewest messages "
                             "can take chooses first; fixed: channels choose in the order of their numbers; optimal: "
                             "the router sends as many messages as possible in every cycle.",
                         .cite = "S-Connect, 2.2, Figure 4; 3"};
  ParamRecord channel_buffers{.path = "router.channel_buffers",
                              .type = ParamType::kInt,
                              .default_value = "1",
                              .min = 0,
                              .max = 1,
                              .unit = "messages/channel",
                              .help =
                                  "Buffers of each channel in which messages may stay; 0: a channel's buffer holds "
                                  "only a message that is just arriving.",
                              .cite = "S-Connect, 2.2, Figure 5"};
  ParamRecord spare_buffers{.path = "router.spare_buffers",
                            .type = ParamType::kInt,
                            .default_value = "4",
                            .min = 0,
                            .max = 96,
                            .unit = "messages",
                            .help = "Buffers of a router besides its channels' buffers.",
                            .cite = "S-Connect, 2.2, Figure 5"};
  ParamRecord ejection{
      .path = "router.ejection",
      .type = ParamType::kInt,
      .default_value = "1",
      .min = 0,
      .max = 255,
      .unit = "messages/cycle",
      .help = "Messages that a router delivers in a cycle, to all its terminals together; 0: no limit.",
      .cite = "S-Connect, 3"};
  ParamRecord message_units{.path = "router.message_units",
                            .type = ParamType::kInt,
                            .default_value = "10",
                            .min = 1,
                            .max = 65535,
                            .unit = "units",
                            .help = "Length of a message. It only scales latencies that are given in units.",
                            .cite = "S-Connect, 2.2, Figure 5"};
  ParamRecord priorities{.path = "router.priorities",
                         .type = ParamType::kIntList,
                         .default_value = "[1]",
                         .min = 0,
                         .max = 1000000,
                         .help = "Weights of the priorities 0, 1, 2 and 3 of messages. Higher priorities go first.",
                         .cite = "S-Connect, 2.2, Figure 4; 2.3"};
} router{};

}  // namespace flitlab::adaptive::param
