#include "host/run/run.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <utility>

#include "host/run/advance.hpp"
#include "host/run/measurement.hpp"
#include "host/run/memory.hpp"
#include "host/run/params.hpp"
#include "host/topology/params.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/packet.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

void check_deadlock(const Engine& engine, const Plan& plan, u32 replica) {
  const std::string deadlock = plan.find_deadlock(engine.state(replica));
  if (!deadlock.empty())
    throw RunError("deadlock (replica " + std::to_string(replica) + ", found at cycle " + std::to_string(engine.now()) +
                   "): " + deadlock);
}

EngineChoice with_room(EngineChoice choice, u64 needed) {
  const u64 available = free_memory();
  choice.lane_bytes = available > needed ? available - needed : 0;
  return choice;
}

std::vector<TraceFeed> make_feeds(const std::vector<Experiment>& experiments, const Plan& plan) {
  std::vector<TraceFeed> feeds;
  const PlanFacts& facts = plan.facts();
  for (const Experiment& e : experiments) {
    if (e.str(param::traffic.mode) != "trace") continue;
    feeds.emplace_back(e.file(param::traffic.trace_file), plan.topology().terminals, facts.longest_packet,
                       facts.sends_to_itself, facts.dead_terminals, facts.shortest_packet, facts.knows_arrivals);
  }
  return feeds;
}

u64 check_memory(const Plan& plan, u32 replicas) {
  const u64 each = plan.layout().bytes(1) + sizeof(CounterShard), available = free_memory();
  require_memory(param::topology.shape.path, each * replicas,
                 available >= each
                     ? "The state takes " + std::to_string(each / 1000000) +
                           " MB a replica: " + std::to_string(available / each) + " replicas would fit."
                     : "About " + std::to_string(available / (each / plan.topology().routers)) + " routers would fit.");
  return each * replicas;
}

namespace {

/// Everything that a job is made of while it runs.
class Job {
 public:
  Job(const std::vector<Experiment>& experiments, const EngineChoice& choice)
      : experiments_(experiments), plan_(make_plan(experiments.front())) {
    if (const std::string& why = plan_->facts().waits_for_software; !why.empty())
      throw ConfigError(why + " A run by itself has no such software.");
    const u64 needed = check_memory(*plan_, static_cast<u32>(experiments.size()));
    idle_ = std::make_unique<Idle>(experiments.front(), *plan_);
    engine_ = plan_->make_engine(experiments, with_room(choice, needed));
    feeds_ = make_feeds(experiments, *plan_);
    for (u32 i = 0; i < experiments.size(); ++i)
      replicas_.emplace_back(experiments[i], i, *engine_, *plan_, feeds_.empty() ? nullptr : &feeds_[i]);
    next_search_ = watchdog();
  }

  bool done() const { return active().empty(); }
  std::vector<std::string> warnings() const { return plan_->facts().warnings; }

  /// Advances all unfinished replicas by an epoch (by all the epochs in which nothing happens), checks them, and says
  /// which have finished.
  Progress advance() {
    const u32 epoch = cycles_of_epoch(experiments_.front());
    const std::vector<u32> running = active();
    const u64 now = engine_->now(), skipped = idle_->skipped();
    const u32 epochs = idle_->until() < now + epoch ? 1 : static_cast<u32>((idle_->until() - now) / epoch);
    flitlab::advance(*engine_, *plan_, feeds_, *idle_, epochs * epoch, running);
    const double stepped = static_cast<double>(u64{epochs} * epoch - (idle_->skipped() - skipped));
    router_cycles_ += static_cast<double>(running.size()) * stepped * plan_->topology().routers;
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const bool search = engine_->now() >= next_search_;
    if (search) next_search_ += ((engine_->now() - next_search_) / watchdog() + 1) * watchdog();
    Progress progress;
    for (u32 i : running) {
      check_conservation(*engine_, *plan_, i);
      if (search) check_deadlock(*engine_, *plan_, i);
      replicas_[i].look();
      if (!replicas_[i].done()) continue;
      replicas_[i].result.wall_seconds = seconds;
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
      saver(engine_->now(), next_search_);
      for (u32 i = 0; i < replicas_.size(); ++i) {
        save_replica(saver, *engine_, i);
        replicas_[i].save(saver);
      }
      for (const TraceFeed& feed : feeds_) feed.save(saver);
    });
  }

  void load(const std::string& path) {
    load_checkpoint(path, configuration_hash(experiments_), [this](Loader& loader) {
      Cycle now = 0;
      loader(now, next_search_);
      require_time(now, 0);
      engine_->set_now(now);
      for (u32 i = 0; i < replicas_.size(); ++i) {
        load_replica(loader, *engine_, *plan_, i);
        replicas_[i].load(loader);
      }
      for (TraceFeed& feed : feeds_) feed.load(loader);
    });
  }

 private:
  using Clock = std::chrono::steady_clock;

  u64 watchdog() const { return experiments_.front().u32_of(param::run.watchdog_cycles); }

  std::vector<u32> active() const {
    std::vector<u32> list;
    for (u32 i = 0; i < replicas_.size(); ++i)
      if (!replicas_[i].done()) list.push_back(i);
    return list;
  }

  const Clock::time_point start_ = Clock::now();
  const std::vector<Experiment>& experiments_;
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Engine> engine_;
  std::vector<TraceFeed> feeds_;
  std::unique_ptr<Idle> idle_;
  std::vector<Measurement> replicas_;
  u64 next_search_ = 0;
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
    job.save(checkpoint.path);  // a path that cannot be written is better known now than at the end of a long run
  auto last_saved = Clock::now();
  std::vector<std::string> warnings = job.warnings();
  while (!job.done()) {
    Progress progress = job.advance();
    progress.warnings = std::exchange(warnings, {});
    if (saves && std::chrono::duration<double>(Clock::now() - last_saved).count() >= checkpoint.every_seconds) {
      job.save(checkpoint.path);
      last_saved = Clock::now();
    }
    if (!report) continue;
    try {
      report(progress);
    } catch (...) {  // the user stops the run
      if (saves) job.save(checkpoint.path);
      throw;
    }
  }
  if (saves) {  // who has the results in a safe place removes it
    try {
      job.save(checkpoint.path);
    } catch (const ConfigError&) {  // the one before is still there, and the results are at hand
    }
  }
  return job.results();
}

}  // namespace flitlab
