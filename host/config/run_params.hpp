#pragma once
/// Parameters of a run: seed, warm-up, window and drain, time limits.
#include "kernels/common/param.hpp"

namespace flitlab::param {

inline constexpr struct RunParams {
  ParamRecord seed{.path = "run.seed",
                   .type = ParamType::kInt,
                   .default_value = "1",
                   .min = 0,
                   .max = 9007199254740991.0,
                   .help = "Seed of all random draws.",
                   .per_replica = true};
  ParamRecord cycle_ns{
      .path = "run.cycle_ns",
      .type = ParamType::kFloat,
      .default_value = "1",
      .min = 0.0001,
      .max = 1e6,
      .unit = "ns",
      .help = "Length of a cycle: converts the times in program files of other simulators (GOAL, Chakra).",
      .only_if = "traffic.mode=program"};
  ParamRecord fast_forward{
      .path = "run.fast_forward",
      .type = ParamType::kBool,
      .default_value = "true",
      .help =
          "Skips the cycles of a program in which the network repeats itself. Results and the final state are the "
          "same; false: every cycle is stepped.",
      .only_if = "traffic.mode=program"};
  ParamRecord warmup_cycles{
      .path = "run.warmup_cycles",
      .type = ParamType::kIntOrAuto,
      .default_value = "auto",
      .min = 0,
      .max = 1e9,
      .unit = "cycles",
      .help = "Cycles from traffic.start to the measurement window; auto: until latency and throughput are steady.",
      .cite = "Dally & Towles 24.4"};
  ParamRecord measure_cycles{.path = "run.measure_cycles",
                             .type = ParamType::kIntOrAuto,
                             .default_value = "auto",
                             .min = 1,
                             .max = 1e9,
                             .unit = "cycles",
                             .help =
                                 "Measurement window: packets created in it are measured. auto: until their mean "
                                 "latency is known to run.precision; past saturation, until the accepted load is.",
                             .cite = "Law & Kelton 9.5.3"};
  ParamRecord precision{.path = "run.precision",
                        .type = ParamType::kFloat,
                        .default_value = "0.01",
                        .min = 0.0001,
                        .max = 1,
                        .help =
                            "Relative precision: an automatic window ends when the half width of the 95 % "
                            "confidence interval, divided by the mean, is at most this."};
  ParamRecord longest_window{.path = "run.longest_window",
                             .type = ParamType::kInt,
                             .default_value = "20000",
                             .min = 1,
                             .max = 1e9,
                             .unit = "cycles",
                             .help =
                                 "Longest automatic window. If it ends short of run.precision, the result has "
                                 "window_capped = true."};
  ParamRecord longest_warmup{.path = "run.longest_warmup",
                             .type = ParamType::kInt,
                             .default_value = "100000",
                             .min = 1,
                             .max = 1e9,
                             .unit = "cycles",
                             .help =
                                 "Longest automatic warm-up before an automatic window; if it ends here, the result "
                                 "has warmup_steady = false. Before a window of fixed length the limit is 200 epochs."};
  ParamRecord drain_cycles{.path = "run.drain_cycles",
                           .type = ParamType::kInt,
                           .default_value = "50000",
                           .min = 0,
                           .max = 1e9,
                           .unit = "cycles",
                           .help = "Longest wait after the window for measured packets to arrive; sources continue."};
  ParamRecord epoch_cycles{.path = "run.epoch_cycles",
                           .type = ParamType::kIntOrAuto,
                           .default_value = "auto",
                           .min = 1,
                           .max = 1e6,
                           .unit = "cycles",
                           .help =
                               "Cycles between two evaluations by the host; windows are rounded up to whole epochs. "
                               "auto: 100 with an automatic window, else 500."};
  ParamRecord watchdog_cycles{
      .path = "run.watchdog_cycles",
      .type = ParamType::kInt,
      .default_value = "5000",
      .min = 1,
      .max = 1e9,
      .unit = "cycles",
      .help =
          "Cycles until the first deadlock search; the next are at 2, 4, 8, ... times as many, and at "
          "the end. A run with a window fails at its end if no packet has arrived for this long."};
  ParamRecord stall_cycles{.path = "run.stall_cycles",
                           .type = ParamType::kInt,
                           .default_value = "1000000",
                           .min = 1,
                           .max = 2e9,
                           .unit = "cycles",
                           .help =
                               "A batch, trace, program or broadcast fails if packets are missing and none has "
                               "arrived for this long.",
                           .only_if = "traffic.mode=batch|trace|program|broadcast"};
} run{};

}  // namespace flitlab::param
