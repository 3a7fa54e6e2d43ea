#include "host/routers/sconnect/build.hpp"

#include <algorithm>

#include "kernels/common/error.hpp"

namespace flitlab {

using sconnect::kPorts;
using sconnect::kSerial;
using sconnect::Link;
using sconnect::LinkKind;

u32 sconnect_delay(const std::string& what, u32 clocks) {
  constexpr u32 kMost = 360;
  if (clocks % sconnect::kClocks || clocks < sconnect::kClocks || clocks > kMost)
    throw ConfigError(what + " = " + std::to_string(clocks) +
                      " clocks must be a whole number of routing cycles: a multiple of 6 from 6 to 360. Take " +
                      std::to_string(std::clamp((clocks + 5) / 6 * 6, 6u, kMost)) + ".");
  return clocks / sconnect::kClocks;
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
  return site;
}

u32 SconnectBuilder::add_node(const std::string& name, u32 tics) {
  const u32 site = add_site(name, tics, fabric_.nodes++), first = first_[site];
  for (u32 h = 0; h < nodes_.host_ports; ++h) {
    // A single TIC has both of its parallel ports to spare, each TIC of a dual node one.
    const u32 tic = tics == 1 ? first : first + h, port = tics == 1 ? kSerial + h : kSerial;
    fabric_.links[std::size_t{tic} * kPorts + port] = Link{fabric_.terminals++, 0, LinkKind::kHost, 1, 0};
  }
  if (tics == 2) link(first, kSerial + 1, first + 1, kSerial + 1, LinkKind::kParallel, 1);
  return site;
}

u32 SconnectBuilder::add_switch(const std::string& name, u32 tics) {
  const u32 site = add_site(name, tics, kNone), first = first_[site];
  for (u32 i = 0; i < tics; ++i)  // a ring, which for two TICs is both ports of each
    link(first + i, kSerial + 1, first + (i + 1) % tics, kSerial, LinkKind::kParallel, 1);
  return site;
}

void SconnectBuilder::link(u32 tic_a, u32 port_a, u32 tic_b, u32 port_b, LinkKind kind, u32 delay) {
  const u8 d = static_cast<u8>(delay);
  fabric_.links[std::size_t{tic_a} * kPorts + port_a] = Link{tic_b, static_cast<u8>(port_b), kind, d, 0};
  fabric_.links[std::size_t{tic_b} * kPorts + port_b] = Link{tic_a, static_cast<u8>(port_a), kind, d, 0};
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

u32 SconnectBuilder::join(u32 a, u32 b, u32 delay) {
  const u32 from = free_port(a), to = free_port(b);
  if (from == kNone) return a;
  if (to == kNone) return b;
  link(from / kPorts, from % kPorts, to / kPorts, to % kPorts, LinkKind::kSerial, delay);
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

SconnectFabric SconnectBuilder::finish(std::vector<u32> shape) {
  fabric_.shape = shape.empty() ? std::vector<u32>{fabric_.nodes} : std::move(shape);
  return std::move(fabric_);
}

}  // namespace flitlab
