/// Plan of the canonical virtual-channel router.
#include "host/routers/vc/plan.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "host/config/cross_checks.hpp"
#include "host/plan/hops.hpp"
#include "host/plan/not_measured.hpp"
#include "host/routers/vc/checks.hpp"
#include "host/routers/vc/table.hpp"
#include "host/routing/ranks.hpp"
#include "host/topology/metrics.hpp"
#include "kernels/common/error.hpp"
#include "kernels/engines/make_engine.hpp"
#include "kernels/routers/vc/lanes/lanes.hpp"
#include "kernels/routers/vc/params.hpp"
#include "kernels/routers/vc/rounds.hpp"
#include "kernels/routers/vc/turns.hpp"
#include "kernels/traffic/class_totals.hpp"

namespace flitlab {
namespace {

u16 vc_range(u32 first, u32 end) { return static_cast<u16>((1u << end) - (1u << first)); }

}  // namespace

VcPlan::VcPlan(const Experiment& e) : topology_(make_topology(e)), traffic_(e, topology_) {
  vc::set_group_channels(topology_, e);
  vc::set_distance_channels(topology_, e);
  set_parameters(e);
  set_classes(e);
  set_layout();
  // A buffer must hold a whole packet, except with wormhole flow control, where packets move flit by flit.
  const bool by_flit = table_.flow_control == vc::FlowControl::kWormhole;
  facts_ = {.active_terminals = topology_.terminals, .longest_packet = by_flit ? kLongestPacket : table_.buffer_flits};
  facts_.batch_packets = traffic_.batch_packets();
  facts_.program = &traffic_.table.program;
  facts_.scope.credits = "credits";
  facts_.scope.datelines =
      e.has(vc::param::routing.vc_assignment) &&
      (table_.vc_assignment == vc::VcAssignment::kDateline || table_.vc_assignment == vc::VcAssignment::kBalanced);
  warn(traffic_.warnings);
  warn(routes_.warnings);
  const auto form = [](const char* excluded) {
    return excluded ? std::string("scalar (") + excluded + ")" : std::string("lanes");
  };
  facts_.forms = {form(vc::lanes::excluded_from_lanes(table_)), form(vc::lanes::excluded_from_device_lanes(table_))};
  facts_.cost = vc::lanes::fits_device_lanes(table_) ? table_.cost_of_lane_state : table_.cost;
  if (!facts_.cost.warp_group) return;
  if (!vc::lanes::has_exact_sizes(table_))
    table_.set_cost_of_any_options(facts_.cost, vc::lanes::element_bits(table_));
  else if (table_.ports > 5)
    facts_.cost.warp_groups = table_.kWarpGroupsOfMorePorts;
}

void VcPlan::set_parameters(const Experiment& e) {
  vc::set_network(table_, topology_);
  vc::set_addresses(table_, topology_);
  channels_ = vc::make_channels(e, topology_);
  table_.channel = channels_.empty() ? nullptr : channels_.data();
  vc::set_delays(table_, e);
  vc::set_sizes(table_, e, traffic_.shortest);
  vc::set_choices(table_, e);
  const std::string ports = std::to_string(table_.ports);
  if (table_.ports * table_.crossbar_factor > vc::kMaxPorts)
    throw ConfigError("Routers of " + ports + " ports do not fit a speedup of " +
                      std::to_string(table_.crossbar_factor) + ": a crossbar has up to " +
                      std::to_string(vc::kMaxPorts) +
                      " inputs and outputs. Lower router.input_speedup or router.output_speedup, or use "
                      "router.internal_speedup.");
  if (table_.arbiter == vc::ArbiterKind::kMatrix && table_.ports * table_.crossbar_factor > vc::kMaxMatrixPorts)
    throw ConfigError("router.arbiter = \"matrix\" supports routers of up to " + std::to_string(vc::kMaxMatrixPorts) +
                      " ports" + (table_.crossbar_factor > 1 ? ", multiplied by the speedup" : "") +
                      ", and these have " + ports +
                      (table_.crossbar_factor > 1 ? " x " + std::to_string(table_.crossbar_factor) : "") +
                      ". Use \"round_robin\" or \"oldest_first\", or a smaller network.");
  table_.mode = traffic_.mode;
  table_.traffic = traffic_.table;
}

void VcPlan::set_classes(const Experiment& e) {
  vc::VcTable& t = table_;
  if (t.by_tables) {
    routes_ = vc::make_routes(e, topology_, t);
    vc::set_routes(t, routes_);
    vc::set_tree(t, e);
  } else {
    t.adapts = t.algorithm == vc::Algorithm::kMinimalAdaptive || vc::forbids_turns(t.algorithm);
  }
  vc::check_class_ranges(e, t.by_tables                                 ? routes_.classes
                            : t.vc_assignment == vc::VcAssignment::kAny ? 1
                                                                        : routing_classes(e));
  // The VCs are first divided among classes of packets; the VCs of each class are then divided into routing classes.
  for (u32 m = 0; m < std::max(t.message_classes, t.traffic.classes); ++m) {
    const vc::VcRange of_class = vc::vcs_of_class(e, m);
    const u32 first = of_class.first, end = of_class.end;
    t.message_mask[m] = vc_range(first, end);
    u16* masks = t.class_mask[m];
    if (t.algorithm == vc::Algorithm::kMinimalAdaptive) {
      if (t.by_tables) {
        masks[0] = vc_range(first, first + 1);
        masks[1] = vc_range(first + 1, end);
        t.atomic_adaptive = t.flow_control == vc::FlowControl::kWormhole;
        continue;
      }
      // Each escape class has one VC; all other VCs are adaptive. With vc_assignment = "any" there may be fewer VCs
      // than classes; some classes then have no VCs.
      const u32 escapes = t.wraps ? 2 : 1;
      const auto set_of = [end](u32 from, u32 to) { return vc_range(std::min(from, end), std::min(to, end)); };
      for (u32 c = 0; c < escapes; ++c) masks[c] = set_of(first + c, first + c + 1);
      const u32 adaptive = e.u32_of(vc::param::routing.adaptive_vcs);
      masks[escapes] = set_of(first + escapes, adaptive ? std::min(first + escapes + adaptive, end) : end);
      // A packet that stays on escape VCs waits there for nothing but escape VCs, in whatever buffers others are
      // behind.
      t.atomic_adaptive = t.flow_control == vc::FlowControl::kWormhole && !t.stay_on_escape;
      continue;
    }
    const u32 classes = t.by_tables                                 ? routes_.classes
                        : t.vc_assignment == vc::VcAssignment::kAny ? 1
                                                                    : routing_classes(e);
    for (u32 c = 0; c < vc::kMaxVcs; ++c) {
      const u32 from = first + c * (end - first) / classes, to = first + (c + 1) * (end - first) / classes;
      masks[c] = c < classes ? vc_range(from, to) : t.rank ? u16{0} : t.message_mask[m];
      for (u32 v = from; c < classes && v < to; ++v) t.class_of_vc[v] = static_cast<u8>(c);
    }
  }
}

void VcPlan::set_layout() {
  vc::VcTable& t = table_;
  ItemKind& router = add_kind(layout_, "router", t.routers);
  router.add_fields(t.router_fields, t);
  router.finish();
  ItemKind& terminal = add_kind(layout_, "terminal", t.terminals);
  terminal.add_fields(t.terminal_fields, terminal_size(t.traffic, t.mode, t.vcs, t.ring, t.slot_mask + 1));
  terminal.finish();
}

double VcPlan::mean_cost(const std::function<double(u32 router, u32 port)>& cost) const {
  const vc::VcTable& t = table_;
  // All routes except the routes of a table are minimal; with Valiant's algorithm, to and from the intermediate router.
  // Without channels of their own, all channels of a dimension are alike.
  if (!t.by_tables && !topology_.own_channels.empty()) {
    if (t.algorithm == vc::Algorithm::kValiant) return kNotMeasured;
    return traffic_.mean_over(ValueOf([&](u32 source, u32 destination) {
      double sum = 0;
      for_each_hop(topology_, topology_.terminal_router(source), topology_.terminal_router(destination),
                   [&](u32 router, u32 port, double share) { sum += share * cost(router, port); });
      return sum;
    }));
  }
  if (!t.by_tables) {
    std::vector<double> costs;
    for (u32 port = 0; port < t.network_ports; port += t.one_port_per_dim ? 1 : 2) costs.push_back(cost(0, port));
    return traffic_.mean_over(GridHops(topology_, t.algorithm == vc::Algorithm::kValiant, costs));
  }
  // A hop over any of several parallel channels counts as one hop. UGAL and PAR take the shortest route where queues
  // are empty, and Duato's protocol one of the shortest.
  return traffic_.mean_over(TableHops(
      topology_,
      [&](u32 router, u32 to) {
        const std::size_t entry = std::size_t{router} * t.routers + to;
        return t.shortest ? lowest_bit(t.shortest[entry]) : routes_.table.port[entry] & ~u32{kAnyParallel};
      },
      cost));
}

double VcPlan::mean_hops() const {
  if (table_.threshold < 0) return kNotMeasured;  // even without load, packets take longer routes
  if (!table_.by_tables) return traffic_.mean_over(GridHops(topology_, table_.algorithm == vc::Algorithm::kValiant));
  if (table_.algorithm == vc::Algorithm::kValiant)
    return *std::max_element(routes_.hops.begin(), routes_.hops.end()) == 255
               ? kNotMeasured
               : traffic_.mean_over(ViaHops(topology_, routes_.hops, [&](u32 from, u32 via) {
                   return end_of_part_one(topology_, routes_.table, from, via,
                                          table_.intermediate == vc::Intermediate::kGroup && table_.group);
                 }));
  return mean_cost([](u32, u32) { return 1.0; });
}

namespace {

bool has_several_rounds(const vc::VcTable& t) { return t.rounds > t.round_cycles; }

/// Returns the cycles from the arrival of a head at a router until it wins the switch, plus 1 if it wins in a
/// late round (vc::first_late_round()), without other packets. Returns not-a-number if they depend on the cycle of
/// arrival.
double head_cycles(const vc::VcTable& t) {
  const u32 allocation = t.speculative ? 0 : t.allocation_delay;
  if (!has_several_rounds(t)) return t.routing_delay + allocation;
  std::optional<Cycle> cycles;
  for (Cycle arrival = 0; arrival < t.round_cycles; ++arrival) {
    Cycle now = arrival;
    u32 round = vc::rounds_before(t, now);
    for (u32 delay : {t.routing_delay, allocation}) {
      round = vc::round_after(t, now, round, delay);
      while (vc::rounds_before(t, now + 1) <= round) ++now;
    }
    const bool late = round >= vc::first_late_round(t, now, vc::rounds_before(t, now + 1));
    if (cycles && *cycles != now - arrival + late) return kNotMeasured;
    cycles = now - arrival + late;
  }
  return *cycles;
}

}  // namespace

double VcPlan::tail_after_head() const {
  const vc::VcTable& t = table_;
  if (!t.narrow) return traffic_.mean_length() - 1;
  if (has_several_rounds(t)) return kNotMeasured;
  constexpr u32 kMostTerminals = 1024;  // for more, the mean over all pairs takes too long
  const bool any_order =
      t.algorithm == vc::Algorithm::kO1Turn || t.algorithm == vc::Algorithm::kRomm || vc::forbids_turns(t.algorithm);
  const auto cycles_per_flit = [&](u32 router, u32 port) {
    const vc::PortChannel& c = vc::channel_of(t, router, port);
    return static_cast<double>(c.cycles) / c.flits;
  };
  bool alike = true;
  for (u32 port = 1; any_order && port < t.network_ports; ++port)
    alike &= cycles_per_flit(0, port) == cycles_per_flit(0, 0);
  if (t.algorithm == vc::Algorithm::kValiant || !alike || t.parallel || t.shortest || t.terminals > kMostTerminals ||
      (!t.by_tables && !topology_.own_channels.empty() && (any_order || t.wraps)) ||
      t.flow_control == vc::FlowControl::kStoreAndForward || t.traffic.length_law == LengthLaw::kGeometric)
    return kNotMeasured;
  const double head_waits = t.routing_delay + (t.speculative ? 0.0 : t.allocation_delay);
  return traffic_.mean_over(ValueOf([&](u32 source, u32 destination) {
    const u32 from = topology_.terminal_router(source), to = topology_.terminal_router(destination);
    std::vector<double> route;  // cycles per flit of each channel
    if (t.by_tables)
      for (u32 r = from; r != to;) {
        const u32 port = routes_.table.port[std::size_t{r} * t.routers + to];
        route.push_back(cycles_per_flit(r, port));
        r = topology_.peer(r, port).item;
      }
    else if (!topology_.own_channels.empty())
      for_each_hop(topology_, from, to,
                   [&](u32 router, u32 port, double) { route.push_back(cycles_per_flit(router, port)); });
    else
      for (u32 port = 0; port < t.network_ports; port += t.one_port_per_dim ? 1 : 2) {
        const u32 d = topology_.dimension_of(port);
        route.insert(route.end(),
                     distance_along(topology_.coordinate(from, d), topology_.coordinate(to, d), topology_.shape[d],
                                    topology_.wraps),
                     cycles_per_flit(0, port));
      }
    route.push_back(1);  // to the terminal
    return traffic_.mean_over_lengths([&](u32 flits) {
      double behind = 0;  // in the router before: cycles from the head's switch grant to the tail's
      for (double cycles : route) behind = std::max(behind - head_waits, std::floor((flits - 1) * cycles + 1e-9));
      return behind;
    });
  }));
}

/// See docs/architecture/cycle.md, "Zero-load latency", for the formula. Returns not-a-number if a buffer is too short
/// for a packet to flow without gaps, or if packets of several classes would need a mean of products: of hops and
/// lengths.
double VcPlan::zero_load_latency(double hops) const {
  const vc::VcTable& t = table_;
  if (t.mode == TrafficMode::kClasses && (t.narrow || t.flow_control == vc::FlowControl::kStoreAndForward))
    return kNotMeasured;
  // Buffer that a channel needs for continuous flow: the flits that it accepts until the first credit returns.
  u32 enough = t.channel ? t.eject_delay + t.credit_delay : t.link_delay + t.credit_delay;
  for (const vc::PortChannel& c : channels_)
    enough = std::max<u32>(enough, (u32{c.link_delay} + c.credit_delay) * c.flits / c.cycles + 1);
  enough = std::max(enough, t.inject_delay + t.injection_credit_delay);
  if (has_several_rounds(t)) ++enough;  // a flit may leave a cycle later
  const double flowing = traffic_.mean_over_lengths(
      [&](u32 flits) { return flits <= t.buffer_flits || t.buffer_flits >= enough ? 1.0 : kNotMeasured; });
  // A store-and-forward router waits for the packet's tail. Route computation overlaps with this wait.
  const bool stores = t.flow_control == vc::FlowControl::kStoreAndForward;
  if (stores && has_several_rounds(t)) return kNotMeasured;
  const double tail =
      stores ? traffic_.mean_over_lengths([&](u32 flits) { return std::max(flits - 1.0 - t.routing_delay, 0.0); })
             : 0.0;
  const double each = head_cycles(t) + tail;
  double on_the_way = hops * (each + t.link_delay);
  const bool differs = t.by_tables && t.algorithm == vc::Algorithm::kValiant;
  if ((t.parallel || t.shortest || differs) && t.channel)
    on_the_way = kNotMeasured;  // which of several channels a packet takes depends on the load, or on chance
  else if (t.channel)
    on_the_way = mean_cost([&](u32 router, u32 port) { return each + vc::channel_of(t, router, port).link_delay; });
  return flowing * (t.inject_delay + on_the_way + each + t.eject_delay + tail_after_head());
}

std::vector<std::pair<std::string, double>> VcPlan::derived() const {
  const vc::VcTable& t = table_;
  const DistanceMetrics distance = distance_metrics(topology_);
  const double hops = mean_hops();
  const ItemKind& kind = layout_.kinds[0];
  double tables = static_cast<double>(topology_.peers.size() * sizeof(Peer) + topology_.address.size() * 4 +
                                      routes_.table.port.size() + routes_.table.layer.size() +
                                      (routes_.parallel.size() + routes_.shortest.size()) * sizeof(vc::PortSet) +
                                      routes_.hops.size() + 2 * sizeof(u16) * (routes_.rank.size()));
  return {{"routers", t.routers},
          {"terminals", t.terminals},
          {"ports", t.ports},
          {"vcs", t.vcs},
          {"channels", static_cast<double>(topology_.channels)},
          {"bisection_channels", static_cast<double>(topology_.bisection_channels)},
          {"diameter", distance.diameter},
          {"topology_hops_mean", distance.mean_hops},
          {"hops_mean", hops},
          {"zero_load_latency_cycles", zero_load_latency(hops)},
          {"saturation_load_bound", saturation_load_bound()},
          {"vc_layers", routes_.classes},
          {"state_bytes", static_cast<double>(layout_.bytes(1))},
          {"router_state_bytes", kind.item_bytes},
          {"router_hot_bytes", static_cast<double>(kind.fields.back().offset)},
          {"terminal_state_bytes", layout_.kinds[1].item_bytes},
          {"table_bytes", tables}};
}

u32 VcPlan::elements(const TotalRecord& total) const {
  if (total.first < kCommonTotals) return total.count;
  return table_.traffic.classes > 1 ? table_.traffic.classes : 0;
}

std::map<std::string, double> VcPlan::figures(const CounterShard& c, const std::vector<std::byte>&,
                                              u64 measured_cycles) const {
  std::map<std::string, double> figures;
  if (table_.traffic.classes == 1) return figures;
  const double slots = static_cast<double>(measured_cycles) * table_.terminals;
  for (u32 k = 0; k < table_.traffic.classes; ++k) {
    const auto get = [&](ClassTotal total) { return static_cast<double>(total_of(c, total, k)); };
    const auto name = [&](const char* what) { return what + ("_class_" + std::to_string(k)); };
    const double packets = get(ClassTotal::kMeasured);
    const auto mean = [&](ClassTotal sum) { return packets > 0 ? get(sum) / packets : kNotMeasured; };
    figures[name("offered")] = get(ClassTotal::kOfferedFlits) / slots;
    figures[name("accepted")] = get(ClassTotal::kAcceptedFlits) / slots;
    figures[name("packets")] = packets;
    figures[name("latency")] = mean(ClassTotal::kMeasuredLatency);
    figures[name("network_latency")] = mean(ClassTotal::kMeasuredNetworkLatency);
  }
  return figures;
}

std::string VcPlan::router_name(u32 router) const {
  if (!topology_.place.empty()) return std::to_string(router) + " (" + topology_.place[router] + ")";
  if (!topology_.grid) return std::to_string(router);
  std::string text = std::to_string(router) + " (";
  for (u32 d = 0; d < topology_.shape.size(); ++d)
    text += (d ? "," : "") + std::to_string(topology_.coordinate(router, d));
  return text + ")";
}

std::string VcPlan::port_name(u32 port) const {
  if (port >= topology_.network_ports) return "terminal " + std::to_string(port - topology_.network_ports);
  if (!topology_.grid) return "port " + std::to_string(port);
  const u32 dim = table_.one_port_per_dim ? port : port / 2;
  const std::string axis = topology_.shape.size() <= 3 ? std::string(1, "xyz"[dim]) : "d" + std::to_string(dim);
  return table_.one_port_per_dim ? axis : (port % 2 ? "-" : "+") + axis;
}

std::unique_ptr<Engine> VcPlan::make_engine(const std::vector<Experiment>& replicas, const EngineChoice& choice) const {
  return flitlab::make_engine(table_, layout_, make_rows(replicas), choice);
}

}  // namespace flitlab
