#pragma once
/// Random small T3Es: any parameters that fit together, a few nodes, short buffers.
#include <algorithm>
#include <random>

#include "tests/support/build.hpp"

namespace flitlab::testing::t3e_random {

class Draw {
 public:
  explicit Draw(u64 seed) : engine_(seed) {}
  u32 below(u32 n) { return static_cast<u32>(engine_() % n); }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(static_cast<u32>(high - low + 1)); }
  bool coin() { return below(2); }
  template <class T>
  T one_of(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<u32>(list.size()))];
  }

 private:
  std::mt19937_64 engine_;
};

inline std::int64_t longest(const Lengths& lengths) {
  std::int64_t most = 0;
  for (const auto& [flits, weight] : lengths) most = std::max(most, std::int64_t{flits});
  return most;
}

inline Lengths random_lengths(Draw& draw) {
  Lengths all;
  for (std::int64_t n = 1; n <= 10; ++n) all.emplace_back(n, 1.0);
  return draw.one_of<Lengths>({{{1, 1.0}}, {{2, 1.0}}, {{10, 1.0}}, {{2, 1.0}, {10, 1.0}}, all, all});
}

inline void random_traffic(RawConfig& c, Draw& draw) {
  c["traffic.packet_flits"] = random_lengths(draw);
  c["traffic.self"] = draw.coin();
  c["traffic.pattern"] = word(draw.one_of({"uniform", "uniform", "hot_spot", "random_permutation"}));
  if (c["traffic.pattern"] == word("hot_spot")) c["traffic.hot_fraction"] = 0.5;
  switch (draw.below(5)) {
    case 0:
      c["traffic.mode"] = word("batch");
      c["traffic.batch_packets"] = draw.between(5, 60);
      break;
    case 1:
    case 2:
      c["traffic.mode"] = word("request_reply");
      c["traffic.reply_flits"] = random_lengths(draw);
      c["traffic.window"] = draw.one_of<std::int64_t>({1, 2, 4, 12});
      c["traffic.reply_delay"] = draw.one_of<std::int64_t>({0, 1, 5, 30});
      c["traffic.reply_queue"] = draw.one_of<std::int64_t>({1, 2, 8});
      break;
    default: c["traffic.mode"] = word("open"); break;
  }
  if (c["traffic.mode"] != word("batch")) c["traffic.load"] = draw.one_of({0.02, 0.1, 0.3, 0.6, 0.9});
}

inline void random_router(RawConfig& c, Draw& draw) {
  const bool closed = c["traffic.mode"] == word("request_reply");
  const std::int64_t most = std::max(longest(std::get<Lengths>(c["traffic.packet_flits"])),
                                     closed ? longest(std::get<Lengths>(c["traffic.reply_flits"])) : 0);
  const std::int64_t straight = draw.between(1, 5), turn = straight + draw.between(1, 5);
  c["router.straight_delay"] = straight;
  c["router.turn_delay"] = std::max<std::int64_t>(turn, 2);
  c["router.source_delay"] = straight + draw.between(2, 9);
  c["router.destination_delay"] = std::max(straight, turn - straight) + draw.between(1, 8);
  c["router.credit_delay"] = draw.one_of<std::int64_t>({2, 3, 4, 11});
  c["router.deterministic_buffer_flits"] = draw.one_of<std::int64_t>({1, 2, 3, 5, 8, 12, 12, 20});
  c["router.adaptive_buffer_flits"] = most + draw.one_of<std::int64_t>({0, 1, 5, 12});
  c["router.adaptive_vcs"] = draw.one_of<std::int64_t>({0, 1, 1, 2, 4});
  c["router.adaptive_choice"] = word(draw.coin() ? "highest" : "any");
  c["router.short_circuit"] = draw.below(4) != 0;
}

/// Of five machines one has the published router.
inline RawConfig random_t3e(u64 seed) {
  Draw draw(seed);
  RawConfig c{{"router.kind", word("t3e")}, {"run.seed", static_cast<std::int64_t>(seed)}};
  c["topology.shape"] = draw.one_of<IntList>({{2, 2, 1},
                                              {2, 4, 1},
                                              {2, 2, 2},
                                              {4, 2, 2},
                                              {4, 4, 1},
                                              {8, 2, 1},
                                              {2, 8, 1},
                                              {2, 2, 5},
                                              {4, 4, 2},
                                              {2, 4, 3},
                                              {8, 4, 1}});
  random_traffic(c, draw);
  if (draw.below(5)) random_router(c, draw);
  c["routing.adaptive"] = draw.below(4) != 0;
  c["routing.ordered_requests"] = draw.below(4) == 0;
  c["routing.half_way"] = word(draw.coin() ? "balanced" : "plus");
  c["routing.lut_mode"] = word(draw.one_of({"auto", "0", "1", "2"}));
  c["routing.vc_select"] = word(draw.one_of({"time_of_crossing", "optimised", "full"}));
  return c;
}

inline std::string described(const RawConfig& config) {
  std::string text;
  for (const auto& [path, value] : config) text += path + " = " + to_text(value) + "\n";
  return text;
}

}  // namespace flitlab::testing::t3e_random
