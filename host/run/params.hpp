#pragma once
/// Parameters of a run: randomness, phases of measurement, watchdog.
#include <array>

#include "kernels/common/param.hpp"

namespace flitlab {

inline constexpr std::array kRunParams{
    ParamRecord{.path = "run.seed",
                .type = ParamType::kInt,
                .default_value = "1",
                .min = 0,
                .max = 9007199254740991.0,
                .help = "Seed of all randomness.",
                .per_replica = true},
    ParamRecord{.path = "run.warmup_cycles",
                .type = ParamType::kIntOrAuto,
                .default_value = "auto",
                .min = 0,
                .max = 1e9,
                .unit = "cycles",
                .help = "Cycles before measurement; auto: until latency and throughput have settled.",
                .cite = "Dally & Towles 24.4"},
    ParamRecord{.path = "run.measure_cycles",
                .type = ParamType::kInt,
                .default_value = "10000",
                .min = 1,
                .max = 1e9,
                .unit = "cycles",
                .help = "Measurement window: packets created in it are measured."},
    ParamRecord{.path = "run.drain_cycles",
                .type = ParamType::kInt,
                .default_value = "50000",
                .min = 0,
                .max = 1e9,
                .unit = "cycles",
                .help = "Longest wait for measured packets to arrive; load goes on meanwhile."},
    ParamRecord{.path = "run.epoch_cycles",
                .type = ParamType::kInt,
                .default_value = "500",
                .min = 1,
                .max = 1e6,
                .unit = "cycles",
                .help = "Cycles between two looks of the host; windows are rounded up to it."},
    ParamRecord{.path = "run.watchdog_cycles",
                .type = ParamType::kInt,
                .default_value = "5000",
                .min = 1,
                .max = 1e9,
                .unit = "cycles",
                .help = "Cycles between two searches for deadlock."},
};

}  // namespace flitlab
