#pragma once
/// Parameters of the traffic that terminals offer.
#include "kernels/common/param.hpp"
#include "kernels/common/replica.hpp"
#include "kernels/traffic/choices.hpp"

namespace flitlab::param {

inline constexpr std::string_view kPatterns =
    "uniform|bit_complement|bit_reverse|shuffle|transpose|tornado|neighbour|hot_spot|hot_region|random_permutation|"
    "matrix|all_to_all|all_to_region|fft|divide|next_router|next_group";

inline constexpr struct TrafficParams {
  ParamRecord mode{
      .path = "traffic.mode",
      .type = ParamType::kChoice,
      .default_value = "open",
      .choices = "open|batch|request_reply|trace|host|program|broadcast",
      .help =
          "open: terminals create packets at a given load, independent of the network; batch: every terminal sends a "
          "fixed number of packets, and the result is the time to finish; request_reply: every terminal keeps several "
          "requests outstanding and replies to the requests of others; trace: packets come from a file; host: "
          "packets come from the program that steps the network (net.inject, include/flitlab.h); program: terminals "
          "make the message-passing calls of a program; broadcast: one terminal sends to a line or a plane.",
      .cite = "Dally & Towles 23.1, 24.1"};
  ParamRecord pattern{.path = "traffic.pattern",
                      .type = ParamType::kChoice,
                      .default_value = "uniform",
                      .choices = kPatterns,
                      .help =
                          "Destinations of each terminal's packets. fft: any terminal whose number differs in one bit; "
                          "divide: any neighbour in a binomial tree, as when work is distributed and results are "
                          "combined; next_router, next_group: any terminal of the router or group with the next "
                          "number, for which shortest routes use few channels.",
                      .cite = "Dally & Towles Table 3.1; fft, divide: S-Connect, 2.1; next_*: Kim et al. 2007, 2008",
                      .only_if = "traffic.mode=open|batch|request_reply"};
  ParamRecord classes{.path = "traffic.classes",
                      .type = ParamType::kInt,
                      .default_value = "1",
                      .min = 1,
                      .max = kMaxTrafficClasses,
                      .unit = "classes",
                      .help =
                          "Classes of packets. Every terminal has a source queue for each class, and sends flits of "
                          "one class between flits of another. In a trace, a packet has the class that the file gives.",
                      .cite = "BookSim 2: classes",
                      .only_if = "router.kind=vc&traffic.mode=open|host|trace"};
  ParamRecord class_pattern{
      .path = "traffic.class_pattern",
      .type = ParamType::kChoiceList,
      .default_value = "",
      .choices = kPatterns,
      .help = "Pattern of each class, instead of traffic.pattern: a list of words. Empty: traffic.pattern for all.",
      .only_if = "router.kind=vc&traffic.mode=open&traffic.classes!=1"};
  ParamRecord class_share{.path = "traffic.class_share",
                          .type = ParamType::kNumberOrList,
                          .default_value = "1",
                          .min = 1e-6,
                          .max = 1e6,
                          .help =
                              "Parts of traffic.load that the classes offer: a number for each class; only their "
                              "ratios matter. One number: equal parts.",
                          .only_if = "router.kind=vc&traffic.mode=open&traffic.classes!=1"};
  ParamRecord class_flits{
      .path = "traffic.class_flits",
      .type = ParamType::kIntList,
      .default_value = "[]",
      .min = 1,
      .max = 4095,
      .unit = "flits",
      .help = "Packet length of each class, instead of traffic.packet_flits. Empty: traffic.packet_flits for all.",
      .only_if = "router.kind=vc&traffic.mode=open&traffic.classes!=1"};
  ParamRecord class_vcs{.path = "traffic.class_vcs",
                        .type = ParamType::kChoice,
                        .default_value = "separate",
                        .choices = "separate|shared|ranges",
                        .help =
                            "separate: the virtual channels are divided among the classes; shared: packets of all "
                            "classes use all virtual channels; ranges: a class uses the virtual channels from its "
                            "number in traffic.class_first_vc to its number in traffic.class_last_vc.",
                        .cite = "Dally & Towles 14.1.4",
                        .only_if = "router.kind=vc&traffic.mode=open|host|trace&traffic.classes!=1"};
  ParamRecord class_first_vc{
      .path = "traffic.class_first_vc",
      .type = ParamType::kIntList,
      .default_value = "[]",
      .min = 0,
      .max = 15,
      .help = "First virtual channel of each class. The ranges of two classes may overlap.",
      .cite = "BookSim 2: read_request_begin_vc",
      .only_if = "router.kind=vc&traffic.mode=open|host|trace&traffic.classes!=1&traffic.class_vcs=ranges"};
  ParamRecord class_last_vc{
      .path = "traffic.class_last_vc",
      .type = ParamType::kIntList,
      .default_value = "[]",
      .min = 0,
      .max = 15,
      .help = "Last virtual channel of each class.",
      .cite = "BookSim 2: read_request_end_vc",
      .only_if = "router.kind=vc&traffic.mode=open|host|trace&traffic.classes!=1&traffic.class_vcs=ranges"};
  ParamRecord class_priority{
      .path = "traffic.class_priority",
      .type = ParamType::kIntList,
      .default_value = "[]",
      .min = 0,
      .max = 15,
      .help =
          "Priority of each class of packets: a high number is a high priority. A terminal sends flits of the class "
          "with the highest priority that can leave. Routers compare priorities if router.arbiter = "
          "\"highest_priority_first\", which can starve the other classes; then the list may also give the priorities "
          "of requests and replies of a closed loop, where terminals do not compare them. Empty: all are equal.",
      .cite = "BookSim 2: class_priority",
      .only_if = "router.kind=vc&traffic.mode=open|host|trace|request_reply"};
  ParamRecord self{
      .path = "traffic.self",
      .type = ParamType::kBool,
      .default_value = "true",
      .help =
          "Whether a terminal is one of its own destinations. true: uniform traffic draws the sender as often as any "
          "other terminal, and a packet to the sender passes through the sender's router. false: uniform traffic draws "
          "other terminals, a terminal that a permutation maps to itself sends nothing, and flitlab rejects a matrix "
          "or a trace in which a terminal sends to itself. all_to_all, all_to_region, fft and divide never draw the "
          "sender."};
  ParamRecord matrix_values{
      .path = "traffic.matrix_values",
      .type = ParamType::kChoice,
      .default_value = "weights",
      .choices = "weights|rates",
      .help =
          "Meaning of the values in a traffic matrix. weights: every source offers traffic.load, divided among its "
          "destinations in proportion to its row; rates: each value is the load from a source to a destination, in "
          "flits/cycle. A source then offers the sum of its row, and traffic.load does not apply.",
      .only_if = "traffic.pattern|traffic.class_pattern=matrix&traffic.mode=open|request_reply"};
  ParamRecord load{.path = "traffic.load",
                   .type = ParamType::kFloat,
                   .default_value = "0.1",
                   .min = 0,
                   .max = 1,
                   .unit = "flits/cycle/terminal",
                   .help = "Offered load; in a closed loop, load of requests while the window is open (Bernoulli).",
                   .only_if = "traffic.mode=open|request_reply&traffic.matrix_values!=rates",
                   .per_replica = true};
  ParamRecord start{.path = "traffic.start",
                    .type = ParamType::kInt,
                    .default_value = "0",
                    .min = 0,
                    .max = 1000000000,
                    .unit = "cycles",
                    .help = "First cycle in which terminals create packets; software can set up the machine before.",
                    .only_if = "traffic.mode=open|batch|request_reply"};
  ParamRecord injection{.path = "traffic.injection",
                        .type = ParamType::kChoice,
                        .default_value = "bernoulli",
                        .choices = words_of(Injection{}),
                        .help = "Injection process of each terminal.",
                        .cite = "Dally & Towles 24.2",
                        .only_if = "traffic.mode=open"};
  ParamRecord burst_cycles{.path = "traffic.burst_cycles",
                           .type = ParamType::kFloat,
                           .default_value = "32",
                           .min = 1,
                           .max = 1e6,
                           .unit = "cycles",
                           .help = "Mean length of a burst.",
                           .only_if = "traffic.injection=on_off"};
  ParamRecord burst_load{.path = "traffic.burst_load",
                         .type = ParamType::kFloat,
                         .default_value = "0.5",
                         .min = 0.0001,
                         .max = 1,
                         .unit = "flits/cycle/terminal",
                         .help = "Load within a burst; it must exceed the mean load of each source.",
                         .only_if = "traffic.injection=on_off"};
  ParamRecord packet_flits{.path = "traffic.packet_flits",
                           .type = ParamType::kLengths,
                           .default_value = "4",
                           .min = 1,
                           .max = 4095,
                           .unit = "flits",
                           .help =
                               "Packet length: one number, [flits, weight] pairs, or the mean if traffic.packet_length "
                               "= geometric. In a closed loop: length of requests.",
                           .only_if = "traffic.mode=open|batch|request_reply"};
  ParamRecord packet_length{.path = "traffic.packet_length",
                            .type = ParamType::kChoice,
                            .default_value = "list",
                            .choices = "list|geometric",
                            .help =
                                "Distribution of packet lengths. A geometric distribution is cut at 16 times its mean "
                                "and at 4095 flits; the packet rate follows from the mean of the cut distribution.",
                            .only_if = "traffic.mode=open|batch|request_reply"};
  ParamRecord hot_terminals{.path = "traffic.hot_terminals",
                            .type = ParamType::kIntList,
                            .default_value = "[0]",
                            .min = 0,
                            .max = 16777215,
                            .help = "Terminals of the hot spot.",
                            .only_if = "traffic.pattern|traffic.class_pattern=hot_spot"};
  ParamRecord hot_shape{.path = "traffic.hot_shape",
                        .type = ParamType::kIntList,
                        .default_value = "[2, 2]",
                        .min = 1,
                        .max = 65535,
                        .unit = "routers",
                        .help = "Size of the hot region from the origin, per dimension; by default 2 in each.",
                        .only_if = "traffic.pattern|traffic.class_pattern=hot_region|all_to_region"};
  ParamRecord hot_fraction{.path = "traffic.hot_fraction",
                           .type = ParamType::kFloat,
                           .default_value = "0.1",
                           .min = 0,
                           .max = 1,
                           .help = "Fraction of the packets that go to the hot terminals; the others are uniform.",
                           .only_if = "traffic.pattern|traffic.class_pattern=hot_spot|hot_region"};
  ParamRecord matrix_file{.path = "traffic.matrix_file",
                          .type = ParamType::kFile,
                          .default_value = "",
                          .help = "Traffic matrix: CSV lines source,destination,value; see traffic.matrix_values.",
                          .only_if = "traffic.pattern|traffic.class_pattern=matrix"};
  ParamRecord batch_packets{.path = "traffic.batch_packets",
                            .type = ParamType::kInt,
                            .default_value = "100",
                            .min = 1,
                            .max = 1000000000,
                            .unit = "packets/terminal",
                            .help = "Packets that each terminal sends.",
                            .only_if = "traffic.mode=batch&traffic.pattern!=all_to_all|all_to_region"};
  ParamRecord order{.path = "traffic.order",
                    .type = ParamType::kChoice,
                    .default_value = "random",
                    .choices = words_of(Order{}),
                    .help =
                        "Order in which a terminal sends to its destinations, in every round. Destinations are all "
                        "other terminals, or, for terminals outside of the hot region, all terminals of the region. "
                        "random: a new random order in every round of every terminal; rotated: from the next terminal "
                        "around to the one before the sender; same: 0, 1, 2 and so on for every terminal.",
                    .only_if = "traffic.pattern|traffic.class_pattern=all_to_all|all_to_region"};
  ParamRecord in_a_row{.path = "traffic.in_a_row",
                       .type = ParamType::kInt,
                       .default_value = "1",
                       .min = 1,
                       .max = 1000000,
                       .unit = "packets",
                       .help = "Consecutive packets to one destination before a terminal sends to the next.",
                       .only_if = "traffic.pattern|traffic.class_pattern=all_to_all|all_to_region"};
  ParamRecord rounds{
      .path = "traffic.rounds",
      .type = ParamType::kInt,
      .default_value = "1",
      .min = 1,
      .max = 1000000,
      .unit = "rounds",
      .help = "Rounds of a batch: in each round a terminal sends traffic.in_a_row packets to each of its destinations.",
      .only_if = "traffic.pattern|traffic.class_pattern=all_to_all|all_to_region&traffic.mode=batch"};
  ParamRecord window{.path = "traffic.window",
                     .type = ParamType::kInt,
                     .default_value = "4",
                     .min = 1,
                     .max = 256,
                     .unit = "requests/terminal",
                     .help = "Most requests that a terminal may have outstanding.",
                     .cite = "Dally & Towles 23.1",
                     .only_if = "traffic.mode=request_reply"};
  ParamRecord reply_flits{.path = "traffic.reply_flits",
                          .type = ParamType::kLengths,
                          .default_value = "4",
                          .min = 1,
                          .max = 4095,
                          .unit = "flits",
                          .help = "Length of replies: one number, or [flits, weight] pairs.",
                          .only_if = "traffic.mode=request_reply"};
  ParamRecord reply_delay{.path = "traffic.reply_delay",
                          .type = ParamType::kInt,
                          .default_value = "1",
                          .min = 0,
                          .max = 65535,
                          .unit = "cycles",
                          .help = "Time from the arrival of a request's tail to the creation of its reply.",
                          .only_if = "traffic.mode=request_reply"};
  ParamRecord reply_queue{
      .path = "traffic.reply_queue",
      .type = ParamType::kInt,
      .default_value = "8",
      .min = 1,
      .max = 65535,
      .unit = "packets/terminal",
      .help = "Replies that a terminal can queue. While the queue is full, requests wait in the ejection buffers.",
      .only_if = "traffic.mode=request_reply"};
  ParamRecord message_classes{
      .path = "traffic.message_classes",
      .type = ParamType::kInt,
      .default_value = "2",
      .min = 1,
      .max = 2,
      .help = "2: requests and replies have separate virtual channels; 1: they share them, which may deadlock.",
      .cite = "Dally & Towles 14.1.4",
      .only_if = "traffic.mode=request_reply"};
  ParamRecord trace_file{
      .path = "traffic.trace_file",
      .type = ParamType::kFile,
      .default_value = "",
      .help =
          "Trace: CSV lines cycle,source,destination,flits[,cCLASS][,needs...] by rising cycle, or a file of Netrace; "
          "see docs/workloads.md. c1 is class 1 (traffic.classes). needs is the number of an earlier line, counted "
          "from "
          "0; the packet of that line must have arrived at this packet's source first.",
      .only_if = "traffic.mode=trace"};
  ParamRecord trace_order{
      .path = "traffic.trace_order",
      .type = ParamType::kChoice,
      .default_value = "auto",
      .choices = "auto|file|ready",
      .help =
          "Order in which a terminal creates the packets of a trace. file: in the order of the file. A packet that "
          "waits "
          "delays all after it, and can need one other packet. ready: as soon as its cycle has come and the packets "
          "that "
          "it needs have arrived; each source considers its next 64 packets. auto: ready for Netrace, file for other "
          "formats.",
      .only_if = "traffic.mode=trace"};
  ParamRecord self_throttling{
      .path = "traffic.self_throttling",
      .type = ParamType::kBool,
      .default_value = "false",
      .help =
          "Whether packets of a trace ignore their cycles: each may be created as soon as the packets that it needs "
          "have arrived. The file is read as fast as the network takes its packets.",
      .cite = "Netrace: self-throttling",
      .only_if = "traffic.mode=trace"};
  ParamRecord trace_regions{.path = "traffic.trace_regions",
                            .type = ParamType::kIntList,
                            .default_value = "[]",
                            .min = 0,
                            .max = 65535,
                            .help =
                                "Numbers of the regions of a Netrace file to read, rising; the first of them begins in "
                                "cycle 0. No packet waits for packets of other regions. Empty: all regions.",
                            .only_if = "traffic.mode=trace"};
  ParamRecord source_packets{.path = "traffic.source_packets",
                             .type = ParamType::kInt,
                             .default_value = "0",
                             .min = 0,
                             .max = 1000000000,
                             .unit = "packets",
                             .help =
                                 "Most packets that wait at a source until their head leaves. A packet that is offered "
                                 "to a full source is refused; 0: no limit.",
                             .only_if = "traffic.mode=host"};
  ParamRecord program_file{
      .path = "traffic.program_file",
      .type = ParamType::kFile,
      .default_value = "",
      .help =
          "Message-passing program: CSV lines rank,call[,arguments], for example 0,send,1,240 (peer, bytes), or, from "
          "Python and the command line, a program in TOML; see docs/programs.md.",
      .cite = "BG/L torus paper, Simulator overview",
      .only_if = "traffic.mode=program"};
  ParamRecord payload_bytes{.path = "traffic.payload_bytes",
                            .type = ParamType::kInt,
                            .default_value = "240",
                            .min = 1,
                            .max = 65535,
                            .unit = "bytes",
                            .help = "Most bytes of a message in one packet.",
                            .cite = "BG/L torus paper, All-to-all",
                            .only_if = "traffic.mode=program"};
  ParamRecord header_bytes{.path = "traffic.header_bytes",
                           .type = ParamType::kInt,
                           .default_value = "16",
                           .min = 1,
                           .max = 65535,
                           .unit = "bytes",
                           .help = "Bytes that software adds to each packet; a message of 0 bytes has only these.",
                           .cite = "BG/L torus paper, All-to-all",
                           .only_if = "traffic.mode=program"};
  ParamRecord flit_bytes{.path = "traffic.flit_bytes",
                         .type = ParamType::kInt,
                         .default_value = "32",
                         .min = 1,
                         .max = 65535,
                         .unit = "bytes",
                         .help =
                             "Size of a flit; a packet is a whole number of flits. CSV traces give their lengths in "
                             "flits.",
                         .cite = "BG/L torus paper, Torus network",
                         .only_if = "traffic.mode=program|host|trace"};
  ParamRecord send_overhead{
      .path = "traffic.send_overhead",
      .type = ParamType::kInt,
      .default_value = "0",
      .min = 0,
      .max = 1000000000,
      .unit = "cycles",
      .help = "Processor time for a message that a terminal sends, before its first packet can leave.",
      .only_if = "traffic.mode=program"};
  ParamRecord recv_overhead{.path = "traffic.recv_overhead",
                            .type = ParamType::kInt,
                            .default_value = "0",
                            .min = 0,
                            .max = 1000000000,
                            .unit = "cycles",
                            .help = "Processor time for a message that has arrived.",
                            .only_if = "traffic.mode=program"};
} traffic{};

}  // namespace flitlab::param
