#include "host/routers/metro/plan.hpp"

#include <algorithm>
#include <bit>

#include "host/config/cross_checks.hpp"
#include "host/routers/metro/console.hpp"
#include "host/routers/metro/registers.hpp"
#include "host/run/result.hpp"
#include "kernels/common/error.hpp"
#include "kernels/engines/make_engine.hpp"
#include "kernels/routers/metro/message.hpp"
#include "kernels/routers/metro/params.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

namespace {

/// What the common code wants to know of the wiring: routers, each of cascaded ones, and the channels that lead from
/// one to another. A channel begins at a backward port.
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

u32 words_for(u32 bits, u32 word) { return (bits + word - 1) / word; }

}  // namespace

MetroPlan::MetroPlan(const Experiment& e)
    : network_(make_metro_network(e)),
      routes_(make_metro_routes(network_, e.u32_of(metro::param::router.width),
                                e.u32_of(metro::param::router.header_words))),
      faults_(make_metro_faults(e, network_, e.u32_of(metro::param::router.cascade))),
      topology_(topology_of(network_, e.u32_of(metro::param::router.cascade), e.str(metro::param::topology.kind))),
      traffic_(e, topology_),
      scan_paths_(e.u32_of(metro::param::router.scan_paths)) {
  set_parameters(e);
  set_layout();
}

void MetroPlan::set_parameters(const Experiment& e) {
  metro::Table& t = table_;
  t.slices = e.u32_of(metro::param::router.cascade);
  t.routers = topology_.routers;
  t.terminals = network_.terminals;
  t.inputs = network_.inputs;
  t.outputs = network_.outputs;
  t.links = network_.links;
  t.width = e.u32_of(metro::param::router.width);
  t.stages = e.u32_of(metro::param::router.pipeline_stages);
  t.header_words = e.u32_of(metro::param::router.header_words);
  t.random_inputs = e.u32_of(metro::param::router.random_inputs);
  t.shared_random = e.flag(metro::param::router.shared_random);
  t.in_use_check = e.flag(metro::param::router.in_use_check);
  t.faulty = faults_.wires;
  t.damaging = !faults_.list.empty() || !t.shared_random;
  t.stalls = e.flag(metro::param::endpoint.stalls) || e.str(param::traffic.mode) == "request_reply";
  t.backoff = e.str(metro::param::endpoint.retry) == "backoff";
  if (t.backoff) {
    t.backoff_cycles = e.u32_of(metro::param::endpoint.backoff_cycles);
    t.backoff_doublings = static_cast<u8>(e.u32_of(metro::param::endpoint.backoff_doublings));
  }
  t.source_closes = e.str(metro::param::endpoint.closed_by) == "source";
  t.most_attempts = e.u32_of(metro::param::endpoint.most_attempts);
  t.crc = metro::kCrcs[e.choice(metro::param::endpoint.checksum)];
  const u32 word = t.word_bits();
  t.source_words = words_for(static_cast<u32>(std::bit_width(t.terminals - 1)), word);
  t.serial_words = words_for(8, word);
  t.crc_words = words_for(t.crc.bits, word);
  const u32 least = shortest_packet();
  const auto shortest_of = [&](const ParamRecord& p) {
    u32 shortest = kLongestPacket;
    for (const auto& [words, weight] : e.lengths(p))
      if (weight > 0) shortest = std::min(shortest, static_cast<u32>(words));
    return shortest;
  };
  if (e.has(param::traffic.packet_length) && e.str(param::traffic.packet_length) == "geometric")
    throw ConfigError(
        "traffic.packet_length = \"geometric\" makes messages of one word, which cannot say where they are "
        "from (router.kind = \"metro\"). Use \"list\".");
  if (const u32 reply = std::max(1u, t.crc_words);
      e.has(param::traffic.reply_flits) && shortest_of(param::traffic.reply_flits) < reply)
    throw ConfigError("traffic.reply_flits: a reply of " + std::to_string(shortest_of(param::traffic.reply_flits)) +
                      " words has no room for its check (endpoint.checksum). Give " + std::to_string(reply) +
                      " or more.");
  if (const u32 given = e.has(param::traffic.packet_flits) ? shortest_of(param::traffic.packet_flits) : least;
      given < least)
    throw ConfigError("traffic.packet_flits: a message of " + std::to_string(given) + " words is too short: of " +
                      std::to_string(word) + " bits each, " + std::to_string(t.source_words) +
                      " say where it is from, " + std::to_string(t.serial_words) + " number it and " +
                      std::to_string(t.crc_words) + " check it (endpoint.checksum). Give " + std::to_string(least) +
                      " or more.");

  const std::vector<u32> detailed =
      e.has(metro::param::router.detailed_stages) ? e.ints(metro::param::router.detailed_stages) : std::vector<u32>{};
  u32 longest = e.u32_of(metro::param::topology.entry_delay);
  for (metro::RouterSetup& setup : network_.setup)
    setup.fast = e.flag(metro::param::router.fast_reclaim) && !std::count(detailed.begin(), detailed.end(), setup.stage)
                     ? kNone
                     : 0;
  for (const metro::Wire& wire : network_.wires) longest = std::max<u32>(longest, wire.delay);
  t.slot_mask = std::bit_ceil(t.stages + longest + 1) - 1;
  t.wires = network_.wires.data();
  t.setup = network_.setup.data();
  t.endpoint_wires = network_.endpoint_wires.data();
  t.route_by_pair = routes_.by_pair;
  t.header_start = routes_.start.data();
  t.header = routes_.words.data();
  t.most_stages = network_.stages;
  const u32 entry = e.u32_of(metro::param::topology.entry_delay),
            hop = t.stages + e.u32_of(metro::param::topology.wire_delay);
  for (u32 s = 0; s < metro::kMaxStages; ++s) {
    t.header_first[s] = routes_.first_word[s];
    t.back_drop_at[s] = 2 * entry + routes_.deciding_word[s] + 2 * s * hop + t.stages;
  }
  t.mode = traffic_.mode;
  t.traffic = traffic_.table;
  u32 reply = 0;
  if (e.has(param::traffic.reply_flits))
    for (const auto& [words, weight] : e.lengths(param::traffic.reply_flits))
      reply = std::max(reply, static_cast<u32>(words));
  // Routers and destination answer in turn; 64 cycles are for whatever is left of earlier connections.
  t.patience = 2 * (t.most_stages + 1) * (t.stages + longest) + t.crc_words + reply + t.traffic.reply_delay + 64;
}

void MetroPlan::set_layout() {
  metro::Table& t = table_;
  const u32 slots = t.slot_mask + 1;
  layout_.kinds.resize(2);
  ItemKind& node = layout_.kinds[0];
  node.name = "router";
  node.count = t.routers;
  metro::RouterFields& f = t.router_fields;
  f.mail = node.add<metro::Word>("mail", slots * t.ports());
  f.control = node.add<metro::RouterControl>("control", 1);
  f.forward = node.add<metro::ForwardPort>("forward", t.inputs);
  f.in_use = node.add<u32>("in_use", t.slices > 1 ? 2 * t.slices : 0);
  f.turn_delay = node.add<u8>("turn_delay", t.ports());
  f.wire = node.add<metro::WireState>("wire", t.faulty ? t.ports() : 0);
  f.carried = node.add<u32>("carried", t.outputs);
  f.drive = node.add<u32>("drive", t.ports());
  f.captured = node.add<u32>("captured", t.ports());
  node.finish();

  ItemKind& terminal = layout_.kinds[1];
  terminal.name = "terminal";
  terminal.count = t.terminals;
  t.terminal_fields.control = terminal.add<TerminalControl>("control", 1);
  metro::EndpointFields& g = t.endpoint_fields;
  g.source = terminal.add<metro::Source>("source", 1);
  g.links_on = terminal.add<u32>("links_on", 1);
  g.mail = terminal.add<metro::Word>("mail", slots * 2 * t.links * t.slices);
  g.sink = terminal.add<metro::Sink>("sink", t.links);
  g.wire = terminal.add<metro::WireState>("wire", t.faulty ? 2 * t.links * t.slices : 0);
  add_script_fields(terminal, t.terminal_fields, t.traffic, t.mode);
  g.next_serial = terminal.add<u8>("next_serial", t.terminals);
  g.last_serial = terminal.add<u8>("last_serial", t.terminals);
  terminal.finish();
}

std::vector<std::pair<std::string, double>> MetroPlan::derived() const {
  const metro::Table& t = table_;
  // All ways of a multibutterfly are equally long.
  const bool uniform = network_.levelled;
  const double hop = t.stages;
  u32 delay = 0, entry = 0;
  for (const metro::Wire& w : network_.wires)
    if (w.item != kNone && !w.to_endpoint) delay = std::max<u32>(delay, w.delay);
  for (u32 i = 0; i < t.terminals; ++i) {
    entry = std::max<u32>(entry, network_.leaving(i, 0).delay);
    delay = std::max<u32>(delay, network_.entering(i, 0).delay);
  }
  const double words = traffic_.mean_flits + (t.header_start[1] - t.header_start[0]);
  const double way = t.most_stages * (hop + delay);
  return {{"routers", t.routers},
          {"terminals", t.terminals},
          {"ports", t.ports()},
          {"channels", static_cast<double>(topology_.channels)},
          {"stages", t.most_stages},
          {"links_per_endpoint", t.links},
          {"channel_bits", t.word_bits()},
          {"header_words", t.header_start[1] - t.header_start[0]},
          {"stage_cycles", hop + delay},
          {"delivery_cycles", uniform ? way + words + entry : kNotMeasured},
          {"zero_load_latency_cycles", uniform ? words + t.stages + 2 * way + 2 * entry : kNotMeasured},
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
  static constexpr const char* kStages[] = {"idle", "setup", "forward", "reverse", "blocked", "answer", "discard"};
  std::vector<PortSnapshot> ports(t.ports());
  for (u32 p = 0; p < t.ports(); ++p) {
    const metro::Wire& wire = network_.wire(wide, p);
    ports[p].name = port_name(p);
    ports[p].to_terminal = wire.to_endpoint;
    ports[p].peer = wire.item == kNone ? kNone : wire.to_endpoint ? wire.item : wire.item * t.slices + index % t.slices;
    VcSnapshot s;
    if (p < t.inputs) {
      const metro::ForwardPort& f = node.at(t.router_fields.forward, p);
      s.stage = !(control.forward_on >> p & 1) ? "off" : kStages[static_cast<u32>(f.state)];
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

std::map<std::string, double> MetroPlan::figures(const CounterShard& c, const std::vector<std::byte>&) const {
  const auto get = [&](Total total, u32 i = 0) { return static_cast<double>(c.total[static_cast<u32>(total) + i]); };
  const double messages = get(Total::kPacketsDelivered);
  std::map<std::string, double> figures{
      {"attempts", get(Total::kMetroAttempts)},
      {"attempts_per_message", messages > 0 ? get(Total::kMetroAttempts) / messages : kNotMeasured},
      {"refused", get(Total::kMetroRefused)},
      {"shut", get(Total::kMetroShut)},
      {"accepted", get(Total::kMetroAccepted)},
      {"duplicates", get(Total::kMetroDuplicates)},
      {"accepted_wrong", get(Total::kMetroAcceptedWrong)}};
  for (u32 s = 0; s < std::min(table_.most_stages + 1, 8u); ++s) {
    const std::string stage = "_stage_" + std::to_string(s);
    if (s < table_.most_stages) figures["blocked" + stage] = get(Total::kMetroBlocked0, s);
    if (s < table_.most_stages) figures["damaged" + stage] = get(Total::kMetroDamaged0, s);
    figures["lost" + stage] = get(Total::kMetroLost0, s);
  }
  if (table_.mode == TrafficMode::kRequestReply) figures["reply_words"] = get(Total::kMetroReplyWords);
  return figures;
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
  routers.write();
}

std::unique_ptr<Console> MetroPlan::console() const { return std::make_unique<MetroConsole>(*this); }

std::unique_ptr<Engine> MetroPlan::make_engine(const std::vector<Experiment>& replicas,
                                               const EngineChoice& choice) const {
  return flitlab::make_engine(table_, layout_, make_rows(replicas), choice);
}

}  // namespace flitlab
