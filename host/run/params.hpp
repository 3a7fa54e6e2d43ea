#pragma once
/// Parameters of a run: randomness, phases of measurement, watchdog.
#include "kernels/common/param.hpp"

namespace flitlab::param {

inline constexpr struct RunParams {
  ParamRecord seed{.path = "run.seed",
                   .type = ParamType::kInt,
                   .default_value = "1",
                   .min = 0,
                   .max = 9007199254740991.0,
                   .help = "Seed of all randomness.",
                   .per_replica = true};
  ParamRecord warmup_cycles{
      .path = "run.warmup_cycles",
      .type = ParamType::kIntOrAuto,
      .default_value = "auto",
      .min = 0,
      .max = 1e9,
      .unit = "cycles",
      .help = "Cycles from traffic.start to the measurement; auto: until latency and throughput have settled.",
      .cite = "Dally & Towles 24.4"};
  ParamRecord measure_cycles{.path = "run.measure_cycles",
                             .type = ParamType::kIntOrAuto,
                             .default_value = "auto",
                             .min = 1,
                             .max = 1e9,
                             .unit = "cycles",
                             .help =
                                 "Measurement window: packets created in it are measured. auto: until their mean "
                                 "latency is known to run.precision; past saturation, the accepted load.",
                             .cite = "Law & Kelton 9.5.3"};
  ParamRecord precision{.path = "run.precision",
                        .type = ParamType::kFloat,
                        .default_value = "0.01",
                        .min = 0.0001,
                        .max = 1,
                        .help =
                            "An automatic window ends when half of the 95 % confidence interval is at most this "
                            "part of the mean."};
  ParamRecord longest_window{
      .path = "run.longest_window",
      .type = ParamType::kInt,
      .default_value = "20000",
      .min = 1,
      .max = 1e9,
      .unit = "cycles",
      .help =
          "An automatic window ends here at the latest; the result names the precision reached if "
          "it is not run.precision (window_capped)."};
  ParamRecord longest_warmup{.path = "run.longest_warmup",
                             .type = ParamType::kInt,
                             .default_value = "100000",
                             .min = 1,
                             .max = 1e9,
                             .unit = "cycles",
                             .help =
                                 "An automatic warm-up before an automatic window is given up here; the result says "
                                 "so (warmup_steady). Before a window of fixed length it is after 200 epochs."};
  ParamRecord drain_cycles{.path = "run.drain_cycles",
                           .type = ParamType::kInt,
                           .default_value = "50000",
                           .min = 0,
                           .max = 1e9,
                           .unit = "cycles",
                           .help = "Longest wait for measured packets to arrive; load goes on meanwhile."};
  ParamRecord epoch_cycles{.path = "run.epoch_cycles",
                           .type = ParamType::kIntOrAuto,
                           .default_value = "auto",
                           .min = 1,
                           .max = 1e6,
                           .unit = "cycles",
                           .help =
                               "Cycles between two looks of the host; windows are rounded up to whole epochs. auto: "
                               "100 with an automatic window, else 500."};
  ParamRecord watchdog_cycles{
      .path = "run.watchdog_cycles",
      .type = ParamType::kInt,
      .default_value = "5000",
      .min = 1,
      .max = 1e9,
      .unit = "cycles",
      .help =
          "Cycles until the first search for deadlock; the next are at two, four, eight times as "
          "many, and where a run ends. A run with a window fails there if no packet has arrived for so long."};
  ParamRecord stall_cycles{.path = "run.stall_cycles",
                           .type = ParamType::kInt,
                           .default_value = "1000000",
                           .min = 1,
                           .max = 2e9,
                           .unit = "cycles",
                           .help =
                               "A batch, trace, program or broadcast is given up when packets have been under way "
                               "for so long and none has arrived.",
                           .only_if = "traffic.mode=batch|trace|program|broadcast"};
} run{};

}  // namespace flitlab::param
