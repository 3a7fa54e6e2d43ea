#include "host/routers/bless/plan.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "host/config/cross_checks.hpp"
#include "host/config/memory.hpp"
#include "host/config/topology_params.hpp"
#include "host/plan/hops.hpp"
#include "host/plan/not_measured.hpp"
#include "host/topology/metrics.hpp"
#include "kernels/common/error.hpp"
#include "kernels/engines/make_engine.hpp"
#include "kernels/routers/bless/params.hpp"
#include "kernels/routers/bless/totals.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

BlessPlan::BlessPlan(const Experiment& e)
    : topology_(make_topology(e)),
      traffic_(e, topology_),
      longest_(traffic_.mode == TrafficMode::kTrace ? kLongestPacket : flitlab::longest_packet(e)) {
  set_network(e);
  set_reassembly(e);
  set_layout();
  facts_ = {.active_terminals = topology_.terminals, .longest_packet = kLongestPacket, .warnings = warnings()};
  facts_.batch_packets = traffic_.batch_packets();
  facts_.program = &traffic_.table.program;
  warn(traffic_.warnings);
  facts_.cost = decltype(table_)::cost;
}

void BlessPlan::set_network(const Experiment& e) {
  bless::Table& t = table_;
  t.routers = topology_.routers;
  t.terminals = topology_.terminals;
  t.channels = topology_.network_ports;
  t.ports = topology_.ports;
  t.dims = static_cast<u32>(topology_.shape.size());
  t.wraps = topology_.wraps;
  for (u32 d = 0; d < t.dims; ++d) {
    t.radix[d] = topology_.shape[d];
    t.dim_shift[d] = topology_.dim_shift[d];
    t.dim_mask[d] = topology_.dim_mask[d];
  }
  t.delay = e.u32_of(bless::param::router.delay);
  t.hop_delay = t.delay + e.u32_of(param::channels.delay);
  t.slot_mask = std::bit_ceil(t.hop_delay + 1) - 1;
  t.ejection_width = e.u32_of(bless::param::router.ejection_width);
  t.mode = traffic_.mode;
  t.traffic = traffic_.table;
  t.peers = topology_.peers.data();
  t.address = topology_.address.data();
  wired_.assign(t.routers, 0);
  for (u32 r = 0; r < t.routers; ++r)
    for (u32 p = 0; p < t.channels; ++p)
      if (topology_.peer(r, p).item != kNone) wired_[r] |= 1u << p;
  t.wired = wired_.data();
}

u64 BlessPlan::most_partial() const {
  return longest_ == 1 ? 1 : topology_.channels * table_.hop_delay + topology_.terminals - table_.traffic.others_only;
}

void BlessPlan::set_reassembly(const Experiment& e) {
  const ParamRecord& record = bless::param::router.reassembly_packets;
  u64 buffers = most_partial();
  if (!e.is_auto(record)) buffers = std::min<u64>(buffers, e.u32_of(record));
  constexpr u64 kMost = 1u << 24;
  const std::string subject = std::string(record.path) + (e.is_auto(record) ? " = \"auto\"" : "") + ", " +
                              std::to_string(buffers) + " packets for each of " + std::to_string(topology_.terminals) +
                              " terminals";
  const std::string advice = "Give a smaller number, such as 64; the model's README describes the consequences.";
  if (buffers > kMost) throw ConfigError(subject + ": at most " + std::to_string(kMost) + " are supported. " + advice);
  require_memory(subject, buffers * topology_.terminals * sizeof(bless::Partial), advice);
  table_.reassembly_buffers = static_cast<u32>(buffers);
}

void BlessPlan::set_layout() {
  bless::Table& t = table_;
  ItemKind& node = add_kind(layout_, "router", t.routers);
  node.add_fields(t.router_fields, t);
  node.finish();

  ItemKind& terminal = add_kind(layout_, "terminal", t.terminals);
  add_terminal_control(terminal, t.terminal_fields);
  add_script_fields(terminal, t.terminal_fields, t.traffic, t.mode);
  terminal.add_fields(t.interface_fields, t);
  terminal.finish();
}

std::vector<std::string> BlessPlan::warnings() const {
  if (table_.reassembly_buffers >= most_partial()) return {};
  return {std::string(bless::param::router.reassembly_packets.path) + " = " +
          std::to_string(table_.reassembly_buffers) +
          ": flits whose packet finds no reassembly buffer are deflected, and livelock is possible; from " +
          std::to_string(most_partial()) + " on it is not."};
}

namespace {

/// Hops of shortest routes. A packet from a terminal to itself makes 2 hops: a router ejects only flits that arrived on
/// a channel, so the flit goes to a neighbour and back.
class BlessHops final : public PairValue {
 public:
  explicit BlessHops(const Topology& topology) : grid_(topology) {}
  double of(u32 source, u32 destination) const override {
    return source == destination ? kSelfHops : grid_.of(source, destination);
  }
  std::function<double(u32)> sum_over(const TerminalSet& set) const override {
    std::map<u32, u32> times;
    for (u32 member : set) ++times[member];
    return [sum = grid_.sum_over(set), times = std::move(times)](u32 source) {
      const auto self = times.find(source);
      return sum(source) + (self == times.end() ? 0 : kSelfHops * self->second);
    };
  }
  bool symmetric() const override { return true; }

 private:
  static constexpr double kSelfHops = 2;
  GridHops grid_;
};

}  // namespace

double BlessPlan::mean_hops() const { return traffic_.mean_over(BlessHops(topology_)); }

/// Returns hops x (router delay + channel delay) + router delay + packet length - 1. Without traffic every flit gets an
/// output in the cycle in which it arrives.
double BlessPlan::zero_load_latency(double hops) const {
  return hops * table_.hop_delay + table_.delay + traffic_.mean_length() - 1;
}

std::vector<std::pair<std::string, double>> BlessPlan::derived() const {
  const bless::Table& t = table_;
  const DistanceMetrics distance = distance_metrics(topology_);
  const double hops = mean_hops();
  const bool uniform = t.traffic.pattern == Pattern::kUniform && t.mode == TrafficMode::kOpen;
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
          {"reassembly_places", t.reassembly_buffers},
          {"saturation_load_bound", uniform ? std::min(1.0, carried) : kNotMeasured},
          {"zero_load_latency_cycles", zero_load_latency(hops)},
          {"state_bytes", static_cast<double>(layout_.bytes(1))},
          {"router_state_bytes", layout_.kinds[0].item_bytes},
          {"terminal_state_bytes", layout_.kinds[1].item_bytes},
          {"table_bytes", static_cast<double>(topology_.peers.size() * sizeof(Peer) +
                                              (topology_.address.size() + wired_.size()) * sizeof(u32))}};
}

std::string BlessPlan::router_name(u32 router) const {
  std::string text = std::to_string(router) + " (";
  for (u32 d = 0; d < topology_.shape.size(); ++d)
    text += (d ? "," : "") + std::to_string(topology_.coordinate(router, d));
  return text + ")";
}

std::string BlessPlan::port_name(u32 port) const {
  if (port >= topology_.network_ports) return "terminal " + std::to_string(port - topology_.network_ports);
  const u32 dim = port / 2;
  return (port % 2 ? "-" : "+") +
         (topology_.shape.size() <= 3 ? std::string(1, "xyz"[dim]) : "d" + std::to_string(dim));
}

std::vector<PortSnapshot> BlessPlan::inspect_router(const std::vector<std::byte>& state, u32 index) const {
  const bless::Table& t = table_;
  const Item<1> node = item_of(state, layout_, 0, index);
  std::vector<PortSnapshot> ports(t.ports);
  for (u32 p = 0; p < t.ports; ++p) {
    ports[p].name = port_name(p);
    ports[p].peer = topology_.peer(index, p).item;
    ports[p].to_terminal = topology_.peer(index, p).is_terminal;
    for (u32 slot = 0; p < t.channels && slot <= t.slot_mask; ++slot) {
      if (!node.at(t.router_fields.came, slot * t.channels + p)) continue;
      const bless::Flit& flit = node.at(t.router_fields.mail, slot * t.channels + p);
      VcSnapshot s;
      s.stage = "arriving";
      s.flits = s.packets = s.left = 1;
      s.src = flit.src;
      s.id = flit.id;
      s.dst_router = topology_.router_at(flit.dst);
      ports[p].vcs.push_back(std::move(s));
    }
    if (!ports[p].vcs.empty()) continue;
    ports[p].vcs.emplace_back();
    ports[p].vcs.back().stage = "idle";
  }
  return ports;
}

Fill BlessPlan::fill(const std::vector<std::byte>&, u32 index, const std::vector<PortSnapshot>& ports) const {
  Fill fill{0, bit_count(wired_[index]) * table_.hop_delay};
  for (const PortSnapshot& port : ports)
    for (const VcSnapshot& flit : port.vcs) fill.held += flit.flits;
  return fill;
}

TerminalSnapshot BlessPlan::inspect_terminal(const std::vector<std::byte>& state, u32 index) const {
  return terminal_snapshot(state, layout_, table_.terminal_fields, index, 0);
}

std::vector<u32> BlessPlan::channel_flits(const std::vector<std::byte>& state) const {
  std::vector<u32> sent;
  for (u32 r = 0; r < table_.routers; ++r)
    for (u32 set = wired_[r]; set; set &= set - 1)
      sent.push_back(item_of(state, layout_, 0, r).at(table_.router_fields.sent, lowest_bit(set)));
  return sent;
}

std::map<std::string, double> BlessPlan::figures(const CounterShard& c, const std::vector<std::byte>&, u64) const {
  const auto get = [&](auto total) { return static_cast<double>(total_of(c, total)); };
  const auto part = [&](double a, double b) { return b > 0 ? a / b : kNotMeasured; };
  return {{"deflections_per_flit", part(get(bless::Count::kDeflections), get(Total::kFlitsDelivered))},
          {"deflected_fraction", part(get(bless::Count::kDeflections), get(bless::Count::kSent))},
          {"hops_per_flit", part(get(bless::Count::kSent), get(Total::kFlitsDelivered))}};
}

std::unique_ptr<Engine> BlessPlan::make_engine(const std::vector<Experiment>& replicas,
                                               const EngineChoice& choice) const {
  return flitlab::make_engine(table_, layout_, make_rows(replicas), choice);
}

}  // namespace flitlab
