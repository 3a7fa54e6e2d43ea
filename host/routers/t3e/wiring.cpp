#include "host/routers/t3e/wiring.hpp"

#include "host/routers/t3e/machine.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/t3e/params.hpp"

namespace flitlab::t3e {

std::vector<u8> wiring_of(const Experiment& e, const Shape& shape) {
  const std::vector<u32> plus = e.ints(param::topology.plus_ports);
  if (plus.size() != 3)
    throw ConfigError("topology.plus_ports has " + std::to_string(plus.size()) +
                      " numbers: give three, for X, Y and Z, each 0 or 1. The manual's values are [0, 1, 0].");
  const bool alternating = e.is({param::topology.wiring_z, "alternating"});
  std::vector<u8> wired;
  for (u32 n = 0; n < shape.nodes(); ++n) {
    const u32 z = plus[2] ^ (alternating ? shape.at(n, 2) & 1 : 0);
    wired.push_back(static_cast<u8>(plus[0] | plus[1] << 1 | z << 2));
  }
  return wired;
}

std::string hardware_port(u32 wired, u32 direction) {
  const u32 port = oriented(wired, direction);
  return std::string(1, "XYZ"[dimension_of(port)]) + (port < 3 ? "0" : "1");
}

std::vector<u32> orientations(const Machine& machine, u32 node, u32 orient, u64 now) {
  const Shape& shape = machine.shape;
  const bool broken = now >= machine.break_cycle;
  std::vector<u32> value(shape.nodes(), kNone), reached{node};
  value[node] = orient;
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (u32 port = 0; port < kDirections; ++port) {
      const u32 from = reached[i], to = shape.neighbour(from, port);
      if (to == kNone || value[to] != kNone || (broken && machine.broken[from] >> port & 1)) continue;
      value[to] = propagated_orientation(value[from], dimension_of(port), machine.wired[from], machine.wired[to],
                                         machine.orient_inverts);
      reached.push_back(to);
    }
  return value;
}

}  // namespace flitlab::t3e
