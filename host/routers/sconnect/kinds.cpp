// Meshes, hypercubes, random graphs and trees.
#include <algorithm>

#include "host/routers/sconnect/build.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

using sconnect::kSerial;

std::string channels_of(const SconnectNodes& nodes) {
  return nodes.dual ? "a dual node has 8." : "a single node has 4; topology.node = \"dual\" has 8.";
}

/// Adds nodes named 0 to count - 1.
void add_nodes(SconnectBuilder& builder, u32 count, const SconnectNodes& nodes) {
  for (u32 i = 0; i < count; ++i) builder.add_node(std::to_string(i), nodes.tics());
}

/// Returns the first port of each dimension as TIC * 4 + port. All ports of a dimension are on one TIC.
std::vector<u32> first_ports_of(const std::vector<u32>& shape, const SconnectNodes& nodes) {
  const u32 dims = static_cast<u32>(shape.size());
  std::vector<u32> first_ports(dims, 0);
  if (2 * dims <= nodes.channels()) {
    for (u32 d = 0; d < dims; ++d) first_ports[d] = 2 * d;
    return first_ports;
  }
  u32 used[2] = {0, 0};
  for (u32 d = 0; d < dims; ++d) {
    const u32 need = std::min(shape[d] - 1, 2u), tic = used[0] + need <= kSerial ? 0 : 1;
    first_ports[d] = tic * kSerial + used[tic];
    used[tic] += need;
  }
  return first_ports;
}

}  // namespace

SconnectFabric make_sconnect_mesh(const std::vector<u32>& shape, const SconnectNodes& nodes) {
  u64 count = 1, channels = 0;
  std::string text;
  for (u32 k : shape) {
    count = std::min<u64>(count * k, u64{1} << 40);
    channels += std::min(k - 1, 2u);
    text += (text.empty() ? "[" : ", ") + std::to_string(k);
  }
  text = "topology.shape = " + text + "]";
  if (count < 2 || count > kMostSconnectNodes)
    throw ConfigError(text + " makes " + std::to_string(count) + " nodes; 2 to " + std::to_string(kMostSconnectNodes) +
                      " are allowed. Change a dimension.");
  if (channels > nodes.channels())
    throw ConfigError(text + " takes " + std::to_string(channels) + " channels of a node (two in each dimension, " +
                      "one in a dimension of two nodes); " + channels_of(nodes));
  SconnectBuilder builder("mesh", nodes);
  add_nodes(builder, static_cast<u32>(count), nodes);
  const std::vector<u32> first_ports = first_ports_of(shape, nodes);
  u32 stride = 1;
  for (u32 d = 0; d < shape.size(); stride *= shape[d++])
    for (u32 n = 0; n < count; ++n) {
      if (n / stride % shape[d] + 1 == shape[d]) continue;
      // A dimension with two nodes has one channel, which uses the dimension's first port for both directions.
      const u32 tic = first_ports[d] / kSerial, plus = first_ports[d] % kSerial, minus = plus + (shape[d] > 2);
      builder.join(n, tic, plus, n + stride, tic, minus);
    }
  return builder.finish(shape);
}

SconnectFabric make_sconnect_hypercube(u32 dimensions, const SconnectNodes& nodes) {
  if (dimensions > nodes.channels())
    throw ConfigError("topology.dimensions = " + std::to_string(dimensions) + " takes as many channels of a node; " +
                      channels_of(nodes));
  SconnectBuilder builder("hypercube", nodes);
  add_nodes(builder, 1u << dimensions, nodes);
  for (u32 d = 0; d < dimensions; ++d)
    for (u32 n = 0; n < 1u << dimensions; ++n)
      if (!(n >> d & 1)) builder.join(n, d / kSerial, d % kSerial, n | 1u << d, d / kSerial, d % kSerial);
  return builder.finish(std::vector<u32>(dimensions, 2));
}

SconnectFabric make_sconnect_random(u32 count, u32 degree, u64 seed, const SconnectNodes& nodes) {
  if (degree > nodes.channels())
    throw ConfigError("topology.degree = " + std::to_string(degree) +
                      " is more channels than a node has: " + channels_of(nodes));
  SconnectBuilder builder("random", nodes);
  add_nodes(builder, count, nodes);
  for (const auto& [a, b] : make_random_regular(count, degree, seed)) builder.join(a, b, nodes.delay);
  return builder.finish();
}

SconnectFabric make_sconnect_tree(u32 arity, u32 levels, bool switches, const SconnectNodes& nodes) {
  u64 count = 0, level = 1;
  for (u32 l = 0; l < levels; ++l, level *= arity) count += level;
  const u32 inner = static_cast<u32>(count - level / arity);
  if (count > kMostSconnectNodes)
    throw ConfigError("topology.levels = " + std::to_string(levels) + " with topology.arity = " +
                      std::to_string(arity) + " makes a tree of " + std::to_string(count) + "; at most " +
                      std::to_string(kMostSconnectNodes) + " nodes and switches are possible. Use fewer levels.");
  const u32 needed = arity + (levels > 2), room = switches ? 3 * kSerial : nodes.channels();
  if (needed > room)
    throw ConfigError("topology.arity = " + std::to_string(arity) + " takes " + std::to_string(needed) +
                      " channels of an inner node or switch, which has " + std::to_string(room) +
                      ". Use fewer children" +
                      (switches ? "." : ", or topology.inner = \"switches\", or topology.node = \"dual\"."));
  SconnectBuilder builder("tree", nodes);
  for (u32 i = 0; i < count; ++i)
    if (i >= inner || !switches)
      builder.add_node(std::to_string(switches ? i - inner : i), nodes.tics());
    else
      builder.add_switch("s" + std::to_string(i), needed > 2 * kSerial ? 3 : 2);
  for (u32 i = 1; i < count; ++i) builder.join((i - 1) / arity, i, nodes.delay);
  return builder.finish();
}

}  // namespace flitlab
