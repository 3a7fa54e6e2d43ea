#pragma once
/// Parameters of the canonical virtual-channel router.
#include "kernels/common/param.hpp"
#include "kernels/routers/vc/choices.hpp"

namespace flitlab::vc::param {

inline constexpr struct ChannelParams {
  ParamRecord delay{.path = "topology.channel_delay",
                    .type = ParamType::kIntOrList,
                    .default_value = "1",
                    .min = 1,
                    .max = 4096,
                    .unit = "cycles",
                    .help =
                        "Delay of a flit on a channel between routers: one number, or a list with a number for each "
                        "dimension; in a dragonfly or Megafly, a list of two: within groups and between them. A "
                        "channel whose delay is in a list or in topology.file also returns credits later: "
                        "router.credit_delay is for a channel of 1 cycle."};
  ParamRecord by_distance{.path = "topology.delay_by_distance",
                          .type = ParamType::kBool,
                          .default_value = "false",
                          .help =
                              "The delay of a channel is topology.channel_delay times the distance of its two routers, "
                              "the sum of the differences of their coordinates. Credits take as much longer.",
                          .only_if = "topology.kind=hyperx|flattened_butterfly|cmesh"};
  ParamRecord width{.path = "topology.channel_width",
                    .type = ParamType::kNumberOrList,
                    .default_value = "1",
                    .min = 1.0 / 64,
                    .max = 1,
                    .unit = "flits/cycle",
                    .help =
                        "Width of the channels between routers: a channel of width 1/3 accepts a flit in every third "
                        "cycle. One number, or a list with a number for each dimension; in a dragonfly or Megafly, "
                        "a list of two: within groups and between them. Each is a ratio of integers up to 64."};
} channels{};

inline constexpr struct RouterParams {
  ParamRecord vcs{.path = "router.vcs",
                  .type = ParamType::kInt,
                  .default_value = "4",
                  .min = 1,
                  .max = 16,
                  .help = "Virtual channels per port.",
                  .cite = "Dally & Towles 13.2"};
  ParamRecord buffer_flits{.path = "router.buffer_flits",
                           .type = ParamType::kInt,
                           .default_value = "8",
                           .min = 1,
                           .max = 1024,
                           .unit = "flits",
                           .help = "Buffer of each virtual channel. It holds at most 255 packets.",
                           .cite = "Dally & Towles 17.1"};
  ParamRecord flow_control{.path = "router.flow_control",
                           .type = ParamType::kChoice,
                           .default_value = "wormhole",
                           .choices = words_of(FlowControl{}),
                           .help =
                               "When a packet advances. wormhole: flit by flit; virtual_cut_through: only into a "
                               "buffer with room for the whole packet; store_and_forward: the same, and only after "
                               "the whole packet has arrived.",
                           .cite = "Dally & Towles 13.1-13.2"};
  ParamRecord vc_allocator{.path = "router.vc_allocator",
                           .type = ParamType::kChoice,
                           .default_value = "separable_input_first",
                           .choices = words_of(VcAllocator{}),
                           .help = "Allocator of output virtual channels.",
                           .cite = "Dally & Towles 19.3-19.4"};
  ParamRecord vc_pointer_spans_ports{
      .path = "router.vc_pointer_spans_ports",
      .type = ParamType::kBool,
      .default_value = "false",
      .help =
          "false: the round-robin pointer of an input virtual channel is the number of a virtual channel, whatever "
          "the output port is. true: it returns to virtual channel 0 when a packet requests another output port than "
          "the request before; on a GPU the network then uses scalar state.",
      .cite = "BookSim 2: separable and iSLIP allocators"};
  ParamRecord switch_allocator{.path = "router.switch_allocator",
                               .type = ParamType::kChoice,
                               .default_value = "separable_input_first",
                               .choices = words_of(SwitchAllocator{}),
                               .help =
                                   "Allocator of the crossbar. separable_input_first: an input chooses one of its "
                                   "virtual channels. separable_input_first_by_output: an input chooses an output, "
                                   "then one of the virtual channels that request this output.",
                               .cite = "Dally & Towles 19.3-19.4; by_output: BookSim 2, separable_input_first"};
  ParamRecord allocator_iterations{.path = "router.allocator_iterations",
                                   .type = ParamType::kInt,
                                   .default_value = "1",
                                   .min = 1,
                                   .max = 8,
                                   .help =
                                       "Iterations of iSLIP. The crossbar's allocator moves its pointers only in the "
                                       "first one, the allocator of virtual channels in all.",
                                   .cite = "McKeown 1999"};
  ParamRecord arbiter{
      .path = "router.arbiter",
      .type = ParamType::kChoice,
      .default_value = "round_robin",
      .choices = words_of(ArbiterKind{}),
      .help =
          "Arbiters within the allocators. matrix: least recently served; oldest_first, most_hops_first: the packet "
          "that "
          "was created first, or has made most hops; highest_priority_first: the packet whose class has the highest "
          "traffic.class_priority, and of these the one that was created first; random: every input virtual channel "
          "draws a number in every cycle, and the highest one wins; fixed_priority: the lowest port and virtual "
          "channel, "
          "which can starve the others; round_robin_by_two: round robin whose pointer moves to two past the winner "
          "(the "
          "network uses scalar state). An input's choice among several outputs or output virtual channels is always "
          "round robin.",
      .cite = "Dally & Towles ch. 18; by_two: Becker, open-source router RTL"};
  ParamRecord vc_arbiter_by_port{
      .path = "router.vc_arbiter_by_port",
      .type = ParamType::kBool,
      .default_value = "false",
      .help =
          "Round-robin arbiter of an output virtual channel. false: one pointer over the input virtual channels of all "
          "ports. true: a pointer over input ports, and for each of them one over its virtual channels; the network "
          "uses scalar state.",
      .cite = "Becker, open-source router RTL: separable VC allocators",
      .only_if = "router.arbiter=round_robin|round_robin_by_two"};
  ParamRecord hold_switch_for_packet{
      .path = "router.hold_switch_for_packet",
      .type = ParamType::kBool,
      .default_value = "false",
      .help =
          "An input port stays connected to an output port until the tail of the packet has crossed. It loses the "
          "connection in a cycle in which the packet has no flit or no credit. true: the network uses scalar state, "
          "which is slower (docs/architecture/engines.md).",
      .cite = "BookSim 2: hold_switch_for_packet"};
  ParamRecord wait_for_tail_credit{
      .path = "router.wait_for_tail_credit",
      .type = ParamType::kBool,
      .default_value = "false",
      .help =
          "An output virtual channel is free for the next packet only when the credit of the last packet's tail has "
          "returned, so that a buffer never holds flits of two packets.",
      .cite = "BookSim 2: wait_for_tail_credit"};
  ParamRecord vc_needs_credit{.path = "router.vc_needs_credit",
                              .type = ParamType::kBool,
                              .default_value = "false",
                              .help =
                                  "An output virtual channel is allocated only while it has a credit. false: with "
                                  "wormhole flow control a packet may take a virtual channel without credits. The "
                                  "other kinds of flow control need credits in any case. true: the network uses "
                                  "scalar state.",
                              .cite = "Becker, open-source router RTL: elig_mask"};
  ParamRecord input_speedup{
      .path = "router.input_speedup",
      .type = ParamType::kInt,
      .default_value = "1",
      .min = 1,
      .max = 8,
      .help =
          "Inputs of the crossbar for each input port: virtual channel v uses number v mod input_speedup, so that "
          "several "
          "virtual channels of a port can send in one cycle. More than 1: the network uses scalar state.",
      .cite = "Dally & Towles 17.2; BookSim 2: input_speedup"};
  ParamRecord output_speedup{
      .path = "router.output_speedup",
      .type = ParamType::kInt,
      .default_value = "1",
      .min = 1,
      .max = 8,
      .help =
          "Outputs of the crossbar for each output port: input port p uses number p mod output_speedup, so that "
          "several "
          "flits can enter the queue of a port in one cycle. More than 1: the network uses scalar state.",
      .cite = "Dally & Towles 17.2; BookSim 2: output_speedup"};
  ParamRecord internal_speedup{.path = "router.internal_speedup",
                               .type = ParamType::kFloat,
                               .default_value = "1",
                               .min = 1,
                               .max = 8,
                               .help =
                                   "Rounds of VC allocation and switch allocation in a cycle, on average: with 1.5 "
                                   "every second cycle has two. The number is a ratio n/d of integers with d up to "
                                   "64. With more than 1, route computation, VC allocation and switch allocation of d "
                                   "cycles (from 1 on) take d - 1 cycles and one round, and the network uses scalar "
                                   "state. Channels still carry one flit per cycle.",
                               .cite = "BookSim 2: internal_speedup"};
  ParamRecord output_queue_flits{.path = "router.output_queue_flits",
                                 .type = ParamType::kInt,
                                 .default_value = "0",
                                 .min = 0,
                                 .max = 16384,
                                 .unit = "flits",
                                 .help =
                                     "Queue of each output port, for flits that have crossed the crossbar and wait for "
                                     "the channel. 0: as many as the credits of the port allow.",
                                 .cite = "BookSim 2: output_buffer_size",
                                 .only_if = "router.internal_speedup|router.output_speedup!=1"};
  ParamRecord speculative{
      .path = "router.speculative",
      .type = ParamType::kBool,
      .default_value = "false",
      .help =
          "A head flit requests the crossbar in the cycle in which it requests a virtual channel, even if no channel "
          "is free. The grant is wasted unless it gets a channel with a credit.",
      .cite = "Dally & Towles 16.3.2"};
  ParamRecord routing_delay{.path = "router.routing_delay",
                            .type = ParamType::kInt,
                            .default_value = "1",
                            .min = 0,
                            .max = 15,
                            .unit = "cycles",
                            .help = "Time of route computation; 0: the route is known on arrival (look-ahead).",
                            .cite = "Dally & Towles 16.1"};
  ParamRecord vc_allocation_delay{.path = "router.vc_allocation_delay",
                                  .type = ParamType::kInt,
                                  .default_value = "1",
                                  .min = 0,
                                  .max = 15,
                                  .unit = "cycles",
                                  .help = "Time of virtual-channel allocation."};
  ParamRecord switch_allocation_delay{.path = "router.switch_allocation_delay",
                                      .type = ParamType::kInt,
                                      .default_value = "1",
                                      .min = 1,
                                      .max = 15,
                                      .unit = "cycles",
                                      .help = "Time of switch allocation."};
  ParamRecord switch_traversal_delay{.path = "router.switch_traversal_delay",
                                     .type = ParamType::kInt,
                                     .default_value = "1",
                                     .min = 0,
                                     .max = 15,
                                     .unit = "cycles",
                                     .help = "Time of switch traversal."};
  ParamRecord credit_delay{.path = "router.credit_delay",
                           .type = ParamType::kInt,
                           .default_value = "3",
                           .min = 1,
                           .max = 64,
                           .unit = "cycles",
                           .help =
                               "From the cycle in which a flit wins the switch to the first cycle in which the "
                               "upstream router can use its buffer slot.",
                           .cite = "Dally & Towles 16.2"};
  ParamRecord injection_credit_delay{
      .path = "router.injection_credit_delay",
      .type = ParamType::kInt,
      .default_value = "0",
      .min = 0,
      .max = 64,
      .unit = "cycles",
      .help =
          "From the cycle in which a flit of a terminal wins the switch to the first cycle in which the terminal can "
          "use its buffer slot. 0: as router.credit_delay. With another value, the network uses scalar state on a "
          "GPU.",
      .cite = "BookSim 2: terminals add no credit_delay"};
  ParamRecord early_vc_credits{
      .path = "router.early_vc_credits",
      .type = ParamType::kBool,
      .default_value = "false",
      .help =
          "VC allocation counts a credit one cycle before a flit may use it to win the switch. It matters only if "
          "virtual channels are allocated by their credits. true: the network uses scalar state.",
      .cite = "Becker, open-source router RTL: credits of input VCs have a register of their own",
      .only_if = "router.vc_allocation_delay!=0&router.internal_speedup=1"};
} router{};

/// The condition of options that only grids have (host/routers/vc/checks.cpp compares it with the list of grids).
inline constexpr std::string_view kAdaptiveOnGrids =
    "topology.kind=mesh|torus|ring|hypercube|chiplet_mesh|chiplet_torus&routing.algorithm=minimal_adaptive";

inline constexpr struct RoutingParams {
  ParamRecord algorithm{.path = "routing.algorithm",
                        .type = ParamType::kChoice,
                        .default_value = "dimension_order",
                        .choices = words_of(Algorithm{}),
                        .help =
                            "Routing algorithm; the default is the minimal algorithm of the topology. docs/networks.md "
                            "lists the algorithms of each topology.",
                        .cite =
                            "Dally & Towles ch. 8-11; O1TURN: Seo et al. 2005; ROMM: Nesson & Johnsson 1995; adaptive "
                            "with escape: Duato 1993; UGAL: Singh 2005; PAR: Jiang et al. 2009"};
  ParamRecord vc_assignment{
      .path = "routing.vc_assignment",
      .type = ParamType::kChoice,
      .default_value = "dateline",
      .choices = words_of(VcAssignment{}),
      .help =
          "Classes of virtual channels on rings. dateline: class 0 until a packet has crossed the wrap-around channel, "
          "then 1; packets that never cross it use 1. balanced: the same, but packets that never cross it may use "
          "both. by_crossing: 1 all along the ring for packets that cross it, 0 for the others. two_datelines: the "
          "same, but packets that cross neither this channel nor the middle of the ring draw one of the two. any: one "
          "class, which may deadlock.",
      .cite = "Dally & Towles 14.2.3",
      .only_if = "topology.kind=torus|ring|chiplet_torus"};
  ParamRecord selection{
      .path = "routing.selection",
      .type = ParamType::kChoice,
      .default_value = "most_credits",
      .choices = words_of(Selection{}),
      .help =
          "Which of several shortest ports a packet requests. most_credits: the one whose adaptive VCs have the most "
          "credits. first (grids): the one of the lowest dimension, with its adaptive VCs or, if none is free, its "
          "escape VC. first_or_escape (grids): the same, with all of these VCs at once. two_random (fat trees): of two "
          "random ports, the one with more credits, chosen once.",
      .cite = "BookSim 2: min_adapt, anca",
      .only_if = "routing.algorithm=minimal_adaptive|adaptive"};
  ParamRecord stay_on_escape{
      .path = "routing.stay_on_escape",
      .type = ParamType::kBool,
      .default_value = "false",
      .help =
          "Whether a packet that has taken an escape VC takes only escape VCs from there on. Then packets take "
          "adaptive VCs whose buffers still hold other packets, also with router.flow_control = \"wormhole\".",
      .cite = "BookSim 2: min_adapt",
      .only_if = kAdaptiveOnGrids};
  ParamRecord adaptive_vcs{
      .path = "routing.adaptive_vcs",
      .type = ParamType::kInt,
      .default_value = "0",
      .min = 0,
      .max = 15,
      .help =
          "Adaptive virtual channels of channels between routers, for each message class. The others are used only by "
          "channels of terminals. 0: all that are not escape channels.",
      .cite = "BookSim 2: min_adapt of a torus has one",
      .only_if = kAdaptiveOnGrids};
  ParamRecord table_file{.path = "routing.table_file",
                         .type = ParamType::kFile,
                         .default_value = "",
                         .help =
                             "Routing table that replaces computed shortest paths: CSV lines router,destination,port. "
                             "table: several lines for parallel channels to the next router let packets take any of "
                             "them; minimal_adaptive: packets take any of the ports that lines permit, and escape by "
                             "up*/down* routes.",
                         .only_if = "topology.kind=graph&routing.algorithm=table|minimal_adaptive"};
  ParamRecord intermediate{.path = "routing.intermediate",
                           .type = ParamType::kChoice,
                           .default_value = "group",
                           .choices = words_of(Intermediate{}),
                           .help =
                               "What a packet visits on its way if it does not take the shortest route: a random "
                               "router, or any router of that router's group.",
                           .cite = "Kim et al., ISCA 2008, section 4.1",
                           .only_if = "topology.kind=dragonfly|megafly&routing.algorithm=valiant|ugal_l|par"};
  ParamRecord ejection_vcs{
      .path = "routing.ejection_vcs",
      .type = ParamType::kChoice,
      .default_value = "all",
      .choices = words_of(EjectionVcs{}),
      .help =
          "VCs of channels to terminals. all: a packet may take any VC of its message class. class: it may take only "
          "the VCs of its routing class in the last group.",
      .cite = "BookSim 2: dragonflynew",
      .only_if = "topology.kind=dragonfly|megafly&routing.algorithm=minimal|up_down|valiant|ugal_l|par"};
  ParamRecord congestion{.path = "routing.congestion",
                         .type = ParamType::kChoice,
                         .default_value = "port",
                         .choices = words_of(Congestion{}),
                         .help =
                             "What a choice between ports compares: the flits queued for all VCs of a port (port), or "
                             "only for VCs that the packet may take there (class).",
                         .cite = "Kim et al., ISCA 2008, section 4.3",
                         .only_if = "routing.algorithm=ugal_l|par|dal|dimwar|omniwar"};
  ParamRecord threshold{.path = "routing.threshold",
                        .type = ParamType::kInt,
                        .default_value = "0",
                        .min = -65536,
                        .max = 65536,
                        .unit = "flits x hops",
                        .help =
                            "A packet takes the shortest route if the flits queued for its first channel, times the "
                            "hops of the route, exceed the same product for the other route by at most this number.",
                        .cite = "Kim et al., ISCA 2008, section 4.2",
                        .only_if = "routing.algorithm=ugal_l|par"};
} routing{};

}  // namespace flitlab::vc::param
