#pragma once
/// Networks of each model for call counts and rates of the CUDA engine.
#include <numeric>
#include <string>
#include <vector>

#include "host/config/registry.hpp"
#include "tests/support/build.hpp"

namespace flitlab::testing {

/// Returns the router kinds of all models, or only the kinds that form networks (all but the switch).
inline std::vector<std::string> kinds(bool networks = false) {
  std::vector<std::string> list;
  for (const ModelRecord& m : models())
    if (!networks || m.kind != "switch") list.emplace_back(m.kind);
  return list;
}

/// Returns a network with more routers than a block of 32 threads can take: on the emulated device it needs the whole
/// grid.
inline RawConfig network_of_a_grid(const std::string& kind) {
  RawConfig config = Settings("router.kind=", kind, " topology.shape=[17,17]");
  if (kind == "t3e") config["topology.shape"] = IntList{8, 8, 5};
  if (kind != "metro") return config;
  config.erase("topology.shape");
  set(config, "topology.radix=[4,4,4,4] topology.dilation=[2,2,2,1]");
  return config;
}

/// Returns a network of about 64 routers (a switch of 64 ports).
inline RawConfig network_of_64(const std::string& kind) {
  RawConfig config = Settings("router.kind=", kind, " topology.shape=[8,8]");
  if (kind == "t3e" || kind == "bgl") config["topology.shape"] = IntList{4, 4, 4};
  if (kind != "switch" && kind != "metro") return config;
  config.erase("topology.shape");
  if (kind == "switch") {
    config["topology.ports"] = std::int64_t{64};
  } else {
    set(config, "topology.radix=[4,4,4] topology.dilation=[2,2,1]");
  }
  return config;
}

/// Returns a large network: 32768 routers, or the largest that the machine or tables that grow with the square of its
/// size allow. It is empty for the switch, which has one size.
inline RawConfig large_network(const std::string& kind) {
  if (kind == "switch") return {};
  if (kind == "metro")  // 4096 endpoints
    return Settings("router.kind=metro topology.radix=[8,8,8,8] topology.dilation=[2,2,2,1] traffic.packet_flits=8");
  if (kind == "bless")  // smaller terminals: with the default the state takes 170 GB
    return Settings("router.kind=bless topology.shape=[256,128] router.reassembly_packets=64");
  RawConfig config = Settings("router.kind=", kind, " topology.shape=[32,32,32]");
  if (kind == "t3e") config["topology.shape"] = IntList{8, 32, 8};
  if (kind == "adaptive") config["topology.shape"] = IntList{128, 64};
  if (kind == "sconnect") config["topology.shape"] = IntList{64, 64};
  return config;
}

/// Returns a job of replicas that differ in their seeds, from 1 on.
inline std::vector<Experiment> replicas_of(RawConfig config, double load, u32 replicas) {
  config["traffic.load"] = load;
  std::vector<Experiment> jobs;
  for (u32 r = 0; r < replicas; ++r) {
    config["run.seed"] = std::int64_t{r + 1};
    jobs.push_back(experiment(config));
  }
  return jobs;
}

/// Returns the numbers 0 to n - 1.
inline std::vector<u32> first(u32 n) {
  std::vector<u32> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0u);
  return numbers;
}

}  // namespace flitlab::testing
