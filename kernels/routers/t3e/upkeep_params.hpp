#pragma once
/// Parameters of the Cray T3E for registers, faults, the special network and boot. The sources that they cite are those
/// of params.hpp.
#include "kernels/common/param.hpp"

namespace flitlab::t3e::param {

inline constexpr struct RegistersParams {
  ParamRecord file{.path = "registers.file",
                   .type = ParamType::kFile,
                   .default_value = "",
                   .help =
                       "CSV file of registers to write before cycle 0, over the values that follow from the "
                       "configuration. Lines: node,name,value; node * is every node; hexadecimal values as 0x1F.",
                   .cite = "manual; kernels/routers/t3e/README.md lists the registers"};
} registers{};

inline constexpr struct FaultsParams {
  ParamRecord links{.path = "faults.links",
                    .type = ParamType::kIntList,
                    .default_value = "[]",
                    .min = 0,
                    .max = 2175,
                    .help =
                        "Links that break, two numbers each: a node and the direction in which the link leaves it "
                        "(0 to 5: +X +Y +Z -X -Y -Z). Both channels of the link break.",
                    .cite = "paper, section 9"};
  ParamRecord nodes{.path = "faults.nodes",
                    .type = ParamType::kIntList,
                    .default_value = "[]",
                    .min = 0,
                    .max = 2175,
                    .help = "Nodes that break, with all their links.",
                    .cite = "paper, section 9"};
  ParamRecord cycle{.path = "faults.cycle",
                    .type = ParamType::kInt,
                    .default_value = "0",
                    .min = 0,
                    .max = 4000000000,
                    .unit = "clock",
                    .help =
                        "When links and nodes break. 0: before the run, with tables that route around them. Later: "
                        "a packet from a broken link is lost unless it has reached the front of its virtual channel "
                        "before the break.",
                    .cite = "paper, section 9; manual, R_CHAN[7 : 0] Registers"};
  ParamRecord reroute_delay{
      .path = "faults.reroute_delay",
      .type = ParamType::kInt,
      .default_value = "1000",
      .min = 0,
      .max = 4000000000,
      .unit = "clocks",
      .help = "Time from the break to the loading of new tables, in all nodes at once, that route around it.",
      .cite = "paper, section 9"};
  ParamRecord unconnected{
      .path = "faults.unconnected",
      .type = ParamType::kChoice,
      .default_value = "refuse",
      .choices = "refuse|warn",
      .help =
          "If working PEs cannot reach one another, so that their packets would be lost: refuse rejects the "
          "experiment, warn runs it with a warning.",
      .cite = "flitlab's own"};
  ParamRecord error_rate{
      .path = "faults.error_rate",
      .type = ParamType::kFloat,
      .default_value = "0",
      .min = 0,
      .max = 1,
      .unit = "per flit and link",
      .help =
          "Probability that a link corrupts a flit. Routers detect the error; the destination's router corrects "
          "it.",
      .cite = "paper, section 9"};
} faults{};

inline constexpr struct SpecialParams {
  ParamRecord enabled{.path = "special.enabled",
                      .type = ParamType::kBool,
                      .default_value = "false",
                      .help =
                          "Emulates the special network, by which software reaches the registers of nodes in "
                          "any state.",
                      .cite = "paper, section 8; manual, Special Routing"};
  ParamRecord router_delay{.path = "special.router_delay",
                           .type = ParamType::kInt,
                           .default_value = "3",
                           .min = 1,
                           .max = 32,
                           .unit = "clocks",
                           .help =
                               "From a router's input pins to the next router's, for a special packet. Unpublished; "
                               "the default is the delay without arbitration.",
                           .cite = "paper, section 8 and Table 2"};
} special{};

inline constexpr struct BootParams {
  ParamRecord state{
      .path = "boot.state",
      .type = ParamType::kChoice,
      .default_value = "loaded",
      .choices = "loaded|cold",
      .help =
          "Registers at cycle 0. loaded: as software would load them; cold: all zero, for software to load "
          "(flitlab.t3e.boot).",
      .cite = "manual, Direction Order Routing"};
} boot{};

}  // namespace flitlab::t3e::param
