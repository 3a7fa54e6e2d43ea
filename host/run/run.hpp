#pragma once
/// Control of a job. All replicas of the job run side by side through warm-up, measurement window and drain.
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "host/plan/plan.hpp"
#include "host/run/conservation.hpp"
#include "host/run/feed.hpp"
#include "host/run/result.hpp"

namespace flitlab {

struct Progress {
  std::vector<std::string> warnings;  ///< warnings of the plan; only in the first report
  u64 cycle = 0;
  u32 running = 0;  ///< number of unfinished replicas
  /// Results of the replicas that have finished since the last report, by index in the job.
  std::map<u32, Result> finished;
};

/// Where and how often a long run saves a checkpoint.
struct CheckpointChoice {
  std::string path;  ///< name of the file; empty: no checkpoints
  double every_seconds = 60;
};

/// Runs experiments of the same structure as the replicas of one job. Returns the results in the order of the
/// experiments. The result of a replica does not depend on the other replicas of its job. `report` is called after
/// every epoch; an exception from it stops the run.
/// With a checkpoint path, the job resumes from the file if the file exists. It saves itself to the file every
/// `every_seconds` seconds, when it is stopped, and at its end; the caller removes the file once it has stored the
/// results. The results after an interruption are bit by bit the same as without. Throws RunError on a deadlock, a
/// violated conservation rule or a device fault.
std::vector<Result> run_job(const std::vector<Experiment>& experiments, const EngineChoice& choice,
                            const std::function<void(const Progress&)>& report,
                            const CheckpointChoice& checkpoint = {});

/// Returns the number of cycles of an epoch, the time between two evaluations by the host: run.epoch_cycles. For
/// "auto", epochs are shorter if the window is automatic, so that the window can end early.
u32 cycles_of_epoch(const Experiment& experiment);

/// Returns one feed for each experiment if the packets of experiments come from the host, otherwise an empty list.
/// ConfigError if a file cannot be read.
Feeds make_feeds(const std::vector<Experiment>& experiments, const Plan& plan);

/// Throws RunError if a replica is deadlocked (virtual channels wait for one another in a cycle), or if other units of
/// its model have stopped. `threads`: number of host threads for the search.
void check_deadlock(const Engine& engine, const Plan& plan, std::span<const u32> replicas, u32 threads);

/// Returns the engine for a job of `replicas` replicas. Replaces the backend "auto" by the one chosen, and sets how
/// much memory is free in addition to the job's largest use, so that lane state may use it. Throws ConfigError if the
/// job needs more than the free memory of the machine or the GPU; for the GPU DeviceFull if `requested.beside_others`.
/// `kept_states`: number of copies of a state that the caller keeps.
EngineChoice choose_engine(const Plan& plan, u32 replicas, const EngineChoice& requested, u32 kept_states = 0);

/// Properties of a job that a sweep reads before it starts the job.
struct JobEngine {
  std::string backend;  ///< "cpu" or "cuda"
  u64 device_bytes;     ///< device memory of a replica without lane state
};

/// Returns the engine of a job of `replicas` replicas, of which `requested.jobs` run at the same time. Free memory is
/// not considered, because jobs that run at present may end before this one starts. Throws ConfigError if the network
/// cannot be built or the backend is not available.
JobEngine engine_of_job(const Experiment& experiment, u32 replicas, const EngineChoice& requested);

}  // namespace flitlab
