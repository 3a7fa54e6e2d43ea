#include "host/routers/sconnect/plan.hpp"
#include "host/routers/sconnect/checks.hpp"
#include "kernels/routers/sconnect/totals.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "host/config/cross_checks.hpp"
#include "host/plan/not_measured.hpp"
#include "host/routers/sconnect/console.hpp"
#include "host/routers/sconnect/metrics.hpp"
#include "host/routers/sconnect/zero_load.hpp"
#include "kernels/common/error.hpp"
#include "kernels/engines/make_engine.hpp"
#include "kernels/routers/sconnect/params.hpp"

namespace flitlab {

namespace {

using sconnect::kPorts;
using sconnect::LinkKind;

bool is_channel(const sconnect::Link& link) {
  return link.kind == LinkKind::kSerial || link.kind == LinkKind::kParallel;
}

/// Returns the wiring for code that all models share. If each node has one terminal, the coordinates of a terminal are
/// the coordinates of its node.
Topology topology_of(const SconnectFabric& fabric) {
  const u64 nodes = std::accumulate(fabric.shape.begin(), fabric.shape.end(), u64{1}, std::multiplies<>());
  Topology t;
  if (fabric.kind == "mesh" && fabric.tics == fabric.terminals && nodes == fabric.tics) t = make_mesh(fabric.shape, 1);
  const bool grid = t.routers > 0;
  t.kind = fabric.kind;
  if (!grid) {
    t.shape = nodes == fabric.terminals ? fabric.shape : std::vector<u32>{fabric.terminals};  // as in sconnect_shape
    t.address.resize(fabric.tics);
    std::iota(t.address.begin(), t.address.end(), 0u);
  }
  t.routers = fabric.tics;
  t.terminals = fabric.terminals;
  t.network_ports = t.ports = kPorts;
  t.channels = 0;
  t.peers.assign(std::size_t{t.routers} * kPorts, Peer{});
  for (u32 i = 0; i < t.routers * kPorts; ++i) {
    const sconnect::Link& link = fabric.links[i];
    if (!is_channel(link)) continue;
    t.peers[i] = Peer{link.far, link.port, 0};
    ++t.channels;
  }
  return t;
}

double parts_per_million(sconnect::i64 rate) {
  return static_cast<double>(rate) / static_cast<double>(sconnect::kRadian) / kRadiansPerPpm;
}

/// Returns the threshold of 32-bit draws for an error in any bit of a slot. The receiver cannot distinguish where the
/// error is.
u32 hit_threshold(const Experiment& e) {
  const double spared = std::pow(1 - e.f64(sconnect::param::channel.error_rate), sconnect::kSlotBits);
  return static_cast<u32>(std::min((1 - spared) * 4294967296.0, 4294967295.0));
}

/// Returns Table::host_buffers.
u32 host_buffers(const Experiment& e) {
  return e.is_auto(sconnect::param::router.host_buffers) ? e.u32_of(sconnect::param::router.buffers)
                                                         : e.u32_of(sconnect::param::router.host_buffers);
}

}  // namespace

SconnectPlan::SconnectPlan(const Experiment& e)
    : fabric_(make_sconnect_fabric(e)),
      tables_(make_sconnect_tables(e, fabric_)),
      topology_(topology_of(fabric_)),
      traffic_(e, topology_) {
  set_clocks(e, fabric_, clocks_);
  set_parameters(e);
  set_slots();
  set_layout();
  facts_ = {.active_terminals = topology_.terminals,
            .longest_packet = quads_fit_ ? sconnect::kQuadParts : 1,
            // With two host ports a message may arrive at either of them, so a trace line cannot depend on the arrival
            // of a packet.
            .identifies_arrivals = fabric_.host_ports == 1,
            .warnings = warnings(e),
            .software_prerequisite = software_prerequisite()};
  facts_.batch_packets = traffic_.batch_packets();
  facts_.program = &traffic_.table.program;
  facts_.scope = {.in_order = false, .message_queues = true};
  facts_.search_copies = 2;  // the deadlock search makes a second copy, which it modifies
  warn(traffic_.warnings);
  facts_.cost = decltype(table_)::cost;
}

void SconnectPlan::set_parameters(const Experiment& e) {
  sconnect::Table& t = table_;
  t.routers = fabric_.tics;
  t.terminals = fabric_.terminals;
  t.nodes = fabric_.nodes;
  t.links = fabric_.links.data();
  t.parallel_vcs = static_cast<u8>(fabric_.parallel_vcs);
  t.mixed_entries = fabric_.mixed_entries;
  t.hit_threshold = hit_threshold(e);
  t.clocks = e.flag(sconnect::param::clock.emulated);
  t.clock = clocks_.table;
  t.mode = traffic_.mode;
  t.traffic = traffic_.table;
  t.host_ports = static_cast<u8>(fabric_.host_ports);
  set_buffers(e);
  set_hosts(e);
  set_nodes(e);
}

void SconnectPlan::set_buffers(const Experiment& e) {
  sconnect::Table& t = table_;
  t.buffers = e.u32_of(sconnect::param::router.buffers);
  const auto [reserve, control_buffers] = sconnect_reservations(e);
  std::copy(reserve.begin(), reserve.end(), t.reserve);
  t.control_buffers = static_cast<u8>(control_buffers);
  t.host_buffers = static_cast<u8>(host_buffers(e));
  t.age = e.choice<sconnect::Age>(sconnect::param::routing.age);
  t.quad_priority = static_cast<u8>(e.u32_of(sconnect::param::host.quad_priority));
  quads_fit_ = reserve[t.quad_priority] >= sconnect::kQuadParts;
}

/// Sets routing tables, addresses of TICs, and nodes of terminals.
void SconnectPlan::set_nodes(const Experiment& e) {
  sconnect::Table& t = table_;
  for (u32 tic = 0; tic < t.routers; ++tic)
    address_.push_back(fabric_.node_of[tic] == kNone ? sconnect::kNoAddress : static_cast<u16>(fabric_.node_of[tic]));
  terminal_node_.resize(t.terminals);
  for (u32 i = 0; i < t.routers * kPorts; ++i)
    if (fabric_.links[i].kind == LinkKind::kHost)
      terminal_node_[fabric_.links[i].far] = static_cast<u16>(fabric_.node_of[i / kPorts]);
  t.table_given = !e.is({sconnect::param::routing.tables, "none"});
  t.entry = tables_.entry.data();
  t.address = address_.data();
  t.terminal_node = terminal_node_.data();
  t.phase = fabric_.phase.data();
}

/// Sets the kind of every port, and the number of slots of its channel.
void SconnectPlan::set_slots() {
  sconnect::Table& t = table_;
  u32 longest = 1;
  for (u32 tic = 0; tic < t.routers; ++tic) {
    u32 slots = 0;
    channels_.push_back(0);
    hosts_.push_back(0);
    for (u32 p = 0; p < kPorts; ++p) {
      const sconnect::Link& link = fabric_.link(tic, p);
      slot_first_.push_back(static_cast<u16>(slots));
      hosts_.back() |= static_cast<u8>(u32{link.kind == LinkKind::kHost} << p);
      if (!is_channel(link)) continue;
      channels_.back() |= static_cast<u8>(1u << p);
      slots += link.round;
      longest = std::max<u32>(longest, link.delay);
    }
    t.slots = std::max(t.slots, slots);
  }
  t.slot_mask = std::bit_ceil(longest + 1) - 1;
  t.slot_first = slot_first_.data();
  t.channels = channels_.data();
  t.hosts = hosts_.data();
}

void SconnectPlan::set_layout() {
  sconnect::Table& t = table_;
  ItemKind& tic = add_kind(layout_, "router", t.routers);
  tic.add_fields(t.fields, t);
  tic.finish();

  ItemKind& terminal = add_kind(layout_, "terminal", t.terminals);
  add_terminal_control(terminal, t.terminal_fields);
  terminal.add_fields(t.host_fields, t);
  add_loop_fields(terminal, t.terminal_fields, t.traffic, t.mode);
  add_script_fields(terminal, t.terminal_fields, t.traffic, t.mode);
  terminal.add_fields(t.mailbox_fields, t);
  terminal.finish();
}

std::vector<std::string> SconnectPlan::warnings(const Experiment& e) const {
  std::vector<std::string> list;
  if (table_.loops() && table_.reply_priority == sconnect_request_priority(e))
    list.push_back("replies have priority " + std::to_string(table_.reply_priority) +
                   ", the same as requests, so requests and replies can deadlock. Leave a priority above all requests "
                   "free (host.priorities, host.quad_priority), and host.reply_priority can use it.");
  if (tables_.tree && table_.table_given && tables_.stretch > 1)
    list.push_back("all messages use a spanning tree; its paths are " + std::to_string(tables_.stretch) +
                   " times as long as the shortest ones.");
  return list;
}

std::vector<std::pair<std::string, double>> SconnectPlan::derived() const {
  const sconnect::Table& t = table_;
  u32 round = 0, in_flight = 0;
  for (u32 tic = 0; tic < t.routers; ++tic) {
    u32 sum = 0;
    for (u32 p = 0; p < kPorts; ++p) {
      const sconnect::Link& link = fabric_.link(tic, p);
      if (!is_channel(link)) continue;
      round = std::max<u32>(round, link.round);
      sum += link.round;
    }
    in_flight = std::max(in_flight, sum);
  }
  // In larger fabrics the bisection heuristic takes seconds.
  constexpr u32 kSearched = 1024;
  const bool small = t.nodes <= kSearched && fabric_.kind != "graph";
  const SconnectMetrics metrics = small ? sconnect_metrics(fabric_) : SconnectMetrics{};
  const ZeroLoad alone = t.table_given ? zero_load(fabric_, tables_.entry, traffic_) : ZeroLoad{};
  return {{"routers", t.routers},
          {"nodes", t.nodes},
          {"terminals", t.terminals},
          {"channels", static_cast<double>(topology_.channels)},
          {"topology_hops_mean", t.table_given ? tables_.mean_hops : kNotMeasured},
          {"hops_mean", alone.hops},
          {"stretch", t.table_given ? tables_.stretch : kNotMeasured},
          {"shortest_kept", t.table_given ? tables_.kept : kNotMeasured},
          {"alternates", t.table_given ? tables_.alternates : kNotMeasured},
          {"busiest_channel", t.table_given ? tables_.busiest : kNotMeasured},
          {"diameter", small ? metrics.diameter : kNotMeasured},
          {"channels_mean", small ? metrics.mean_channels : kNotMeasured},
          {"bisection_links", small ? metrics.bisection : kNotMeasured},
          {"slots_per_round", round},
          {"buffers_in_flight", in_flight},
          {"zero_load_latency_cycles", alone.cycles + traffic_.mean_length() - 1},
          {"zero_load_clocks", alone.clocks},
          {"zero_load_clocks_per_hop", alone.clocks_per_hop},
          {"state_bytes", static_cast<double>(layout_.bytes(1))},
          {"router_state_bytes", layout_.kinds[0].item_bytes},
          {"terminal_state_bytes", layout_.kinds[1].item_bytes},
          {"table_bytes", static_cast<double>(tables_.entry.size() * sizeof(u16))}};
}

std::string SconnectPlan::software_prerequisite() const {
  if (table_.table_given) return "";
  return "routing.tables = \"none\": software must write the routing tables before messages can be delivered. Bring "
         "the "
         "fabric up with python -m flitlab.sconnect.bringup CONFIG, step it as a flitlab.Network, or choose other "
         "routing.tables.";
}

std::string SconnectPlan::explain_fault(const FaultReport& fault, const std::vector<std::byte>& state) const {
  if (fault.kind != 0 || fault.bits != kFaultNoRoute) return {};
  const u32 node = item_of(state, layout_, 0, fault.item).at(table_.fields.control).missed;
  return "routing tables: TIC " + router_name(fault.item) + " has no entry for node " + std::to_string(node) +
         ", and a message for it has arrived by " + port_name(fault.port) +
         ". Software must write the entry before messages are sent there";
}

std::string SconnectPlan::port_name(u32 port) const {
  return port < sconnect::kSerial ? "channel " + std::to_string(port)
                                  : "parallel " + std::to_string(port - sconnect::kSerial);
}

std::vector<PortSnapshot> SconnectPlan::inspect_router(const std::vector<std::byte>& state, u32 index) const {
  const sconnect::Table& t = table_;
  const Item<1> tic = item_of(state, layout_, 0, index);
  const sconnect::TicControl& control = tic.at(t.fields.control);
  std::vector<PortSnapshot> ports(kPorts);
  for (u32 p = 0; p < kPorts; ++p) {
    const sconnect::Link& link = fabric_.link(index, p);
    ports[p].name = port_name(p);
    ports[p].peer = link.far;
    ports[p].to_terminal = link.kind == LinkKind::kHost;
    const u32 vcs = std::max(1u, fabric_.vcs(index, p));
    for (u32 vc = 0; vc < vcs; ++vc) {
      VcSnapshot s;
      for (u32 priority = sconnect::kPriorities; priority-- > 0;) {
        const sconnect::Queue& list =
            tic.at(t.fields.queue, p * sconnect::kQueuesOfPort + priority * sconnect::kVcs + vc);
        s.packets += list.messages;
        u32 buffer = list.head;
        for (u32 i = 0; i < list.messages; ++i, buffer = tic.at(t.fields.buffer, buffer).next) {
          const sconnect::Message& m = tic.at(t.fields.message, buffer);
          s.flits += m.flits;
          if (s.src != kNone) continue;
          s.src = m.src;
          s.id = m.id;
          s.dst_router = m.node;
        }
      }
      s.out_port = s.packets ? p : kNone;
      s.out_vc = s.packets ? vc : kNone;
      s.stage = link.kind == LinkKind::kNone  ? "none"
                : !(control.enabled >> p & 1) ? "off"
                : s.packets                   ? "waiting"
                                              : "idle";
      ports[p].vcs.push_back(std::move(s));
    }
  }
  return ports;
}

TerminalSnapshot SconnectPlan::inspect_terminal(const std::vector<std::byte>& state, u32 index) const {
  const Item<1> terminal = item_of(state, layout_, 1, index);
  const TerminalControl& c = terminal.at(table_.terminal_fields.control);
  return {c.created, c.sent, c.received, c.created - c.sent, 0, 0, c.next.at, {}};
}

std::vector<u32> SconnectPlan::channel_flits(const std::vector<std::byte>& state) const {
  std::vector<u32> sent;
  for (u32 tic = 0; tic < table_.routers; ++tic)
    for (u32 p = 0; p < kPorts; ++p)
      if (is_channel(fabric_.link(tic, p)))
        sent.push_back(item_of(state, layout_, 0, tic).at(table_.fields.port, p).carried);
  return sent;
}

bool SconnectPlan::shows(const TotalRecord& total, u32, const CounterShard&) const {
  return table_.clocks || total.first != static_cast<u32>(sconnect::Count::kSlips);
}

std::map<std::string, double> SconnectPlan::figures(const CounterShard& c, const std::vector<std::byte>& state,
                                                    u64) const {
  const auto get = [&](auto total, u32 i = 0) { return static_cast<double>(total_of(c, total, i)); };
  const auto mean = [](double sum, double n) { return n > 0 ? sum / n : kNotMeasured; };
  const double measured = get(Total::kMeasuredDelivered);
  std::map<std::string, double> figures{
      {"network_latency_clocks",
       measured > 0 ? (sconnect::kClocks * get(Total::kMeasuredNetworkLatencySum) + get(sconnect::Count::kClocksSum)) /
                              measured -
                          sconnect::kMostTurn
                    : kNotMeasured}};
  for (u32 p = 0; p < sconnect::kPriorities; ++p)
    figures["latency_priority_" + std::to_string(p)] =
        mean(get(sconnect::Count::kMeasuredLatency, p), get(sconnect::Count::kMeasured, p));
  if (!table_.clocks) return figures;
  double sum = 0, least = INFINITY, most = -INFINITY, limited = 0;
  for (u32 tic = 0; tic < table_.routers; ++tic) {
    const sconnect::ClockState& clock = item_of(state, layout_, 0, tic).at(table_.fields.clock.state);
    const double rate = parts_per_million(clock.rate);
    limited += clock.limit;
    sum += rate;
    least = std::min(least, rate);
    most = std::max(most, rate);
  }
  figures["clock_ppm"] = sum / table_.routers;
  figures["clock_spread_ppm"] = most - least;
  figures["clocks_at_limit"] = limited;
  return figures;
}
std::unique_ptr<Console> SconnectPlan::console() const { return std::make_unique<SconnectConsole>(*this); }

std::unique_ptr<Engine> SconnectPlan::make_engine(const std::vector<Experiment>& replicas,
                                                  const EngineChoice& choice) const {
  return flitlab::make_engine(table_, layout_, make_rows(replicas), choice);
}

}  // namespace flitlab
