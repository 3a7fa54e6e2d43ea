#pragma once
/// Parameters of the distributed phase-locked loop (S-Connect, 2.5, 3.3).
#include "kernels/common/param.hpp"

namespace flitlab::sconnect::param {

inline constexpr struct ClockParams {
  ParamRecord emulated{
      .path = "clock.emulated",
      .type = ParamType::kBool,
      .default_value = "false",
      .help =
          "true: each node or switch has an oscillator, and these synchronise; false: all clocks have one "
          "frequency.",
      .cite = "S-Connect, 2.5; 3.3"};
  ParamRecord spread{.path = "clock.spread",
                     .type = ParamType::kFloat,
                     .default_value = "20",
                     .min = 0,
                     .max = 10000,
                     .unit = "ppm",
                     .help = "Largest deviation of a free-running frequency from nominal; drawn uniformly.",
                     .only_if = "clock.emulated=true"};
  ParamRecord seed{.path = "clock.seed",
                   .type = ParamType::kInt,
                   .default_value = "1",
                   .min = 0,
                   .max = 4294967295.0,
                   .help = "Seed of the drawn frequencies, phases and cable delays.",
                   .only_if = "clock.emulated=true"};
  ParamRecord phase_spread{.path = "clock.phase_spread",
                           .type = ParamType::kFloat,
                           .default_value = "0.75",
                           .min = 0,
                           .max = 100,
                           .unit = "rad",
                           .help = "Largest deviation of a phase at the start; drawn uniformly. A clock is 2 pi.",
                           .only_if = "clock.emulated=true"};
  ParamRecord cable_phase{.path = "clock.cable_phase",
                          .type = ParamType::kFloat,
                          .default_value = "0.5",
                          .min = 0,
                          .max = 100,
                          .unit = "rad",
                          .help =
                              "Largest part of a cable's delay beyond whole slots, drawn uniformly from 0, the same in "
                              "both directions: d of equation 1.",
                          .cite = "S-Connect, 2.5",
                          .only_if = "clock.emulated=true"};
  ParamRecord gain{
      .path = "clock.gain",
      .type = ParamType::kFloat,
      .default_value = "0.001",
      .min = 0,
      .max = 0.25,
      .unit = "1/cycle",
      .help =
          "Frequency shift of an oscillator, rad per routing cycle, for each radian that its phase detector "
          "reports.",
      .cite = "S-Connect, 2.5 (K)",
      .only_if = "clock.emulated=true"};
  ParamRecord detector{.path = "clock.detector",
                       .type = ParamType::kChoice,
                       .default_value = "average",
                       .choices = "average|sum",
                       .help =
                           "How a phase detector combines the comparators of a node's active channels. average: as in "
                           "the TIC; sum: as in equation 1.",
                       .cite = "S-Connect, 3.3; 2.5",
                       .only_if = "clock.emulated=true"};
  ParamRecord range{.path = "clock.range",
                    .type = ParamType::kFloat,
                    .default_value = "4",
                    .min = 0.01,
                    .max = 1000,
                    .unit = "rad",
                    .help = "Range of a comparator, from an empty FIFO to a full one; it saturates at both ends.",
                    .cite = "S-Connect, 3.3",
                    .only_if = "clock.emulated=true"};
  ParamRecord knee{.path = "clock.knee",
                   .type = ParamType::kFloat,
                   .default_value = "1",
                   .min = 0,
                   .max = 1000,
                   .unit = "rad",
                   .help = "Depth from half full beyond which a comparator has its higher gain.",
                   .cite = "S-Connect, 3.3 (R1, R2)",
                   .only_if = "clock.emulated=true"};
  ParamRecord outer_gain{.path = "clock.outer_gain",
                         .type = ParamType::kFloat,
                         .default_value = "2",
                         .min = 1,
                         .max = 64,
                         .help = "Gain beyond clock.knee, relative to the gain near half full; 1: linear.",
                         .cite = "S-Connect, 3.3 (R1 > R2; the ratio is not given)",
                         .only_if = "clock.emulated=true"};
  ParamRecord tuning{.path = "clock.tuning",
                     .type = ParamType::kFloat,
                     .default_value = "100",
                     .min = 0,
                     .max = 100000,
                     .unit = "ppm",
                     .help = "Largest frequency shift of an oscillator in either direction.",
                     .cite = "S-Connect, 2.5; 2.6",
                     .only_if = "clock.emulated=true"};
  ParamRecord file{.path = "clock.file",
                   .type = ParamType::kFile,
                   .default_value = "",
                   .help =
                       "CSV lines TIC,ppm[,rad] that replace drawn oscillators: free-running frequency and phase at "
                       "the "
                       "start. The TICs of a node or switch share an oscillator and need one line.",
                   .only_if = "clock.emulated=true"};
} clock{};

}  // namespace flitlab::sconnect::param
