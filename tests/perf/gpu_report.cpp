/// Router-cycles per second of the CPU and CUDA engines for every model, and whether their states agree, as one JSON
/// list, for docs/gpu.md.
///   flitlab_gpu_report [--profile] [MODEL ...]
/// `--profile` only runs some cycles of large networks and of a thousand small ones at load 0.2; the last launch of
/// each is to be profiled.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/config/registry.hpp"
#include "kernels/engines/make_engine.hpp"
#include "tests/support/networks.hpp"

namespace flitlab {
namespace {

constexpr double kSeconds = 0.25;  ///< minimum time of a measurement
constexpr u32 kCompared = 16;      ///< replicas that the CPU also runs, if a job has more
constexpr u32 kProfiled = 60;      ///< cycles to be profiled

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Measures cycles per second from now on.
double rate(Engine& engine, const std::vector<u32>& all) {
  u32 cycles = 0;
  double seconds = 0;
  const auto start = Clock::now();
  for (u32 piece = 64; seconds < kSeconds; piece = std::min(2 * piece, 1u << 14)) {
    engine.advance(piece, all);
    cycles += piece;
    seconds = seconds_since(start);
  }
  return cycles / seconds;
}

/// A job to measure. `kind`: a model, or "vc, one by one": canonical routers in scalar state (one router at a time),
/// forced by a delay that lane state does not support.
struct Case {
  std::string kind;
  RawConfig config;
  double load;
  u32 replicas;
  u32 run_in = 1000;  ///< cycles that run before states are compared

  std::vector<Experiment> jobs() const { return testing::replicas_of(config, load, replicas); }
};

void profile(const Case& c) {
  const std::vector<Experiment> jobs = c.jobs();
  const auto plan = make_plan(jobs.front());
  if (u64{plan->topology().routers} * c.replicas < 1000) return;  // one small network
  const auto engine = plan->make_engine(jobs, {"cuda"});
  const std::vector<u32> all = testing::first(c.replicas);
  engine->advance(c.run_in, all);
  engine->advance(kProfiled, all);
}

/// Measures a job and prints a line. Returns whether the states of the engines agree; true if there is no device.
bool report(const Case& c) {
  std::vector<Experiment> jobs = c.jobs();
  const auto plan = make_plan(jobs.front());
  const double routers = plan->topology().routers;
  std::cout << "{\"model\": \"" << c.kind << "\", \"load\": " << c.load << ", \"routers\": " << routers
            << ", \"replicas\": " << c.replicas;
  std::vector<u64> hashes;
  if (cuda_unavailable().empty()) {
    const std::vector<u32> all = testing::first(c.replicas);
    const auto engine = plan->make_engine(jobs, {"cuda"});
    engine->advance(c.run_in, all);
    for (u32 r = 0; r < std::min(c.replicas, kCompared); ++r) hashes.push_back(engine->state_hash(r));
    std::cout << ", \"device\": \"" << engine->device()
              << "\", \"cuda\": " << routers * c.replicas * rate(*engine, all);
  }
  jobs.resize(std::min(c.replicas, kCompared));
  const std::vector<u32> all = testing::first(static_cast<u32>(jobs.size()));
  const auto cpu = plan->make_engine(jobs, {"cpu"});
  cpu->advance(c.run_in, all);
  bool equal = true;
  for (u32 r = 0; r < hashes.size(); ++r) equal = equal && cpu->state_hash(r) == hashes[r];
  std::cout << ", \"cpu_threads\": " << cpu->threads()
            << ", \"cpu\": " << routers * static_cast<double>(all.size()) * rate(*cpu, all);
  if (!hashes.empty()) std::cout << ", \"equal\": " << (equal ? "true" : "false");
  std::cout << "}" << std::flush;
  return equal;
}

/// Returns the jobs of one kind: a large network, then a thousand small ones, then one. The least known rates come
/// first, so that an interrupted report has them.
std::vector<Case> jobs_of(const std::string& kind) {
  const bool apart = kind == "vc, one by one";
  const std::string model = apart ? "vc" : kind;
  RawConfig small = testing::network_of_64(model), large = testing::large_network(model);
  if (apart)
    for (RawConfig* config : {&small, &large}) (*config)["router.routing_delay"] = std::int64_t{8};
  std::vector<Case> all;
  for (const double load : {0.2, 0.05, 0.5})
    if (!large.empty()) all.push_back({kind, large, load, 1});
  for (const u32 replicas : {1000u, 1u})
    for (const double load : {0.2, 0.05, 0.5}) all.push_back({kind, small, load, replicas});
  return all;
}

/// Returns the jobs of the wanted kinds, or all. "million" is a canonical torus of 100x100x100 routers, "fnoc" the
/// 128x128 mesh of FNoC's authors with 2 VCs of 4 flits and packets of 4 flits.
std::vector<Case> cases(const std::set<std::string>& wanted) {
  std::vector<Case> all;
  const auto want = [&](std::string_view kind) { return wanted.empty() || wanted.contains(std::string(kind)); };
  if (want("fnoc"))
    for (const double load : {0.05, 0.2})
      all.push_back({"fnoc",
                     testing::Settings("router.kind=vc topology.shape=[128,128] topology.kind=mesh router.vcs=2 "
                                       "router.buffer_flits=4 traffic.packet_flits=4"),
                     load, 1});
  if (want("million"))
    all.push_back({"million", testing::Settings("router.kind=vc topology.shape=[100,100,100]"), 0.05, 1, 100});
  for (const auto& model : models())
    if (want(model.kind)) std::ranges::copy(jobs_of(std::string(model.kind)), std::back_inserter(all));
  if (want("vc, one by one")) std::ranges::copy(jobs_of("vc, one by one"), std::back_inserter(all));
  return all;
}

}  // namespace
}  // namespace flitlab

/// Returns a failure if a state differs between the engines.
int main(int arguments, char** words) {
  std::set<std::string> wanted(words + 1, words + arguments);
  const bool only_profile = wanted.erase("--profile");
  bool equal = true;
  const char* separator = "[\n  ";
  for (const flitlab::Case& c : flitlab::cases(wanted)) {
    if (only_profile) {
      if (c.load == 0.2) flitlab::profile(c);
      continue;
    }
    std::cout << std::exchange(separator, ",\n  ");
    equal &= flitlab::report(c);
  }
  if (!only_profile) std::cout << "\n]\n";
  return equal ? 0 : 1;
}
