#include "host/config/cross_checks.hpp"

#include <algorithm>
#include <cmath>

#include "host/error.hpp"
#include "host/topology/patterns.hpp"
#include "host/topology/topology.hpp"
#include "kernels/common/packet.hpp"

namespace flitlab {
namespace {

bool is_ring(const Experiment& e) { return e.str("topology.kind") == "torus" || e.str("topology.kind") == "ring"; }

std::string quoted(const Experiment& e, const std::string& path) { return path + " = \"" + e.str(path) + "\""; }

std::string list_text(const std::vector<u32>& list) { return shown(Value{IntList(list.begin(), list.end())}); }

/// Terminals of any topology but a graph, whose size is in its file.
u32 terminal_count(const Experiment& e) {
  return e.str("topology.kind") == "graph" ? 0 : count_terminals(grid_shape(e), e.u32_of("topology.concentration"));
}

void check_topology(const Experiment& e) {
  const std::string& kind = e.str("topology.kind");
  if (kind == "graph" && e.str("topology.file").empty())
    throw ConfigError("topology.kind = \"graph\" needs topology.file, the name of an edge list (CSV lines a,b).");
  if (kind == "ring" && e.ints("topology.shape").size() != 1)
    throw ConfigError("topology.shape = " + list_text(e.ints("topology.shape")) +
                      " does not fit a ring, which has one dimension: give one radix, or use "
                      "topology.kind = \"torus\".");
  if (e.has("topology.shape") && e.ints("topology.shape").size() > 10)
    throw ConfigError("topology.shape = " + list_text(e.ints("topology.shape")) + " has " +
                      std::to_string(e.ints("topology.shape").size()) +
                      " dimensions: at most 10 are supported. Leave some out.");
  terminal_count(e);
}

void check_routing(const Experiment& e) {
  const std::string& algorithm = e.str("routing.algorithm");
  const std::string& kind = e.str("topology.kind");
  if ((kind == "graph") != (algorithm == "table"))
    throw ConfigError(quoted(e, "routing.algorithm") + " does not fit " + quoted(e, "topology.kind") +
                      ": graphs are routed by \"table\", all other topologies by another algorithm.");
  const bool two_dimensional = kind == "mesh" && e.ints("topology.shape").size() == 2;
  if (algorithm == "o1turn" && !two_dimensional)
    throw ConfigError(
        "routing.algorithm = \"o1turn\" needs a mesh of two dimensions; use \"valiant\" or "
        "\"minimal_adaptive\" on other topologies.");
  if (algorithm == "romm" && is_ring(e))
    throw ConfigError("routing.algorithm = \"romm\" needs a mesh or a hypercube; use \"valiant\" on a " + kind + ".");
  const u32 messages = message_classes(e), needed = routing_classes(e) * messages, vcs = e.u32_of("router.vcs");
  if (vcs < needed)
    throw ConfigError("router.vcs = " + std::to_string(vcs) + " is too few: " + quoted(e, "routing.algorithm") +
                      " on a " + kind +
                      (messages > 1 ? " with traffic.message_classes = " + std::to_string(messages) : "") +
                      " needs at least " + std::to_string(needed) + " to be free of deadlock. Raise router.vcs" +
                      (is_ring(e) ? ", or set routing.vc_assignment = \"any\" to watch it deadlock." : "."));
}

void check_buffers(const Experiment& e) {
  if (e.flag("router.speculative") && e.i64("router.vc_allocation_delay") > 1)
    throw ConfigError("router.speculative = true does not fit router.vc_allocation_delay = " +
                      std::to_string(e.i64("router.vc_allocation_delay")) +
                      ": speculation overlaps VC allocation with switch allocation, and can hide one cycle of it. "
                      "Use a delay of 0 or 1, or do not speculate.");
  const std::string& flow = e.str("router.flow_control");
  if (flow != "wormhole" && longest_packet(e) > e.u32_of("router.buffer_flits"))
    throw ConfigError("router.buffer_flits = " + std::to_string(e.u32_of("router.buffer_flits")) +
                      " is too small: router.flow_control = \"" + flow + "\" needs room for the longest packet, " +
                      std::to_string(longest_packet(e)) + " flits. Raise it, or use \"wormhole\".");
}

void check_pattern(const Experiment& e) {
  if (e.str("traffic.mode") == "trace") {
    if (e.str("traffic.trace_file").empty())
      throw ConfigError(
          "traffic.mode = \"trace\" needs traffic.trace_file (CSV lines "
          "cycle,source,destination,flits[,needs]).");
    return;
  }
  const std::string& pattern = e.str("traffic.pattern");
  const bool graph = e.str("topology.kind") == "graph";
  const bool by_place = pattern == "tornado" || pattern == "neighbour" || pattern == "hot_region";
  if (graph && by_place)
    throw ConfigError(quoted(e, "traffic.pattern") +
                      " needs coordinates, which a graph does not have; use uniform, "
                      "hot_spot, random_permutation or matrix.");
  if (pattern == "matrix" && e.str("traffic.matrix_file").empty())
    throw ConfigError("traffic.pattern = \"matrix\" needs traffic.matrix_file (CSV lines source,destination,weight).");
  if (!graph) check_permutation(pattern, grid_shape(e), terminal_count(e));  // a graph's size is in its file
  if (pattern == "hot_spot" && !graph)
    for (u32 hot : e.ints("traffic.hot_terminals"))
      if (hot >= terminal_count(e))
        throw ConfigError("traffic.hot_terminals contains " + std::to_string(hot) + ": terminals are numbered 0 to " +
                          std::to_string(terminal_count(e) - 1) + ".");
  if (pattern == "hot_region") {
    const std::vector<u32> extent = e.ints("traffic.hot_shape"), shape = grid_shape(e);
    bool fits = extent.size() == shape.size();
    for (std::size_t d = 0; fits && d < shape.size(); ++d) fits = extent[d] <= shape[d];
    if (!fits)
      throw ConfigError("traffic.hot_shape = " + list_text(extent) +
                        " does not fit the network: give one extent per dimension, at most " + list_text(shape) + ".");
  }
}

void check_injection(const Experiment& e) {
  if (!e.has("traffic.burst_load")) return;
  const double load = e.f64("traffic.load"), burst = e.f64("traffic.burst_load");
  if (load > 0 && load >= burst)
    throw ConfigError("traffic.load = " + to_text(Value{load}) +
                      " must be below traffic.burst_load = " + to_text(Value{burst}) + ", the load within a burst.");
  const double on = e.f64("traffic.burst_cycles"), largest = burst * on / (on + 1);
  if (load > largest)
    throw ConfigError("traffic.load = " + to_text(Value{load}) + " cannot be offered in bursts of " +
                      to_text(Value{on}) + " cycles at traffic.burst_load = " + to_text(Value{burst}) +
                      ": pauses last at least a cycle, so the load is at most " + to_text(Value{largest}) +
                      ". Lengthen traffic.burst_cycles or raise traffic.burst_load.");
}

bool geometric(const Experiment& e) { return e.str("traffic.packet_length") == "geometric"; }

void check_lengths(const Experiment& e) {
  if (e.str("traffic.mode") == "trace") return;
  const Lengths& lengths = e.lengths("traffic.packet_flits");
  if (geometric(e) && lengths.size() != 1)
    throw ConfigError("traffic.packet_flits = " + shown(Value{lengths}) +
                      " does not fit traffic.packet_length = "
                      "\"geometric\": give one number, the mean, or use \"list\".");
}

/// Calls `f` with lengths that packets can have, the longest and the shortest among them.
template <class F>
void for_each_length(const Experiment& e, F f) {
  if (e.str("traffic.mode") == "trace") return f(1);  // every line is checked when it is read
  const auto each = [&](const Lengths& lengths) {
    for (const auto& [flits, weight] : lengths)
      if (weight > 0) f(static_cast<u32>(flits));
  };
  if (geometric(e)) {
    f(1);
    f(geometric_longest(e));
  } else {
    each(e.lengths("traffic.packet_flits"));
  }
  if (e.has("traffic.reply_flits")) each(e.lengths("traffic.reply_flits"));
}

}  // namespace

u32 routing_classes(const Experiment& e) {
  const std::string& algorithm = e.str("routing.algorithm");
  const bool ring = is_ring(e);
  if (ring && e.str("routing.vc_assignment") == "any") return 1;
  if (algorithm == "valiant") return ring ? 4 : 2;
  if (algorithm == "romm" || algorithm == "o1turn") return 2;
  if (algorithm == "minimal_adaptive") return ring ? 3 : 2;
  if (algorithm == "dimension_order") return ring ? 2 : 1;
  return 1;
}

u32 message_classes(const Experiment& e) {
  return e.has("traffic.message_classes") ? e.u32_of("traffic.message_classes") : 1;
}

std::vector<u32> grid_shape(const Experiment& e) {
  if (e.has("topology.shape")) return e.ints("topology.shape");
  if (e.has("topology.dimensions")) return std::vector<u32>(e.u32_of("topology.dimensions"), 2);
  return {};
}

u32 geometric_mean(const Experiment& e) { return static_cast<u32>(e.lengths("traffic.packet_flits").front().first); }

u32 geometric_longest(const Experiment& e) { return std::min(kLongestPacket, 16 * geometric_mean(e)); }

u32 longest_packet(const Experiment& e) {
  u32 longest = 1;
  for_each_length(e, [&](u32 flits) { longest = std::max(longest, flits); });
  return longest;
}

u32 shortest_packet(const Experiment& e) {
  u32 shortest = kLongestPacket;
  for_each_length(e, [&](u32 flits) { shortest = std::min(shortest, flits); });
  return shortest;
}

double mean_packet(const Experiment& e) {
  if (geometric(e)) {  // the mean of min(n, longest): the sum of P(n >= k) for k up to longest
    const double uncut = geometric_mean(e);
    return uncut * (1 - std::pow(1 - 1 / uncut, geometric_longest(e)));
  }
  double flits = 0, weights = 0;
  for (const auto& [length, weight] : e.lengths("traffic.packet_flits")) {
    flits += static_cast<double>(length) * weight;
    weights += weight;
  }
  return flits / weights;
}

void check_together(const Experiment& e) {
  check_topology(e);
  check_lengths(e);
  check_routing(e);
  check_buffers(e);
  check_pattern(e);
  check_injection(e);
}

}  // namespace flitlab
