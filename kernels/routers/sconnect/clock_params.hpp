#pragma once
/// Parameters of the distributed phase-locked loop (S-Connect, 2.5, 3.3).
#include "kernels/common/param.hpp"

namespace flitlab::sconnect::param {

inline constexpr struct ClockParams {
  ParamRecord emulated{
      .path = "clock.emulated",
      .type = ParamType::kBool,
      .default_value = "false",
      .help = "TICs have oscillators of their own, which pull one another into lock; false: all clocks run alike.",
      .cite = "S-Connect, 2.5; 3.3"};
  ParamRecord spread{.path = "clock.spread",
                     .type = ParamType::kFloat,
                     .default_value = "20",
                     .min = 0,
                     .max = 10000,
                     .unit = "ppm",
                     .help = "Free-running frequencies lie anywhere within this of the nominal frequency.",
                     .only_if = "clock.emulated=true"};
  ParamRecord seed{.path = "clock.seed",
                   .type = ParamType::kInt,
                   .default_value = "1",
                   .min = 0,
                   .max = 4294967295.0,
                   .help = "Seed that draws frequencies, phases and cables.",
                   .only_if = "clock.emulated=true"};
  ParamRecord phase_spread{
      .path = "clock.phase_spread",
      .type = ParamType::kFloat,
      .default_value = "0.75",
      .min = 0,
      .max = 100,
      .unit = "rad",
      .help = "Phases at the start lie anywhere within this of the nominal phase; a clock is 2 pi.",
      .only_if = "clock.emulated=true"};
  ParamRecord cable_phase{.path = "clock.cable_phase",
                          .type = ParamType::kFloat,
                          .default_value = "0.5",
                          .min = 0,
                          .max = 100,
                          .unit = "rad",
                          .help =
                              "The part of a cable's delay beyond whole slots lies anywhere from 0 to this, the same "
                              "both ways: d of equation 1.",
                          .cite = "S-Connect, 2.5",
                          .only_if = "clock.emulated=true"};
  ParamRecord gain{
      .path = "clock.gain",
      .type = ParamType::kFloat,
      .default_value = "0.001",
      .min = 0,
      .max = 0.25,
      .unit = "1/cycle",
      .help = "Pull of an oscillator, rad per routing cycle, for each radian that its phase detector reports.",
      .cite = "S-Connect, 2.5 (K)",
      .only_if = "clock.emulated=true"};
  ParamRecord detector{.path = "clock.detector",
                       .type = ParamType::kChoice,
                       .default_value = "average",
                       .choices = "average|sum",
                       .help =
                           "How a phase detector combines the comparators of a node's active channels: their average, "
                           "as in the TIC, or their sum, as in equation 1.",
                       .cite = "S-Connect, 3.3; 2.5",
                       .only_if = "clock.emulated=true"};
  ParamRecord range{.path = "clock.range",
                    .type = ParamType::kFloat,
                    .default_value = "4",
                    .min = 0.01,
                    .max = 1000,
                    .unit = "rad",
                    .help = "Range of a comparator, from an empty FIFO to a full one; it saturates there.",
                    .cite = "S-Connect, 3.3",
                    .only_if = "clock.emulated=true"};
  ParamRecord knee{.path = "clock.knee",
                   .type = ParamType::kFloat,
                   .default_value = "1",
                   .min = 0,
                   .max = 1000,
                   .unit = "rad",
                   .help = "Deviation from half full beyond which a comparator has its higher gain.",
                   .cite = "S-Connect, 3.3 (R1, R2)",
                   .only_if = "clock.emulated=true"};
  ParamRecord outer_gain{.path = "clock.outer_gain",
                         .type = ParamType::kFloat,
                         .default_value = "2",
                         .min = 1,
                         .max = 64,
                         .help = "Gain beyond clock.knee, relative to that near half full; 1: linear.",
                         .cite = "S-Connect, 3.3 (R1 > R2; the ratio is not given)",
                         .only_if = "clock.emulated=true"};
  ParamRecord tuning{.path = "clock.tuning",
                     .type = ParamType::kFloat,
                     .default_value = "100",
                     .min = 0,
                     .max = 100000,
                     .unit = "ppm",
                     .help = "How far an oscillator can be pulled, either way.",
                     .cite = "S-Connect, 2.5; 2.6",
                     .only_if = "clock.emulated=true"};
  ParamRecord file{.path = "clock.file",
                   .type = ParamType::kFile,
                   .default_value = "",
                   .help =
                       "Oscillators that are not drawn: CSV lines TIC,ppm[,rad], free-running frequency and phase at "
                       "the start; one line for the TICs of a node or switch, which share an oscillator.",
                   .only_if = "clock.emulated=true"};
} clock{};

}  // namespace flitlab::sconnect::param
