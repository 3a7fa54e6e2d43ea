/// Parameters of a virtual-channel router that follow from the experiment and the topology.
#include "host/routers/vc/table.hpp"

#include <algorithm>
#include <bit>

#include "host/config/cross_checks.hpp"
#include "host/config/ratio.hpp"
#include "host/config/topology_params.hpp"
#include "host/plan/terminal_plan.hpp"
#include "host/topology/metrics.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/vc/params.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab::vc {

VcRange vcs_of_class(const Experiment& e, u32 number) {
  if (e.has(flitlab::param::traffic.class_first_vc))
    return {e.ints(flitlab::param::traffic.class_first_vc)[number],
            e.ints(flitlab::param::traffic.class_last_vc)[number] + 1};
  const u32 vcs = e.u32_of(param::router.vcs), sets = message_classes(e);
  const u32 set = sets == 1 ? 0 : number;  // 0: classes of packets share all virtual channels
  return {set * vcs / sets, (set + 1) * vcs / sets};
}

u32 fewest_vcs_of_class(const Experiment& e) {
  u32 fewest = kMaxVcs;
  for (u32 c = 0; c < message_classes(e); ++c)
    fewest = std::min(fewest, vcs_of_class(e, c).end - vcs_of_class(e, c).first);
  return fewest;
}

void check_class_ranges(const Experiment& e, u32 parts) {
  if (!e.has(flitlab::param::traffic.class_first_vc)) return;
  const auto shown_range = [&](u32 c) {
    const VcRange range = vcs_of_class(e, c);
    return "class " + std::to_string(c) + " has the virtual channels " + std::to_string(range.first) + " to " +
           std::to_string(range.end - 1);
  };
  const std::string where = "traffic.class_first_vc and traffic.class_last_vc: ";
  const u32 vcs = e.u32_of(param::router.vcs);
  for (u32 c = 0; c < traffic_classes(e); ++c) {
    const VcRange a = vcs_of_class(e, c);
    if (a.first >= a.end || a.end > vcs)
      throw ConfigError(where + shown_range(c) +
                        ". Give a first and a last one from 0 to router.vcs - 1 = " + std::to_string(vcs - 1) + ".");
    if (a.end - a.first < parts)
      throw ConfigError(where + shown_range(c) + ", and the routes need at least " + std::to_string(parts) +
                        " to avoid deadlock. Give it more.");
    for (u32 other = 0; parts > 1 && other < c; ++other) {
      const VcRange b = vcs_of_class(e, other);
      if (a.first >= b.end || b.first >= a.end || (a.first == b.first && a.end == b.end)) continue;
      throw ConfigError(where + shown_range(other) + ", and " + shown_range(c) +
                        ". Packets could deadlock, because the routes divide each range into " + std::to_string(parts) +
                        " parts, which overlap. Give ranges that are equal or have no virtual channel in common.");
    }
  }
}

namespace {

/// Returns the rounds of allocation in a cycle. Throws ConfigError.
Ratio rounds_per_cycle(const Experiment& e) {
  const std::optional<Ratio> rounds = ratio_of(e.f64(param::router.internal_speedup));
  if (!rounds)
    throw ConfigError(std::string(param::router.internal_speedup.path) + " = " +
                      shown(e.at(param::router.internal_speedup)) +
                      " is not a ratio n/d of integers with d up to 64, such as 5/3 (1.6667).");
  return *rounds;
}

}  // namespace

u32 crossing_delay(const Experiment& e) {
  const u32 cycles = e.u32_of(param::router.switch_allocation_delay) + e.u32_of(param::router.switch_traversal_delay);
  const Ratio rounds = rounds_per_cycle(e);
  return rounds.numerator > rounds.denominator ? cycles - 1 : cycles;
}

u32 eject_delay(const Experiment& e) { return crossing_delay(e) + 1; }

u32 inbox_slots(const VcTable& t) {
  u32 longest = std::max({t.channel ? 0 : t.link_delay, t.eject_delay, t.credit_delay, t.injection_credit_delay});
  for (std::size_t i = 0; t.channel && i < std::size_t{t.routers} * t.network_ports; ++i)
    longest = std::max({longest, u32{t.channel[i].link_delay}, u32{t.channel[i].credit_delay}});
  return std::bit_ceil(longest + 1);
}

u32 set_shift(const VcTable& t) {
  return t.ports * t.vcs <= 64 ? 5u : static_cast<u32>(std::bit_width(64 / t.vcs) - 1);
}

u32 set_words(const VcTable& t) { return (t.ports + (1u << t.set_shift) - 1) >> t.set_shift; }

void set_network(VcTable& t, const Topology& topology) {
  t.routers = topology.routers;
  t.terminals = topology.terminals;
  t.network_ports = topology.network_ports;
  t.ports = topology.ports;
  t.concentration = topology.concentration;
  static_assert(kMostRouterPorts <= kMaxPorts);
  t.wraps = topology.wraps;
  t.one_port_per_dim = topology.kind == "hypercube";
  t.by_tables = !topology.grid;
  t.terminal_routers = topology.terminal_routers();
  t.group = topology.group.empty() ? nullptr : topology.group.data();
  t.peers = topology.peers.data();
}

void set_addresses(VcTable& t, const Topology& topology) {
  t.dims = static_cast<u32>(topology.shape.size());
  for (u32 d = 0; d < t.dims; ++d) {
    t.dim_radix[d] = topology.shape[d];
    t.dim_mask[d] = topology.dim_mask[d];
    t.dim_shift[d] = topology.dim_shift[d];
    for (u32 bit = 0; bit < 32; ++bit)
      if ((u64{t.dim_mask[d]} << t.dim_shift[d]) >> bit & 1) t.dim_of_bit[bit] = static_cast<u8>(d);
  }
  t.address = topology.address.data();
}

static_assert(param::channels.delay.max == kLongestDelay);

void set_group_channels(Topology& topology, const Experiment& e) {
  const bool delays = !e.is_single(param::channels.delay), widths = !e.is_single(param::channels.width);
  if (topology.group.empty() || (!delays && !widths)) return;
  topology.own_channels.resize(std::size_t{topology.routers} * topology.network_ports);
  for (u32 router = 0; router < topology.routers; ++router)
    for (u32 port = 0; port < topology.network_ports; ++port) {
      const u32 next = topology.peer(router, port).item;
      const u32 between = next != kNone && topology.group[router] != topology.group[next];
      Channel& channel = topology.own_channels[std::size_t{router} * topology.network_ports + port];
      if (delays) channel.delay = static_cast<u16>(e.ints(param::channels.delay)[between]);
      if (widths)
        set_width(channel, e.numbers(param::channels.width)[between], std::string(param::channels.width.path));
    }
}

void set_distance_channels(Topology& topology, const Experiment& e) {
  if (!e.has(param::channels.by_distance) || !e.flag(param::channels.by_distance)) return;
  const auto refuse = [&](const std::string& why) {
    throw ConfigError(std::string(param::channels.by_distance.path) + " = true " + why);
  };
  if (has_failures(e)) refuse("does not fit failed links or routers, without which routers have other numbers.");
  const std::vector<u32> shape = e.ints(flitlab::param::networks.shape);
  const u32 each = e.ints(param::channels.delay)[0];
  topology.own_channels.resize(std::size_t{topology.routers} * topology.network_ports);
  for (u32 router = 0; router < topology.routers; ++router)
    for (u32 port = 0; port < topology.network_ports; ++port) {
      u32 from = router, to = topology.peer(router, port).item;
      if (to == kNone) continue;
      u64 delay = 0;
      for (const u32 radix : shape) {
        delay += u64{each} * distance_along(from % radix, to % radix, radix, false);
        from /= radix, to /= radix;
      }
      if (delay > kLongestDelay)
        refuse("makes a channel of " + std::to_string(delay) + " cycles; the longest has " +
               std::to_string(kLongestDelay) + ". Lower topology.channel_delay.");
      topology.own_channels[std::size_t{router} * topology.network_ports + port].delay = static_cast<u16>(delay);
    }
}

std::vector<PortChannel> make_channels(const Experiment& e, const Topology& topology) {
  const bool one_delay = e.is_single(param::channels.delay);
  const std::vector<u32> delays = e.ints(param::channels.delay);
  const std::vector<double> widths = e.numbers(param::channels.width);
  if (one_delay && widths == std::vector{1.0} && topology.own_channels.empty()) return {};
  std::vector<PortChannel> channels;
  for (u32 router = 0; router < topology.routers; ++router)
    for (u32 port = 0; port < topology.network_ports; ++port) {
      const auto of_dimension = [&](const auto& list) {
        return list[list.size() == 1 ? 0 : topology.dimension_of(port)];
      };
      Channel channel = topology.channel(router, port);
      if (!channel.delay && !one_delay) channel.delay = static_cast<u16>(of_dimension(delays));
      if (!channel.cycles) set_width(channel, of_dimension(widths), std::string(param::channels.width.path));
      const u32 link = crossing_delay(e) + (channel.delay ? u32{channel.delay} : delays[0]),
                credit = e.u32_of(param::router.credit_delay) + (channel.delay ? channel.delay - 1u : 0);
      channels.push_back({static_cast<u16>(link), static_cast<u16>(credit), channel.flits, channel.cycles});
    }
  const bool alike = std::all_of(channels.begin(), channels.end(), [&](const PortChannel& c) {
    return c.link_delay == crossing_delay(e) + delays[0] && c.credit_delay == e.u32_of(param::router.credit_delay) &&
           c.flits == c.cycles;
  });
  return alike ? std::vector<PortChannel>{} : channels;
}

void set_delays(VcTable& t, const Experiment& e) {
  t.routing_delay = e.u32_of(param::router.routing_delay);
  t.allocation_delay = e.u32_of(param::router.vc_allocation_delay);
  t.link_delay = crossing_delay(e) + e.ints(param::channels.delay)[0];
  t.eject_delay = eject_delay(e);
  t.inject_delay = 1;
  t.switch_delay = static_cast<u8>(e.u32_of(param::router.switch_allocation_delay));
  t.credit_delay = e.u32_of(param::router.credit_delay);
  const u32 given = e.u32_of(param::router.injection_credit_delay);
  t.injection_credit_delay = given ? given : t.credit_delay;
  for (std::size_t i = 0; t.channel && i < std::size_t{t.routers} * t.network_ports; ++i)
    t.narrow |= t.channel[i].flits < t.channel[i].cycles;
}

void set_sizes(VcTable& t, const Experiment& e, u32 shortest) {
  t.vcs = e.u32_of(param::router.vcs);
  t.buffer_flits = e.u32_of(param::router.buffer_flits);
  t.ring = most_packets_in_buffer(t.buffer_flits, shortest);
  constexpr u32 kMostPackets = 255;  // positions are stored in 8 bits
  if (t.ring > kMostPackets)
    throw ConfigError("router.buffer_flits = " + std::to_string(t.buffer_flits) + " is too large for packets of " +
                      std::to_string(shortest) + (shortest == 1 ? " flit" : " flits") + ": a buffer holds at most " +
                      std::to_string(kMostPackets) + " packets. Use at most " +
                      std::to_string((kMostPackets - 1) * shortest + 1) + " flits, or longer packets.");
  t.slot_mask = inbox_slots(t) - 1;
  t.port_words = (t.ports + 7) / 8;
  t.set_shift = set_shift(t);
  t.set_words = set_words(t);
  t.message_classes = message_classes(e);
}

void set_speedup(VcTable& t, const Experiment& e) {
  t.input_speedup = static_cast<u8>(e.u32_of(param::router.input_speedup));
  t.output_speedup = static_cast<u8>(e.u32_of(param::router.output_speedup));
  const Ratio rounds = rounds_per_cycle(e);
  t.rounds = static_cast<u16>(rounds.numerator);
  t.round_cycles = static_cast<u16>(rounds.denominator);
  t.crossbar_factor = std::max(t.input_speedup, t.output_speedup);
  for (u32 vc = 0; vc < t.vcs; ++vc) t.crossbar_vcs[vc % t.input_speedup] |= static_cast<u16>(1u << vc);
  const bool several_rounds = t.rounds > t.round_cycles;
  t.late_credits = t.input_speedup > 1 || several_rounds;
  if (t.output_speedup == 1 && !several_rounds) return;
  // A flit takes its credit when it enters the queue, so credits limit the queue, too. A round can add a flit for each
  // of the port's crossbar outputs.
  const u32 most = t.vcs * t.buffer_flits, given = e.u32_of(param::router.output_queue_flits);
  t.queue_flits = given ? std::min(given, most) : most;
  t.queue_limit = given ? given - t.output_speedup + 1u : most + 1;
}

void set_choices(VcTable& t, const Experiment& e) {
  t.flow_control = e.choice<FlowControl>(param::router.flow_control);
  t.vc_allocator = e.choice<VcAllocator>(param::router.vc_allocator);
  t.switch_allocator = e.choice<SwitchAllocator>(param::router.switch_allocator);
  t.iterations = static_cast<u8>(e.u32_of(param::router.allocator_iterations));
  t.arbiter = e.choice<ArbiterKind>(param::router.arbiter);
  t.speculative = e.flag(param::router.speculative);
  t.hold_switch = e.flag(param::router.hold_switch_for_packet);
  t.wait_for_tail_credit = e.flag(param::router.wait_for_tail_credit);
  t.pointer_spans_ports = e.flag(param::router.vc_pointer_spans_ports);
  t.vc_needs_credit = e.flag(param::router.vc_needs_credit);
  if (e.has(param::router.early_vc_credits)) t.early_vc_credits = e.flag(param::router.early_vc_credits);
  if (e.has(param::router.vc_arbiter_by_port)) t.vc_arbiter_by_port = e.flag(param::router.vc_arbiter_by_port);
  set_speedup(t, e);
  t.algorithm = e.choice<Algorithm>(param::routing.algorithm);
  if (e.has(param::routing.intermediate)) t.intermediate = e.choice<Intermediate>(param::routing.intermediate);
  if (e.has(param::routing.congestion)) t.congestion = e.choice<Congestion>(param::routing.congestion);
  if (e.has(param::routing.ejection_vcs)) t.ejection_vcs = e.choice<EjectionVcs>(param::routing.ejection_vcs);
  if (e.has(param::routing.threshold)) t.threshold = static_cast<i32>(e.i64(param::routing.threshold));
  if (e.has(param::routing.selection)) t.selection = e.choice<Selection>(param::routing.selection);
  // Networks whose failures make tables necessary have other escape routes, on which packets always stay.
  if (e.has(param::routing.stay_on_escape)) t.stay_on_escape = !t.by_tables && e.flag(param::routing.stay_on_escape);
  if (e.has(param::routing.vc_assignment)) t.vc_assignment = e.choice<VcAssignment>(param::routing.vc_assignment);
}

}  // namespace flitlab::vc
