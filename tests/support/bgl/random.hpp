#pragma once
/// Random configurations of small Blue Gene/L tori: any valid parameters, a few nodes, short buffers.
#include <random>

#include "tests/support/build.hpp"
#include "tests/support/draw.hpp"

namespace flitlab::testing {

inline void random_router(RawConfig& c, Draw& draw, bool bubble) {
  c["topology.channel_delay"] = draw.one_of<std::int64_t>({1, 2, 10, 20, 64});
  c["router.dynamic_vcs"] = draw.one_of<std::int64_t>({0, 1, 1, 2, 2, 3, 5});
  c["router.dynamic_flits"] = draw.one_of<std::int64_t>({8, 9, 12, 16, 32});
  c["router.escape"] = word(bubble ? "bubble" : "dateline");
  c["router.escape_order"] = word(draw.coin() ? "dimension" : "direction");
  c["router.escape_flits"] = (bubble ? 8 : 0) + draw.one_of<std::int64_t>({8, 9, 13, 16, 24});
  c["router.priority_flits"] = draw.one_of<std::int64_t>({16, 17, 24, 32});
  c["router.paths"] = draw.between(1, 3);
  c["router.bypass"] = draw.coin();
  c["router.pipeline_delay"] = draw.between(1, 9);
  c["router.arbitration_delay"] = draw.between(1, 5);
  c["router.fifo_delay"] = draw.between(0, 6);
  c["router.jsq"] = draw.coin();
  c["router.slq"] = draw.one_of({0.0, 0.5, 0.75, 1.0});
  c["router.network_first"] = draw.one_of({0.0, 0.5, 1.0, 1.0});
  c["router.arbitration_gap"] = draw.coin();
  c["router.trailer_bytes"] = draw.one_of<std::int64_t>({0, 4, 4, 9});
  const auto ack = draw.one_of<std::int64_t>({0, 8, 8, 32});
  c["router.ack_bytes"] = ack;
  c["router.acks"] = word(draw.coin() ? "charged" : "auto");
  c["routing.ties"] = word(draw.coin() ? "registers" : "random");
  c["router.gap_bytes"] = draw.one_of<std::int64_t>({0, 2, 2});
  c["router.count_unblocking"] = draw.coin();
}

/// Returns all parameters except the mode and load of the traffic. One in five configurations has the published router.
inline RawConfig random_bgl(u64 seed) {
  Draw draw(seed);
  const bool bubble = draw.below(3), infinite = draw.below(4) == 0, published = draw.below(5) == 0;
  RawConfig c = Settings("router.kind=bgl run.seed=", static_cast<std::int64_t>(seed));
  c["topology.shape"] = published ? draw.one_of<IntList>({{2, 2, 2}, {4, 3, 2}, {3, 3, 3}})
                                  : draw.one_of<IntList>({{2},
                                                          {3},
                                                          {4},
                                                          {7},
                                                          {8},
                                                          {2, 2},
                                                          {3, 3},
                                                          {4, 2},
                                                          {5, 1, 2},
                                                          {2, 2, 2},
                                                          {3, 2, 2},
                                                          {4, 2, 2},
                                                          {3, 3, 2}});
  if (published)
    c["router.escape"] = word("bubble");
  else
    random_router(c, draw, bubble);
  c["routing.dynamic"] = draw.one_of({0.0, 0.5, 1.0, 1.0});
  c["injection.fifos"] = draw.between(1, 6);
  c["injection.fifo_flits"] = draw.one_of<std::int64_t>({8, 11, 16, 32});
  c["injection.infinite"] = infinite;
  if (!infinite) c["injection.put_interval"] = draw.one_of<std::int64_t>({0, 0, 0, 1, 30});
  c["injection.priority_share"] = draw.one_of({0.0, 0.0, 0.2, 0.6});
  c["reception.fifo_flits"] = draw.one_of<std::int64_t>({8, 10, 16, 32});
  c["reception.groups"] = draw.between(1, 2);
  c["reception.take_interval"] = draw.one_of<std::int64_t>({0, 0, 0, 1, 60, 300});
  if (!infinite && draw.below(3) == 0) {
    c["software.packet_time"] = draw.one_of<std::int64_t>({0, 1, 100, 900});
    c["software.chunk_time"] = draw.one_of<std::int64_t>({0, 7, 50});
    c["software.processors"] = draw.between(1, 2);
    c["software.start_spread"] = draw.one_of<std::int64_t>({0, 1, 700});
  }
  Lengths all;
  for (std::int64_t n = 1; n <= 8; ++n) all.emplace_back(n, 1.0);
  c["traffic.packet_flits"] = draw.one_of<Lengths>({{{8, 1.0}}, {{1, 1.0}}, {{1, 1.0}, {8, 1.0}}, all, all});
  return c;
}

/// Adds the link protocol (retransmission), without errors.
inline void add_protocol(RawConfig& c, u64 seed) {
  Draw draw(seed + 2);
  c["router.link_protocol"] = true;
  c["router.retransmission_flits"] = draw.one_of<std::int64_t>({8, 20, 64, 128});
  c["router.retransmission_timeout"] = draw.one_of<std::int64_t>({730, 800, 1024});  // an acknowledgment may take 729
  c["router.idle_acks"] = draw.one_of<std::int64_t>({1024, 1500, 4096});
}

/// Adds links that corrupt packets, in two of three configurations.
inline void add_errors(RawConfig& c, u64 seed) {
  Draw draw(seed + 1);
  if (!draw.below(3)) return;
  add_protocol(c, seed);
  c["faults.error_rate"] = draw.one_of({0.0, 1e-5, 1e-4, 1e-3, 4e-3});
}

inline std::string described(const RawConfig& config) {
  std::string text;
  for (const auto& [path, value] : config) text += path + " = " + to_text(value) + "\n";
  return text;
}

}  // namespace flitlab::testing
