#pragma once
/// Parameters of the canonical virtual-channel router.
#include <array>

#include "kernels/common/param.hpp"

namespace flitlab {

inline constexpr std::array kVcParams{
    ParamRecord{.path = "router.vcs", .type = ParamType::kInt, .default_value = "4", .min = 1, .max = 16,
                .help = "Virtual channels per port.", .cite = "Dally & Towles 13.2"},
    ParamRecord{.path = "router.buffer_flits", .type = ParamType::kInt, .default_value = "8", .min = 1, .max = 255,
                .unit = "flits", .help = "Buffer of one virtual channel.", .cite = "Dally & Towles 17.1"},
    ParamRecord{.path = "router.flow_control", .type = ParamType::kChoice, .default_value = "wormhole",
                .choices = "wormhole|virtual_cut_through|store_and_forward",
                .help = "Whether a packet moves on flit by flit, only into room for all of it, or only when all of "
                        "it has arrived.",
                .cite = "Dally & Towles 13.1-13.2"},
    ParamRecord{.path = "router.vc_allocator", .type = ParamType::kChoice,
                .default_value = "separable_input_first",
                .choices = "separable_input_first|separable_output_first|islip|wavefront",
                .help = "Allocator of output virtual channels.", .cite = "Dally & Towles 19.3-19.4"},
    ParamRecord{.path = "router.switch_allocator", .type = ParamType::kChoice,
                .default_value = "separable_input_first",
                .choices = "separable_input_first|separable_output_first|islip|wavefront",
                .help = "Allocator of the crossbar.", .cite = "Dally & Towles 19.3-19.4"},
    ParamRecord{.path = "router.allocator_iterations", .type = ParamType::kInt, .default_value = "1", .min = 1,
                .max = 8, .help = "Iterations of iSLIP.", .cite = "McKeown 1999"},
    ParamRecord{.path = "router.arbiter", .type = ParamType::kChoice, .default_value = "round_robin",
                .choices = "round_robin|matrix|oldest_first", .help = "Arbiters inside the allocators.",
                .cite = "Dally & Towles 18.4-18.5"},
    ParamRecord{.path = "router.speculative", .type = ParamType::kBool, .default_value = "false",
                .help = "Packets bid for the crossbar in the cycle in which they bid for a virtual channel.",
                .cite = "Dally & Towles 16.3.2"},
    ParamRecord{.path = "router.routing_delay", .type = ParamType::kInt, .default_value = "1", .min = 0, .max = 15,
                .unit = "cycles", .help = "Route computation stage; 0: known on arrival (look-ahead).",
                .cite = "Dally & Towles 16.1"},
    ParamRecord{.path = "router.vc_allocation_delay", .type = ParamType::kInt, .default_value = "1", .min = 0,
                .max = 15, .unit = "cycles", .help = "Virtual-channel allocation stage."},
    ParamRecord{.path = "router.switch_allocation_delay", .type = ParamType::kInt, .default_value = "1", .min = 1,
                .max = 15, .unit = "cycles", .help = "Switch allocation stage."},
    ParamRecord{.path = "router.switch_traversal_delay", .type = ParamType::kInt, .default_value = "1", .min = 0,
                .max = 15, .unit = "cycles", .help = "Switch traversal stage."},
    ParamRecord{.path = "router.credit_delay", .type = ParamType::kInt, .default_value = "3", .min = 1, .max = 64,
                .unit = "cycles",
                .help = "From the cycle in which a flit wins the switch to the first in which its place upstream "
                        "can be used.",
                .cite = "Dally & Towles 16.2"},
};

}  // namespace flitlab
