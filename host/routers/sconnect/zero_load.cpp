#include "host/routers/sconnect/zero_load.hpp"

#include "kernels/routers/sconnect/route.hpp"

namespace flitlab {
namespace {

using sconnect::kPorts;
using sconnect::LinkKind;

struct HostPort {
  u32 tic, port;
};

std::vector<HostPort> host_ports_of(const SconnectFabric& fabric) {
  std::vector<HostPort> host_ports(fabric.terminals);
  for (u32 tic = 0; tic < fabric.tics; ++tic)
    for (u32 p = 0; p < kPorts; ++p)
      if (fabric.link(tic, p).kind == LinkKind::kHost) host_ports[fabric.link(tic, p).far] = {tic, p};
  return host_ports;
}

/// Follows a message through an idle fabric. An idle TIC tries ports in turn, beginning after the input port, and sends
/// the message by the first permitted one.
Journey walk(const SconnectFabric& fabric, const std::vector<u16>& entry, HostPort at, u32 node) {
  Journey j{0, 0, 0};
  const u32 entered = fabric.phase[at.tic] + at.port;
  for (u32 vc = 0; j.hops <= 4 * fabric.tics;) {
    const sconnect::Options options = sconnect::allowed(entry[std::size_t{at.tic} * fabric.nodes + node], vc);
    if (!options) return {};
    u32 p = at.port;
    do p = p + 1 < kPorts ? p + 1 : 0;
    while (!(options >> 2 * p & 3));
    vc = options >> 2 * p & 1 ? 0 : 1;
    if (p <= at.port) ++j.cycles;
    const sconnect::Link& link = fabric.link(at.tic, p);
    if (link.kind == LinkKind::kHost) {
      j.clocks = sconnect::kClocks * j.cycles + fabric.phase[at.tic] + p - entered;
      return j;
    }
    j.cycles += link.delay;
    ++j.hops;
    at = {link.far, link.port};
  }
  return {};
}

}  // namespace

Journey journey(const SconnectFabric& fabric, const std::vector<u16>& entry, u32 from, u32 to) {
  const std::vector<HostPort> host_ports = host_ports_of(fabric);
  return walk(fabric, entry, host_ports[from], fabric.node_of[host_ports[to].tic]);
}

ZeroLoad zero_load(const SconnectFabric& fabric, const std::vector<u16>& entry, const TerminalPlan& traffic) {
  constexpr u32 kFollowed = 1024;
  if (fabric.terminals > kFollowed) return {};
  const std::vector<HostPort> host_ports = host_ports_of(fabric);
  std::vector<Journey> known(std::size_t{fabric.terminals} * fabric.nodes);
  const auto way = [&](u32 from, u32 to) -> const Journey& {
    const u32 node = fabric.node_of[host_ports[to].tic];
    Journey& j = known[std::size_t{from} * fabric.nodes + node];
    if (j.cycles == kNone) j = walk(fabric, entry, host_ports[from], node);
    return j;
  };
  const auto mean = [&](auto value) {
    return traffic.mean_over(ValueOf([&](u32 from, u32 to) -> double {
      const Journey& j = way(from, to);
      return j.cycles == kNone ? kNotMeasured : value(j);
    }));
  };
  const double hops = mean([](const Journey& j) { return j.hops; });
  // Channels to and from hosts are not counted, so a message to its own node, which makes no hops, counts as 0 clocks.
  const double channel_clocks = mean([](const Journey& j) { return j.hops ? j.clocks : 0; });
  return {mean([](const Journey& j) { return j.cycles; }), mean([](const Journey& j) { return j.clocks; }),
          hops > 0 ? channel_clocks / hops : kNotMeasured, hops};
}

}  // namespace flitlab
