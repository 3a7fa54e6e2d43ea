/// Rates of the CPU and CUDA engines for docs/gpu.md, and whether their states agree: a JSON list with a line per row.
///   flitlab_gpu_report [--list] [--profile] [--seconds S] [WORD ...]
/// A row has a name of words between slashes, "model/vc/large/0.2". WORD selects the rows whose names contain it: "vc",
/// "large", "model/vc/large". Without WORD all rows run, the least known first. `--list` only prints the names.
/// `--seconds`: time of a measurement of a usual row (default 0.1); other times grow with it.
/// `--profile` runs some cycles of the selected networks at load 0.2; the last launch of each is to be profiled.
/// A line is printed when its row is complete, so the lines of an interrupted run are complete.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "host/run/run.hpp"
#include "kernels/engines/make_engine.hpp"
#include "kernels/engines/share_out.hpp"
#include "tests/support/measured_networks.hpp"

namespace flitlab {
namespace {

using testing::Measured;

constexpr u32 kCompared = 16;          ///< replicas that the CPU also runs, if a job has more
constexpr u32 kProfiled = 60;          ///< cycles to be profiled
constexpr u32 kHostThreads = 32;       ///< threads that advance structures on a GPU
constexpr double kOfStructures = 150;  ///< time for structures, in times of a usual measurement
constexpr double kOfSweeps = 20;       ///< time above which a sweep is not repeated, likewise

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Whether the GPU is measured, too.
bool has_device() { return cuda_unavailable().empty(); }

/// Writes `"cuda": median, "cuda_range": [lowest, highest]` of an odd number of rates.
void write_rates(std::ostream& out, const std::string& engine, std::vector<double> rates) {
  std::ranges::sort(rates);
  out << ", \"" << engine << "\": " << rates[rates.size() / 2] << ", \"" << engine << "_range\": [" << rates.front()
      << ", " << rates.back() << "]";
}

/// Returns three measurements of cycles per second from now on, of at least `seconds` each.
std::vector<double> cycles_per_second(Engine& engine, double seconds) {
  const std::vector<u32> all = testing::first(engine.replicas());
  u32 piece = 8;  // a call of advance() takes an eighth of a measurement or more
  const auto timed = [&](u32 cycles) {
    const auto start = Clock::now();
    engine.advance(cycles, all);
    return seconds_since(start);
  };
  while (timed(piece) < seconds / 8) piece *= 2;
  std::vector<double> rates(3);
  for (double& rate : rates) {
    u32 cycles = 0;
    double elapsed = 0;
    for (; elapsed < seconds; cycles += piece) elapsed += timed(piece);
    rate = cycles / elapsed;
  }
  return rates;
}

/// Returns the engine on a GPU, on which tiles synchronise as the network prescribes.
std::unique_ptr<Engine> gpu_engine(const Measured& network, const Plan& plan, const std::vector<Experiment>& jobs) {
  if (network.sync.empty()) return plan.make_engine(jobs, {"cuda"});
  setenv("FLITLAB_GPU_SYNC", network.sync.c_str(), 1);
  auto engine = plan.make_engine(jobs, {"cuda"});
  unsetenv("FLITLAB_GPU_SYNC");
  return engine;
}

/// Measures the rates of a network's job at a load. Returns whether the states of the engines agree; true if only one
/// engine runs the job.
bool report(const Measured& network, const Plan& plan, double load, double seconds, std::ostream& out) {
  std::vector<Experiment> jobs = testing::replicas_of(network.config, load, network.replicas);
  const u32 routers = plan.topology().routers;
  if (!network.model.empty()) out << ", \"model\": \"" << network.model << "\"";
  out << ", \"load\": " << load << ", \"routers\": " << routers << ", \"replicas\": " << network.replicas
      << ", \"form\": \"" << plan.facts().forms.gpu << "\"";
  std::vector<u64> hashes;
  const auto measure = [&](const char* backend, double time) {
    const bool on_gpu = backend == std::string_view("cuda");
    const auto engine = on_gpu ? gpu_engine(network, plan, jobs) : plan.make_engine(jobs, {backend});
    engine->advance(network.run_in, testing::first(engine->replicas()));
    std::vector<u64> found;
    for (u32 r = 0; r < std::min(engine->replicas(), kCompared); ++r) found.push_back(engine->state_hash(r));
    std::vector<double> rates = cycles_per_second(*engine, time);
    for (double& rate : rates) rate *= double{1} * routers * engine->replicas();
    if (!on_gpu) out << ", \"cpu_threads\": " << engine->threads();
    write_rates(out, backend, rates);
    return found;
  };
  if (has_device()) hashes = measure("cuda", network.times * seconds);
  if (!network.on_cpu) return true;
  jobs.resize(std::min(network.replicas, kCompared));
  const bool equal = measure("cpu", seconds) == hashes;
  if (!hashes.empty()) out << ", \"equal\": " << (equal ? "true" : "false");
  return equal || hashes.empty();
}

/// The runs of several jobs on one engine, from their plans to their results.
struct Timed {
  std::map<std::size_t, std::vector<u64>> hashes;  ///< [job] state hashes at the end of the runs of each finished job
  double seconds = 0;
  double runs = 0, cycles = 0, router_cycles = 0;  ///< sums over the finished jobs
};

/// Runs jobs on `threads` host threads until all are done or, after the first job of each thread, until `seconds` have
/// passed. `choice`: engine of each job.
Timed run_jobs(std::size_t jobs, const std::function<std::vector<Experiment>(std::size_t)>& job, u32 threads,
               const EngineChoice& choice, double seconds) {
  Timed all;
  std::mutex one_at_a_time;
  const auto start = Clock::now();
  share_out(jobs, threads, [&](std::size_t i, u32) {
    if (i >= threads && seconds_since(start) > seconds) return;
    const std::vector<Result> results = run_job(job(i), choice, [](const Progress&) {});
    const std::lock_guard lock(one_at_a_time);
    for (const Result& result : results) {
      all.hashes[i].push_back(result.state_hash);
      ++all.runs;
      all.cycles += static_cast<double>(result.cycles);
      all.router_cycles += static_cast<double>(result.cycles) * result.routers;
    }
  });
  all.seconds = seconds_since(start);
  return all;
}

/// Returns whether jobs that ran on both engines have ended in equal states.
bool agree(const Timed& a, const Timed& b) {
  return std::ranges::all_of(a.hashes, [&](const auto& job) {
    const auto other = b.hashes.find(job.first);
    return other == b.hashes.end() || other->second == job.second;
  });
}

/// Measures structures per second: each is a job of 20 loads, and host threads take one job after the other.
bool report_structures(double seconds, std::ostream& out) {
  const u32 cores = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t all = testing::kStructures;
  Timed cuda;
  out << ", \"replicas\": " << testing::structure(0).size();
  const auto measure = [&](const std::string& backend, u32 threads, double time) {
    const Timed timed = run_jobs(all, testing::structure, threads, {backend, 1}, time);
    const double structures = static_cast<double>(timed.hashes.size());
    out << ", \"" << backend << "_threads\": " << threads << ", \"" << backend << "_structures\": " << structures
        << ", \"" << backend << "_cycles_of_a_run\": " << timed.cycles / timed.runs << ", \"" << backend
        << "\": " << timed.router_cycles / timed.seconds << ", \"" << backend << "_seconds_of_" << all
        << "\": " << timed.seconds / structures * static_cast<double>(all);
    return timed;
  };
  if (has_device()) cuda = measure("cuda", kHostThreads, kOfStructures * seconds);
  const bool equal = agree(cuda, measure("cpu", cores, kOfStructures / 3 * seconds));
  if (has_device()) out << ", \"equal\": " << (equal ? "true" : "false");
  return equal;
}

/// Measures whole sweeps of an 8x8 mesh as `flitlab bench vc-mesh-8x8 --sweep RUNS` does: from the plan to the results.
/// Three sweeps on each engine, or one if it takes longer than `longest` seconds.
bool report_sweep(u32 runs, double longest, std::ostream& out) {
  const std::vector<Experiment> points = testing::sweep_of_meshes(runs);
  out << ", \"replicas\": " << runs;
  const auto measure = [&](const std::string& backend) {
    std::vector<double> rates;
    Timed timed;
    do {
      timed = run_jobs(1, [&](std::size_t) { return points; }, 1, {backend}, 0);
      rates.push_back(timed.router_cycles / timed.seconds);
    } while (rates.size() < 3 && timed.seconds < longest);
    if (rates.size() == 2) rates.pop_back();  // the first one was just below the limit
    write_rates(out, backend, rates);
    return timed;
  };
  Timed cuda;
  if (has_device()) cuda = measure("cuda");
  const bool equal = agree(cuda, measure("cpu"));
  if (has_device()) out << ", \"equal\": " << (equal ? "true" : "false");
  return equal;
}

/// A row: `run` writes its values and returns whether the engines agree.
struct ReportRow {
  std::string name;
  std::function<bool(std::ostream&)> run;
  std::function<void()> profile = [] {};
};

void profile(const Measured& network) {
  const std::vector<Experiment> jobs = testing::replicas_of(network.config, 0.2, network.replicas);
  const auto engine = gpu_engine(network, *make_plan(jobs.front()), jobs);
  const std::vector<u32> all = testing::first(network.replicas);
  engine->advance(network.run_in, all);
  engine->advance(kProfiled, all);
}

/// Returns all rows, the least known first.
std::vector<ReportRow> rows(double seconds) {
  std::vector<ReportRow> all;
  auto plan = std::make_shared<std::pair<std::string, std::unique_ptr<Plan>>>();  // of the last network
  const auto add = [&](const std::vector<Measured>& networks) {
    for (const Measured& network : networks)
      for (const double load : network.loads) {
        std::ostringstream name;
        name << network.name << '/' << load;
        const auto run = [=](std::ostream& out) {
          if (plan->first != network.name)
            *plan = {network.name, make_plan(testing::replicas_of(network.config, load, 1).front())};
          return report(network, *plan->second, load, seconds, out);
        };
        all.push_back({name.str(), run});
        if (load == 0.2 && !network.name.ends_with("/one")) all.back().profile = [network] { profile(network); };
      }
  };
  add(testing::networks_with_both_syncs());
  add(testing::networks_with_other_kernels());
  add(testing::networks_of_models());
  add({testing::network_of_fnoc(), testing::network_of_a_million(false), testing::network_of_a_million(true)});
  const auto sweep = [=](u32 runs) {
    return [=](std::ostream& out) { return report_sweep(runs, kOfSweeps * seconds, out); };
  };
  all.push_back({"runs/sweep/64", sweep(64)});
  all.push_back({"runs/structures", [=](std::ostream& out) { return report_structures(seconds, out); }});
  all.push_back({"runs/sweep/1000", sweep(1000)});
  return all;
}

/// Prints a row's line. Returns whether the row ran and the engines agree.
bool print(const ReportRow& row, const std::string& separator) {
  std::ostringstream line;
  bool right = false;
  const auto start = Clock::now();
  line << separator << "  {\"name\": \"" << row.name << "\"";
  try {
    right = row.run(line);
  } catch (const std::exception& e) {
    std::string text = e.what();
    std::ranges::replace_if(text, [](char c) { return c == '"' || c == '\\' || static_cast<u8>(c) < ' '; }, '\'');
    line << ", \"error\": \"" << text << "\"";
  }
  line << ", \"seconds\": " << seconds_since(start) << "}";
  std::cout << line.str() << std::flush;
  return right;
}

}  // namespace
}  // namespace flitlab

/// Returns 1 if a state differs between the engines or a row fails, 2 for wrong arguments.
int main(int arguments, char** words) {
  std::vector<std::string> wanted(words + 1, words + arguments);
  const bool only_list = std::erase(wanted, "--list"), only_profile = std::erase(wanted, "--profile");
  double seconds = 0.1;
  if (const auto at = std::ranges::find(wanted, "--seconds"); at != wanted.end() && at + 1 != wanted.end()) {
    seconds = std::atof((at + 1)->c_str());
    wanted.erase(at, at + 2);
  }
  const std::vector<flitlab::ReportRow> rows = flitlab::rows(seconds);
  const auto has = [](const flitlab::ReportRow& row, const std::string& word) {
    return ("/" + row.name + "/").find("/" + word + "/") != std::string::npos;
  };
  for (const std::string& word : wanted)
    if (std::ranges::none_of(rows, [&](const auto& row) { return has(row, word); })) {
      std::cerr << "flitlab_gpu_report: no row has the word " << word << "; --list prints the names of all rows.\n";
      return 2;
    }
  bool right = true;
  std::string separator = "[\n";
  for (const flitlab::ReportRow& row : rows) {
    if (!wanted.empty() && std::ranges::none_of(wanted, [&](const auto& word) { return has(row, word); })) continue;
    if (only_list)
      std::cout << row.name << "\n";
    else if (only_profile)
      row.profile();
    else
      right &= flitlab::print(row, std::exchange(separator, ",\n"));
  }
  if (!only_list && !only_profile) std::cout << "\n]\n";
  return right ? 0 : 1;
}
