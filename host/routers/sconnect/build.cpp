#include "host/routers/sconnect/build.hpp"

#include "kernels/common/philox.hpp"
#include "kernels/routers/sconnect/channel.hpp"
#include "kernels/routers/sconnect/streams.hpp"

namespace flitlab {

using sconnect::kPorts;
using sconnect::kSerial;
using sconnect::Link;
using sconnect::LinkKind;

u32 sconnect_cycles(u32 delay, u32 sent_in, u32 read_in) {
  const u32 there = delay + sent_in, least = there > read_in ? there - read_in : 1;
  return (least + sconnect::kClocks - 1) / sconnect::kClocks;
}

SconnectBuilder::SconnectBuilder(std::string kind, const SconnectNodes& nodes) : nodes_(nodes) {
  fabric_.kind = std::move(kind);
  fabric_.host_ports = nodes.host_ports;
}

u32 SconnectBuilder::add_site(const std::string& name, u32 tics, u32 node) {
  const u32 site = sites();
  first_.push_back(fabric_.tics);
  site_names_.push_back(name);
  for (u32 i = 0; i < tics; ++i) {
    fabric_.node_of.push_back(node);
    fabric_.names.push_back(tics == 1 ? name : name + static_cast<char>('a' + i));
  }
  fabric_.tics += tics;
  fabric_.links.resize(std::size_t{fabric_.tics} * kPorts);
  fabric_.clocks.resize(fabric_.links.size());
  return site;
}

u32 SconnectBuilder::add_node(const std::string& name, u32 tics) {
  const u32 site = add_site(name, tics, fabric_.nodes++), first = first_[site];
  for (u32 h = 0; h < nodes_.host_ports; ++h) {
    // If the node has one TIC, both of its parallel ports can lead to the host; if it has two, one parallel port of
    // each TIC.
    const u32 tic = tics == 1 ? first : first + h, port = tics == 1 ? kSerial + h : kSerial;
    fabric_.links[std::size_t{tic} * kPorts + port] = Link{fabric_.terminals++, 0, LinkKind::kHost, 1, 0};
  }
  if (tics == 2) link(first, kSerial + 1, first + 1, kSerial + 1, LinkKind::kParallel, sconnect::kClocks);
  return site;
}

u32 SconnectBuilder::add_switch(const std::string& name, u32 tics) {
  const u32 site = add_site(name, tics, kNone), first = first_[site];
  for (u32 i = 0; i < tics; ++i)  // the TICs form a ring; if there are two, both of their parallel ports are joined
    link(first + i, kSerial + 1, first + (i + 1) % tics, kSerial, LinkKind::kParallel, sconnect::kClocks);
  return site;
}

void SconnectBuilder::link(u32 tic_a, u32 port_a, u32 tic_b, u32 port_b, LinkKind kind, u32 clocks) {
  const std::size_t a = std::size_t{tic_a} * kPorts + port_a, b = std::size_t{tic_b} * kPorts + port_b;
  fabric_.links[a] = Link{tic_b, static_cast<u8>(port_b), kind, 0, 0};
  fabric_.links[b] = Link{tic_a, static_cast<u8>(port_a), kind, 0, 0};
  fabric_.clocks[a] = fabric_.clocks[b] = static_cast<u16>(clocks);
}

void SconnectBuilder::join(u32 a, u32 tic_a, u32 port_a, u32 b, u32 tic_b, u32 port_b) {
  link(first_[a] + tic_a, port_a, first_[b] + tic_b, port_b, LinkKind::kSerial, nodes_.delay);
}

u32 SconnectBuilder::free_port(u32 site) const {
  u32 best = kNone, fewest = kSerial;
  for (u32 tic = first_[site]; tic < first_[site] + tics_of(site); ++tic) {
    u32 used = 0, free = kNone;
    for (u32 port = kSerial; port-- > 0;)
      if (fabric_.link(tic, port).kind == LinkKind::kNone)
        free = tic * kPorts + port;
      else
        ++used;
    if (used < fewest) fewest = used, best = free;
  }
  return best;
}

u32 SconnectBuilder::join(u32 a, u32 b, u32 clocks) {
  const u32 from = free_port(a), to = free_port(b);
  if (from == kNone) return a;
  if (to == kNone) return b;
  link(from / kPorts, from % kPorts, to / kPorts, to % kPorts, LinkKind::kSerial, clocks);
  return kNone;
}

u32 SconnectBuilder::cut_off() const {
  std::vector<bool> seen(fabric_.tics, false);
  std::vector<u32> stack{0};
  seen[0] = true;
  while (!stack.empty()) {
    const u32 tic = stack.back();
    stack.pop_back();
    for (u32 port = 0; port < kPorts; ++port) {
      const Link& l = fabric_.link(tic, port);
      if (l.kind == LinkKind::kNone || l.kind == LinkKind::kHost || seen[l.far]) continue;
      seen[l.far] = true;
      stack.push_back(l.far);
    }
  }
  for (u32 site = 0; site < sites(); ++site)
    if (!seen[first_[site]]) return site;
  return kNone;
}

/// The TICs of a node or switch share an oscillator, so their routing cycles begin in the same clock.
void SconnectBuilder::set_phases() {
  for (u32 site = 0; site < sites(); ++site) {
    const u32 phase = nodes_.phase_seed ? below(philox(*nodes_.phase_seed, sconnect::stream::kPhase, site, 0).word[0],
                                                sconnect::kClocks)
                                        : 0;
    fabric_.phase.insert(fabric_.phase.end(), tics_of(site), static_cast<u8>(phase));
  }
}

void SconnectBuilder::set_delays() {
  const auto channel = [](const Link& l) { return l.kind == LinkKind::kSerial || l.kind == LinkKind::kParallel; };
  for (u32 i = 0; i < fabric_.links.size(); ++i) {
    Link& l = fabric_.links[i];
    if (!channel(l)) continue;
    const bool turns = nodes_.phase_seed && l.kind == LinkKind::kSerial;
    const u32 sent_in = turns ? fabric_.phase[i / kPorts] + i % kPorts : 0;
    const u32 read_in = turns ? fabric_.phase[l.far] + l.port : 0;
    l.delay = static_cast<u8>(sconnect_cycles(fabric_.clocks[i], sent_in, read_in));
  }
  for (Link& l : fabric_.links)
    if (channel(l)) l.round = static_cast<u8>(sconnect::round_of(l.delay, fabric_.link(l.far, l.port).delay));
}

SconnectFabric SconnectBuilder::finish(std::vector<u32> shape) {
  set_phases();
  set_delays();
  fabric_.shape = shape.empty() ? std::vector<u32>{fabric_.nodes} : std::move(shape);
  return std::move(fabric_);
}

}  // namespace flitlab
