#pragma once
/// Random configurations of virtual-channel routers.
#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "host/topology/metrics.hpp"
#include "host/topology/topology.hpp"
#include "tests/support/adaptive/random.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"
#include "tests/support/vc/naive_terminals.hpp"

namespace flitlab::testing {

/// Draws the parts of a configuration one after the other; each part depends on the parts before it.
class RandomVc {
 public:
  explicit RandomVc(u32 seed) : random_(seed) { config_["run.seed"] = draw(0, 999); }

  u32 below(u32 n) { return static_cast<u32>(random_() % n); }
  RawConfig config() const { return config_; }

  /// Draws a grid: mesh or torus.
  void grid() {
    const std::string mesh_or_torus = one_of({"mesh", "torus"});
    switch (below(6)) {
      case 0: set_grid(mesh_or_torus, {draw(1, 5), draw(2, 4)}); break;
      case 1: set_grid(mesh_or_torus, {draw(1, 3), draw(2, 3), draw(1, 3)}); break;
      case 2: set_grid("torus", {draw(2, 6), draw(1, 3)}); break;
      case 3: set_grid("ring", {draw(2, 9)}); break;
      case 4: set_grid("mesh", {draw(2, 5), draw(2, 4)}); break;
      default: set_grid("hypercube", {}); config_["topology.dimensions"] = draw(1, 4);
    }
    if (chance(3)) config_["topology.concentration"] = draw(2, 4);
    channels(kind_ == "hypercube" ? static_cast<u32>(std::get<std::int64_t>(config_["topology.dimensions"]))
                                  : static_cast<u32>(std::get<IntList>(config_["topology.shape"]).size()));
    const bool rings = kind_ == "torus" || kind_ == "ring";
    std::vector<std::string> algorithms = {"dimension_order", "dimension_order", "valiant", "minimal_adaptive"};
    if (!rings) algorithms.push_back("romm");
    if (kind_ == "mesh") algorithms.push_back("negative_first");
    if (kind_ == "mesh" && std::get<IntList>(config_["topology.shape"]).size() == 2)
      algorithms.insert(algorithms.end(), {"o1turn", "west_first", "north_last", "odd_even", "odd_even"});
    algorithm_ = algorithms[below(static_cast<u32>(algorithms.size()))];
    config_["routing.algorithm"] = algorithm_;
    const std::string assignment = one_of({"dateline", "balanced", "by_crossing", "two_datelines", "any"});
    if (rings) config_["routing.vc_assignment"] = word(assignment.c_str());
    classes_ = algorithm_ == "dimension_order"                  ? (rings ? 2 : 1)
               : algorithm_ == "valiant"                        ? (rings ? 4 : 2)
               : algorithm_ == "minimal_adaptive"               ? (rings ? 3 : 2)
               : algorithm_ == "romm" || algorithm_ == "o1turn" ? 2
                                                                : 1;
    // Without datelines one routing class is enough. Minimal adaptive routing then has no adaptive VC.
    if (rings && assignment == "any") classes_ = 1;
  }

  /// Draws the router. Call it after the network and the traffic have been drawn.
  void router() {
    const u32 least = classes_ * messages_;
    config_["router.vcs"] = chance(8) ? draw(std::max(least, 9u), 16) : draw(least, std::min(least + 4, 16u));
    config_["router.buffer_flits"] = chance(6) ? draw(9, 40) : draw(1, 8);
    if (ranges_) class_ranges();
    if (chance(2)) selection();
    if (longest_ && chance(2)) {
      config_["router.flow_control"] = word(one_of({"virtual_cut_through", "store_and_forward"}));
      config_["router.buffer_flits"] = draw(longest_, longest_ + 6);
    }
    if (chance(2)) pipeline();
    if (chance(6)) config_["router.wait_for_tail_credit"] = true;
    if (chance(6)) config_["router.hold_switch_for_packet"] = true;
    if (chance(5)) config_["router.vc_needs_credit"] = true;
    if (matrix_ && chance(4)) speedup();
    if (may_have_early_credits() && chance(5)) config_["router.early_vc_credits"] = true;
    if (chance(4)) return;  // the plain router
    const auto allocator = [&] {
      return word(one_of({"separable_input_first", "separable_output_first", "islip", "wavefront"}));
    };
    config_["router.vc_allocator"] = allocator();
    config_["router.switch_allocator"] = chance(5) ? word("separable_input_first_by_output") : allocator();
    if (chance(3)) config_["router.vc_pointer_spans_ports"] = true;
    config_["router.allocator_iterations"] = draw(1, 4);
    config_["router.arbiter"] =
        word(one_of({"round_robin", matrix_ ? "matrix" : "round_robin", "oldest_first", "most_hops_first", "random",
                     "fixed_priority", "highest_priority_first", "round_robin_by_two"}));
    if (takes_turns() && chance(2)) config_["router.vc_arbiter_by_port"] = true;
    if (closed_ && messages_ == 2 && config_["router.arbiter"] == word("highest_priority_first"))
      config_["traffic.class_priority"] = IntList{draw(0, 1), draw(0, 2)};
    if (chance(2)) return;
    config_["router.speculative"] = true;
    config_["router.vc_allocation_delay"] = draw(config_.contains("router.early_vc_credits"), 1);
  }

  /// Returns whether the parameters of early credits allow them.
  bool may_have_early_credits() {
    const auto is = [&](const char* key, std::int64_t low) {
      return !config_.contains(key) || std::get<std::int64_t>(config_[key]) >= low;
    };
    return !config_.contains("router.internal_speedup") && is("router.vc_allocation_delay", 1) &&
           is("router.credit_delay", 2);
  }

  bool takes_turns() {
    return config_["router.arbiter"] == word("round_robin") || config_["router.arbiter"] == word("round_robin_by_two");
  }

  /// Draws how packets select one of several ports.
  void selection() {
    if (algorithm_ == "adaptive") config_["routing.selection"] = word(one_of({"most_credits", "two_random"}));
    if (algorithm_ != "minimal_adaptive" || !is_grid() || classes_ > 3) return;  // not with failed links
    config_["routing.selection"] = word(one_of({"most_credits", "first", "first_or_escape"}));
    config_["routing.stay_on_escape"] = chance(2);
    if (!ranges_ && classes_ > 1) config_["routing.adaptive_vcs"] = draw(0, 1);
  }

  /// Draws the range of virtual channels of each class of packets.
  void class_ranges() {
    const u32 vcs = static_cast<u32>(std::get<std::int64_t>(config_["router.vcs"]));
    IntList first, last;
    for (u32 c = 0; c < ranges_; ++c) {
      first.push_back(draw(0, vcs - 1));
      last.push_back(draw(static_cast<u32>(first.back()), vcs - 1));
    }
    config_["traffic.class_vcs"] = word("ranges");
    config_["traffic.class_first_vc"] = first;
    config_["traffic.class_last_vc"] = last;
  }

  /// Draws speedup of the crossbar, for routers of at most 16 ports.
  void speedup() {
    const u32 vcs = static_cast<u32>(std::get<std::int64_t>(config_["router.vcs"]));
    const u32 outputs = config_.contains("router.hold_switch_for_packet") ? 1 : 1 + below(2);
    const double rounds = chance(2) ? 1 + below(3) : std::array{1.5, 1.7, 4.0 / 3, 2.25, 65.0 / 64}[below(5)];
    config_["router.input_speedup"] = draw(1, std::min(vcs, 2u));
    config_["router.output_speedup"] = integer(outputs);
    config_["router.internal_speedup"] = rounds;
    if (outputs * rounds > 1 && chance(2)) config_["router.output_queue_flits"] = draw(outputs, 6);
  }

  /// Draws a connected graph. Half of the graphs have a table of random shortest paths.
  void graph() {
    kind_ = "graph";
    std::string edges = random_graph(random_);
    for (std::size_t end = 0, way = below(3); way && (end = edges.find('\n', end)) != std::string::npos;) {
      std::string columns = "," + std::to_string(1 + below(chance(20) ? 150 : 9));
      if (way == 2) columns += "," + text_of(one_width());
      edges.insert(end, columns);
      end += columns.size() + 1;
    }
    files_.push_back(std::make_unique<TextFile>(edges));
    set(config_, "topology.kind=", kind_, " topology.file=", files_.back()->path);
    if (chance(3)) config_["topology.concentration"] = draw(2, 3);
    channels(1);
    config_["routing.algorithm"] = word("table");
    classes_ = 4;  // deadlock-free layers; more are hardly ever needed
    if (chance(2)) return;
    files_.push_back(std::make_unique<TextFile>(table()));
    config_["routing.table_file"] = files_.back()->path;
  }

  /// Draws a network that is built from a few numbers, and one of its routing algorithms.
  void family() {
    kind_ = one_of({"full_mesh", "hyperx", "flattened_butterfly", "fat_tree", "dragonfly", "megafly", "slim_fly",
                    "polarfly", "jellyfish", "polarstar", "cmesh"});
    config_["topology.kind"] = kind_;
    std::vector<const char*> algorithms{"minimal", "up_down", "minimal_adaptive", "valiant", "ugal_l", "ugal_l"};
    if (kind_ == "full_mesh") config_["topology.routers"] = draw(2, 7);
    if (kind_ == "hyperx" || kind_ == "flattened_butterfly") {
      config_["topology.shape"] = chance(2) ? IntList{draw(2, 4), draw(1, 4)} : IntList{draw(1, 3), 2, draw(1, 2)};
      config_["topology.copies"] = draw(1, 2);
      algorithms.insert(algorithms.end(), {"dal", "dal", "dimwar", "dimwar", "omniwar", "omniwar"});
    }
    if (kind_ == "fat_tree") {
      const bool two = chance(2);
      config_["topology.children"] = two ? IntList{draw(1, 4)} : IntList{draw(1, 3), draw(1, 3)};
      config_["topology.parents"] = two ? IntList{draw(1, 4)} : IntList{draw(1, 3), draw(1, 3)};
      algorithms = {"minimal",  "minimal", "up_down", "minimal_adaptive", "nearest_common_ancestor",
                    "adaptive", "adaptive"};
    }
    if (kind_ == "dragonfly" || kind_ == "megafly") {
      config_["topology.group_routers"] = draw(1, 3) * 2;
      config_["topology.groups"] = integer(3);
      config_["topology.global_channels"] = integer(2);
      config_["topology.arrangement"] = word(one_of({"absolute", "relative", "palm_tree", "circulant"}));
      algorithms.insert(algorithms.end(), {"par", "par"});
    }
    if (kind_ == "slim_fly" || kind_ == "polarfly") config_["topology.order"] = draw(3, 4);
    if (kind_ == "polarstar") config_["topology.order"] = draw(2, 2);
    if (kind_ == "cmesh")
      set(config_, "topology.shape=[", draw(4, 6), ",", draw(1, 3), "] topology.express=", draw(2, 3));
    if (kind_ == "jellyfish") set(config_, "topology.routers=", draw(3, 7) * 2, " topology.degree=", draw(2, 4));
    if (chance(2)) config_["topology.concentration"] = draw(1, 3);
    channels(2);
    if (config_.contains("topology.shape") && chance(3)) config_["topology.delay_by_distance"] = true;
    algorithm_ = algorithms[below(static_cast<u32>(algorithms.size()))];
    config_["routing.algorithm"] = algorithm_;
    const bool via = algorithm_ == "valiant" || algorithm_ == "ugal_l" || algorithm_ == "par";
    if (via && (kind_ == "dragonfly" || kind_ == "megafly"))
      config_["routing.intermediate"] = word(one_of({"router", "group"}));
    if ((kind_ == "dragonfly" || kind_ == "megafly") && algorithm_ != "minimal_adaptive")
      config_["routing.ejection_vcs"] = word(one_of({"all", "class"}));
    if (algorithm_ == "ugal_l" || algorithm_ == "par") config_["routing.threshold"] = integer(int(below(40)) - 20);
    const bool compares = algorithm_ == "dal" || algorithm_ == "dimwar" || algorithm_ == "omniwar";
    if (compares || algorithm_ == "ugal_l" || algorithm_ == "par")
      config_["routing.congestion"] = word(one_of({"port", "class"}));
    classes_ = 8;  // more are hardly ever needed
  }

  /// Draws a mesh or torus with failed links.
  void failed() {
    kind_ = one_of({"mesh", "torus", "chiplet_mesh"});
    set(config_, "topology.kind=", kind_, " topology.shape=[", 2 * draw(1, 2), ",", 2 * draw(1, 2), "]");
    if (kind_ == "chiplet_mesh") config_["topology.chip_shape"] = IntList{2, 1};
    set(config_, " topology.random_failures=1 topology.failure_seed=", draw(0, 99));
    algorithm_ = one_of({"table", "minimal", "up_down", "minimal_adaptive", "valiant", "ugal_l"});
    config_["routing.algorithm"] = algorithm_;
    if (algorithm_ == "ugal_l") config_["routing.congestion"] = word(one_of({"port", "class"}));
    classes_ = 8;
  }

  /// Draws a star whose hub has 33 to 64 ports. Two or more channels may lead to a leaf.
  void star() {
    kind_ = "graph";
    std::string edges;
    const u32 ports = 32 + below(32), leaves = 2 + below(ports - 1);
    for (u32 i = 0; i < ports; ++i) edges += "0," + std::to_string(1 + i % leaves) + "\n";
    files_.push_back(std::make_unique<TextFile>(edges));
    set(config_, "topology.kind=graph topology.file=", files_.back()->path);
    channels(1);
    config_["routing.algorithm"] = word("table");
    classes_ = 1;
    matrix_ = false;
  }

  /// Draws one or two routers with 17 to 62 terminals.
  void hub() {
    set_grid("mesh", {draw(1, 2)});
    config_["topology.concentration"] = draw(17, 62);
    channels(1);
    algorithm_ = "dimension_order";
    config_["routing.algorithm"] = algorithm_;
    classes_ = 1;
    matrix_ = false;
  }

  void open_loop() {
    const double load = 0.03 + 0.1 * below(10);
    config_["traffic.load"] = load;
    pattern();
    if (chance(8)) {
      config_["traffic.packet_length"] = word("geometric");
      config_["traffic.packet_flits"] = draw(2, 6);
      longest_ = 0;
    } else {
      config_["traffic.packet_flits"] = lengths(true);
    }
    if (chance(3)) config_["traffic.injection"] = word("periodic");
    if (chance(5) && load < 0.6) {
      set(config_, "traffic.injection=on_off traffic.burst_load=0.9 traffic.burst_cycles=12.0");
    }
  }

  /// Divides the load of an open loop among several classes of packets.
  void classes() {
    const u32 most = std::max(2u, std::min(5u, 16 / classes_)), n = 2 + below(most - 1);
    config_["traffic.classes"] = integer(n);
    if (n * classes_ > 16 || chance(2))
      config_["traffic.class_vcs"] = word("shared");
    else
      messages_ = n;
    if (messages_ == n && kind_ == "mesh" && classes_ == 1) ranges_ = n * below(2);
    std::string patterns;
    IntList flits, priorities;
    NumberList shares;
    for (u32 c = 0; c < n; ++c) {
      patterns += std::string(c ? "," : "") + one_of({"uniform", "random_permutation", "hot_spot"});
      flits.push_back(draw(1, 6));
      priorities.push_back(draw(0, 2));
      shares.push_back(0.5 + below(4));
    }
    if (!chance(4)) config_["traffic.class_pattern"] = patterns;
    if (!chance(4)) config_["traffic.class_share"] = shares;
    if (!chance(3)) config_["traffic.class_priority"] = priorities;
    if (chance(3)) return;
    config_["traffic.class_flits"] = flits;
    longest_ = config_.contains("traffic.packet_length") ? 0 : 6;
  }

  void batch() {
    config_["traffic.mode"] = word("batch");
    config_["traffic.batch_packets"] = draw(1, 12);
    config_["traffic.packet_flits"] = lengths(true);
    config_["traffic.start"] = draw(0, 20);
    pattern();
    config_["traffic.self"] = true;  // otherwise a small permutation may have no packets
  }

  void closed_loop() {
    config_["traffic.mode"] = word("request_reply");
    config_["traffic.load"] = 0.05 + 0.1 * below(10);
    config_["traffic.packet_flits"] = lengths(true);
    config_["traffic.reply_flits"] = lengths(false);
    config_["traffic.window"] = draw(1, 6);
    config_["traffic.reply_queue"] = draw(1, 4);
    config_["traffic.reply_delay"] = draw(0, 9);
    messages_ = 1 + below(2);
    config_["traffic.message_classes"] = integer(messages_);
    closed_ = true;
    pattern();
  }

  /// Returns a trace with a few packets per terminal, so that a terminal's share of the trace buffer (kTraceQueue)
  /// never fills.
  std::vector<vc_naive::TraceLine> trace() {
    const u32 terminals = topology().terminals, lines = 16 * terminals;
    const bool ready = chance(2);
    std::vector<vc_naive::TraceLine> list;
    std::string text = "# cycle,source,destination,flits,needs\n";
    std::vector<u32> of_source(terminals, 0);
    Cycle cycle = 0;
    longest_ = 6;
    while (list.size() < lines) {
      cycle += chance(3) ? below(100 / terminals + 2) : 0;
      vc_naive::TraceLine line{cycle, below(terminals), below(terminals), 1 + below(longest_), {}, 0};
      if (++of_source[line.source] > kTraceQueue) continue;
      line.number = static_cast<u32>(list.size());
      // Depends on earlier packets to this source: the first ones found, going back from a random one of the last 30
      // lines.
      if (chance(2))
        for (u32 back = below(30), most = ready ? 1 + below(4) : 1; back < list.size() && line.needs.size() < most;
             ++back)
          if (const auto& other = list[list.size() - 1 - back]; other.destination == line.source)
            line.needs.push_back(other.number);
      for (u32 number : {line.cycle, line.source, line.destination, line.flits}) text += std::to_string(number) + ",";
      for (u32 number : line.needs) text += std::to_string(number) + ",";
      text.back() = '\n';
      list.push_back(line);
    }
    files_.push_back(std::make_unique<TextFile>(text));
    set(config_, "traffic.mode=trace traffic.trace_file=", files_.back()->path);
    config_["traffic.trace_order"] = word(ready ? "ready" : "file");
    return list;
  }

 private:
  double one_width() {
    static const double kWidths[] = {1.0, 0.5, 1.0 / 3, 2.0 / 3, 0.75, 0.2, 5.0 / 8};
    return kWidths[below(7)];
  }
  /// Draws delays and widths of channels in a number of dimensions, or within groups and between them.
  void channels(u32 dimensions) {
    if (chance(2)) config_["topology.channel_delay"] = draw(1, 5);
    if (chance(4)) config_["topology.channel_width"] = one_width();
    if (!is_grid() && kind_ != "dragonfly" && kind_ != "megafly") return;
    IntList delays;
    NumberList widths;
    for (u32 d = 0; d < dimensions; ++d) delays.push_back(draw(1, 7)), widths.push_back(one_width());
    if (chance(3)) config_["topology.channel_delay"] = delays;
    if (chance(4)) config_["topology.channel_width"] = widths;
  }
  bool is_grid() const { return kind_ == "mesh" || kind_ == "torus" || kind_ == "ring" || kind_ == "hypercube"; }
  std::int64_t draw(u32 from, u32 to) { return integer(from + below(to + 1 - from)); }
  bool chance(u32 one_in) { return below(one_in) == 0; }
  const char* one_of(const std::vector<const char*>& words) { return words[below(static_cast<u32>(words.size()))]; }

  void pattern() {
    config_["traffic.self"] = !chance(3);
    const std::string name = one_of({"uniform", "uniform", "hot_spot", "random_permutation"});
    config_["traffic.pattern"] = name;
    if (name == "hot_spot") config_["traffic.hot_fraction"] = 0.4;
  }

  Lengths lengths(bool first) {
    static const Lengths kLists[] = {{{1, 1.0}}, {{4, 1.0}}, {{1, 1.0}, {5, 1.0}}, {{2, 1.0}, {3, 2.0}, {9, 0.5}}};
    static const u32 kLongest[] = {1, 4, 5, 9};
    const u32 which = below(4);
    longest_ = std::max(first ? 0 : longest_, kLongest[which]);
    return kLists[which];
  }

  Topology topology() const {
    RawConfig config = config_;
    config["router.vcs"] = integer(16);
    return make_topology(experiment(config));
  }

  /// Returns a routing table. For each pair it chooses one of the neighbours that are nearer to the destination at
  /// random, and one or all of the channels to it.
  std::string table() {
    const Topology t = topology();
    std::string text = "# router,destination,port\n";
    for (u32 to = 0; to < t.routers; ++to) {
      const std::vector<u32> hops = hops_from(t, to);
      for (u32 r = 0; r < t.routers; ++r) {
        std::vector<u32> ports;
        for (u32 p = 0; p < t.network_ports; ++p)
          if (t.peer(r, p).item != kNone && hops[t.peer(r, p).item] < hops[r]) ports.push_back(p);
        if (ports.empty()) continue;
        const u32 chosen = ports[below(static_cast<u32>(ports.size()))];
        const bool all = !chance(3);
        for (u32 p : ports)
          if (p == chosen || (all && t.peer(r, p).item == t.peer(r, chosen).item))
            text += std::to_string(r) + "," + std::to_string(to) + "," + std::to_string(p) + "\n";
      }
    }
    return text;
  }

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
    config_["router.injection_credit_delay"] = draw(0, 8);
  }

  std::mt19937 random_;
  RawConfig config_;
  std::string kind_, algorithm_;
  std::vector<std::unique_ptr<TextFile>> files_;
  u32 classes_ = 1;   ///< routing classes
  u32 messages_ = 1;  ///< message classes
  u32 ranges_ = 0;    ///< classes of packets with ranges of virtual channels
  bool closed_ = false;
  bool matrix_ = true;  ///< arbiters may be matrix arbiters
  u32 longest_ = 0;     ///< flits of the longest packet; 0: packets may be longer than any buffer
};

}  // namespace flitlab::testing
