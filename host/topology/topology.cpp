#include "host/topology/topology.hpp"

#include <bit>
#include <cmath>
#include <numeric>

#include "host/config/cross_checks.hpp"
#include "host/config/memory.hpp"
#include "host/config/ratio.hpp"
#include "host/config/topology_params.hpp"
#include "host/config/value.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

/// Returns a Cartesian network without its wiring.
Topology cartesian(std::string kind, const std::vector<u32>& shape, u32 concentration, u32 ports_per_dim) {
  Topology t;
  t.kind = std::move(kind);
  t.shape = shape;
  t.concentration = concentration;
  t.terminals = count_terminals(shape, concentration);
  t.routers = t.terminals / concentration;
  u32 shift = 0;
  for (u32 radix : shape) {
    const u32 bits = static_cast<u32>(std::bit_width(radix - 1));
    t.dim_shift.push_back(static_cast<u8>(shift));
    t.dim_mask.push_back((1u << bits) - 1);
    shift += bits;
  }
  t.network_ports = static_cast<u32>(shape.size()) * ports_per_dim;
  t.ports = t.network_ports + concentration;
  const bool by_dimensions = t.kind == "hypercube";
  require_memory(std::string((by_dimensions ? param::topology.dimensions : param::topology.shape).path) + " = " +
                     (by_dimensions ? std::to_string(shape.size()) : shown(Value{IntList(shape.begin(), shape.end())})),
                 t.routers * (t.ports * sizeof(Peer) + sizeof(u32)), "The wiring alone takes that much.");
  t.peers.resize(std::size_t{t.routers} * t.ports);
  t.address.resize(t.routers);
  std::vector<u32> at(shape.size(), 0);
  for (u32 r = 0; r < t.routers; ++r) {
    u32 address = 0;
    for (u32 d = 0; d < shape.size(); ++d) address |= at[d] << t.dim_shift[d];
    t.address[r] = address;
    for (u32 d = 0; d < shape.size() && ++at[d] == shape[d]; ++d) at[d] = 0;
  }
  return t;
}

/// Connects the terminals to their routers and counts the channels.
void finish(Topology& t) {
  for (u32 r = 0; r < t.routers; ++r) {
    for (u32 p = 0; p < t.network_ports; ++p) t.channels += t.peer(r, p).item != kNone;
    for (u32 c = 0; c < t.concentration; ++c)
      t.peers[std::size_t{r} * t.ports + t.network_ports + c] = Peer{r * t.concentration + c, 0, 1};
  }
}

Topology make_grid(const std::vector<u32>& shape, u32 concentration, bool wraps) {
  Topology t = cartesian(wraps ? (shape.size() == 1 ? "ring" : "torus") : "mesh", shape, concentration, 2);
  t.wraps = wraps;
  u32 stride = 1;
  for (u32 d = 0; d < shape.size(); ++d) {
    const u32 k = shape[d];
    for (u32 r = 0; r < t.routers && k > 1; ++r) {
      const u32 x = r / stride % k;
      const auto plus = static_cast<u16>(2 * d), minus = static_cast<u16>(2 * d + 1);
      Peer* peers = &t.peers[std::size_t{r} * t.ports];
      if (x + 1 < k || wraps) peers[plus] = Peer{x + 1 < k ? r + stride : r - (k - 1) * stride, minus, 0};
      if (x > 0 || wraps) peers[minus] = Peer{x > 0 ? r - stride : r + (k - 1) * stride, plus, 0};
    }
    stride *= k;
  }
  finish(t);
  // Halving the largest dimension, of radix k, cuts every row of routers in that dimension: routers / k rows, each in
  // two places if they are rings. Each cut crosses two unidirectional channels.
  u32 k = 1;
  for (u32 radix : shape) k = std::max(k, radix);
  if (k > 1) t.bisection_channels = u64{t.routers} / k * 2 * (wraps ? 2 : 1);
  return t;
}

}  // namespace

void set_width(Channel& channel, double width, const std::string& where) {
  const std::optional<Ratio> ratio = ratio_of(width);
  if (width > 1 || !ratio)
    throw ConfigError(where + " = " + shown(Value{width}) +
                      ": a width is at most 1 flit/cycle, and a ratio of integers up to 64 such as 1/3 (0.3333).");
  channel.flits = static_cast<u8>(ratio->numerator);
  channel.cycles = static_cast<u8>(ratio->denominator);
}

u64 Topology::parallel_ports(u32 router, u32 port) const {
  u64 set = 0;
  for (u32 p = 0; p < network_ports; ++p)
    if (peer(router, p).item == peer(router, port).item) set |= u64{1} << p;
  return set;
}

Topology make_mesh(const std::vector<u32>& shape, u32 concentration) { return make_grid(shape, concentration, false); }

Topology make_torus(const std::vector<u32>& shape, u32 concentration) { return make_grid(shape, concentration, true); }

Topology make_hypercube(u32 dimensions, u32 concentration) {
  Topology t = cartesian("hypercube", std::vector<u32>(dimensions, 2), concentration, 1);
  for (u32 r = 0; r < t.routers; ++r)
    for (u32 d = 0; d < dimensions; ++d)
      t.peers[std::size_t{r} * t.ports + d] = Peer{r ^ (1u << d), static_cast<u16>(d), 0};
  finish(t);
  t.bisection_channels = t.routers;
  return t;
}

}  // namespace flitlab
