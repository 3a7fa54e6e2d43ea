#pragma once
/// Random configurations of small fabrics with any valid parameters.
#include "kernels/common/error.hpp"
#include "tests/support/bgl/random.hpp"
#include "tests/support/sconnect/fabrics.hpp"
#include "tests/support/sconnect/sconnect.hpp"

namespace flitlab::testing {

inline void random_fabric(RawConfig& c, Draw& draw, const std::string& graph) {
  bool dual = draw.below(3) == 0;
  switch (draw.below(7)) {
    case 0: c["topology.shape"] = draw.one_of<IntList>({{2}, {5}, {3, 3}, {4, 2}, {2, 2, 2, 2}}); break;
    case 1:
      dual = true;
      c["topology.shape"] = draw.one_of<IntList>({{2, 2, 2, 2}, {3, 2, 2}, {3, 3}, {2, 3, 1, 2}});
      break;
    case 2:
      c["topology.kind"] = word("hypercube");
      c["topology.dimensions"] = draw.between(1, 4);
      break;
    case 3:
      c["topology.kind"] = word("random");
      c["topology.nodes"] = draw.one_of<std::int64_t>({8, 12, 16});
      c["topology.degree"] = draw.between(2, dual ? 6 : 4);
      c["topology.wiring_seed"] = draw.between(1, 9);
      break;
    case 4:
      c["topology.kind"] = word("tree");
      c["topology.arity"] = draw.between(2, 3);
      c["topology.levels"] = draw.between(2, 3);
      break;
    case 5:
      c["topology.kind"] = word("tree");
      c["topology.arity"] = draw.one_of<std::int64_t>({3, 7, 9});
      set(c, "topology.levels=2 topology.inner=switches");
      break;
    default: set(c, "topology.kind=graph topology.file=", graph); break;
  }
  c["topology.node"] = word(dual ? "dual" : "single");
  c["topology.parallel_vcs"] = draw.between(1, 2);
  if (draw.coin()) c["routing.entries"] = word("mixed");
  c["topology.host_ports"] = draw.between(1, 2);
  c["topology.channel_delay"] = draw.one_of<std::int64_t>({6, 7, 8, 11, 12, 18, 29, 60});
  if (draw.below(4))
    c["topology.phase_seed"] = draw.between(0, 99);
  else
    c["topology.phases"] = word("equal");
}

/// Returns a random configuration. `graph`: a file with the text kSwitchedGraph.
inline RawConfig random_sconnect(u64 seed, const std::string& graph) {
  Draw draw(seed);
  RawConfig c = Settings("run.seed=", static_cast<std::int64_t>(seed));
  random_fabric(c, draw, graph);
  if (draw.below(4) == 0) c["routing.tables"] = word("tree");
  const u32 lengths = draw.below(3);
  c["traffic.packet_flits"] = lengths == 0   ? Lengths{{1, 1.0}}
                              : lengths == 1 ? Lengths{{4, 1.0}}
                                             : Lengths{{1, 2.0}, {4, 1.0}};
  const IntList weights = draw.one_of<IntList>({{1, 0, 0, 0}, {1, 1, 1, 1}, {5, 0, 2, 1}, {0, 0, 0, 1}, {8, 1, 0, 0}});
  c["host.priorities"] = weights;
  const u32 used = static_cast<u32>(4 - std::count(weights.begin(), weights.end(), 0));
  // Minimum pool: a buffer for each queue, four for queues that quads use.
  const u32 quads = lengths == 0 ? 4 : draw.one_of<u32>({0, 1, 2, 3});
  const bool one_more = quads < 4 && !weights[quads];
  const u32 least_each = used + one_more + (quads < 4 ? 3 : 0), least = 12 * least_each;
  if (least > 64) return random_sconnect(seed + 100000, graph);
  if (quads < 4) c["host.quad_priority"] = integer(quads);
  const u32 buffers = draw.coin() ? 64 : least + draw.below(65 - least);
  c["router.buffers"] = integer(buffers);
  if (draw.coin()) {
    IntList reserve;
    u32 left = buffers / 12 - least_each;
    for (u32 p = 0; p < 4; ++p) {
      const u32 more = draw.below(left + 1);
      reserve.push_back((p == quads ? 4 : weights[p] ? 1 : 0) + more);
      left -= more;
    }
    c["router.reserve"] = reserve;
  }
  if (draw.below(3) == 0) c["router.host_buffers"] = draw.between(1, buffers);
  c["channel.error_rate"] = draw.one_of({0.0, 0.0, 1e-5, 1e-4, 1e-3, 1e-3, 3e-3, 1e-2});
  if (draw.coin() && std::get<std::int64_t>(c["topology.host_ports"]) == 2) {
    IntList second(4, 0);  // only the highest priority uses the second host port
    for (u32 p = 0; p < 4; ++p)
      if (weights[p]) second.assign(4, 0), second[p] = 1;
    c["host.second_priorities"] = second;
  }
  if (draw.below(4) == 0) c["host.queues"] = word("single");
  if (draw.below(5) == 0) c["host.refuses"] = draw.one_of<IntList>({{0}, {1, 2}, {3}});
  if (draw.below(6) == 0) {
    c["traffic.mode"] = word("batch");
    c["traffic.batch_packets"] = draw.between(1, 60);
  } else {
    c["traffic.load"] = draw.one_of({0.02, 0.1, 0.3, 0.6, 1.0});
  }
  c["routing.age"] = word(draw.one_of({"requeued", "requeued", "head", "all"}));
  return c;
}

/// Returns a random configuration with closed loops.
inline RawConfig random_sconnect_loop(u64 seed, const std::string& graph) {
  Draw draw(seed);
  RawConfig c = random_sconnect(seed, graph);
  for (const char* other : {"router.reserve", "router.buffers", "traffic.batch_packets"}) c.erase(other);
  c["traffic.mode"] = word("request_reply");
  c["traffic.load"] = draw.one_of({0.02, 0.1, 0.3, 1.0, 1.0});
  c["traffic.window"] = draw.one_of<std::int64_t>({1, 2, 4, 16, 256});
  c["traffic.reply_queue"] = draw.one_of<std::int64_t>({1, 2, 8});
  c["traffic.reply_delay"] = draw.one_of<std::int64_t>({0, 1, 2, 5, 40});
  c["traffic.reply_flits"] = draw.one_of<Lengths>({{{1, 1.0}}, {{4, 1.0}}, {{1, 1.0}, {4, 1.0}}});
  if (draw.below(3) == 0) c["host.reply_priority"] = integer(3);
  try {
    sconnect_experiment(c);
  } catch (const ConfigError&) {  // the pool is too small for queues of so many priorities
    return random_sconnect_loop(seed + 100000, graph);
  }
  return c;
}

}  // namespace flitlab::testing
