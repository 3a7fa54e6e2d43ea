#include "host/routers/metro/plan.hpp"
#include "kernels/routers/metro/totals.hpp"

#include <algorithm>

#include "host/config/cross_checks.hpp"
#include "host/plan/not_measured.hpp"
#include "host/routers/metro/console.hpp"
#include "host/routers/metro/registers.hpp"
#include "host/routers/metro/table.hpp"
#include "kernels/common/error.hpp"
#include "kernels/engines/make_engine.hpp"
#include "kernels/routers/metro/message.hpp"
#include "kernels/routers/metro/params.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

namespace {

/// Returns the topology for code that all models share: routers (each slice counts as one) and the channels between
/// them. A channel begins at a backward port.
Topology topology_of(const MetroNetwork& n, u32 slices, const std::string& kind) {
  Topology t;
  t.kind = kind;
  t.shape = {n.terminals};
  t.routers = n.routers() * slices;
  t.terminals = n.terminals;
  t.network_ports = t.ports = n.ports();
  t.peers.resize(std::size_t{t.routers} * t.ports);
  for (u32 r = 0; r < t.routers; ++r) {
    t.address.push_back(r);
    for (u32 port = n.inputs; port < n.ports(); ++port) {
      const metro::Wire& wire = n.wire(r / slices, port);
      if (wire.item == kNone || wire.to_endpoint) continue;
      t.peers[std::size_t{r} * t.ports + port] = Peer{wire.item * slices + r % slices, wire.port, 0};
      ++t.channels;
    }
  }
  return t;
}

}  // namespace

MetroPlan::MetroPlan(const Experiment& e)
    : network_(make_metro_network(e)),
      routes_(make_metro_routes(
          network_, e.u32_of(metro::param::router.width), e.u32_of(metro::param::router.header_words),
          e.has(metro::param::router.header_straddles) && e.flag(metro::param::router.header_straddles))),
      faults_(make_metro_faults(e, network_, e.u32_of(metro::param::router.cascade))),
      topology_(topology_of(network_, e.u32_of(metro::param::router.cascade), e.str(metro::param::topology.kind))),
      traffic_(e, topology_),
      scan_paths_(e.u32_of(metro::param::router.scan_paths)) {
  set_parameters(e);
  set_layout();
  facts_ = {.active_terminals = topology_.terminals,
            .shortest_packet = table_.source_words + table_.serial_words + table_.crc_words,
            .longest_packet = kLongestPacket,
            .identifies_arrivals = false};
  facts_.batch_packets = traffic_.batch_packets();
  facts_.program = &traffic_.table.program;
  warn(traffic_.warnings);
  facts_.forms.cpu = "lanes";
  facts_.cost = decltype(table_)::cost;
}

void MetroPlan::set_parameters(const Experiment& e) {
  metro::Table& t = table_;
  metro::set_network(t, network_, topology_.routers);
  metro::set_router(t, e);
  metro::set_endpoint(t, e);
  metro::set_words(t);
  metro::check_lengths(t, e);
  metro::set_reclamation(network_.setup, e);
  t.faulty = faults_.wires;
  t.damaging = !faults_.list.empty() || !t.shared_random;
  t.mode = traffic_.mode;
  t.traffic = traffic_.table;
  set_routes(e);
  const u32 wire = metro::longest_wire(e, network_);
  t.slot_mask = metro::inbox_slots(t, wire) - 1;
  t.answer_timeout = metro::answer_timeout(t, wire, metro::longest_reply(e));
}

void MetroPlan::set_routes(const Experiment& e) {
  metro::Table& t = table_;
  t.route_by_pair = routes_.by_pair;
  t.header_start = routes_.start.data();
  t.header = routes_.words.data();
  for (u32 s = 0; s < metro::kMaxStages; ++s) {
    t.header_first[s] = routes_.first_word[s];
    t.back_drop_at[s] = metro::back_drop_delay(t, e, s, routes_.deciding_word[s]);
  }
}

void MetroPlan::set_layout() {
  metro::Table& t = table_;
  ItemKind& node = add_kind(layout_, "router", t.routers);
  node.add_fields(t.router_fields, t);
  node.finish();

  ItemKind& terminal = add_kind(layout_, "terminal", t.terminals);
  add_terminal_control(terminal, t.terminal_fields);
  terminal.add_fields(t.endpoint_fields, t);
  add_script_fields(terminal, t.terminal_fields, t.traffic, t.mode);
  terminal.add_fields(t.serial_fields, t);
  terminal.finish();
}

namespace {

/// Delay of all wires of a kind. If the delays differ (`mixed`), the largest of them.
struct WireDelay {
  u32 cycles = kNone;
  bool mixed = false;

  void add(const metro::Wire& wire) {
    mixed |= cycles != kNone && cycles != wire.delay;
    cycles = cycles == kNone ? wire.delay : std::max<u32>(cycles, wire.delay);
  }
};

}  // namespace

std::vector<std::pair<std::string, double>> MetroPlan::derived() const {
  const metro::Table& t = table_;
  WireDelay wire, entry;
  for (const metro::Wire& w : network_.wires)
    if (w.item != kNone && !w.to_endpoint) wire.add(w);
  for (u32 i = 0; i < t.terminals; ++i)
    for (u32 link = 0; link < t.links; ++link) {
      entry.add(network_.leaving(i, link));
      wire.add(network_.entering(i, link));
    }
  // All paths of a multibutterfly have the same length; in other networks the length is the number of directions in the
  // header.
  const auto route = [&](u32 source, u32 destination) {
    return (t.route_by_pair ? source * t.terminals : 0) + destination;
  };
  const double hops = traffic_.mean_over(ValueOf([&](u32 source, u32 destination) -> double {
    return network_.levelled ? t.most_stages : routes_.routers[route(source, destination)];
  }));
  const double header = traffic_.mean_over(ValueOf([&](u32 source, u32 destination) -> double {
    return t.header_start[route(source, destination) + 1] - t.header_start[route(source, destination)];
  }));
  const double stage = t.stages + wire.cycles, words = traffic_.mean_length() + header, way = hops * stage;
  // The formula holds without retries, so without faults, and without replies, so in an open loop.
  const bool alone = !t.damaging && !wire.mixed && !entry.mixed && t.mode == TrafficMode::kOpen;
  return {{"routers", t.routers},
          {"terminals", t.terminals},
          {"ports", t.ports()},
          {"channels", static_cast<double>(topology_.channels)},
          {"stages", t.most_stages},
          {"links_per_endpoint", t.links},
          {"channel_bits", t.word_bits()},
          {"header_words", network_.levelled ? t.header_start[1] - t.header_start[0] : header},
          {"stage_cycles", stage},
          {"hops_mean", hops},
          {"delivery_cycles", alone ? way + words + entry.cycles : kNotMeasured},
          {"zero_load_latency_cycles", alone ? words + t.stages + 2 * way + 2 * entry.cycles : kNotMeasured},
          {"state_bytes", static_cast<double>(layout_.bytes(1))},
          {"router_state_bytes", layout_.kinds[0].item_bytes},
          {"terminal_state_bytes", layout_.kinds[1].item_bytes},
          {"table_bytes", static_cast<double>(network_.wires.size() * sizeof(metro::Wire) +
                                              network_.endpoint_wires.size() * sizeof(metro::Wire) +
                                              routes_.start.size() * 4 + routes_.words.size() * 2)}};
}

std::string MetroPlan::router_name(u32 router) const {
  const std::string& name = network_.names[router / table_.slices];
  return table_.slices == 1 ? name : name + ":" + std::to_string(router % table_.slices);
}

std::string MetroPlan::port_name(u32 port) const {
  return port < table_.inputs ? "forward " + std::to_string(port) : "backward " + std::to_string(port - table_.inputs);
}

std::vector<PortSnapshot> MetroPlan::inspect_router(const std::vector<std::byte>& state, u32 index) const {
  const metro::Table& t = table_;
  const Item<1> node = item_of(state, layout_, 0, index);
  const metro::RouterControl& control = node.at(t.router_fields.control);
  const u32 wide = index / t.slices;
  std::vector<PortSnapshot> ports(t.ports());
  for (u32 p = 0; p < t.ports(); ++p) {
    const metro::Wire& wire = network_.wire(wide, p);
    ports[p].name = port_name(p);
    ports[p].to_terminal = wire.to_endpoint;
    ports[p].peer = wire.item == kNone ? kNone : wire.to_endpoint ? wire.item : wire.item * t.slices + index % t.slices;
    VcSnapshot s;
    if (p < t.inputs) {
      const metro::ForwardPort& f = node.at(t.router_fields.forward, p);
      s.stage = !(control.forward_on >> p & 1) ? "off" : word_of(f.state);
      if (f.state == metro::PortState::kForward || f.state == metro::PortState::kReverse) {
        s.out_port = t.inputs + f.out;
      }
    } else {
      const u32 q = p - t.inputs;
      s.stage = !(control.backward_on >> q & 1) ? "off" : control.used >> q & 1 ? "in use" : "idle";
      for (u32 i = 0; i < t.inputs; ++i) {
        const metro::ForwardPort& f = node.at(t.router_fields.forward, i);
        if ((f.state == metro::PortState::kForward || f.state == metro::PortState::kReverse) && f.out == q) {
          s.owner_port = i;
          s.owner_vc = 0;
        }
      }
    }
    ports[p].vcs.push_back(std::move(s));
  }
  return ports;
}

Fill MetroPlan::fill(const std::vector<std::byte>& state, u32 index, const std::vector<PortSnapshot>&) const {
  const metro::RouterControl& control = item_of(state, layout_, 0, index).at(table_.router_fields.control);
  return {bit_count(control.used), table_.ports() - table_.inputs};
}

TerminalSnapshot MetroPlan::inspect_terminal(const std::vector<std::byte>& state, u32 index) const {
  const metro::Table& t = table_;
  const Item<1> terminal = item_of(state, layout_, 1, index);
  const TerminalControl& c = terminal.at(t.terminal_fields.control);
  const metro::Source& s = terminal.at(t.endpoint_fields.source);
  const u32 all = u32{s.header} + s.body, left = s.body && all > s.sent ? all - s.sent : 0;
  return {c.created, c.sent, c.received, c.created - c.sent, left, s.link, c.next.at, {}};
}

std::vector<u32> MetroPlan::channel_flits(const std::vector<std::byte>& state) const {
  const metro::Table& t = table_;
  std::vector<u32> words;
  for (u32 r = 0; r < t.routers; ++r) {
    const Item<1> node = item_of(state, layout_, 0, r);
    std::vector<u32> carried(t.outputs);
    for (u32 q = 0; q < t.outputs; ++q) carried[q] = node.at(t.router_fields.carried, q);
    for (u32 p = 0; p < t.inputs; ++p) {
      const metro::ForwardPort& f = node.at(t.router_fields.forward, p);
      if (f.state == metro::PortState::kForward || f.state == metro::PortState::kReverse) carried[f.out] += f.words;
    }
    for (u32 q = 0; q < t.outputs; ++q)
      if (topology_.peer(r, t.inputs + q).item != kNone) words.push_back(carried[q]);
  }
  return words;
}

bool MetroPlan::shows(const TotalRecord& total, u32 stage, const CounterShard&) const {
  if (total.first == static_cast<u32>(metro::Count::kReplyWords)) return table_.mode == TrafficMode::kRequestReply;
  // A connection can also be lost on the wire after the last stage, so this total has one more element.
  const u32 stages = table_.most_stages + (total.first == static_cast<u32>(metro::Count::kLost));
  return total.count == 1 || stage < stages;
}

std::map<std::string, double> MetroPlan::figures(const CounterShard& c, const std::vector<std::byte>&, u64) const {
  const double messages = static_cast<double>(total_of(c, Total::kPacketsDelivered));
  const double attempts = static_cast<double>(total_of(c, metro::Count::kAttempts));
  return {{"attempts_per_message", messages > 0 ? attempts / messages : kNotMeasured}};
}

u64 MetroPlan::next_change(u64 now) const {
  for (const MetroFault& f : faults_.list)
    if (f.cycle >= now) return f.cycle;
  return kNever;
}

void MetroPlan::change(Engine& engine, u32 replica) const {
  MetroRegisters routers(engine, replica, table_);
  for (const MetroFault& f : faults_.list)
    if (f.cycle == engine.now()) routers.apply(f);
}

std::unique_ptr<Console> MetroPlan::console() const { return std::make_unique<MetroConsole>(*this); }

std::unique_ptr<Engine> MetroPlan::make_engine(const std::vector<Experiment>& replicas,
                                               const EngineChoice& choice) const {
  return flitlab::make_engine(table_, layout_, make_rows(replicas), choice);
}

}  // namespace flitlab
