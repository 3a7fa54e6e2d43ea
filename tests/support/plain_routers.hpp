#pragma once
/// Networks for tests of lane state (kernels/routers/vc/lanes).
#include <algorithm>
#include <array>
#include <fstream>
#include <initializer_list>
#include <random>
#include <vector>

#include "tests/support/build.hpp"

namespace flitlab::testing {

/// Returns a network of any shape, load, packet length, delays and traffic. Its routers are plain ones with 4 VCs, or
/// have other choices that lane state supports.
inline RawConfig plain_routers(u32 seed) {
  std::mt19937 random(seed);
  const auto below = [&](u32 n) { return static_cast<std::int64_t>(random() % n); };
  RawConfig config = Settings{"router.vcs=4 run.seed=", seed + 1,
                              " router.buffer_flits=",  2 + below(14),
                              " traffic.load=",         0.05 + 0.1 * static_cast<double>(below(9))};
  const bool mesh = below(3) == 0;
  config["topology.kind"] = word(mesh ? "mesh" : "torus");
  config["topology.shape"] =
      below(2) ? IntList{2 + below(8), 8 + below(3)} : IntList{2 + below(3), 2 + below(3), 4 + below(2)};
  const Lengths mixed{{1, 1.0}, {2, 1.0}, {5, 1.0}}, longer{{1, 1.0}, {40, 0.2}, {255, 0.01}};
  switch (below(4)) {
    case 0: config["traffic.packet_flits"] = mixed; break;
    case 1: config["traffic.packet_flits"] = longer; break;
    case 2: config["traffic.packet_flits"] = integer(1 + below(7)); break;
    default: break;
  }
  switch (below(6)) {
    case 0: config["traffic.injection"] = word("periodic"); break;
    case 1: config["traffic.injection"] = word("on_off"), config["traffic.burst_load"] = 1.0; break;
    case 2: config["traffic.mode"] = word("batch"), config.erase("traffic.load"); break;
    case 3: config["traffic.pattern"] = word("tornado"); break;
    default: break;
  }
  if (!mesh)
    config["routing.vc_assignment"] =
        word(std::array{"dateline", "balanced", "by_crossing"}[static_cast<std::size_t>(below(3))]);
  if (below(2)) return config;
  const bool flat = std::get<IntList>(config["topology.shape"]).size() == 2;
  std::vector<const char*> algorithms{"dimension_order", "valiant", "minimal_adaptive"};
  if (mesh) algorithms.push_back("romm");
  if (mesh && flat) algorithms.push_back("o1turn");
  const std::size_t algorithm = static_cast<std::size_t>(below(static_cast<u32>(algorithms.size())));
  const u32 least = (mesh ? 1 : 2) * (algorithm ? 2 : 1);
  config["routing.algorithm"] = word(algorithms[algorithm]);
  config["router.vcs"] = integer(least + below(9 - least));
  if (below(4) == 0) config["router.buffer_flits"] = integer(1 + below(63));
  if (below(3) == 0) {
    config["router.flow_control"] = word(below(2) ? "virtual_cut_through" : "store_and_forward");
    config["traffic.packet_flits"] = below(2) ? Value{mixed} : integer(1 + below(9));
    config["router.buffer_flits"] = integer(9 + below(20));
  }
  if (below(3) == 0) {
    config["traffic.mode"] = word("request_reply");
    config["traffic.load"] = 0.05 + 0.1 * static_cast<double>(below(9));
    config["traffic.window"] = integer(1 + below(12));
    config["traffic.reply_flits"] = below(2) ? Value{mixed} : integer(1 + below(9));
    config["traffic.reply_delay"] = integer(below(60));
    for (const char* open : {"traffic.injection", "traffic.burst_load"}) config.erase(open);
    const u32 messages = 1 + static_cast<u32>(below(2));
    config["traffic.message_classes"] = integer(messages);
    config["router.vcs"] = integer(messages * least + below(9 - messages * least));
  }
  if (below(4) == 0) config["topology.channel_delay"] = integer(1 + below(9));
  if (below(4) == 0) config["router.credit_delay"] = integer(1 + below(20));
  return config;
}

/// Returns a network of plain_routers() with other allocators, arbiters, delays, sizes and topologies.
inline RawConfig any_routers(u32 seed) {
  RawConfig config = plain_routers(seed);
  std::mt19937 random(~seed);
  const auto below = [&](u32 n) { return static_cast<std::int64_t>(random() % n); };
  const auto one_of = [&](std::initializer_list<const char*> words) {
    return word(words.begin()[static_cast<std::size_t>(below(static_cast<u32>(words.size())))]);
  };
  const auto allocators = {"separable_input_first", "separable_output_first", "islip", "wavefront"};
  config["router.vc_allocator"] = one_of(allocators);
  config["router.switch_allocator"] = one_of(allocators);
  config["router.allocator_iterations"] = integer(1 + below(3));
  config["router.arbiter"] = one_of({"round_robin", "matrix", "oldest_first", "most_hops_first", "random",
                                     "fixed_priority", "highest_priority_first"});
  if (below(4) == 0 && !config.contains("traffic.mode") && !config.contains("traffic.injection")) {
    config["traffic.classes"] = integer(2);
    config["traffic.class_vcs"] = one_of({"shared", "shared", "separate"});
    config["traffic.class_priority"] = IntList{below(2), below(2)};
    if (config["traffic.class_vcs"] == word("separate")) config["router.vcs"] = integer(8 + below(9));
  }
  if (below(4) == 0) config["router.wait_for_tail_credit"] = true;
  config["router.routing_delay"] = integer(below(8));
  config["router.vc_allocation_delay"] = integer(below(8));
  if (below(3) == 0) {
    config["router.speculative"] = true;
    config["router.vc_allocation_delay"] = integer(below(2));
  }
  if (below(3) == 0) config["router.switch_allocation_delay"] = integer(1 + below(7));
  if (below(3) == 0) config["router.switch_traversal_delay"] = integer(below(8));
  if (below(3) == 0) config["topology.concentration"] = integer(1 + below(5));
  if (below(3) == 0) config["router.vcs"] = integer(8 + below(9));
  if (below(4) == 0) config["router.buffer_flits"] = integer(100 + below(156));
  if (below(6) == 0 && !config.contains("router.flow_control"))
    config["traffic.packet_flits"] = integer(200 + below(400));
  // Delays and widths of the channels in each dimension.
  const auto own_channels = [&] {
    const bool hypercube = std::get<std::string>(config["topology.kind"]) == "hypercube";
    const std::size_t dimensions = hypercube
                                       ? static_cast<std::size_t>(std::get<std::int64_t>(config["topology.dimensions"]))
                                       : std::get<IntList>(config["topology.shape"]).size();
    IntList delays;
    NumberList widths;
    for (std::size_t d = 0; d < dimensions; ++d) {
      delays.push_back(below(8) ? 1 + below(9) : 20 + below(12));
      widths.push_back(static_cast<double>(1 + below(4)) / static_cast<double>(4 + below(4)));
    }
    if (below(3) == 0) config["topology.channel_delay"] = delays;
    if (below(3) == 0) config["topology.channel_width"] = widths;
    return config;
  };
  switch (below(8)) {
    case 0:
      config["topology.kind"] = word("hypercube");
      config["topology.dimensions"] = integer(1 + below(7));
      break;
    case 1: config["topology.shape"] = IntList{2 + below(2), 2, 3, 2}; break;
    case 2: config["topology.shape"] = IntList{2, 2, 2, 2, 2, 2, 2, 2}; break;
    case 3: config["topology.shape"] = IntList{1 + below(2), 2}; break;
    default: return own_channels();
  }
  for (const char* key : {"traffic.pattern", "routing.algorithm"}) config.erase(key);
  if (std::get<std::string>(config["topology.kind"]) == "hypercube")
    for (const char* key : {"topology.shape", "routing.vc_assignment"}) config.erase(key);
  return own_channels();
}

/// Returns a network of 66 to 195 routers without regular structure, a ring with random chords, for which routers write
/// to rows of receivers (kernels/routers/vc/lanes/wire.hpp). Its edges are written to `file`. Every third network has
/// channels with a delay and a width of their own; every fifth has 12 VCs.
inline RawConfig irregular_routers(u32 seed, const std::string& file) {
  std::mt19937 random(seed);
  const u32 routers = 66 + random() % 130;
  std::ofstream edges(file);
  const auto connect = [&](u32 a, u32 b) {
    edges << a << ',' << b;
    if (seed % 3 == 0) edges << ',' << random() % 5 << ',' << (random() % 3 ? "0" : "0.5");
    edges << '\n';
  };
  for (u32 i = 0; i < routers; ++i) connect(i, (i + 1) % routers);
  std::vector<u32> ends;  // of chords: each router has two
  for (u32 i = 0; i < 2 * routers; ++i) ends.push_back(i % routers);
  std::shuffle(ends.begin(), ends.end(), random);
  for (u32 i = 0; i < 2 * routers; i += 2)
    if (ends[i] != ends[i + 1]) connect(ends[i], ends[i + 1]);
  RawConfig config = Settings{"topology.kind=graph topology.file=",
                              file,
                              " routing.algorithm=table router.vcs=8 run.seed=",
                              seed + 1,
                              " traffic.packet_flits=[[1,1.0],[5,1.0]] traffic.load=",
                              0.02 + 0.1 * (seed % 4)};
  if (seed % 5 == 4) config["router.vcs"] = integer(12);
  if (seed % 4 == 1) set(config, "traffic.mode=request_reply traffic.message_classes=1");
  if (seed % 4 == 2) set(config, "router.vc_allocator=islip router.switch_allocator=islip");
  if (seed % 4 == 3) set(config, "router.flow_control=virtual_cut_through");
  return config;
}

}  // namespace flitlab::testing
