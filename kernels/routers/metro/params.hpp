#pragma once
/// Parameters of METRO: topology, routers, endpoints, faults. A cycle is a clock. A flit is a word of a channel, w bits
/// of each slice.
#include "kernels/common/param.hpp"
#include "kernels/routers/metro/choices.hpp"

namespace flitlab::metro::param {

inline constexpr struct TopologyParams {
  ParamRecord kind{.path = "topology.kind",
                   .type = ParamType::kChoice,
                   .default_value = "multibutterfly",
                   .choices = "multibutterfly|fat_tree|file",
                   .help = "Multistage network with several paths between endpoints.",
                   .cite = "METRO, 2, Network Organization"};
  ParamRecord radix{.path = "topology.radix",
                    .type = ParamType::kIntList,
                    .default_value = "[4, 4]",
                    .min = 2,
                    .max = 32,
                    .help = "Directions of the routers of each stage; their product is the number of endpoints.",
                    .cite = "METRO, 3; Figure 1",
                    .only_if = "topology.kind=multibutterfly"};
  ParamRecord dilation{.path = "topology.dilation",
                       .type = ParamType::kIntList,
                       .default_value = "[2, 1]",
                       .min = 1,
                       .max = 32,
                       .unit = "backward ports",
                       .help = "Equivalent backward ports in each direction of the routers of each stage.",
                       .cite = "METRO, 5.1, Configurable Dilation",
                       .only_if = "topology.kind=multibutterfly"};
  ParamRecord wiring{.path = "topology.wiring",
                     .type = ParamType::kChoice,
                     .default_value = "random",
                     .choices = "random|regular",
                     .help = "How wires between two stages are assigned to equivalent ports.",
                     .cite = "METRO, 2 (after Leighton, Lisinski and Maggs)",
                     .only_if = "topology.kind!=file"};
  ParamRecord wiring_seed{.path = "topology.wiring_seed",
                          .type = ParamType::kInt,
                          .default_value = "1",
                          .min = 0,
                          .max = 4294967295.0,
                          .help = "Seed of the random wiring.",
                          .only_if = "topology.wiring=random"};
  ParamRecord arity{.path = "topology.arity",
                    .type = ParamType::kInt,
                    .default_value = "4",
                    .min = 2,
                    .max = 16,
                    .help = "Children of each node of a fat tree.",
                    .cite = "METRO, 2 (fat trees)",
                    .only_if = "topology.kind=fat_tree"};
  ParamRecord levels{.path = "topology.levels",
                     .type = ParamType::kInt,
                     .default_value = "2",
                     .min = 1,
                     .max = 6,
                     .help = "Levels of a fat tree; it has arity^levels endpoints.",
                     .only_if = "topology.kind=fat_tree"};
  ParamRecord ports{.path = "topology.ports",
                    .type = ParamType::kInt,
                    .default_value = "8",
                    .min = 4,
                    .max = 32,
                    .help =
                        "Forward ports of a fat tree's router, and as many backward ports. In a router on the path up, "
                        "half of the backward ports lead further up and half cross over to the path down.",
                    .only_if = "topology.kind=fat_tree"};
  ParamRecord links{.path = "topology.links",
                    .type = ParamType::kInt,
                    .default_value = "2",
                    .min = 1,
                    .max = 8,
                    .help = "Links from each endpoint into the network, and as many out of it.",
                    .cite = "METRO, Figure 1",
                    .only_if = "topology.kind!=file"};
  ParamRecord file{.path = "topology.file",
                   .type = ParamType::kFile,
                   .default_value = "",
                   .help =
                       "Network: CSV lines router,NAME,forward ports,radix,dilation and wire,FROM,TO[,delay]; see "
                       "kernels/routers/metro/README.md.",
                   .only_if = "topology.kind=file"};
  ParamRecord wire_delay{
      .path = "topology.wire_delay",
      .type = ParamType::kInt,
      .default_value = "0",
      .min = 0,
      .max = 15,
      .unit = "cycles",
      .help =
          "Pipeline stages of the wires between routers and from routers to endpoints; 0: the wire is "
          "part of the router's own pipeline stage.",
      .cite = "METRO, 5.1, Variable Turn Delay; Table 4 (vtd)"};
  ParamRecord entry_delay{.path = "topology.entry_delay",
                          .type = ParamType::kInt,
                          .default_value = "0",
                          .min = 0,
                          .max = 15,
                          .unit = "cycles",
                          .help = "Pipeline stages of the wires from endpoints into the network.",
                          .cite = "METRO, Table 4, which counts as many wires as stages"};
} topology{};

inline constexpr struct RouterParams {
  ParamRecord width{.path = "router.width",
                    .type = ParamType::kInt,
                    .default_value = "8",
                    .min = 1,
                    .max = 16,
                    .unit = "bits",
                    .help = "Width of a router's data channels (w).",
                    .cite = "METRO, Table 1"};
  ParamRecord cascade{.path = "router.cascade",
                      .type = ParamType::kInt,
                      .default_value = "1",
                      .min = 1,
                      .max = 4,
                      .help = "Cascaded routers (slices) that act as one wide router (c).",
                      .cite = "METRO, 5.1, Router Width Cascading; Table 4"};
  ParamRecord max_dilation{
      .path = "router.max_dilation",
      .type = ParamType::kIntOrAuto,
      .default_value = "auto",
      .min = 1,
      .max = 32,
      .help =
          "Largest dilation that a router can be configured for (max_d), a power of two; auto: as the network needs.",
      .cite = "METRO, Table 1"};
  ParamRecord header_words{
      .path = "router.header_words",
      .type = ParamType::kInt,
      .default_value = "0",
      .min = 0,
      .max = 8,
      .unit = "words",
      .help =
          "Words that each router consumes from the head of a stream to set up a connection (hw); 0: "
          "routers take bits of shared header words.",
      .cite = "METRO, Table 1; 5.1, Pipelined Connection Setup"};
  ParamRecord header_straddles{
      .path = "router.header_straddles",
      .type = ParamType::kBool,
      .default_value = "true",
      .help =
          "With router.header_words = 0, the bits of a direction may straddle two header words if this shortens the "
          "header; false: they are always in one word.",
      .cite = "METRO, Table 4 (hbits)",
      .only_if = "topology.kind=multibutterfly"};
  ParamRecord pipeline_stages{.path = "router.pipeline_stages",
                              .type = ParamType::kInt,
                              .default_value = "1",
                              .min = 1,
                              .max = 8,
                              .unit = "cycles",
                              .help = "Cycles that a word takes through a router (dp).",
                              .cite = "METRO, Table 1; 5.1, Pipelining Data Through Routers"};
  ParamRecord max_turn_delay{.path = "router.max_turn_delay",
                             .type = ParamType::kInt,
                             .default_value = "15",
                             .min = 0,
                             .max = 15,
                             .unit = "cycles",
                             .help = "Longest wire delay that a port can be configured for (max_vtd).",
                             .cite = "METRO, Table 1"};
  ParamRecord random_inputs{.path = "router.random_inputs",
                            .type = ParamType::kInt,
                            .default_value = "4",
                            .min = 1,
                            .max = 32,
                            .help =
                                "Random inputs of a router (ri). Forward port p uses input p modulo ri, so ports that "
                                "share an input use the same random bits in a cycle.",
                            .cite = "METRO, Table 1"};
  ParamRecord shared_random{.path = "router.shared_random",
                            .type = ParamType::kBool,
                            .default_value = "true",
                            .help = "Cascaded routers share their random inputs; false: their choices disagree.",
                            .cite = "METRO, 5.1, Router Width Cascading"};
  ParamRecord in_use_check{
      .path = "router.in_use_check",
      .type = ParamType::kBool,
      .default_value = "true",
      .help = "Cascaded routers compare their backward ports in use (IN-USE) and shut connections where they disagree.",
      .cite = "METRO, 5.1, Router Width Cascading"};
  ParamRecord scan_paths{
      .path = "router.scan_paths",
      .type = ParamType::kInt,
      .default_value = "1",
      .min = 1,
      .max = 8,
      .help = "Test access ports of a router (sp). Its registers are accessible while one of them works.",
      .cite = "METRO, Table 1; 5.1, Scan Support"};
  ParamRecord fast_reclaim{
      .path = "router.fast_reclaim",
      .type = ParamType::kBool,
      .default_value = "true",
      .help =
          "A router releases a blocked connection at once by the backward control bit; false: the connection waits for "
          "TURN, and the router answers with STATUS and its checksum.",
      .cite = "METRO, 5.1, Path Reclamation"};
  ParamRecord detailed_stages{
      .path = "router.detailed_stages",
      .type = ParamType::kIntList,
      .default_value = "[]",
      .min = 0,
      .max = 31,
      .help = "Stages whose forward ports use detailed reclamation all the same; the first stage is 0.",
      .cite = "METRO, 5.1, Path Reclamation",
      .only_if = "router.fast_reclaim=true"};
} router{};

inline constexpr struct EndpointParams {
  ParamRecord stalls{.path = "endpoint.stalls",
                     .type = ParamType::kBool,
                     .default_value = "false",
                     .help =
                         "A processor stalls until its message is acknowledged; traffic.load is the load that it "
                         "offers while it does not stall.",
                     .cite = "METRO, Figure 3"};
  ParamRecord think_cycles{
      .path = "endpoint.think_cycles",
      .type = ParamType::kIntOrAuto,
      .default_value = "auto",
      .min = 0,
      .max = 1000000,
      .unit = "cycles",
      .help =
          "Time from the end of a transaction to the creation of the next message, for processors that stall or wait "
          "for replies. 0: the cycle after the end; auto: a random time, by traffic.load. With a number, "
          "traffic.load only sets the time of the first message.",
      .cite = "METRO, Figure 3, which does not give it"};
  ParamRecord checksum{.path = "endpoint.checksum",
                       .type = ParamType::kChoice,
                       .default_value = "crc16",
                       .choices = words_of(Checksum{}),
                       .help = "End-to-end check of a message; its words are part of the message.",
                       .cite = "METRO, 4; Table 3 (checksum included)"};
  ParamRecord retry{.path = "endpoint.retry",
                    .type = ParamType::kChoice,
                    .default_value = "backoff",
                    .choices = "immediate|backoff",
                    .help = "When a source retries: at once, or after a random time.",
                    .cite = "METRO, 4, Stochastic Path Selection"};
  ParamRecord backoff_cycles{.path = "endpoint.backoff_cycles",
                             .type = ParamType::kInt,
                             .default_value = "8",
                             .min = 1,
                             .max = 65535,
                             .unit = "cycles",
                             .help = "Longest wait before the second attempt; it doubles with every further attempt.",
                             .only_if = "endpoint.retry=backoff"};
  ParamRecord backoff_doublings{.path = "endpoint.backoff_doublings",
                                .type = ParamType::kInt,
                                .default_value = "4",
                                .min = 0,
                                .max = 15,
                                .help = "Largest number of times that the longest wait doubles.",
                                .only_if = "endpoint.retry=backoff"};
  ParamRecord most_attempts{
      .path = "endpoint.most_attempts",
      .type = ParamType::kInt,
      .default_value = "0",
      .min = 0,
      .max = 65535,
      .help = "Attempts after which a source abandons a message and counts it as dropped; 0: no limit."};
  ParamRecord closed_by{.path = "endpoint.closed_by",
                        .type = ParamType::kChoice,
                        .default_value = "destination",
                        .choices = "destination|source",
                        .help =
                            "End that closes a connection after the answer: the destination by DROP, or the source, "
                            "after the destination has turned the connection back.",
                        .cite = "METRO, 4; 5.1, Connection Reversal"};
} endpoint{};

inline constexpr struct FaultsParams {
  ParamRecord file{.path = "faults.file",
                   .type = ParamType::kFile,
                   .default_value = "",
                   .help = "Faults: CSV lines cycle,what,where[,value]; see kernels/routers/metro/README.md.",
                   .cite = "METRO, 4; 5.1"};
  ParamRecord dead_routers{
      .path = "faults.dead_routers",
      .type = ParamType::kFloat,
      .default_value = "0",
      .min = 0,
      .max = 1,
      .help = "Fraction of the routers that are dead, drawn so that every endpoint still reaches every other.",
      .cite = "METRO, 6.2"};
  ParamRecord dead_links{.path = "faults.dead_links",
                         .type = ParamType::kFloat,
                         .default_value = "0",
                         .min = 0,
                         .max = 1,
                         .help = "Fraction of the links between routers that are dead.",
                         .cite = "METRO, 6.2"};
  ParamRecord seed{.path = "faults.seed",
                   .type = ParamType::kInt,
                   .default_value = "1",
                   .min = 0,
                   .max = 4294967295.0,
                   .help = "Seed of the choice of dead routers and links."};
  ParamRecord cycle{.path = "faults.cycle",
                    .type = ParamType::kInt,
                    .default_value = "0",
                    .min = 0,
                    .max = 1000000000,
                    .unit = "cycle",
                    .help = "Cycle in which these routers and links fail."};
  ParamRecord masked{.path = "faults.masked",
                     .type = ParamType::kBool,
                     .default_value = "false",
                     .help = "Ports that lead to these routers and links are disabled from faults.cycle on.",
                     .cite = "METRO, 5.1, Scan Support"};
} faults{};

}  // namespace flitlab::metro::param
