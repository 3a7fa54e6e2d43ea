#include "host/routers/metro/faults.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/plan/interrupt.hpp"
#include "host/routers/metro/fault_file.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/metro/params.hpp"
#include "kernels/routers/metro/streams.hpp"

namespace flitlab {
namespace {

using What = MetroFault::What;

bool works(const MetroNetwork& n, const std::vector<bool>& dead_ports, u32 router, u32 port) {
  return n.wire(router, port).item != kNone && !dead_ports[std::size_t{router} * n.ports() + port];
}

/// Sets of endpoints, stored as bits of 64-bit words, so that one operation processes 64 endpoints.
class Endpoints {
 public:
  Endpoints(u32 sets, u32 endpoints) : words_((endpoints + 63) / 64), bits_(std::size_t{sets} * words_) {}

  bool has(u32 set, u32 endpoint) const { return bits_[first_word(set) + endpoint / 64] >> endpoint % 64 & 1; }
  /// Adds an endpoint to a set. Returns whether the set did not have it before.
  bool add(u32 set, u32 endpoint) {
    const bool fresh = !has(set, endpoint);
    bits_[first_word(set) + endpoint / 64] |= u64{1} << endpoint % 64;
    return fresh;
  }
  /// Adds all endpoints of another set. Returns whether the set did not have all of them before.
  bool join(u32 set, const Endpoints& others, u32 other) {
    u64 fresh = 0;
    for (std::size_t i = 0; i < words_; ++i) {
      u64& target = bits_[first_word(set) + i];
      const u64 more = others.bits_[others.first_word(other) + i];
      fresh |= more & ~target;
      target |= more;
    }
    return fresh != 0;
  }

 private:
  std::size_t first_word(u32 set) const { return set * words_; }

  std::size_t words_;
  std::vector<u64> bits_;
};

/// Returns a source, and a destination that the source cannot reach; {kNone, kNone} if there is no such pair.
std::pair<u32, u32> disconnected(const MetroNetwork& n, const std::vector<bool>& dead_routers,
                                 const std::vector<bool>& dead_ports) {
  // Routers of later stages come first, so that one pass over all routers is enough for a multibutterfly.
  std::vector<u32> order(n.routers());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return n.setup[a].stage > n.setup[b].stage; });
  Endpoints reached(n.routers(), n.terminals);
  for (bool more = true; more;) {
    more = false;
    for (u32 r : order) {
      for (u32 q = 0; q < n.setup[r].backward && !dead_routers[r]; ++q) {
        if (!works(n, dead_ports, r, n.inputs + q)) continue;
        const metro::Wire& wire = n.wire(r, n.inputs + q);
        const bool fresh = wire.to_endpoint ? reached.add(r, wire.item) : reached.join(r, reached, wire.item);
        more = more || (fresh && !n.levelled);
      }
    }
  }
  Endpoints from(n.terminals, n.terminals);
  for (u32 s = 0; s < n.terminals; ++s)
    for (u32 l = 0; l < n.links; ++l) {
      const metro::Wire& wire = n.leaving(s, l);
      if (wire.item != kNone && works(n, dead_ports, wire.item, wire.port)) from.join(s, reached, wire.item);
    }
  for (u32 d = 0; d < n.terminals; ++d)
    for (u32 s = 0; s < n.terminals; ++s)
      if (!from.has(s, d)) return {s, d};
  return {kNone, kNone};
}

/// Draws dead routers or links until their share (parameter `share`) is as requested. Skips a part if its loss would
/// disconnect endpoints.
void draw(const Experiment& e, const ParamRecord& share, const MetroNetwork& n, u32 slices, MetroDead& dead,
          MetroFaults& faults) {
  const bool links = share.path == metro::param::faults.dead_links.path;
  std::vector<u32> candidates;
  for (u32 r = 0; r < n.routers(); ++r) {
    if (!links) {
      candidates.push_back(r);
      continue;
    }
    for (u32 q = 0; q < n.setup[r].backward; ++q) {
      const u32 port = n.inputs + q;
      if (n.wire(r, port).item != kNone && !n.wire(r, port).to_endpoint) candidates.push_back(r * n.ports() + port);
    }
  }
  const u32 wanted = static_cast<u32>(std::lround(e.f64(share) * static_cast<double>(candidates.size())));
  const u64 seed = e.u32_of(metro::param::faults.seed);
  for (u32 i = static_cast<u32>(candidates.size()); i > 1; --i)
    std::swap(candidates[i - 1], candidates[below(philox(seed, metro::stream::kFaults, links, i).word[0], i)]);
  const u64 cycle = e.u32_of(metro::param::faults.cycle);
  const bool masked = e.flag(metro::param::faults.masked);
  u32 found = 0;
  const auto port_off = [&](u32 r, u32 port) {
    for (u32 s = 0; s < slices; ++s) {
      MetroFault f;
      f.cycle = cycle;
      f.what = What::kPort;
      f.item = r * slices + s;
      f.port = port;
      faults.list.push_back(f);
    }
  };
  const auto far_off = [&](const metro::Wire& far) {
    if (far.item == kNone) return;
    if (!far.to_endpoint) return port_off(far.item, far.port);
    // The wire enters an endpoint, which only receives on it and so cannot switch it off.
    if (far.port >= n.links) return;
    MetroFault f;
    f.cycle = cycle;
    f.what = What::kPort;
    f.endpoint = true;
    f.item = far.item;
    f.port = far.port;
    faults.list.push_back(f);
  };
  for (u32 c : candidates) {
    if (found == wanted) break;
    check_interrupt();
    const metro::Wire* far = links ? &n.wires[c] : nullptr;
    const auto set = [&](bool value) {
      if (!links) {
        dead.routers[c] = value;
      } else {
        dead.wires[c] = value;
        dead.wires[std::size_t{far->item} * n.ports() + far->port] = value;
      }
    };
    if (links ? dead.wires[c] : dead.routers[c]) continue;
    set(true);
    if (disconnected(n, dead.routers, dead.ports()).first != kNone) {
      set(false);
      continue;
    }
    ++found;
    for (u32 s = 0; s < slices; ++s) {
      MetroFault f;
      f.cycle = cycle;
      if (!links) {
        f.what = What::kDeadRouter;
        f.item = c * slices + s;
        f.value = 1;
        faults.list.push_back(f);
        continue;
      }
      faults.wires = true;
      f.what = What::kWire;
      f.wire.fault = metro::WireFault::kDead;
      f.item = c / n.ports() * slices + s;
      f.port = c % n.ports();
      faults.list.push_back(f);
      f.item = far->item * slices + s;
      f.port = far->port;
      faults.list.push_back(f);
    }
    if (!masked) continue;
    if (links) {
      port_off(c / n.ports(), c % n.ports());
      port_off(far->item, far->port);
    } else {
      for (u32 p = 0; p < n.ports(); ++p) far_off(n.wire(c, p));
    }
  }
  if (found < wanted)
    throw ConfigError(std::string(share.path) + " = " + to_text(Value{e.f64(share)}) + " makes " +
                      std::to_string(wanted) + " of " + std::to_string(candidates.size()) + " dead, but only " +
                      std::to_string(found) + " can be dead without cutting off an endpoint. Lower it.");
}

}  // namespace

bool metro_connected(const MetroNetwork& n, const std::vector<bool>& dead_routers,
                     const std::vector<bool>& dead_ports) {
  return disconnected(n, dead_routers, dead_ports).first == kNone;
}

MetroFaults make_metro_faults(const Experiment& e, const MetroNetwork& n, u32 slices) {
  MetroFaults faults;
  MetroDead dead(n);
  if (!e.str(metro::param::faults.file).empty()) {
    read_metro_faults(e, n, slices, faults, dead);
    if (const auto [s, d] = disconnected(n, dead.routers, dead.ports()); s != kNone)
      throw ConfigError("faults.file leaves no path from endpoint " + std::to_string(s) + " to endpoint " +
                        std::to_string(d) + ". Remove some of the faults.");
  }
  for (const ParamRecord* share : {&metro::param::faults.dead_routers, &metro::param::faults.dead_links})
    if (e.f64(*share) > 0) draw(e, *share, n, slices, dead, faults);
  std::stable_sort(faults.list.begin(), faults.list.end(),
                   [](const MetroFault& a, const MetroFault& b) { return a.cycle < b.cycle; });
  return faults;
}

}  // namespace flitlab
