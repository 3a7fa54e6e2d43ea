#pragma once
/// Control of a job: all its replicas run side by side through warm-up, measurement window and drain.
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
  u32 running = 0;                 ///< unfinished replicas
  std::map<u32, Result> finished;  ///< newly finished replicas, by index in the job
};

/// Checkpoint file of a long run.
struct CheckpointChoice {
  std::string path;  ///< empty: no checkpoints
  double every_seconds = 60;
};

/// Runs experiments of the same structure as the replicas of one job. Returns their results in order. A replica's
/// result does not depend on the other replicas of its job. `report` is called after every epoch; an exception from it
/// stops the run. With a checkpoint path, the job resumes from the file if it exists, and saves itself every
/// `every_seconds`, when it is stopped and at its end; the caller removes the file once it has stored the results.
/// Results after an interruption are bit by bit the same. Throws RunError on a deadlock, a violated conservation law or
/// a device fault.
std::vector<Result> run_job(const std::vector<Experiment>& experiments, const EngineChoice& choice,
                            const std::function<void(const Progress&)>& report,
                            const CheckpointChoice& checkpoint = {});

/// Returns the cycles of an epoch, between two evaluations by the host: run.epoch_cycles. "auto" is shorter with an
/// automatic window, so that the window can end early.
u32 cycles_of_epoch(const Experiment& experiment);

/// Returns one feed per experiment if they replay traces, else an empty list. ConfigError if a file cannot be read.
std::vector<TraceFeed> make_feeds(const std::vector<Experiment>& experiments, const Plan& plan);

/// Throws RunError if a replica is deadlocked (channels wait for one another in a cycle), or if other units of its
/// model have stopped. `threads`: threads of the host for the search.
void check_deadlock(const Engine& engine, const Plan& plan, std::span<const u32> replicas, u32 threads);

/// Returns the engine for a job of `replicas`: the backend ("auto" resolved) and the memory that is free beside the
/// job's peak, in which lane state may fit. Throws ConfigError if the peak exceeds the free memory of the machine or
/// the GPU. `kept_states`: copies of a state that the caller keeps.
EngineChoice choose_engine(const Plan& plan, u32 replicas, const EngineChoice& requested, u32 kept_states = 0);

}  // namespace flitlab
