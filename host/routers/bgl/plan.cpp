#include "host/routers/bgl/plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "host/config/cross_checks.hpp"
#include "host/routers/bgl/console.hpp"
#include "host/routers/bgl/faults.hpp"
#include "host/run/result.hpp"
#include "host/topology/metrics.hpp"
#include "kernels/common/error.hpp"
#include "kernels/engines/make_engine.hpp"
#include "kernels/routers/bgl/params.hpp"
#include "kernels/routers/bgl/tokens.hpp"

namespace flitlab {
namespace {

/// 32-bit threshold of a probability; kNone: always.
u32 threshold(double probability) { return probability >= 1 ? kNone : static_cast<u32>(probability * 4294967296.0); }

/// Who sends to one another: all nodes that live.
TerminalPlan::Groups groups_of(u32 nodes, const std::vector<u32>& dead) {
  if (dead.empty()) return {};
  TerminalPlan::Groups groups(1);
  for (u32 n = 0; n < nodes; ++n)
    if (std::find(dead.begin(), dead.end(), n) == dead.end()) groups[0].push_back(n);
  return groups;
}

}  // namespace

BglPlan::BglPlan(const Experiment& e)
    : dead_(e.ints(bgl::param::faults.nodes)),
      topology_(without_nodes(make_torus(e.ints(bgl::param::topology.shape), 1), dead_)),
      traffic_(e, topology_, true, groups_of(topology_.terminals, dead_)) {
  set_parameters(e);
  set_links(e);
  warnings_ = set_dead_nodes(table_, topology_, dead_);
  given_ = read_hints(e, topology_, table_, warnings_);
  table_.given = given_.data();
  table_.given_count = static_cast<u32>(given_.size());
  set_layout();
}

void BglPlan::set_parameters(const Experiment& e) {
  bgl::Table& t = table_;
  t.routers = topology_.routers;
  t.terminals = topology_.terminals;
  t.dims = static_cast<u32>(topology_.shape.size());
  for (u32 d = 0; d < t.dims; ++d) {
    t.radix[d] = topology_.shape[d];
    t.mask[d] = topology_.dim_mask[d];
    t.shift[d] = topology_.dim_shift[d];
  }
  t.peers = topology_.peers.data();
  t.ports = topology_.ports;
  t.address = topology_.address.data();

  const bool bubble = e.str(bgl::param::router.escape) == "bubble";
  t.dynamic_vcs = e.u32_of(bgl::param::router.dynamic_vcs);
  t.escape_vcs = bubble ? 1 : 2;
  t.high_vc = t.dynamic_vcs + t.escape_vcs;
  t.vcs = t.high_vc + 1;
  const u32 escape = 1u << t.dynamic_vcs, high = 1u << t.high_vc;
  t.dynamic_set = static_cast<u8>(escape - 1);
  t.bubble_set = static_cast<u8>(high | (bubble ? escape : 0));
  const bool full_size = !bubble || e.str(bgl::param::router.bubble_rule) == "full_size";
  t.full_size_set = static_cast<u8>(high | (bubble && full_size ? escape : 0));
  t.order = static_cast<bgl::Order>(e.choice(bgl::param::router.escape_order));
  const u32 shortest = std::min(traffic_.shortest, bgl::kFullPacket);
  for (u32 vc = 0; vc < t.vcs; ++vc) {
    t.buffer[vc] = static_cast<u8>(e.u32_of(vc < t.dynamic_vcs ? bgl::param::router.dynamic_flits
                                            : vc < t.high_vc   ? bgl::param::router.escape_flits
                                                               : bgl::param::router.priority_flits));
    // One more than fit, for a packet that passes without taking space.
    t.ring[vc] = static_cast<u16>(t.buffer[vc] / bgl::token_cost(t, vc, shortest) + 1);
    t.ring_start[vc] = static_cast<u16>(t.rings);
    t.rings += t.ring[vc];
  }
  t.injection_flits = e.u32_of(bgl::param::injection.fifo_flits);
  t.reception_flits = e.u32_of(bgl::param::reception.fifo_flits);
  t.injection_ring = t.injection_flits / shortest;
  t.reception_ring = t.reception_flits / shortest;

  const u32 link = e.u32_of(bgl::param::topology.channel_delay),
            arbitration = e.u32_of(bgl::param::router.arbitration_delay);
  t.hop_delay = link + e.u32_of(bgl::param::router.pipeline_delay) + arbitration;
  t.fifo_delay = e.u32_of(bgl::param::router.fifo_delay);
  t.injection_delay = arbitration;
  t.token_delay = link + e.u32_of(bgl::param::router.ack_bytes);
  t.overhead = e.u32_of(bgl::param::router.trailer_bytes) + e.u32_of(bgl::param::router.ack_bytes) +
               e.u32_of(bgl::param::router.gap_bytes);
  // Where packets can be spoiled, tokens may wait for a message of their own.
  const u32 wait = e.flag(bgl::param::router.link_protocol) ? 8 : 0;
  t.slot_mask = std::bit_ceil(std::max(t.hop_delay, t.token_delay + wait) + 1) - 1;
  t.software_mask = std::bit_ceil(std::max(t.injection_delay, 1u) + 1) - 1;
  // Heads leave at least this many cycles after one another; a place must be free again when it is needed.
  const u32 between = bgl::kChunkBytes + t.overhead;
  t.head_slots = t.hop_delay < between ? 1 : std::bit_ceil(t.hop_delay / bgl::kChunkBytes + 2);
  t.paths = e.u32_of(bgl::param::router.paths);
  t.bypass = e.flag(bgl::param::router.bypass);
  t.jsq = e.flag(bgl::param::router.jsq);
  t.gap = e.flag(bgl::param::router.arbitration_gap);
  t.statistics = e.flag(bgl::param::router.count_unblocking);
  t.defer = !t.statistics && !e.flag(bgl::param::router.link_protocol);
  t.slq_threshold = threshold(e.f64(bgl::param::router.slq));
  t.network_threshold = threshold(e.f64(bgl::param::router.network_first));
  t.dynamic_threshold = t.dynamic_vcs ? threshold(e.f64(bgl::param::routing.dynamic)) : 0;
  t.priority_threshold = threshold(e.f64(bgl::param::injection.priority_share));
  t.infinite_fifos = e.flag(bgl::param::injection.infinite);
  t.fifos = e.u32_of(bgl::param::injection.fifos);
  t.reception_groups = e.u32_of(bgl::param::reception.groups);
  t.put_interval = t.infinite_fifos ? 0 : e.u32_of(bgl::param::injection.put_interval);
  t.take_interval = e.u32_of(bgl::param::reception.take_interval);
  t.calendar_slots =
      std::bit_ceil(std::max({bgl::kChunkBytes * bgl::kFullPacket + t.overhead, t.hop_delay + t.fifo_delay,
                              t.token_delay, bgl::kFullPacket * t.put_interval, t.take_interval}) +
                    1);
  if (traffic_.mode == TrafficMode::kBroadcast) {
    const std::vector<u32>& dims = e.ints(bgl::param::broadcast.dimensions);
    t.fill_root = e.u32_of(bgl::param::broadcast.root);
    t.fill_dims = static_cast<u32>(dims.size());
    for (u32 i = 0; i < dims.size(); ++i) t.fill_dim[i] = dims[i];
    t.fill_packets = e.u32_of(bgl::param::broadcast.packets);
  }
  t.mode = traffic_.mode;
  t.traffic = traffic_.table;
}

void BglPlan::set_layout() {
  bgl::Table& t = table_;
  const u32 slots = t.slot_mask + 1;
  layout_.kinds.resize(3);
  ItemKind& node = layout_.kinds[0];
  node.name = "router";
  node.count = t.routers;
  bgl::NodeFields& f = t.node_fields;
  f.control = node.add<bgl::NodeControl>("control", 1);
  f.neighbour = node.add<u32>("neighbour", bgl::kDirections);
  f.head = node.add<u32>("head", bgl::kDirections * t.head_slots);
  f.returned = node.add<u64>("returned", bgl::kDirections);
  f.engaged = node.add<Cycle>("engaged", bgl::kDirections);
  f.tail_leaves = node.add<u16>("tail_leaves", bgl::kDirections);
  f.head_comes = node.add<u16>("head_comes", bgl::kDirections * t.head_slots);
  f.sender_takes = node.add<u8>("sender_takes", bgl::kDirections);
  f.levels = node.add<bgl::Levels>("levels", 1);
  f.tokens = node.add<u8>("tokens", bgl::kDirections * t.vcs);
  f.tail = node.add<u8>("tail", bgl::kDirections * t.vcs);
  f.busy = node.add<u32>("busy", bgl::kDirections);
  f.queue = node.add<bgl::Queue>("queue", bgl::kDirections * t.vcs + bgl::kInjectionFifos);
  f.from_software = node.add<bgl::SoftwareMail>("from_software", t.software_mask + 1);
  f.tokens_back = node.add<u32>("tokens_back", slots * bgl::kDirections);
  f.ring = node.add<Packet>("ring", bgl::kDirections * t.rings);
  f.blocked = node.add<u64>("blocked", t.gap);
  t.injection_ring_field = node.add<Packet>("injection_ring", bgl::kInjectionFifos * t.injection_ring);
  if (t.protocol) add_link_fields(node);
  node.finish();
  // An odd number of cache lines: at an even distance the first lines of all nodes would share a part of a cache's
  // sets.
  if (node.item_bytes % 128 == 0) node.item_bytes += 64;

  ItemKind& terminal = layout_.kinds[1];
  terminal.name = "terminal";
  terminal.count = t.terminals;
  t.terminal_fields.control = terminal.add<TerminalControl>("control", 1);
  bgl::SoftwareFields& g = t.software_fields;
  g.control = terminal.add<bgl::SoftwareControl>("software", 1);
  g.injection = terminal.add<bgl::InjectionFifo>("injection", bgl::kInjectionFifos);
  g.reception = terminal.add<bgl::ReceptionFifo>("reception", bgl::kReceptionFifos);
  g.space_mail = terminal.add<u32>("space_mail", 2);
  g.arrival_mail = terminal.add<u64>("arrival_mail", 2);
  add_script_fields(terminal, t.terminal_fields, t.traffic, t.mode);
  g.reception_ring = terminal.add<Packet>("reception_ring", bgl::kReceptionFifos * t.reception_ring);
  terminal.finish();

  ItemKind& calendar = layout_.kinds[2];
  calendar.name = "calendar";
  calendar.count = (t.routers + 63) / 64;
  t.calendar_fields.heads = calendar.add<u8>("heads", slots * 64);
  t.calendar_fields.tokens = calendar.add<u8>("tokens", slots * 64);
  t.calendar_fields.heard = calendar.add<u64>("heard", t.software_mask + 1);
  t.calendar_fields.again = calendar.add<u64>("again", t.calendar_slots);
  t.calendar_fields.queues = calendar.add<u64>("queues", t.calendar_slots);
  t.calendar_fields.software = calendar.add<u64>("software", t.calendar_slots);
  t.calendar_fields.told = calendar.add<u64>("told", 2);
  calendar.finish();
}

std::vector<std::pair<std::string, double>> BglPlan::derived() const {
  const bgl::Table& t = table_;
  const DistanceMetrics distance = distance_metrics(topology_);
  const double others = t.terminals / (t.terminals - 1.0), hops = distance.mean_hops * others;
  // Under uniform traffic the longest dimension is busiest: k / 8 of each packet's time on each of its two links.
  double busiest = 0;
  for (u32 k : topology_.shape) {
    const double odd = k % 2 ? 1 - 1.0 / (double{1} * k * k) : 1;
    if (k > 1) busiest = std::max(busiest, k * odd / 8 * others);
  }
  const double chunks = traffic_.mean_flits, cycles = bgl::kChunkBytes * chunks + t.overhead;
  const bool regular = dead_.empty() && given_.empty();
  const bool uniform = regular && t.traffic.pattern == Pattern::kUniform && t.mode == TrafficMode::kOpen;
  const auto only_if_regular = [&](double x) { return regular ? x : kNotMeasured; };
  return {
      {"routers", t.routers},
      {"terminals", t.terminals},
      {"ports", topology_.network_ports + 1.0},
      {"vcs", t.vcs},
      {"channels", static_cast<double>(topology_.channels)},
      {"bisection_channels", only_if_regular(static_cast<double>(topology_.bisection_channels))},
      {"diameter", only_if_regular(distance.diameter)},
      {"hops_mean", only_if_regular(hops)},
      {"link_cycles_per_packet", cycles},
      {"head_arbiters", 2 * t.dims * (t.vcs + t.bypass) + bgl::kInjectionFifos},
      {"receiver_arbiters", 2 * t.dims},
      {"sender_arbiters", 2 * t.dims},
      {"saturation_load_bound", regular && busiest > 0 ? chunks / cycles / busiest : kNotMeasured},
      {"zero_load_latency_cycles", uniform ? t.injection_delay + hops * (t.hop_delay + (t.bypass ? 0 : t.fifo_delay)) +
                                                 bgl::kChunkBytes * chunks + 1
                                           : kNotMeasured},
      {"state_bytes", static_cast<double>(layout_.bytes(1))},
      {"router_state_bytes", layout_.kinds[0].item_bytes},
      {"router_hot_bytes", t.node_fields.tokens_back.offset},
      {"terminal_state_bytes", layout_.kinds[1].item_bytes},
      {"calendar_bytes", static_cast<double>(layout_.kinds[2].bytes(1))},
      {"table_bytes", static_cast<double>(topology_.peers.size() * sizeof(Peer) + topology_.address.size() * 4)}};
}

std::string BglPlan::router_name(u32 router) const { return shown_node(topology_, router); }

std::string BglPlan::port_name(u32 port) const {
  if (port >= topology_.network_ports) return "injection";
  return std::string(port % 2 ? "-" : "+") + "xyz"[port / 2];
}

std::vector<PortSnapshot> BglPlan::inspect_router(const std::vector<std::byte>& state, u32 index) const {
  const bgl::Table& t = table_;
  const Item<1> node = item_of(state, layout_, 0, index);
  const bgl::NodeControl& control = node.at(t.node_fields.control);
  const bgl::View<1, false, bgl::Table> view{t, {}, {}, {}, nullptr, nullptr, {}};
  std::vector<PortSnapshot> ports(topology_.network_ports + 1);
  for (u32 p = 0; p < ports.size(); ++p) {
    const bool injection = p == topology_.network_ports;
    ports[p].name = port_name(p);
    ports[p].peer = injection ? index : topology_.peer(index, p).item;
    ports[p].to_terminal = injection;
    for (u32 v = 0; v < (injection ? bgl::kInjectionFifos : t.vcs); ++v) {
      const u32 queue = injection ? bgl::kInjectionQueue + v : bgl::queue_of(p, v);
      const bgl::Queue& in = bgl::queue_at(view, node, queue);
      const u64 me = bgl::bit(queue);
      VcSnapshot s;
      s.stage = (control.waiting | control.here) & me ? "waiting"
                : control.entering & me               ? "entering"
                : control.leaving & me                ? "leaving"
                : control.arriving & me               ? "arriving"
                                                      : "idle";
      s.flits = in.held;
      s.packets = in.packets;
      if (in.packets) {
        const Packet& packet = bgl::packet_at(view, node, queue, in.first);
        s.left = bgl::chunks_of(in.route);
        s.src = packet.src;
        s.id = packet.id;
        s.dst_router = topology_.router_at(packet.dst);
        if (control.leaving & me) {
          s.out_port = in.direction;
          s.out_vc = in.vc;
        }
      }
      if (!injection) s.credits = node.at(t.node_fields.tokens, p * t.vcs + v);
      ports[p].vcs.push_back(std::move(s));
    }
  }
  return ports;
}

TerminalSnapshot BglPlan::inspect_terminal(const std::vector<std::byte>& state, u32 index) const {
  const bgl::Table& t = table_;
  const Item<1> terminal = item_of(state, layout_, 1, index);
  const TerminalControl& c = terminal.at(t.terminal_fields.control);
  TerminalSnapshot s{c.created, c.sent, c.received, c.created - c.sent, 0, 0, c.next.at, {}};
  for (u32 f = 0; f < bgl::kInjectionFifos; ++f) s.credits.push_back(terminal.at(t.software_fields.injection, f).room);
  return s;
}

std::vector<u32> BglPlan::program_ends(const std::vector<std::byte>& state) const {
  if (table_.mode != TrafficMode::kProgram) return {};
  return flitlab::program_ends(state, layout_, table_.terminal_fields.program);
}

std::vector<u32> BglPlan::channel_flits(const std::vector<std::byte>& state) const {
  std::vector<u32> busy;
  for (u32 r = 0; r < table_.routers; ++r)
    for (u32 p = 0; p < topology_.network_ports; ++p)
      if (topology_.peer(r, p).item != kNone)
        busy.push_back(item_of(state, layout_, 0, r).at(table_.node_fields.busy, p));
  return busy;
}

std::unique_ptr<Console> BglPlan::console() const { return std::make_unique<BglConsole>(*this); }

std::unique_ptr<Engine> BglPlan::make_engine(const std::vector<Experiment>& replicas,
                                             const EngineChoice& choice) const {
  return flitlab::make_engine(table_, layout_, make_rows(replicas), choice);
}

}  // namespace flitlab
