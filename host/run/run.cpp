#include "host/run/run.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <utility>

#include "host/config/memory.hpp"
#include "host/config/run_params.hpp"
#include "host/config/topology_params.hpp"
#include "host/run/advance.hpp"
#include "host/run/checkpoint.hpp"
#include "host/run/conservation.hpp"
#include "host/run/footprint.hpp"
#include "host/run/host_feed.hpp"
#include "host/run/measurement.hpp"
#include "host/run/trace_feed.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/packet.hpp"
#include "kernels/engines/device.hpp"
#include "kernels/engines/make_engine.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

void check_deadlock(const Engine& engine, const Plan& plan, std::span<const u32> replicas, u32 threads) {
  struct Found {
    std::string deadlock, stopped;
  };
  std::vector<Found> found(replicas.size());
  engine.each_state(replicas, concurrent_searches(engine.layout().bytes(1), threads),
                    [&](std::size_t i, const std::vector<std::byte>& state) {
                      found[i] = {plan.find_deadlock(state), plan.find_stopped(state, engine.now())};
                    });
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const auto& [deadlock, stopped] = found[i];
    if (deadlock.empty() && stopped.empty()) continue;
    throw RunError((deadlock.empty() ? "stopped" : "deadlock") + (" (replica " + std::to_string(replicas[i])) +
                   ", found at cycle " + std::to_string(engine.now()) +
                   "): " + (deadlock.empty() ? stopped : deadlock));
  }
}

Feeds make_feeds(const std::vector<Experiment>& experiments, const Plan& plan) {
  Feeds feeds;
  for (const Experiment& e : experiments) {
    if (e.is({param::traffic.mode, "trace"})) feeds.push_back(std::make_unique<TraceFeed>(e, PacketLimits(e, plan)));
    if (e.is({param::traffic.mode, "host"}))
      feeds.push_back(std::make_unique<HostFeed>(PacketLimits(e, plan), e.u32_of(param::traffic.source_packets)));
  }
  return feeds;
}

EngineChoice choose_engine(const Plan& plan, u32 replicas, const EngineChoice& requested, u32 kept_states) {
  const u64 on_device = cuda_bytes(plan.layout());
  const JobSize job{plan.layout().kinds[0].count, replicas};
  EngineChoice choice = resolve_backend(requested, job, on_device * replicas, plan.facts().cost);
  const Footprint needed = footprint_of(plan, replicas, choice, kept_states),
                  one = footprint_of(plan, 1, choice, kept_states), two = footprint_of(plan, 2, choice, kept_states);
  const auto require = [&](u64 all, u64 first, u64 further, u64 available, const char* where) {
    // Replicas on a GPU need no host memory for their states.
    const u64 more = further ? (available - first) / further : replicas;
    const u64 fit = available < first ? 0 : 1 + more;
    require_memory(
        plan.size, all, available, where,
        fit ? "A replica takes " + std::to_string(further / 1000000) + " MB: " + std::to_string(fit) +
                  (fit == 1 ? " replica would fit." : " replicas would fit.")
            : "About " + std::to_string(available / (first / plan.topology().routers + 1)) + " routers would fit.");
  };
  const u64 free_here = free_memory();
  if (needed.device && requested.beside_others && needed.device > cuda_free_memory())
    throw DeviceFull("the device has too little free memory for this job beside others.");
  if (needed.device) require(needed.device, one.device, two.device - one.device, cuda_free_memory(), " on the device");
  require(needed.host, one.host, two.host - one.host, free_here, "");
  choice.lane_bytes = needed.device ? 0 : free_here - needed.host;
  return choice;
}

JobEngine engine_of_job(const Experiment& experiment, u32 replicas, const EngineChoice& requested) {
  const auto plan = make_plan(experiment);
  const JobSize job{plan->layout().kinds[0].count, replicas};
  return {resolve_backend(requested, job, 0, plan->facts().cost).backend, cuda_bytes(plan->layout())};
}

namespace {

/// A running job: its plan, engine and trace feeds, and the measurements of its replicas.
class Job {
 public:
  Job(const std::vector<Experiment>& experiments, const EngineChoice& choice)
      : experiments_(experiments), plan_(make_plan(experiments.front())), slicer_(plan_->facts().cost) {
    if (const std::string& why = plan_->facts().software_prerequisite; !why.empty())
      throw ConfigError(why + " A run has no such software.");
    skips_ = std::make_unique<Skips>(experiments.front(), *plan_);
    skips_->beyond = true;
    if (experiments.front().is({param::traffic.mode, "host"}))
      throw ConfigError(
          "traffic.mode = \"host\": the packets come from a program that steps the network, and a run has none. Use "
          "flitlab.Network, or another mode.");
    const EngineChoice chosen = choose_engine(*plan_, u32(experiments.size()), choice);
    engine_ = plan_->make_engine(experiments, chosen);
    threads_ = chosen.threads;
    feeds_ = make_feeds(experiments, *plan_);
    std::vector<u32> all(experiments.size());
    std::iota(all.begin(), all.end(), 0u);
    const std::vector<Totals> totals = engine_->totals(all);
    for (u32 i : all)
      replicas_.emplace_back(experiments[i], i, *engine_, *plan_,
                             feeds_.empty() ? nullptr : dynamic_cast<const TraceFeed*>(feeds_[i].get()), totals[i]);
    next_search_ = experiments.front().u32_of(param::run.watchdog_cycles);
  }

  bool done() const { return active().empty(); }
  /// Returns whether an interrupt has stopped the job within an epoch. The epoch can be resumed.
  bool stopped() const { return slicer_.stopped(); }
  std::vector<std::string> warnings() const { return plan_->facts().warnings; }

  /// Advances all unfinished replicas by an epoch (or by several epochs if all are idle), checks them and evaluates
  /// their measurements. Returns the progress, with the results of the replicas that have finished in this epoch.
  Progress advance() {
    const u32 epoch = cycles_of_epoch(experiments_.front());
    const std::vector<u32> running = active();
    const u64 now = engine_->now(), skipped = skips_->skipped();
    const Idle& idle = skips_->idle;
    if (end_of_epoch_ <= now)
      end_of_epoch_ = now + (idle.until() < now + epoch ? 1 : (idle.until() - now) / epoch) * epoch;
    while (engine_->now() < end_of_epoch_) {
      const u32 cycles = static_cast<u32>(end_of_epoch_ - engine_->now());
      flitlab::advance(*engine_, *plan_, feeds_, *skips_, cycles, running, slicer_);
      // A program that repeats itself may have been skipped beyond the epoch; epochs end where they end without that.
      end_of_epoch_ = std::max<u64>(end_of_epoch_, (engine_->now() + u64{epoch} - 1) / epoch * epoch);
    }
    const double stepped = static_cast<double>(end_of_epoch_ - now - (skips_->skipped() - skipped));
    router_cycles_ += static_cast<double>(running.size()) * stepped * plan_->topology().routers;
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const std::vector<Totals> totals = check_conservation(*engine_, *plan_, running);
    for (std::size_t at = 0; at < running.size(); ++at) evaluate(running[at], totals[at]);
    std::vector<u32> finished;
    for (u32 i : running)
      if (replicas_[i].done()) finished.push_back(i);
    // Finished replicas are always searched, because a deadlocked replica must not give results.
    const std::vector<u32>& searched = search_is_due() ? running : finished;
    if (!searched.empty()) check_deadlock(*engine_, *plan_, searched, threads_);
    Progress progress;
    for (u32 i : finished) {
      replicas_[i].result.wall_seconds = seconds;
      replicas_[i].result.stepped_cycles = replicas_[i].result.cycles - skipped_before_ - skips_->skipped();
      replicas_[i].result.stepped_because = why_stepped();
      replicas_[i].result.router_cycles_per_second = router_cycles_ / seconds;
      progress.finished.emplace(i, replicas_[i].result);
    }
    progress.cycle = engine_->now();
    progress.running = static_cast<u32>(active().size());
    return progress;
  }

  std::vector<Result> results() const {
    std::vector<Result> list;
    for (const Measurement& replica : replicas_) list.push_back(replica.result);
    return list;
  }

  void save(const std::string& path) {
    save_checkpoint(path, configuration_hash(experiments_), [this](Saver& saver) {
      saver(engine_->now(), next_search_, end_of_epoch_, skipped_before_ + skips_->skipped());
      for (u32 i = 0; i < replicas_.size(); ++i) {
        save_replica(saver, *engine_, i);
        replicas_[i].save(saver);
      }
      for (const auto& feed : feeds_) feed->save(saver);
    });
  }

  void load(const std::string& path) {
    load_checkpoint(path, configuration_hash(experiments_), [this](Loader& loader) {
      Cycle now = 0;
      loader(now, next_search_, end_of_epoch_, skipped_before_);
      Loader::require(skipped_before_ <= now);
      require_time(now, 0);
      if (end_of_epoch_ > now) require_time(now, end_of_epoch_ - now);
      for (u32 i = 0; i < replicas_.size(); ++i) {
        load_replica(loader, *engine_, *plan_, i);
        replicas_[i].load(loader);
        // a finished replica keeps the state of its last cycle, although other replicas advance
        const u64 at = replicas_[i].done() ? replicas_[i].result.cycles : now;
        Loader::require(at <= now);
        engine_->set_now(static_cast<Cycle>(at));
        check_loaded(*engine_, *plan_, i);
      }
      engine_->set_now(now);
      skips_->repetition.forget();
      for (const auto& feed : feeds_) feed->load(loader);
    });
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Returns whether a deadlock search is due. If so, schedules the next search at twice the present cycle: a search
  /// takes as long as thousands of cycles on a GPU, and doubling keeps searches few. A deadlock then at most doubles
  /// the length of a run.
  bool search_is_due() {
    const bool due = engine_->now() >= next_search_;
    while (next_search_ <= engine_->now()) next_search_ *= 2;
    return due;
  }

  /// Returns why all cycles of a program were stepped; "": they were not, or the traffic is no program.
  std::string why_stepped() const {
    if (!experiments_.front().is({param::traffic.mode, "program"}) || skipped_before_ + skips_->skipped()) return "";
    if (const std::string& why = skips_->repetition.why_not(); !why.empty()) return why;
    return experiments_.size() > 1 ? "several replicas advance together" : "the network did not repeat itself";
  }

  /// Evaluates an epoch of a replica. If the replica has stalled because of a deadlock, the error describes the
  /// deadlock instead of the stall.
  void evaluate(u32 replica, const Totals& totals) {
    try {
      replicas_[replica].evaluate(totals);
    } catch (const RunError&) {
      const u32 only[] = {replica};
      check_deadlock(*engine_, *plan_, only, threads_);
      throw;
    }
  }

  std::vector<u32> active() const {
    std::vector<u32> list;
    for (u32 i = 0; i < replicas_.size(); ++i)
      if (!replicas_[i].done()) list.push_back(i);
    return list;
  }

  const Clock::time_point start_ = Clock::now();
  const std::vector<Experiment>& experiments_;
  std::unique_ptr<Plan> plan_;
  WorkSlicer slicer_;
  std::unique_ptr<Engine> engine_;
  u32 threads_ = 1;  ///< number of threads of the host
  Feeds feeds_;
  std::unique_ptr<Skips> skips_;
  u64 skipped_before_ = 0;  ///< cycles that were skipped before the checkpoint from which the job continued
  std::vector<Measurement> replicas_;
  u64 next_search_ = 0;
  /// Cycle at which the current epoch ends; if it is not after the present cycle, no epoch has begun.
  u64 end_of_epoch_ = 0;
  double router_cycles_ = 0;
};

}  // namespace

std::vector<Result> run_job(const std::vector<Experiment>& experiments, const EngineChoice& choice,
                            const std::function<void(const Progress&)>& report, const CheckpointChoice& checkpoint) {
  using Clock = std::chrono::steady_clock;
  Job job(experiments, choice);
  const bool saves = !checkpoint.path.empty();
  std::error_code unused;
  if (saves && std::filesystem::exists(checkpoint.path, unused))
    job.load(checkpoint.path);
  else if (saves)
    // Saved at once, so that a path that cannot be written fails now and not after a long run.
    job.save(checkpoint.path);
  auto last_saved = Clock::now();
  std::vector<std::string> warnings = job.warnings();
  const auto advance = [&] {
    try {
      return job.advance();
    } catch (...) {
      // After an error other than an interrupt the state may be inconsistent, so the older checkpoint stays.
      if (saves && job.stopped()) job.save(checkpoint.path);
      throw;
    }
  };
  while (!job.done()) {
    Progress progress = advance();
    progress.warnings = std::exchange(warnings, {});
    if (saves && std::chrono::duration<double>(Clock::now() - last_saved).count() >= checkpoint.every_seconds) {
      job.save(checkpoint.path);
      last_saved = Clock::now();
    }
    if (!report) continue;
    try {
      report(progress);
    } catch (...) {  // an exception from the caller's `report` stops the run
      if (saves) job.save(checkpoint.path);
      throw;
    }
  }
  if (saves) {  // kept until the caller has stored the results; then the caller removes the file
    try {
      job.save(checkpoint.path);
    } catch (const ConfigError&) {
      // The results are complete, so a failure to save them is no error; the older checkpoint stays.
    }
  }
  return job.results();
}

}  // namespace flitlab
