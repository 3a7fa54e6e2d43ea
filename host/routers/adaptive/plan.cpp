/// Plan of the adaptive router.
#include "host/routers/adaptive/plan.hpp"
#include "kernels/routers/adaptive/totals.hpp"

#include <algorithm>
#include <bit>

#include "host/config/cross_checks.hpp"
#include "host/config/memory.hpp"
#include "host/config/topology_params.hpp"
#include "host/plan/hops.hpp"
#include "host/plan/not_measured.hpp"
#include "host/topology/metrics.hpp"
#include "host/topology/patterns.hpp"
#include "kernels/common/error.hpp"
#include "kernels/engines/make_engine.hpp"
#include "kernels/routers/adaptive/params.hpp"

namespace flitlab {

AdaptivePlan::AdaptivePlan(const Experiment& e)
    : topology_(make_topology(e)),
      traffic_(e, topology_),
      message_units_(e.u32_of(adaptive::param::router.message_units)) {
  require_equal_channels(e, topology_);
  set_parameters(e);
  set_channels(e);
  set_layout();
  facts_ = {.active_terminals = topology_.terminals};
  facts_.batch_packets = traffic_.batch_packets();
  facts_.program = &traffic_.table.program;
  facts_.scope.in_order = false;
  warn(traffic_.warnings);
  facts_.cost = decltype(table_)::cost;
}

void AdaptivePlan::set_parameters(const Experiment& e) {
  adaptive::Table& t = table_;
  t.routers = topology_.routers;
  t.terminals = topology_.terminals;
  t.concentration = topology_.concentration;
  t.channels = topology_.network_ports;
  t.ports = topology_.ports;
  if (t.channels > adaptive::kMaxChannels)
    throw ConfigError("topology.kind = \"" + topology_.kind + "\": a router has " + std::to_string(t.channels) +
                      " channels, and at most " + std::to_string(adaptive::kMaxChannels) +
                      " are supported. Use fewer dimensions, or a graph of a lower degree.");
  t.ejection = e.u32_of(adaptive::param::router.ejection);
  t.delay = e.u32_of(param::channels.delay);
  t.slot_mask = std::bit_ceil(t.delay + 1) - 1;
  t.assignment = e.choice<adaptive::Assignment>(adaptive::param::router.assignment);
  set_priorities(e);
  t.mode = traffic_.mode;
  t.traffic = traffic_.table;
  t.peers = topology_.peers.data();
}

void AdaptivePlan::set_priorities(const Experiment& e) {
  adaptive::Table& t = table_;
  const std::vector<u32> weights = e.ints(adaptive::param::router.priorities);
  const std::vector<u32> below = cumulative_thresholds({weights.begin(), weights.end()});
  t.priorities = static_cast<u32>(weights.size());
  // Priorities after the last one with a weight above 0 are never drawn.
  while (weights[t.priorities - 1] == 0) --t.priorities;
  std::copy_n(below.begin(), t.priorities, t.priority_below);
}

void AdaptivePlan::set_channels(const Experiment& e) {
  adaptive::Table& t = table_;
  const std::size_t n = t.routers;
  require_memory(size_text(e), n * n * 4,
                 "The routing tables of adaptive routers have an entry for each pair of routers. Use fewer routers.");
  wired_.assign(n, 0);
  minimal_.assign(n * n, 0);
  for (u32 r = 0; r < n; ++r)
    for (u32 p = 0; p < t.channels; ++p)
      if (topology_.peer(r, p).item != kNone) wired_[r] |= 1u << p;
  const u32 of_channel = e.u32_of(adaptive::param::router.channel_buffers),
            spare = e.u32_of(adaptive::param::router.spare_buffers);
  for (u32 set : wired_) buffers_.push_back(bit_count(set) * of_channel + spare);
  for (u32 to = 0; to < n; ++to) {
    // Hops to `to` equal hops from it, because channels exist in both directions.
    const std::vector<u32> hops = hops_from(topology_, to);
    for (u32 r = 0; r < n; ++r)
      for (u32 set = wired_[r]; set; set &= set - 1) {
        const u32 channel = lowest_bit(set);
        if (hops[topology_.peer(r, channel).item] + 1 == hops[r]) minimal_[r * n + to] |= 1u << channel;
      }
  }
  t.wired = wired_.data();
  t.buffers = buffers_.data();
  t.minimal = minimal_.data();
  t.positions = most_buffers() + t.channels;
}

u32 AdaptivePlan::most_buffers() const { return *std::max_element(buffers_.begin(), buffers_.end()); }

void AdaptivePlan::set_layout() {
  adaptive::Table& t = table_;
  ItemKind& node = add_kind(layout_, "router", t.routers);
  node.add_fields(t.router_fields, t);
  node.finish();

  ItemKind& terminal = add_kind(layout_, "terminal", t.terminals);
  add_terminal_control(terminal, t.terminal_fields);
  add_script_fields(terminal, t.terminal_fields, t.traffic, t.mode);
  terminal.finish();
}

double AdaptivePlan::mean_hops() const {
  if (topology_.has_coordinates()) return traffic_.mean_over(GridHops(topology_));
  return traffic_.mean_over(TableHops(topology_, [&](u32 router, u32 to) {
    return static_cast<u32>(lowest_bit(minimal_[std::size_t{router} * table_.routers + to]));
  }));
}

std::vector<std::pair<std::string, double>> AdaptivePlan::derived() const {
  const adaptive::Table& t = table_;
  const DistanceMetrics distance = distance_metrics(topology_);
  const bool uniform = t.traffic.pattern == Pattern::kUniform && t.mode == TrafficMode::kOpen;
  const double hops = mean_hops(), alone = 2 + hops * t.delay;
  const double delivered = t.ejection ? static_cast<double>(t.ejection) / t.concentration : 1.0;
  const double carried = static_cast<double>(topology_.channels) / (hops * t.terminals);
  return {{"routers", t.routers},
          {"terminals", t.terminals},
          {"ports", t.ports},
          {"vcs", 1},
          {"channels", static_cast<double>(topology_.channels)},
          {"bisection_channels", static_cast<double>(topology_.bisection_channels)},
          {"diameter", distance.diameter},
          {"topology_hops_mean", distance.mean_hops},
          {"hops_mean", hops},
          {"buffers", most_buffers()},
          {"saturation_load_bound", uniform ? std::min({1.0, delivered, carried}) : kNotMeasured},
          {"zero_load_latency_cycles", alone},
          {"zero_load_latency_units", alone * message_units_},
          {"state_bytes", static_cast<double>(layout_.bytes(1))},
          {"router_state_bytes", layout_.kinds[0].item_bytes},
          {"terminal_state_bytes", layout_.kinds[1].item_bytes},
          {"table_bytes", static_cast<double>(topology_.peers.size() * sizeof(Peer) +
                                              (wired_.size() + buffers_.size() + minimal_.size()) * sizeof(u32))}};
}

std::string AdaptivePlan::port_name(u32 port) const {
  if (port >= topology_.ports) return "buffers";
  if (port >= topology_.network_ports) return "terminal " + std::to_string(port - topology_.network_ports);
  return "channel " + std::to_string(port);
}

std::vector<PortSnapshot> AdaptivePlan::inspect_router(const std::vector<std::byte>& state, u32 index) const {
  const adaptive::Table& t = table_;
  const Item<1> node = item_of(state, layout_, 0, index);
  std::vector<PortSnapshot> ports(t.ports + 1);
  for (u32 p = 0; p <= t.ports; ++p) {
    ports[p].name = port_name(p);
    if (p == t.ports) continue;
    ports[p].peer = topology_.peer(index, p).item;
    ports[p].to_terminal = topology_.peer(index, p).is_terminal;
  }
  const u32 stored = node.at(t.router_fields.control).stored;
  for (u32 rank = 0; rank < buffers_[index]; ++rank) {
    VcSnapshot s;
    s.stage = rank < stored ? "stored" : "idle";
    s.capacity = 1;
    if (rank < stored) {
      const Packet& packet = node.at(t.router_fields.pool, node.at(t.router_fields.order, rank));
      s.flits = s.packets = s.left = 1;
      s.src = packet.src;
      s.id = packet.id;
      s.dst_router = packet.dst;
    }
    ports[t.ports].vcs.push_back(std::move(s));
  }
  return ports;
}

TerminalSnapshot AdaptivePlan::inspect_terminal(const std::vector<std::byte>& state, u32 index) const {
  return terminal_snapshot(state, layout_, table_.terminal_fields, index, 0);
}

std::vector<u32> AdaptivePlan::channel_flits(const std::vector<std::byte>& state) const {
  std::vector<u32> sent;
  for (u32 r = 0; r < table_.routers; ++r)
    for (u32 set = wired_[r]; set; set &= set - 1)
      sent.push_back(item_of(state, layout_, 0, r).at(table_.router_fields.sent, lowest_bit(set)));
  return sent;
}

std::map<std::string, double> AdaptivePlan::figures(const CounterShard& c, const std::vector<std::byte>&, u64) const {
  const auto get = [&](auto total, u32 i = 0) { return static_cast<double>(total_of(c, total, i)); };
  const auto part = [&](double a, double b) { return b > 0 ? a / b : kNotMeasured; };
  const double misrouted = get(adaptive::Count::kMisrouted);
  std::map<std::string, double> figures{
      {"misrouted_fraction", part(misrouted, get(adaptive::Count::kSent))},
      {"misrouted_per_message", part(misrouted, get(Total::kPacketsDelivered))},
      {"latency_units", part(get(Total::kMeasuredLatencySum) * message_units_, get(Total::kMeasuredDelivered))}};
  for (u32 p = 0; table_.priorities > 1 && p < table_.priorities; ++p)
    figures["latency_priority_" + std::to_string(p)] =
        part(get(adaptive::Count::kMeasuredLatency, p), get(adaptive::Count::kMeasured, p));
  return figures;
}

std::unique_ptr<Engine> AdaptivePlan::make_engine(const std::vector<Experiment>& replicas,
                                                  const EngineChoice& choice) const {
  return flitlab::make_engine(table_, layout_, make_rows(replicas), choice);
}

}  // namespace flitlab
