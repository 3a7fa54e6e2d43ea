#include "host/config/cross_checks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "host/config/check.hpp"
#include "host/config/registry.hpp"
#include "host/config/topology_params.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/packet.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {
namespace {

/// Returns whether all terminals of the network's grid exist and take part in the traffic.
bool is_whole(const Experiment& e) {
  const auto whole = model_of(e.kind()).whole;
  return !whole || whole(e);
}

/// Returns a list for messages: `"open", "batch" or "trace"`.
std::string choices_text(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + ('"' + std::string(words[i]) + '"');
  return text;
}

void check_mode(const Experiment& e) {
  const auto supports = [&](const ModelRecord& model) {
    return std::find(model.modes.begin(), model.modes.end(), e.str(param::traffic.mode)) != model.modes.end();
  };
  const ModelRecord& model = model_of(e.kind());
  if (supports(model)) return;
  std::vector<std::string_view> others;
  for (const ModelRecord& other : models())
    if (supports(other)) others.push_back(other.kind);
  throw ConfigError(quoted(e, param::traffic.mode) + " does not fit " + quoted_kind(e) + ", whose terminals support " +
                    choices_text(model.modes) + ". Use one of them, or router.kind = " + choices_text(others) + ".");
}

void check_program(const Experiment& e) {
  if (e.str(param::traffic.program_file).empty())
    throw ConfigError("traffic.mode = \"program\" needs traffic.program_file (CSV lines rank,call[,arguments]).");
  if (const u32 flits = longest_packet(e); flits > kLongestPacket)
    throw ConfigError("traffic.flit_bytes = " + std::to_string(e.i64(param::traffic.flit_bytes)) +
                      " makes packets of up to " + std::to_string(flits) + " flits; at most " +
                      std::to_string(kLongestPacket) + " are possible. Raise it, or lower traffic.payload_bytes.");
}

void check_pattern(const Experiment& e) {
  if (e.is({param::traffic.mode, "program"}) || e.is({param::traffic.mode, "broadcast"}) ||
      e.is({param::traffic.mode, "host"}))
    return;
  if (e.is({param::traffic.mode, "trace"})) {
    if (e.str(param::traffic.trace_file).empty())
      throw ConfigError(
          "traffic.mode = \"trace\" needs traffic.trace_file (CSV lines "
          "cycle,source,destination,flits[,needs]).");
    return;
  }
  const std::string& pattern = e.str(param::traffic.pattern);
  const bool graph = is_graph(e);
  const bool needs_coordinates =
      pattern == "tornado" || pattern == "neighbour" || pattern == "hot_region" || pattern == "all_to_region";
  if (needs_coordinates && (graph || grid_shape(e).empty()))
    throw ConfigError(quoted(e, param::traffic.pattern) + " needs coordinates, which " +
                      (has_failures(e) ? "a network with failed links or routers" : "this network") +
                      " does not have; use uniform, "
                      "hot_spot, random_permutation or matrix.");
  if (pattern == "matrix" && e.str(param::traffic.matrix_file).empty())
    throw ConfigError("traffic.pattern = \"matrix\" needs traffic.matrix_file (CSV lines source,destination,value).");
  // Two cases are left to plans: the size of a graph is only in its file, and only the plan of an incomplete machine
  // knows which terminals take part.
  if (!graph && is_whole(e)) check_permutation(pattern, grid_shape(e), terminal_count(e));
  if (pattern == "hot_spot" && !graph)
    for (u32 hot : e.ints(param::traffic.hot_terminals))
      if (hot >= terminal_count(e))
        throw ConfigError("traffic.hot_terminals contains " + std::to_string(hot) + ": terminals are numbered 0 to " +
                          std::to_string(terminal_count(e) - 1) + ".");
  if (e.has(param::traffic.hot_shape)) {
    const std::vector<u32> extent = e.ints(param::traffic.hot_shape), shape = grid_shape(e);
    bool fits = extent.size() == shape.size();
    for (std::size_t d = 0; fits && d < shape.size(); ++d) fits = extent[d] <= shape[d];
    if (!fits)
      throw ConfigError("traffic.hot_shape = " + list_text(extent) +
                        " does not fit the network: give one extent per dimension, at most " + list_text(shape) + ".");
  }
}

void check_injection(const Experiment& e) {
  if (!e.has(param::traffic.burst_load) || !e.has(param::traffic.load)) return;
  const double load = e.f64(param::traffic.load), burst = e.f64(param::traffic.burst_load);
  if (load > 0 && load >= burst)
    throw ConfigError("traffic.load = " + to_text(Value{load}) +
                      " must be below traffic.burst_load = " + to_text(Value{burst}) + ", the load within a burst.");
  const double on = e.f64(param::traffic.burst_cycles), largest = burst * on / (on + 1);
  if (load > largest)
    throw ConfigError("traffic.load = " + to_text(Value{load}) + " cannot be offered in bursts of " +
                      to_text(Value{on}) + " cycles at traffic.burst_load = " + to_text(Value{burst}) +
                      ": pauses last at least a cycle, so the load is at most " + to_text(Value{largest}) +
                      ". Lengthen traffic.burst_cycles or raise traffic.burst_load.");
}

bool geometric(const Experiment& e) { return e.is({param::traffic.packet_length, "geometric"}); }

void check_lengths(const Experiment& e) {
  if (!e.has(param::traffic.packet_flits)) return;
  const Lengths& lengths = e.lengths(param::traffic.packet_flits);
  if (geometric(e) && lengths.size() != 1)
    throw ConfigError("traffic.packet_flits = " + shown(Value{lengths}) +
                      " does not fit traffic.packet_length = "
                      "\"geometric\": give one number, the mean, or use \"list\".");
}

/// Calls work(experiment) for the experiment or, if it has several classes of packets, for that of each class.
template <class Work>
void for_each_class(const Experiment& e, Work&& work) {
  const u32 classes = traffic_classes(e);
  if (classes == 1 || comes_from_host(e)) return work(e);
  for (u32 c = 0; c < classes; ++c) try {
      work(class_of(e, c));
    } catch (const ConfigError& error) {
      throw ConfigError("class " + std::to_string(c) + " of traffic.classes: " + error.what());
    }
}

/// Calls `f` with possible packet lengths of one class, which include the longest and the shortest.
template <class F>
void for_each_length_of_class(const Experiment& e, F f) {
  // Packets from the host are checked when they come. In a broadcast the model sets the length of packets.
  if (comes_from_host(e) || e.is({param::traffic.mode, "broadcast"})) return f(1);
  if (e.is({param::traffic.mode, "program"})) {
    const PacketFormat format = packet_format(e);
    f(format.flits(0));
    return f(format.flits(format.payload_bytes));
  }
  const auto each = [&](const Lengths& lengths) {
    for (const auto& [flits, weight] : lengths)
      if (weight > 0) f(static_cast<u32>(flits));
  };
  if (geometric(e)) {
    f(1);
    f(geometric_longest(e));
  } else {
    each(e.lengths(param::traffic.packet_flits));
  }
  if (e.has(param::traffic.reply_flits)) each(e.lengths(param::traffic.reply_flits));
}

/// Calls `f` with possible packet lengths, which include the longest and the shortest.
template <class F>
void for_each_length(const Experiment& e, F f) {
  for_each_class(e, [&](const Experiment& one) { for_each_length_of_class(one, f); });
}

/// Throws ConfigError if a list with an entry for each class has another length.
void check_entries(const Experiment& e, const ParamRecord& p, std::size_t entries, u32 classes, const char* of) {
  if (entries == classes) return;
  throw ConfigError(std::string(p.path) + " = " + shown(e.at(p)) + " has " + std::to_string(entries) +
                    (entries == 1 ? " entry" : " entries") + ": give " + std::to_string(classes) + ", one for " + of +
                    ".");
}

void check_classes(const Experiment& e) {
  const auto& t = param::traffic;
  const u32 classes = traffic_classes(e);
  if (classes > 1) {
    const char* const each = "each of the traffic.classes";
    if (e.has(t.class_pattern) && !e.str(t.class_pattern).empty())
      check_entries(e, t.class_pattern, e.words(t.class_pattern).size(), classes, each);
    if (e.has(t.class_share) && !e.is_single(t.class_share))
      check_entries(e, t.class_share, e.numbers(t.class_share).size(), classes, each);
    if (e.has(t.class_flits) && !e.ints(t.class_flits).empty())
      check_entries(e, t.class_flits, e.ints(t.class_flits).size(), classes, each);
    if (e.has(t.class_first_vc)) {
      check_entries(e, t.class_first_vc, e.ints(t.class_first_vc).size(), classes, each);
      check_entries(e, t.class_last_vc, e.ints(t.class_last_vc).size(), classes, each);
    }
    if (e.has(t.matrix_values) && e.is({t.matrix_values, "rates"}))
      throw ConfigError("traffic.matrix_values = \"rates\" does not fit traffic.classes = " + std::to_string(classes) +
                        ": the load of a class is its share of traffic.load. Use \"weights\", or one class.");
  }
  if (!e.has(t.class_priority) || e.ints(t.class_priority).empty()) return;
  const bool loop = e.is({t.mode, "request_reply"});
  if (loop && e.u32_of(t.message_classes) == 1)
    throw ConfigError("traffic.class_priority = " + shown(e.at(t.class_priority)) +
                      " does not fit traffic.message_classes = 1, where requests and replies are one class. Leave it "
                      "out, or use 2.");
  if (!loop && classes == 1)
    throw ConfigError("traffic.class_priority = " + shown(e.at(t.class_priority)) +
                      " has no effect with traffic.classes = 1. Leave it out, or use several classes.");
  check_entries(e, t.class_priority, e.ints(t.class_priority).size(), loop ? 2 : classes,
                loop ? "requests and one for replies" : "each of the traffic.classes");
}

}  // namespace

std::string size_text(const Experiment& e) {
  // If a network has several of these parameters, the first one in this list has the largest effect on its size.
  for (std::string_view key :
       {"file", "shape", "dimensions", "nodes", "levels", "radix", "ports", "routers", "groups", "order", "children"}) {
    const std::string path = "topology." + std::string(key);
    if (e.has(path)) return path + " = " + shown(e.at(path));
  }
  return "topology";
}

bool has_failures(const Experiment& e) {
  return e.has(param::networks.random_failures) &&
         (!e.ints(param::networks.failed_links).empty() || !e.ints(param::networks.failed_routers).empty() ||
          e.u32_of(param::networks.random_failures));
}

bool is_grid(const Experiment& e) {
  if (!e.has(param::topology.kind)) return true;
  const std::string& kind = e.str(param::topology.kind);
  if (kind == "graph" || kind == "file") return false;
  if (model_of(e.kind()).topology.front().data() != &param::networks.kind) return true;
  const std::vector<std::string> grids = split_words(param::kGrids);
  return std::find(grids.begin(), grids.end(), kind) != grids.end();
}

bool is_graph(const Experiment& e) { return !is_grid(e) || has_failures(e); }

u32 terminal_count(const Experiment& e) {
  const u32 concentration = e.has(param::topology.concentration) ? e.u32_of(param::topology.concentration) : 1;
  return is_graph(e) ? 0 : count_terminals(grid_shape(e), concentration);
}

u32 count_terminals(const std::vector<u32>& shape, u32 concentration) {
  constexpr u64 kMost = 1u << 24;
  u64 terminals = concentration;
  u32 bits = 0;  // number of bits in a packed address
  for (u32 radix : shape) {
    terminals *= radix;  // cannot overflow, because larger products have been rejected before
    bits += static_cast<u32>(std::bit_width(radix - 1));
    if (terminals > kMost || bits > 31)
      throw ConfigError("topology.shape = " + shown(Value{IntList(shape.begin(), shape.end())}) +
                        " with topology.concentration = " + std::to_string(concentration) +
                        " makes too large a network: at most " + std::to_string(kMost) +
                        " terminals are supported. Use smaller radices.");
  }
  return static_cast<u32>(terminals);
}

bool is_exchange(const std::string& pattern) { return pattern == "fft" || pattern == "divide"; }

bool is_square(const std::vector<u32>& shape) { return shape.size() == 2 && shape[0] == shape[1]; }

std::string quoted(const Experiment& e, const ParamRecord& p) { return std::string(p.path) + " = \"" + e.str(p) + '"'; }
std::string quoted_kind(const Experiment& e) { return quoted(e, model_choice()); }

std::string list_text(const std::vector<u32>& list) { return shown(Value{IntList(list.begin(), list.end())}); }

u32 message_classes(const Experiment& e) {
  if (traffic_classes(e) > 1) return e.is({param::traffic.class_vcs, "shared"}) ? 1 : traffic_classes(e);
  return e.has(param::traffic.message_classes) ? e.u32_of(param::traffic.message_classes) : 1;
}

std::string message_classes_text(const Experiment& e) {
  if (message_classes(e) == 1) return "";
  return traffic_classes(e) > 1
             ? " with virtual channels for each of traffic.classes = " + std::to_string(traffic_classes(e))
             : " with traffic.message_classes = " + std::to_string(message_classes(e));
}

u32 traffic_classes(const Experiment& e) {
  return e.has(param::traffic.classes) ? e.u32_of(param::traffic.classes) : 1;
}

double class_share(const Experiment& e, u32 number) {
  if (e.is_single(param::traffic.class_share)) return 1.0 / traffic_classes(e);
  const std::vector<double> shares = e.numbers(param::traffic.class_share);
  return shares[number] / std::accumulate(shares.begin(), shares.end(), 0.0);
}

Experiment class_of(const Experiment& e, u32 number) {
  const auto& t = param::traffic;
  Experiment one = e.with(t.classes, std::int64_t{1});
  if (!e.str(t.class_pattern).empty()) one = one.with(t.pattern, e.words(t.class_pattern)[number]);
  if (const std::vector<u32> flits = e.ints(t.class_flits); !flits.empty())
    one = one.with(t.packet_flits, Lengths{{flits[number], 1.0}});
  return one.with(t.load, e.f64(t.load) * class_share(e, number));
}

std::vector<u32> grid_shape(const Experiment& e) {
  if (const auto shape = model_of(e.kind()).shape) return shape(e);
  if (is_graph(e)) return {};
  if (e.has(param::topology.shape)) return e.ints(param::topology.shape);
  if (e.has(param::topology.dimensions)) return std::vector<u32>(e.u32_of(param::topology.dimensions), 2);
  return {};
}

PacketFormat packet_format(const Experiment& e) {
  return {e.u32_of(param::traffic.payload_bytes), e.u32_of(param::traffic.header_bytes),
          e.u32_of(param::traffic.flit_bytes)};
}

std::string length_keys(const Experiment& e) {
  if (!e.is({param::traffic.mode, "program"}))
    return std::string(param::traffic.packet_flits.path) +
           (e.has(param::traffic.reply_flits) ? " or " + std::string(param::traffic.reply_flits.path) : "");
  const PacketFormat format = packet_format(e);
  return "traffic.flit_bytes = " + std::to_string(format.flit_bytes) + " with " + std::to_string(format.payload_bytes) +
         " + " + std::to_string(format.header_bytes) +
         " bytes in a packet (traffic.payload_bytes, traffic.header_bytes)";
}

u32 geometric_mean(const Experiment& e) {
  return static_cast<u32>(e.lengths(param::traffic.packet_flits).front().first);
}

u32 geometric_longest(const Experiment& e) { return std::min(kLongestPacket, 16 * geometric_mean(e)); }

bool comes_from_host(const Experiment& e) {
  return e.is({param::traffic.mode, "trace"}) || e.is({param::traffic.mode, "host"});
}

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
  if (geometric(e)) {  // mean of min(length, longest): the sum of P(length >= k) for k from 1 to longest
    const double uncut = geometric_mean(e);
    return uncut * (1 - std::pow(1 - 1 / uncut, geometric_longest(e)));
  }
  double flits = 0, weights = 0;
  for (const auto& [length, weight] : e.lengths(param::traffic.packet_flits)) {
    flits += static_cast<double>(length) * weight;
    weights += weight;
  }
  return flits / weights;
}

void check_permutation(const std::string& pattern, const std::vector<u32>& shape, u32 terminals) {
  if (pattern == "tornado" && std::all_of(shape.begin(), shape.end(), [](u32 k) { return k <= 2; }))
    throw ConfigError("traffic.pattern = \"tornado\" does not fit a network of " +
                      shown(Value{IntList(shape.begin(), shape.end())}) +
                      ": packets travel just less than half-way around: 0 hops in dimensions of at most 2 routers. "
                      "Use a dimension of 3 or more, or another pattern.");
  const bool by_bits =
      pattern == "bit_complement" || pattern == "bit_reverse" || pattern == "shuffle" || is_exchange(pattern);
  const bool transpose = pattern == "transpose";
  if (!by_bits && !(transpose && !is_square(shape))) return;
  if (std::has_single_bit(terminals) && (!transpose || std::countr_zero(terminals) % 2 == 0)) return;
  throw ConfigError("traffic.pattern = \"" + pattern + "\" does not fit " + std::to_string(terminals) +
                    " terminals: it needs " +
                    (transpose ? "a square network of two dimensions, or a number of terminals that is a power of four"
                               : "a power-of-two number of terminals") +
                    ". Change the topology or the pattern.");
}

void check_topology(const Experiment& e) {
  const std::string& kind = e.str(param::topology.kind);
  if (kind == "graph" && e.str(param::topology.file).empty())
    throw ConfigError("topology.kind = \"graph\" needs topology.file, the name of an edge list (CSV lines a,b).");
  if (kind == "ring" && e.ints(param::topology.shape).size() != 1)
    throw ConfigError("topology.shape = " + list_text(e.ints(param::topology.shape)) +
                      " does not fit a ring, which has one dimension: give one radix, or use "
                      "topology.kind = \"torus\".");
  if (e.has(param::topology.shape) && e.ints(param::topology.shape).size() > 10)
    throw ConfigError("topology.shape = " + list_text(e.ints(param::topology.shape)) + " has " +
                      std::to_string(e.ints(param::topology.shape).size()) +
                      " dimensions: at most 10 are supported. Remove some.");
  terminal_count(e);
}

void check_together(const Experiment& e) {
  check_classes(e);
  for_each_class(e, check_lengths);
  check_mode(e);
  if (e.is({param::traffic.mode, "program"})) check_program(e);
  model_of(e.kind()).check(e);
  for_each_class(e, check_pattern);
  for_each_class(e, check_injection);
}

}  // namespace flitlab
