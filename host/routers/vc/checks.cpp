/// Conditions between parameters of the canonical virtual-channel router and its networks.
#include "host/routers/vc/checks.hpp"
#include <algorithm>

#include "host/config/check.hpp"
#include "host/config/cross_checks.hpp"
#include "host/config/topology_params.hpp"
#include "host/routers/vc/table.hpp"
#include "host/topology/links.hpp"
#include "host/topology/topology.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/vc/params.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {
namespace {

constexpr std::string_view kKindIs = "topology.kind=";
static_assert(vc::param::kAdaptiveOnGrids.substr(0, kKindIs.size()) == kKindIs &&
              vc::param::kAdaptiveOnGrids.substr(kKindIs.size(), param::kGrids.size()) == param::kGrids &&
              vc::param::kAdaptiveOnGrids[kKindIs.size() + param::kGrids.size()] == '&');

bool is_ring(const Experiment& e) {
  const std::string& kind = e.str(param::topology.kind);
  return kind == "torus" || kind == "ring" || kind == "chiplet_torus";
}

/// Routing algorithms of kinds of networks.
struct Supported {
  std::string_view kinds, algorithms;  ///< words, separated by '|'
  bool in_two_dimensions = false;      ///< only networks of two dimensions support these algorithms
};

/// For each kind, the first algorithm of its first entry is the default.
constexpr Supported kSupported[] = {
    {param::kGrids, "dimension_order|valiant|minimal_adaptive"},
    {"mesh|chiplet_mesh|hypercube", "romm"},
    {"mesh|chiplet_mesh", "negative_first"},
    {"mesh|chiplet_mesh", "o1turn|west_first|north_last|odd_even", true},
    {"graph", "table"},
    {"graph|full_mesh|hyperx|flattened_butterfly|fat_tree|dragonfly|megafly|slim_fly|polarfly|jellyfish|cmesh|"
     "polarstar",
     "minimal|up_down|minimal_adaptive"},
    {"graph|full_mesh|hyperx|flattened_butterfly|dragonfly|megafly|slim_fly|polarfly|jellyfish|cmesh|polarstar",
     "valiant|ugal_l"},
    {"dragonfly|megafly", "par"},
    {"hyperx|flattened_butterfly", "dal|dimwar|omniwar"},
    {"fat_tree", "nearest_common_ancestor|adaptive"},
};

bool has_word(std::string_view words, const std::string& word) {
  const std::vector<std::string> list = split_words(words);
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// Returns a list for messages: `"a", "b" or "c"`.
std::string words_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : &word == &words.back() ? " or " : ", ") + ('"' + word + '"');
  return text;
}

/// Returns topology.kind, or "graph" if failed links or routers have made a graph of it.
std::string kind_for_routing(const Experiment& e) { return has_failures(e) ? "graph" : e.str(param::topology.kind); }

void check_algorithm(const Experiment& e) {
  const std::string kind = kind_for_routing(e), &algorithm = e.str(vc::param::routing.algorithm);
  std::vector<std::string> here, kinds;  // algorithms of this network, and networks of this algorithm
  bool in_two_dimensions = false;
  for (const Supported& s : kSupported) {
    if (has_word(s.algorithms, algorithm)) {
      kinds = split_words(s.kinds);
      in_two_dimensions = s.in_two_dimensions;
    }
    if (!has_word(s.kinds, kind) || (s.in_two_dimensions && e.ints(param::topology.shape).size() != 2)) continue;
    if (has_word(s.algorithms, algorithm)) return;
    for (std::string& word : split_words(s.algorithms)) here.push_back(std::move(word));
  }
  throw ConfigError(quoted(e, vc::param::routing.algorithm) + " does not fit " + quoted(e, param::topology.kind) +
                    (in_two_dimensions && has_word("mesh|chiplet_mesh", kind) ? " of other than two dimensions" : "") +
                    (has_failures(e) ? " with failed links or routers" : "") + ": use " + words_text(here) + ". \"" +
                    algorithm + "\" is for topology.kind = " + words_text(kinds) +
                    (in_two_dimensions ? " of two dimensions." : "."));
}

/// Checks how a packet selects one of several ports. Failed links or routers make a graph of a grid.
void check_selection(const Experiment& e) {
  const ParamRecord& p = vc::param::routing.selection;
  if (!e.has(p)) return;
  const bool tree = e.is({vc::param::routing.algorithm, "adaptive"}), grid = !tree && !is_graph(e);
  std::vector<std::string> fit{"most_credits"};
  if (tree) fit.push_back("two_random");
  if (grid) fit.insert(fit.end(), {"first", "first_or_escape"});
  if (std::find(fit.begin(), fit.end(), e.str(p)) == fit.end())
    throw ConfigError(quoted(e, p) + " does not fit " + quoted(e, vc::param::routing.algorithm) + " on a " +
                      kind_for_routing(e) + ": use " + words_text(fit) + ".");
  const ParamRecord& adaptive = vc::param::routing.adaptive_vcs;
  if (!grid || !e.has(adaptive)) return;
  const u32 escapes = is_ring(e) ? 2 : 1, vcs = vc::fewest_vcs_of_class(e);
  if (e.u32_of(adaptive) && escapes + e.u32_of(adaptive) > vcs)
    throw ConfigError(std::string(adaptive.path) + " = " + shown(e.at(adaptive)) + " is too large: of " +
                      std::to_string(vcs) + " virtual channels" + message_classes_text(e) + ", " +
                      std::to_string(escapes) + (escapes == 1 ? " is an escape channel" : " are escape channels") +
                      ". Lower it, or raise router.vcs.");
}

void check_routing(const Experiment& e) {
  const std::string& kind = e.str(param::topology.kind);
  check_algorithm(e);
  check_selection(e);
  const ParamRecord& table = vc::param::routing.table_file;
  if (has_failures(e) && e.has(table) && !e.str(table).empty())
    throw ConfigError(
        quoted(e, table) +
        " does not fit failed links or routers, because the ports are numbered anew. Leave one of the two out; "
        "Experiment.with_routes computes a table for the links that are left.");
  if (is_graph(e)) return;  // the plan finds out how many virtual channels the routes need
  const u32 messages = message_classes(e), needed = routing_classes(e) * messages,
            vcs = e.u32_of(vc::param::router.vcs);
  if (vcs < needed && !e.has(param::traffic.class_first_vc))  // ranges are checked with the routes
    throw ConfigError("router.vcs = " + std::to_string(vcs) + " is too few: " +
                      quoted(e, vc::param::routing.algorithm) + " on a " + kind + message_classes_text(e) +
                      " needs at least " + std::to_string(needed) + " to avoid deadlock. Raise router.vcs" +
                      (is_ring(e) ? ", or set routing.vc_assignment = \"any\" to study the deadlock." : "."));
}

void check_buffers(const Experiment& e) {
  if (e.flag(vc::param::router.speculative) && e.i64(vc::param::router.vc_allocation_delay) > 1)
    throw ConfigError("router.speculative = true does not fit router.vc_allocation_delay = " +
                      std::to_string(e.i64(vc::param::router.vc_allocation_delay)) +
                      ": speculation overlaps VC allocation with switch allocation, and can hide only one cycle. "
                      "Use a delay of 0 or 1, or router.speculative = false.");
  const ParamRecord& early = vc::param::router.early_vc_credits;
  if (e.has(early) && e.flag(early) && e.i64(vc::param::router.credit_delay) < 2)
    throw ConfigError(
        "router.early_vc_credits = true does not fit router.credit_delay = 1: VC allocation would count a "
        "credit in the cycle in which it is returned. Use a delay of 2 or more.");
  const std::string& flow = e.str(vc::param::router.flow_control);
  if (flow != "wormhole" && longest_packet(e) > e.u32_of(vc::param::router.buffer_flits))
    throw ConfigError("router.buffer_flits = " + std::to_string(e.u32_of(vc::param::router.buffer_flits)) +
                      " is too small: router.flow_control = \"" + flow + "\" needs room for the longest packet, " +
                      std::to_string(longest_packet(e)) + " flits. Raise it, or use \"wormhole\".");
}

void check_speedup(const Experiment& e) {
  const auto& router = vc::param::router;
  const auto number = [&](const ParamRecord& p) { return e.u32_of(p); };
  const auto shown_as = [&](const ParamRecord& p) { return std::string(p.path) + " = " + shown(e.at(p)); };
  if (number(router.input_speedup) > number(router.vcs))
    throw ConfigError(shown_as(router.input_speedup) + " is larger than " + shown_as(router.vcs) +
                      ": a virtual channel uses one input of the crossbar. Use at most " + shown(e.at(router.vcs)) +
                      ".");
  if (number(router.output_speedup) > 1 && e.flag(router.hold_switch_for_packet))
    throw ConfigError(shown_as(router.output_speedup) +
                      " does not fit router.hold_switch_for_packet = true: use router.output_speedup = 1 "
                      "(router.internal_speedup may be larger).");
  if (!e.has(router.output_queue_flits)) return;
  const u32 queue = number(router.output_queue_flits);
  if (queue && queue < number(router.output_speedup))
    throw ConfigError(shown_as(router.output_queue_flits) + " is too small: " + shown_as(router.output_speedup) +
                      " adds up to " + shown(e.at(router.output_speedup)) +
                      " flits at once. Raise it, or set 0 for a queue that only credits limit.");
}

/// Checks the number of ports in a grid. Networks without a grid are checked when their links are known.
void check_ports(const Experiment& e) {
  if (is_graph(e)) return;
  const std::size_t channels_per_dimension = e.is({param::topology.kind, "hypercube"}) ? 1 : 2;
  const std::size_t channels = grid_shape(e).size() * channels_per_dimension;
  const u32 terminals = e.u32_of(param::networks.concentration);
  if (channels + terminals > kMostRouterPorts)
    throw ConfigError(std::string(param::networks.concentration.path) + " = " + std::to_string(terminals) +
                      " is too large: a router has " + std::to_string(channels) + " ports to other routers; " +
                      most_channels(terminals) + ". Lower it.");
}

/// In a closed loop only routers compare priorities.
void check_priorities(const Experiment& e) {
  const ParamRecord& p = param::traffic.class_priority;
  if (e.is({param::traffic.mode, "request_reply"}) && !e.ints(p).empty() &&
      !e.is({vc::param::router.arbiter, "highest_priority_first"}))
    throw ConfigError(std::string(p.path) + " = " + shown(e.at(p)) + " has no effect in a closed loop with " +
                      quoted(e, vc::param::router.arbiter) +
                      ". Leave it out, or set router.arbiter = \"highest_priority_first\".");
}

/// Checks that lists of channel delays and widths have a number for each dimension, or two in networks with groups.
void check_channels(const Experiment& e) {
  const std::string kind = kind_for_routing(e);
  const bool groups = has_word("dragonfly|megafly", kind);
  const std::size_t numbers = groups ? 2 : grid_shape(e).size();
  for (const ParamRecord* p : {&vc::param::channels.delay, &vc::param::channels.width}) {
    if (e.is_single(*p)) continue;
    const std::size_t n = p == &vc::param::channels.delay ? e.ints(*p).size() : e.numbers(*p).size();
    const std::string given = std::string(p->path) + " = " + shown(e.at(*p));
    if (is_graph(e) && !groups)
      throw ConfigError(
          given + " does not fit a " + e.str(param::topology.kind) +
          (has_failures(e) ? " with failed links or routers" : "") + ", which has no dimensions: give one number" +
          (e.has(param::topology.file) ? ", or columns for the delay and width of each edge in topology.file." : "."));
    if (n != numbers)
      throw ConfigError(
          given + " does not fit a " +
          (groups ? kind : "network of " + std::to_string(numbers) + (numbers == 1 ? " dimension" : " dimensions")) +
          ": give one number without brackets, or a list of " + std::to_string(numbers) +
          (groups ? ", for channels within a group and between groups." : "."));
  }
}

}  // namespace

std::string_view default_algorithm(const Experiment& e) {
  const std::string kind = kind_for_routing(e);
  for (const Supported& s : kSupported)
    if (has_word(s.kinds, kind)) return s.algorithms.substr(0, s.algorithms.find('|'));
  return "";
}

u32 routing_classes(const Experiment& e) {
  const std::string& algorithm = e.str(vc::param::routing.algorithm);
  const bool ring = is_ring(e);
  if (ring && e.is({vc::param::routing.vc_assignment, "any"})) return 1;
  if (algorithm == "valiant") return ring ? 4 : 2;
  if (algorithm == "romm" || algorithm == "o1turn") return 2;
  if (algorithm == "minimal_adaptive") return ring ? 3 : 2;
  if (algorithm == "dimension_order") return ring ? 2 : 1;
  return 1;
}

void check_vc(const Experiment& e) {
  check_topology(e);
  check_ports(e);
  check_channels(e);
  check_routing(e);
  check_buffers(e);
  check_speedup(e);
  check_priorities(e);
}

}  // namespace flitlab
