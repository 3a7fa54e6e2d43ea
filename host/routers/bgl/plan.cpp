#include "host/routers/bgl/plan.hpp"

#include <algorithm>

#include "host/config/cross_checks.hpp"
#include "host/plan/hops.hpp"
#include "host/plan/not_measured.hpp"
#include "host/routers/bgl/console.hpp"
#include "host/routers/bgl/faults.hpp"
#include "host/routers/bgl/table.hpp"
#include "host/topology/metrics.hpp"
#include "kernels/common/error.hpp"
#include "kernels/engines/make_engine.hpp"
#include "kernels/routers/bgl/params.hpp"
#include "kernels/routers/bgl/tokens.hpp"

namespace flitlab {
namespace {

/// Returns one group of terminals that send to one another: the live nodes. Returns no groups if all nodes are live.
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
      traffic_(e, topology_, groups_of(topology_.terminals, dead_)) {
  set_parameters(e);
  set_links(e);
  facts_ = {.active_terminals = traffic_.active,
            .dead_terminals = dead_,
            .longest_packet = bgl::kFullPacket,
            .warnings = set_dead_nodes(table_, topology_, dead_)};
  facts_.batch_packets = traffic_.batch_packets();
  facts_.program = &traffic_.table.program;
  facts_.scope = {.credits = "tokens", .whole_packets = true, .waiting = "waits for a link, tokens or the arbiter"};
  warn(traffic_.warnings);
  facts_.cost = decltype(table_)::cost;
  given_ = read_hints(e, topology_, table_, facts_.warnings);
  table_.given = given_.data();
  table_.given_count = static_cast<u32>(given_.size());
  set_layout();
}

void BglPlan::set_parameters(const Experiment& e) {
  bgl::Table& t = table_;
  bgl::set_network(t, topology_);
  bgl::set_vcs(t, e);
  bgl::set_buffers(t, e, traffic_.shortest);
  bgl::set_delays(t, e);
  bgl::set_choices(t, e);
  bgl::set_software(t, e);
  bgl::set_slots(t, e);
  if (traffic_.mode == TrafficMode::kBroadcast) bgl::set_broadcast(t, e);
  t.mode = traffic_.mode;
  t.traffic = traffic_.table;
}

void BglPlan::set_layout() {
  bgl::Table& t = table_;
  ItemKind& node = add_kind(layout_, "router", t.routers);
  node.add_fields(t.node_fields, t);
  node.add_fields(t.injection_fields, t);
  if (t.protocol) node.add_fields(t.link_fields, t);
  node.finish();
  // A node's size is an odd number of cache lines. With an even number, the first lines of all nodes would share a part
  // of the cache's sets.
  if (node.item_bytes % 128 == 0) node.item_bytes += 64;

  ItemKind& terminal = add_kind(layout_, "terminal", t.terminals);
  add_terminal_control(terminal, t.terminal_fields);
  terminal.add_fields(t.software_fields, t);
  add_script_fields(terminal, t.terminal_fields, t.traffic, t.mode);
  terminal.add_fields(t.reception_fields, t);
  terminal.finish();

  ItemKind& calendar = add_kind(layout_, "calendar", (t.routers + 63) / 64);
  calendar.add_fields(t.calendar_fields, t);
  calendar.finish();
}

namespace {

/// Returns, for a ring of k nodes and uniform traffic, the fraction of a node's packets that cross the busiest link,
/// summed over the nodes of the ring. A node that is h hops in front of the link uses it for all destinations farther
/// away than h hops. Of the packets to a node half-way round the ring, half use the link. With register ties, the
/// packets of half of the nodes use it, rounded up.
double busiest_link(u32 k, bool register_ties) {
  const u32 nearer = (k - 1) / 2;
  double pairs = nearer * (nearer + 1) / 2.0;
  if (k % 2 == 0) pairs += register_ties ? (k / 2 + 1) / 2 : k / 4.0;
  return pairs / k;
}

}  // namespace

std::vector<std::pair<std::string, double>> BglPlan::derived() const {
  const bgl::Table& t = table_;
  const DistanceMetrics distance = distance_metrics(topology_);
  // If terminals do not send to themselves, uniform traffic loads the links by this factor more.
  const double others =
      t.traffic.others_only || t.traffic.pattern == Pattern::kAllToAll ? t.terminals / (t.terminals - 1.0) : 1;
  double busiest = 0;
  for (u32 k : topology_.shape) busiest = std::max(busiest, busiest_link(k, t.register_ties) * others);
  // Link cycles of a packet, first with traffic in one direction, then with traffic in both directions, where the token
  // packets of the other direction are added.
  const double chunks = traffic_.mean_flits, one_way = bgl::kChunkBytes * chunks + t.overhead,
               cycles = one_way + (t.acks ? t.ack_cycles : 0);
  const bool regular = dead_.empty() && given_.empty();
  const bool uniform = t.mode == TrafficMode::kOpen &&
                       (t.traffic.pattern == Pattern::kUniform || t.traffic.pattern == Pattern::kAllToAll);
  // With dead nodes or configured hint bits, routes are not the shortest ones. The time that software needs depends on
  // its current tasks.
  const double hops = regular ? traffic_.mean_over(GridHops(topology_)) : kNotMeasured;
  const double alone = t.processors ? kNotMeasured
                                    : t.injection_delay + hops * (t.hop_delay + (t.bypass ? 0 : t.fifo_delay)) +
                                          bgl::kChunkBytes * traffic_.mean_length() + 1;
  const double uniform_bound = regular && busiest > 0 ? chunks / cycles / busiest : kNotMeasured;
  const auto only_if_regular = [&](double x) { return regular ? x : kNotMeasured; };
  return {{"routers", t.routers},
          {"terminals", t.terminals},
          {"ports", topology_.network_ports + 1.0},
          {"vcs", t.vcs},
          {"channels", static_cast<double>(topology_.channels)},
          {"bisection_channels", only_if_regular(static_cast<double>(topology_.bisection_channels))},
          {"diameter", only_if_regular(distance.diameter)},
          {"topology_hops_mean", only_if_regular(distance.mean_hops)},
          {"hops_mean", hops},
          {"link_cycles_per_packet", cycles},
          {"link_cycles_one_way", one_way},
          {"head_arbiters", 2 * t.dims * (t.vcs + t.bypass) + bgl::kInjectionFifos},
          {"receiver_arbiters", 2 * t.dims},
          {"sender_arbiters", 2 * t.dims},
          {"uniform_load_bound", uniform_bound},
          {"saturation_load_bound", uniform ? uniform_bound : kNotMeasured},
          {"zero_load_latency_cycles", alone},
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

/// Returns the capacity, in chunks, of a VC of a receiver or of an injection FIFO; 0 if the FIFO is infinite or not in
/// use.
u32 BglPlan::capacity(u32 port, u32 vc) const {
  const bgl::Table& t = table_;
  if (port < topology_.network_ports) return t.buffer[vc];
  const bool used = vc < t.fifos || (vc >= bgl::kNormalFifos && t.priority_threshold);
  return used && !t.infinite_fifos ? t.injection_flits : 0;
}

std::vector<PortSnapshot> BglPlan::inspect_router(const std::vector<std::byte>& state, u32 index) const {
  const bgl::Table& t = table_;
  const Item<1> node = item_of(state, layout_, 0, index);
  const bgl::NodeControl& control = node.at(t.node_fields.control);
  const bgl::View<1, false, bgl::Table> view{{t, nullptr, nullptr, {}}, {}, {}, {}};
  std::vector<PortSnapshot> ports(topology_.network_ports + 1);
  for (u32 p = 0; p < ports.size(); ++p) {
    const bool injection = p == topology_.network_ports;
    ports[p].name = port_name(p);
    ports[p].peer = injection ? index : topology_.peer(index, p).item;
    ports[p].to_terminal = injection;
    for (u32 v = 0; v < (injection ? bgl::kInjectionFifos : t.vcs); ++v) {
      const u32 queue = injection ? bgl::kInjectionQueue + v : bgl::queue_of(p, v);
      const bgl::Queue& in = bgl::queue_at(view, node, queue);
      const u64 queue_bit = bgl::bit(queue);
      VcSnapshot s;
      s.stage = (control.waiting | control.here) & queue_bit ? "waiting"
                : control.entering & queue_bit               ? "entering"
                : control.leaving & queue_bit                ? "leaving"
                : control.arriving & queue_bit               ? "arriving"
                                                             : "idle";
      s.flits = in.held;
      s.capacity = capacity(p, v);
      s.packets = in.packets;
      if (in.packets) {
        const Packet& packet = bgl::packet_at(view, node, queue, in.first);
        s.left = bgl::chunks_of(in.route);
        s.src = packet.src;
        s.id = packet.id;
        s.dst_router = topology_.router_at(packet.dst);
        if (control.leaving & queue_bit) {
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
