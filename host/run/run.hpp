#pragma once
/// Run control: warm-up until steady, a measurement window, drain; for all replicas of a job side by side.
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "host/plan/plan.hpp"
#include "host/run/conservation.hpp"
#include "host/run/result.hpp"
#include "host/run/trace_feed.hpp"

namespace flitlab {

struct Progress {
  std::vector<std::string> warnings;  ///< of the plan, with the first report
  u64 cycle = 0;
  u32 running = 0;                 ///< replicas not finished
  std::map<u32, Result> finished;  ///< newly finished, by position in the job
};

/// Where a long run keeps what it has done.
struct CheckpointChoice {
  std::string path;  ///< empty: nowhere
  double every_seconds = 60;
};

/// Runs experiments that share a structure as the replicas of one job. `report` is called after every epoch; what
/// it throws stops the run. A replica's result does not depend on which others share its job. With a checkpoint path
/// the job goes on from the file if there is one, and saves itself now and then, when it is stopped and at its end: who
/// has the results in a safe place removes the file. A run that was interrupted gives the same results bit by bit.
/// Throws RunError on deadlock, a broken conservation law or a device fault.
std::vector<Result> run_job(const std::vector<Experiment>& experiments, const EngineChoice& choice,
                            const std::function<void(const Progress&)>& report,
                            const CheckpointChoice& checkpoint = {});

/// Cycles of an epoch, between two looks of the host: run.epoch_cycles. Automatic ones are short where a window ends by
/// itself, so that it need not be long.
u32 cycles_of_epoch(const Experiment& experiment);

/// One feed per experiment that replays a trace; none otherwise. Throws ConfigError if a file cannot be read.
std::vector<TraceFeed> make_feeds(const std::vector<Experiment>& experiments, const Plan& plan);

/// Throws RunError if channels of a replica wait for one another for ever, or other units of its model have stopped.
void check_deadlock(const Engine& engine, const Plan& plan, std::span<const u32> replicas, u32 threads);

/// The engine for a job of `replicas`: the backend that "auto" means for it, and how much memory is left beside what it
/// takes at its peak. Throws ConfigError if that is more than is free in the machine or on the device.
/// `kept_states`: copies of a state that the caller keeps.
EngineChoice choose_engine(const Plan& plan, u32 replicas, const EngineChoice& asked, u32 kept_states = 0);

}  // namespace flitlab
