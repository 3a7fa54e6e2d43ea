#pragma once
/// Parameters of the single switch.
#include "kernels/common/param.hpp"
#include "kernels/routers/switch/state.hpp"

namespace flitlab::sw::param {

inline constexpr struct TopologyParams {
  ParamRecord ports{.path = "topology.ports",
                    .type = ParamType::kInt,
                    .default_value = "8",
                    .min = 2,
                    .max = sw::kMaxPorts,
                    .help = "Inputs of the switch, and outputs. Each input and its output have one terminal.",
                    .cite = "S-Connect, 2 (Figure 1)"};
} topology{};

inline constexpr struct RouterParams {
  ParamRecord organisation{
      .path = "router.organisation",
      .type = ParamType::kChoice,
      .default_value = "crossbar",
      .choices = "crossbar|buffer_pool",
      .help =
          "crossbar: an input stores a whole message before the message is switched; buffer_pool: transfers into and "
          "between buffers take no time, so a message is switched as soon as its head has arrived.",
      .cite = "S-Connect, 2 (Figure 1)"};
  ParamRecord output_buffers{
      .path = "router.output_buffers",
      .type = ParamType::kInt,
      .default_value = "1",
      .min = 1,
      .max = 64,
      .unit = "messages",
      .help = "Messages that an output holds, the one in service included; further messages wait at their inputs.",
      .cite = "S-Connect, 2 (Figure 1)"};
  ParamRecord input_release{.path = "router.input_release",
                            .type = ParamType::kChoice,
                            .default_value = "head",
                            .choices = "head|tail",
                            .help =
                                "When an input can switch its next message. head: in the cycle after the previous "
                                "message has got its output; tail: when the tail of the previous message has left, so "
                                "an input of the crossbar carries one message at a time.",
                            .cite = "Karol, Hluchyj, Morgan 1987",
                            .only_if = "router.organisation=crossbar"};
} router{};

}  // namespace flitlab::sw::param
