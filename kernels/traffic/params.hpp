#pragma once
/// Parameters of the traffic that terminals offer.
#include <array>

#include "kernels/common/param.hpp"

namespace flitlab {

inline constexpr std::array kTrafficParams{
    ParamRecord{.path = "traffic.mode", .type = ParamType::kChoice, .default_value = "open",
                .choices = "open|batch|request_reply|trace",
                .help = "open: packets are created at a given load whatever the network does; batch: every terminal "
                        "sends a number of packets, and the time to finish is what counts; request_reply: every "
                        "terminal keeps a number of requests under way and answers those of others; trace: packets "
                        "come from a file.",
                .cite = "Dally & Towles 23.1, 24.1"},
    ParamRecord{.path = "traffic.pattern", .type = ParamType::kChoice, .default_value = "uniform",
                .choices = "uniform|bit_complement|bit_reverse|shuffle|transpose|tornado|neighbour|hot_spot|"
                           "hot_region|random_permutation|matrix",
                .help = "Who sends to whom.", .cite = "Dally & Towles Table 3.1",
                .only_if = "traffic.mode=open|batch|request_reply"},
    ParamRecord{.path = "traffic.load", .type = ParamType::kFloat, .default_value = "0.1", .min = 0, .max = 1,
                .unit = "flits/cycle/terminal",
                .help = "Offered load; in a closed loop, of requests while the window is open (Bernoulli).",
                .only_if = "traffic.mode=open|request_reply", .per_replica = true},
    ParamRecord{.path = "traffic.injection", .type = ParamType::kChoice, .default_value = "bernoulli",
                .choices = "bernoulli|periodic|on_off", .help = "Injection process of each terminal.",
                .cite = "Dally & Towles 24.2", .only_if = "traffic.mode=open"},
    ParamRecord{.path = "traffic.burst_cycles", .type = ParamType::kFloat, .default_value = "32", .min = 1,
                .max = 1e6, .unit = "cycles", .help = "Mean length of a burst.", .only_if = "traffic.injection=on_off"},
    ParamRecord{.path = "traffic.burst_load", .type = ParamType::kFloat, .default_value = "0.5", .min = 0.0001,
                .max = 1, .unit = "flits/cycle/terminal", .help = "Load within a burst; must exceed traffic.load.",
                .only_if = "traffic.injection=on_off"},
    ParamRecord{.path = "traffic.packet_flits", .type = ParamType::kLengths, .default_value = "4", .min = 1,
                .max = 4095, .unit = "flits",
                .help = "Packet length: one number, or [flits, weight] pairs; the mean if the law is geometric. In a "
                        "closed loop, of requests.",
                .only_if = "traffic.mode=open|batch|request_reply"},
    ParamRecord{.path = "traffic.packet_length", .type = ParamType::kChoice, .default_value = "list",
                .choices = "list|geometric",
                .help = "Law of the packet lengths. A geometric one is cut at 16 times its mean, and at 4095 flits; "
                        "the packet rate follows from the mean that is left.",
                .only_if = "traffic.mode=open|batch|request_reply"},
    ParamRecord{.path = "traffic.hot_terminals", .type = ParamType::kIntList, .default_value = "[0]", .min = 0,
                .max = 16777215, .help = "Terminals of the hot spot.", .only_if = "traffic.pattern=hot_spot"},
    ParamRecord{.path = "traffic.hot_shape", .type = ParamType::kIntList, .default_value = "[2, 2]", .min = 1,
                .max = 65535, .unit = "routers",
                .help = "Extent of the hot region from the origin, per dimension; by default 2 in each.",
                .only_if = "traffic.pattern=hot_region"},
    ParamRecord{.path = "traffic.hot_fraction", .type = ParamType::kFloat, .default_value = "0.1", .min = 0,
                .max = 1, .help = "Part of the packets that go to the hot terminals; the rest is uniform.",
                .only_if = "traffic.pattern=hot_spot|hot_region"},
    ParamRecord{.path = "traffic.matrix_file", .type = ParamType::kFile, .default_value = "",
                .help = "Traffic matrix: CSV lines source,destination,weight.", .only_if = "traffic.pattern=matrix"},
    ParamRecord{.path = "traffic.batch_packets", .type = ParamType::kInt, .default_value = "100", .min = 1,
                .max = 1000000000, .unit = "packets/terminal", .help = "Size of a batch.",
                .only_if = "traffic.mode=batch"},
    ParamRecord{.path = "traffic.window", .type = ParamType::kInt, .default_value = "4", .min = 1, .max = 256,
                .unit = "requests/terminal", .help = "Requests of a terminal that may be without a reply.",
                .cite = "Dally & Towles 23.1", .only_if = "traffic.mode=request_reply"},
    ParamRecord{.path = "traffic.reply_flits", .type = ParamType::kLengths, .default_value = "4", .min = 1,
                .max = 4095, .unit = "flits", .help = "Length of replies: one number, or [flits, weight] pairs.",
                .only_if = "traffic.mode=request_reply"},
    ParamRecord{.path = "traffic.reply_delay", .type = ParamType::kInt, .default_value = "1", .min = 0, .max = 65535,
                .unit = "cycles", .help = "From the arrival of a request's tail to the creation of its reply.",
                .only_if = "traffic.mode=request_reply"},
    ParamRecord{.path = "traffic.reply_queue", .type = ParamType::kInt, .default_value = "8", .min = 1, .max = 65535,
                .unit = "packets/terminal",
                .help = "Replies that a terminal can hold; requests without a place wait in the ejection buffers.",
                .only_if = "traffic.mode=request_reply"},
    ParamRecord{.path = "traffic.message_classes", .type = ParamType::kInt, .default_value = "2", .min = 1, .max = 2,
                .help = "2: requests and replies have virtual channels of their own; 1: they share them, which may "
                        "deadlock.",
                .cite = "Dally & Towles 14.1.4", .only_if = "traffic.mode=request_reply"},
    ParamRecord{.path = "traffic.trace_file", .type = ParamType::kFile, .default_value = "",
                .help = "Trace: CSV lines cycle,source,destination,flits[,needs] by rising cycle; needs is the number "
                        "of an earlier line whose packet must have arrived at the source first, counted from 0.",
                .only_if = "traffic.mode=trace"},
};

}  // namespace flitlab
