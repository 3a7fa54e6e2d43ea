/// Plan of the single switch.
#include "host/routers/switch/plan.hpp"

#include <bit>

#include "host/plan/not_measured.hpp"
#include "kernels/engines/make_engine.hpp"
#include "kernels/routers/switch/params.hpp"

namespace flitlab {
namespace {

/// One router, with a terminal at each port.
Topology topology_of(u32 ports) {
  Topology t;
  t.kind = "switch";
  t.shape = {ports};
  t.concentration = 1;
  t.routers = 1;
  t.terminals = t.ports = ports;
  t.address = {0};
  t.dim_shift = {0};
  t.dim_mask = {std::bit_ceil(ports) - 1};
  for (u32 p = 0; p < ports; ++p) t.peers.push_back(Peer{p, 0, 1});
  return t;
}

}  // namespace

SwitchPlan::SwitchPlan(const Experiment& e)
    : topology_(topology_of(e.u32_of(sw::param::topology.ports))), traffic_(e, topology_) {
  sw::Table& t = table_;
  t.terminals = topology_.terminals;
  t.output_buffers = e.u32_of(sw::param::router.output_buffers);
  t.stores_messages = e.is({sw::param::router.organisation, "crossbar"});
  t.release_by_tail = e.has(sw::param::router.input_release) && e.is({sw::param::router.input_release, "tail"});
  t.mode = traffic_.mode;
  t.traffic = traffic_.table;
  set_layout();
  facts_ = {.active_terminals = topology_.terminals, .longest_packet = kLongestPacket};
  facts_.batch_packets = traffic_.batch_packets();
  facts_.program = &traffic_.table.program;
  facts_.scope.credits = "credits";
  warn(traffic_.warnings);
  facts_.cost = decltype(table_)::cost;
}

void SwitchPlan::set_layout() {
  sw::Table& t = table_;
  ItemKind& node = add_kind(layout_, "router", t.routers);
  node.add_fields(t.fields, t);
  node.finish();

  ItemKind& terminal = add_kind(layout_, "terminal", t.terminals);
  add_terminal_control(terminal, t.terminal_fields);
  add_script_fields(terminal, t.terminal_fields, t.traffic, t.mode);
  terminal.finish();
}

std::vector<std::pair<std::string, double>> SwitchPlan::derived() const {
  const sw::Table& t = table_;
  const bool open = t.mode == TrafficMode::kOpen;
  return {{"routers", t.routers},
          {"terminals", t.terminals},
          {"ports", t.terminals},
          {"channels", static_cast<double>(topology_.channels)},
          {"vcs", 1},
          {"output_buffers", t.output_buffers},
          {"message_flits", open ? traffic_.mean_flits : kNotMeasured},
          // The output needs the time of one message; if the input stores whole messages, it needs the same time again.
          {"zero_load_latency_cycles", open ? (1 + t.stores_messages) * traffic_.mean_flits : kNotMeasured},
          {"state_bytes", static_cast<double>(layout_.bytes(1))},
          {"router_state_bytes", layout_.kinds[0].item_bytes},
          {"terminal_state_bytes", layout_.kinds[1].item_bytes}};
}

std::vector<PortSnapshot> SwitchPlan::inspect_router(const std::vector<std::byte>& state, u32) const {
  const sw::Table& t = table_;
  const Item<1> node = item_of(state, layout_, 0, 0);
  std::vector<PortSnapshot> ports(t.terminals);
  for (u32 p = 0; p < t.terminals; ++p) {
    ports[p].name = port_name(p);
    ports[p].peer = p;
    ports[p].to_terminal = true;
    const sw::Input& in = node.at(t.fields.input, p);
    const sw::Output& out = node.at(t.fields.output, p);
    VcSnapshot s;
    s.stage = in.output == kNone ? "idle" : "waiting";
    s.credits = t.output_buffers - out.held;
    if (in.output != kNone) {
      s.flits = s.left = in.flits;
      s.packets = 1;
      s.out_port = in.output;
      s.src = p;
      s.id = in.id;
      s.dst_router = 0;
    }
    if (out.held) {
      s.owner_port = node.at(t.fields.ring, p * t.output_buffers + out.first).src;
      s.owner_vc = 0;
    }
    ports[p].vcs.push_back(std::move(s));
  }
  return ports;
}

Fill SwitchPlan::fill(const std::vector<std::byte>&, u32, const std::vector<PortSnapshot>& ports) const {
  Fill fill{0, table_.terminals * (1 + table_.output_buffers)};
  for (const PortSnapshot& port : ports) fill.held += port.vcs[0].packets + table_.output_buffers - port.vcs[0].credits;
  return fill;
}

TerminalSnapshot SwitchPlan::inspect_terminal(const std::vector<std::byte>& state, u32 index) const {
  return terminal_snapshot(state, layout_, table_.terminal_fields, index, 0);
}

std::map<std::string, double> SwitchPlan::figures(const CounterShard&, const std::vector<std::byte>& state, u64) const {
  const sw::Control& c = item_of(state, layout_, 0, 0).at(table_.fields.control);
  return {{"messages_switched", static_cast<double>(c.moves)},
          {"head_wait_cycles", c.moves ? static_cast<double>(c.waited) / static_cast<double>(c.moves) : kNotMeasured}};
}

std::unique_ptr<Engine> SwitchPlan::make_engine(const std::vector<Experiment>& replicas,
                                                const EngineChoice& choice) const {
  return flitlab::make_engine(table_, layout_, make_rows(replicas), choice);
}

}  // namespace flitlab
