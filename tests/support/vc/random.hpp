#pragma once
/// Random networks of virtual-channel routers.
#include <random>
#include <string>
#include <vector>

#include "host/topology/metrics.hpp"
#include "host/topology/topology.hpp"
#include "tests/support/build.hpp"
#include "tests/support/vc/naive_terminals.hpp"

namespace flitlab::testing {

/// Draws parts of a configuration, one after the other: each part depends on those before it.
class RandomVc {
 public:
  explicit RandomVc(u32 seed) : random_(seed) { config_["run.seed"] = draw(0, 999); }

  RawConfig config() const { return config_; }

  void network() {
    const auto any = [&](std::initializer_list<const char*> words) { return one_of(words); };
    switch (random_() % 6) {
      case 0: set_grid(any({"mesh", "torus"}), {draw(1, 5), draw(2, 4)}); break;
      case 1: set_grid(any({"mesh", "torus"}), {draw(1, 3), draw(2, 3), draw(1, 3)}); break;
      case 2: set_grid("torus", {draw(2, 6), draw(1, 3)}); break;
      case 3: set_grid("ring", {draw(2, 9)}); break;
      case 4: set_grid("mesh", {draw(2, 5), draw(2, 4)}); break;
      default: set_grid("hypercube", {}); config_["topology.dimensions"] = draw(1, 4);
    }
    if (chance(3)) config_["topology.concentration"] = draw(2, 4);
    if (chance(2)) config_["topology.channel_delay"] = draw(1, 5);
    const bool rings = kind_ == "torus" || kind_ == "ring";
    std::vector<std::string> algorithms = {"dimension_order", "dimension_order", "valiant", "minimal_adaptive"};
    if (!rings) algorithms.push_back("romm");
    if (kind_ == "mesh" && std::get<IntList>(config_["topology.shape"]).size() == 2) algorithms.push_back("o1turn");
    algorithm_ = algorithms[random_() % algorithms.size()];
    config_["routing.algorithm"] = algorithm_;
    const std::string assignment = any({"dateline", "balanced", "by_crossing", "any"});
    if (rings) config_["routing.vc_assignment"] = word(assignment.c_str());
    classes_ = algorithm_ == "dimension_order"    ? (rings ? 2 : 1)
               : algorithm_ == "valiant"          ? (rings ? 4 : 2)
               : algorithm_ == "minimal_adaptive" ? (rings ? 3 : 2)
                                                  : 2;
    if (rings && assignment == "any") classes_ = algorithm_ == "minimal_adaptive" ? 2 : 1;
  }

  /// To be called after `network` and `traffic`.
  void router() {
    const u32 least = classes_ * messages_;
    config_["router.vcs"] = chance(8) ? draw(std::max(least, 9u), 16) : draw(least, least + 4);
    config_["router.buffer_flits"] = chance(6) ? draw(9, 40) : draw(1, 8);
    if (chance(2) && longest_) {
      config_["router.flow_control"] = word(one_of({"virtual_cut_through", "store_and_forward"}));
      config_["router.buffer_flits"] = draw(longest_, longest_ + 6);
    }
    if (chance(2)) pipeline();
    if (chance(4)) return;  // the plain router
    const auto allocator = [&] {
      return word(one_of({"separable_input_first", "separable_output_first", "islip", "wavefront"}));
    };
    config_["router.vc_allocator"] = allocator();
    config_["router.switch_allocator"] = allocator();
    config_["router.allocator_iterations"] = draw(1, 4);
    config_["router.arbiter"] = word(one_of({"round_robin", "matrix", "oldest_first"}));
    if (chance(2)) return;
    config_["router.speculative"] = true;
    config_["router.vc_allocation_delay"] = draw(0, 1);
  }

  void traffic() {
    config_["traffic.load"] = 0.05 + 0.1 * (random_() % 10);
    longest_ = 5;
    config_["traffic.packet_flits"] = Lengths{{1, 1.0}, {3, 1.0}, {5, 1.0}};
  }

 private:
  std::int64_t draw(u32 from, u32 to) { return integer(from + random_() % (to + 1 - from)); }
  bool chance(u32 one_in) { return random_() % one_in == 0; }
  const char* one_of(const std::vector<const char*>& words) { return words[random_() % words.size()]; }

  void set_grid(const std::string& kind, const IntList& shape) {
    kind_ = kind;
    config_["topology.kind"] = kind;
    if (!shape.empty()) config_["topology.shape"] = shape;
  }

  void pipeline() {
    config_["router.routing_delay"] = draw(0, 3);
    config_["router.vc_allocation_delay"] = draw(0, 3);
    config_["router.switch_allocation_delay"] = draw(1, 3);
    config_["router.switch_traversal_delay"] = draw(0, 3);
    config_["router.credit_delay"] = draw(1, 8);
  }

  std::mt19937 random_;
  RawConfig config_;
  std::string kind_, algorithm_;
  u32 classes_ = 1;   ///< routing classes
  u32 messages_ = 1;  ///< message classes
  u32 longest_ = 0;   ///< flits of the longest packet; 0: packets may be longer than any buffer
};

}  // namespace flitlab::testing
