#include "host/routers/t3e/plan.hpp"
#include "kernels/routers/t3e/totals.hpp"

#include <algorithm>

#include "host/config/cross_checks.hpp"
#include "host/plan/not_measured.hpp"
#include "host/routers/t3e/console.hpp"
#include "host/routers/t3e/node_registers.hpp"
#include "host/routers/t3e/paths.hpp"
#include "host/routers/t3e/table.hpp"
#include "host/routers/t3e/wiring.hpp"
#include "host/topology/metrics.hpp"
#include "kernels/common/error.hpp"
#include "kernels/engines/make_engine.hpp"
#include "kernels/routers/t3e/params.hpp"

namespace flitlab {

namespace {

/// Adds a terminal for each I/O device after the terminals of the PEs.
Topology wire_devices(Topology topology, const std::vector<u32>& nodes) {
  for (u32 node : nodes) topology.peers[node * t3e::kPorts + t3e::kIoPort] = {topology.terminals++, 0, 1};
  return topology;
}

/// Returns the groups of PEs that send to one another: one group for each application. No groups: all terminals send to
/// one another.
TerminalPlan::Groups groups_of(const t3e::Machine& machine) {
  if (machine.assignment.all_nodes && machine.io_nodes.empty()) return {};
  return machine.assignment.applications;
}

/// Returns the terminals of the I/O devices.
std::vector<u32> devices_of(const t3e::Machine& machine) {
  std::vector<u32> devices;
  for (u32 i = 0; i < machine.io_nodes.size(); ++i) devices.push_back(machine.shape.nodes() + i);
  return devices;
}

}  // namespace

T3ePlan::T3ePlan(const Experiment& e)
    : machine_(e),
      topology_(wire_devices(t3e::make_topology(machine_.shape), machine_.io_nodes)),
      traffic_(e, topology_, groups_of(machine_), devices_of(machine_)) {
  set_parameters(e);
  set_layout();
  facts_ = {.active_terminals = traffic_.active,
            .longest_packet = t3e::kLongestPacket,
            .warnings = machine_.warnings,
            .conserved = {conserved("special packets", t3e::Count::kAuditedSpecial, t3e::Count::kSpecialSent,
                                    t3e::Count::kSpecialArrived, t3e::Count::kSpecialLost)}};
  facts_.batch_packets = traffic_.batch_packets();
  facts_.program = &traffic_.table.program;
  facts_.scope.credits = "credits";
  warn(traffic_.warnings);
  facts_.cost = decltype(table_)::cost;
}

void T3ePlan::set_parameters(const Experiment& e) {
  t3e::Table& t = table_;
  t.routers = topology_.routers;
  t.terminals = topology_.terminals;
  t.peers = topology_.peers.data();
  t3e::set_delays(t, e);
  t3e::set_barrier_delays(t, e);
  if (t.barrier_units) set_barrier_trees(e);
  t.barrier = barrier_trees_.data();
  t3e::set_special_delays(t, e);
  t3e::set_sizes(t, e, traffic_.shortest);
  t3e::set_choices(t, e);
  t.io_node = machine_.io_nodes.data();
  t.io_interval = machine_.io_nodes.empty() ? 1 : e.u32_of(t3e::param::io.interval);
  t.mode = traffic_.mode;
  t.traffic = traffic_.table;
  set_machine();
}

/// Sets the members of the table that follow from the machine's routing tables and broken links.
void T3ePlan::set_machine() {
  t3e::Table& t = table_;
  t.break_cycle = static_cast<Cycle>(machine_.break_cycle);
  t.broken = machine_.broken.data();
  t.registers = machine_.tables.registers.data();
  t.lut = machine_.tables.lut.data();
  t.software = machine_.software.data();
  t.wired = machine_.wired.data();
  t.lut_entries = machine_.tables.entries;
  t.full_select = machine_.tables.full_select.empty() ? nullptr : machine_.tables.full_select.data();
}

void T3ePlan::set_layout() {
  t3e::Table& t = table_;
  ItemKind& router = add_kind(layout_, "router", t.routers);
  router.add_fields(t.router_fields, t);
  router.add_fields(t.barrier_fields, t);
  router.add_fields(t.special_fields, t);
  router.finish();
  ItemKind& pe = add_kind(layout_, "terminal", t.terminals);
  pe.add_fields(t.terminal_fields, terminal_size(t.traffic, t.mode, t.vcs, t.ring, t.slot_mask + 1));
  pe.finish();
  pe.add_fields(t.barrier_pe_fields, t);
  pe.finish();
  pe.add_fields(t.special_pe_fields, t);
  pe.finish();
  ItemKind& node = add_kind(layout_, "tables", t.routers);
  node.add_fields(t.table_fields, t);
  node.finish();
}

u32 T3ePlan::node_of(u32 terminal) const {
  return terminal < table_.routers ? terminal : machine_.io_nodes[terminal - table_.routers];
}

T3ePlan::Path T3ePlan::shortest_path(u32 from, u32 to) const {
  Path path;
  for (u32 dim = 0; dim < 3; ++dim) {
    const u32 a = machine_.shape.at(from, dim), b = machine_.shape.at(to, dim);
    path.hops += distance_along(a, b, machine_.shape.radix(dim), machine_.shape.ring(dim));
    path.dims += a != b;
  }
  return path;
}

double T3ePlan::mean_hops() const {
  if (takes_shortest_paths())
    return traffic_.mean_over(ValueOf([&](u32 source, u32 destination) -> double {
      return shortest_path(node_of(source), node_of(destination)).hops;
    }));
  // Walks the paths of all packets, because the tables may route around faults. An adaptive packet makes the hops of
  // its deterministic path in another order; the number of hops is the same, unless there are partial planes.
  constexpr u32 kWalked = 512;  // largest number of nodes; walking the paths of larger machines takes seconds
  if (table_.routers > kWalked || machine_.next_change(1) != kNever) return kNotMeasured;
  const t3e::Paths paths(machine_.shape, machine_.tables, machine_.broken, table_.any_direction);
  return traffic_.mean_over(ValueOf([&](u32 source, u32 destination) -> double {
    const u32 from = node_of(source), to = node_of(destination);
    if (from == to) return 0;
    const t3e::Tag tag = paths.tag(from, machine_.tables.registers[to].lwho);
    if (!machine_.shape.full() && t3e::tag_adapt(tag)) return kNotMeasured;
    const u32 hops = paths.hops(from, to, tag);
    return hops == kNone ? kNotMeasured : hops;
  }));
}

double T3ePlan::zero_load_latency() const {
  const t3e::Table& t = table_;
  // If the buffer is shorter than a packet, the packet may wait for credits.
  const bool flows = t.buffer_flits >= traffic_.longest;
  if (!takes_shortest_paths() || !flows || !machine_.io_nodes.empty()) return kNotMeasured;
  return traffic_.mean_length() - 1 + traffic_.mean_over(ValueOf([&](u32 source, u32 destination) -> double {
    const Path path = shortest_path(source, destination);
    return t3e::latency_formula(t, path.hops, path.dims);
  }));
}

std::vector<std::pair<std::string, double>> T3ePlan::derived() const {
  const t3e::Table& t = table_;
  const bool whole = machine_.shape.full() && !machine_.breaks();
  const DistanceMetrics distance = distance_metrics(topology_);
  const ItemKind& kind = layout_.kinds[0];
  return {{"routers", t.routers},
          {"terminals", t.terminals},
          {"ports", machine_.io_nodes.empty() ? t3e::kIoPort : t3e::kPorts},
          {"vcs", t.link_vcs},
          {"channels", static_cast<double>(topology_.channels)},
          {"bisection_channels", whole ? static_cast<double>(topology_.bisection_channels) : kNotMeasured},
          {"diameter", whole ? distance.diameter : kNotMeasured},
          {"topology_hops_mean", whole ? distance.mean_hops : kNotMeasured},
          {"hops_mean", mean_hops()},
          {"zero_load_latency_cycles", zero_load_latency()},
          {"lut_mode", machine_.tables.registers[0].lut_mode},
          {"state_bytes", static_cast<double>(layout_.bytes(1))},
          {"router_state_bytes", kind.item_bytes},
          {"router_hot_bytes", static_cast<double>(kind.field("ring").offset)},
          {"terminal_state_bytes", layout_.kinds[1].item_bytes},
          {"table_bytes", static_cast<double>(topology_.peers.size() * sizeof(Peer) + machine_.tables.lut.size() * 4)}};
}

std::string T3ePlan::router_name(u32 router) const {
  std::string text = std::to_string(router) + " (";
  for (u32 d = 0; d < 3; ++d) text += (d ? "," : "") + std::to_string(topology_.coordinate(router, d));
  return text + ")";
}

std::string T3ePlan::port_name(u32 port) const {
  static constexpr const char* kNames[] = {"+x", "+y", "+z", "-x", "-y", "-z", "PE", "I/O"};
  return kNames[port];
}

std::string T3ePlan::port_name(u32 node, u32 port, u32 turned) const {
  if (t3e::is_terminal_port(port)) return port_name(port);
  return t3e::hardware_port(machine_.wired[node], port) + " " + port_name(t3e::oriented(turned, port));
}

Item<1> T3ePlan::router(const std::vector<std::byte>& state, u32 index) const {
  return Items<1>{const_cast<std::byte*>(state.data()), layout_.kinds[0].item_bytes}[index];
}

std::vector<PortSnapshot> T3ePlan::inspect_router(const std::vector<std::byte>& state, u32 index) const {
  const t3e::Table& t = table_;
  const Item<1> item = router(state, index);
  static constexpr const char* kStateNames[] = {"idle", "asking", "flowing", "stopped"};
  const u32 turned = item.at(t.router_fields.registers).turned;
  std::vector<PortSnapshot> ports(topology_.peer(index, t3e::kIoPort).item == kNone ? t3e::kIoPort : t3e::kPorts);
  for (u32 p = 0; p < ports.size(); ++p) {
    const Peer& peer = topology_.peer(index, p);
    ports[p].name = port_name(index, p, turned);
    ports[p].peer = peer.item;
    ports[p].to_terminal = peer.is_terminal;
    for (u32 v = 0; v < (t3e::is_terminal_port(p) ? t3e::kDeterministicVcs : t.link_vcs); ++v) {
      const t3e::InputVc& in = item.at(t.router_fields.input, p * t.link_vcs + v);
      const t3e::OutputVc& out = item.at(t.router_fields.output, p * t.link_vcs + v);
      VcSnapshot s;
      s.stage = kStateNames[static_cast<u32>(in.stage)];
      s.flits = in.flits;
      if (peer.item != kNone) s.capacity = t3e::buffer_of(t, v);
      s.packets = in.packets;
      if (in.packets) {
        const Packet& packet = item.at(t.router_fields.ring, t3e::descriptor_start(t, p, v) + in.first);
        s.left = in.left;
        s.src = packet.src;
        s.id = packet.id;
        s.dst_router = machine_.shape.node_at(packet.dst);
        s.out_port = in.out_port;
        if (in.stage == t3e::FrontState::kFlowing) s.out_vc = in.out_vc;
      }
      s.credits = out.credits;
      if (out.owner != t3e::kNoVc) {
        s.owner_port = out.owner / 8;
        s.owner_vc = out.owner % 8;
      }
      ports[p].vcs.push_back(std::move(s));
    }
  }
  return ports;
}

TerminalSnapshot T3ePlan::inspect_terminal(const std::vector<std::byte>& state, u32 index) const {
  const t3e::Table& t = table_;
  return terminal_snapshot(state, layout_, t.terminal_fields, index, t.vcs);
}

/// Shows the total of channel errors only if there were any.
bool T3ePlan::shows(const TotalRecord&, u32, const CounterShard& totals) const {
  return total_of(totals, t3e::Count::kChannelErrors) > 0;
}

void T3ePlan::change(Engine& engine, u32 replica) const {
  t3e::NodeField<t3e::Registers> registers(engine, replica, t3e::kRouterKind, "registers");
  t3e::NodeField<t3e::Tag> lut(engine, replica, t3e::kTablesKind, "lut");
  const t3e::Tables& after = machine_.rerouted;
  for (u32 n = 0; n < table_.routers; ++n) {
    t3e::Registers& r = *registers.of(n);
    const bool dead =
        std::find(machine_.broken_nodes.begin(), machine_.broken_nodes.end(), n) != machine_.broken_nodes.end();
    if (engine.now() == machine_.break_cycle) {
      for (u32 direction = 0; direction < t3e::kDirections; ++direction)
        if (machine_.broken[n] >> direction & 1) r.chan[direction] |= t3e::kIgnoreNormal | t3e::kIgnoreSpecial;
      if (dead) r.chan[t3e::kNodePort] = r.chan[t3e::kIoPort] = t3e::kIgnoreNormal;
    }
    if (engine.now() != machine_.reroute_cycle) continue;
    if (!dead) r.lwho = after.registers[n].lwho;  // packets to the number of a dead PE now go to the spare
    for (u32 direction = 0; direction < t3e::kDirections; ++direction) {
      r.vcsel[direction] = after.registers[n].vcsel[direction];
      r.chan[direction] |= after.registers[n].chan[direction];
    }
    std::copy_n(after.lut.begin() + std::size_t{n} * after.entries, after.entries, lut.of(n));
  }
  registers.write(engine);
  lut.write(engine);
}

std::unique_ptr<Console> T3ePlan::console() const { return std::make_unique<T3eConsole>(*this); }

std::vector<u32> T3ePlan::channel_flits(const std::vector<std::byte>& state) const {
  std::vector<u32> flits;
  for (u32 r = 0; r < table_.routers; ++r)
    for (u32 p = 0; p < t3e::kDirections; ++p)
      if (topology_.peer(r, p).item != kNone)
        flits.push_back(router(state, r).at(table_.router_fields.port, p).flits_sent);
  return flits;
}

std::unique_ptr<Engine> T3ePlan::make_engine(const std::vector<Experiment>& replicas,
                                             const EngineChoice& choice) const {
  return flitlab::make_engine(table_, layout_, make_rows(replicas), choice);
}

}  // namespace flitlab
