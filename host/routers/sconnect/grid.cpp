#include "host/routers/sconnect/grid.hpp"

#include "host/routers/sconnect/make_tables.hpp"
#include "kernels/routers/sconnect/route.hpp"

namespace flitlab {

using sconnect::kPorts;
using sconnect::LinkKind;
using sconnect::option;

namespace {

struct Hop {
  u32 port;
  u32 dimension;
  bool up;
};

/// The ports of a TIC that lead to other TICs. A dual node has two TICs, which a pair of parallel ports joins.
struct Exits {
  std::vector<Hop> hops;
  u32 cross = kNone;    ///< port to the other TIC of a dual node
  bool second = false;  ///< the TIC is the second one of its node
  bool two = false;     ///< port `cross` has two virtual channels
  bool crosses_without_vcs =
      false;  ///< messages cross from the node's other TIC to this one, and `cross` has one virtual channel
};

std::vector<u32> coordinates(const SconnectFabric& f, u32 node) {
  std::vector<u32> at;
  for (u32 k : f.shape) at.push_back(node % k), node /= k;
  return at;
}

Exits exits(const SconnectFabric& f, u32 tic) {
  Exits e;
  const std::vector<u32> here = coordinates(f, f.node_of[tic]);
  for (u32 port = 0; port < kPorts; ++port) {
    const sconnect::Link& link = f.link(tic, port);
    if (link.kind == LinkKind::kParallel) {
      e.two = f.parallel_vcs == 2;
      e.crosses_without_vcs = f.parallel_vcs == 1 && f.host_ports == 2;
      e.cross = port;
      e.second = link.far < tic;
    }
    if (link.kind != LinkKind::kSerial) continue;
    const std::vector<u32> there = coordinates(f, f.node_of[link.far]);
    for (u32 k = 0; k < here.size(); ++k)
      if (there[k] != here[k]) e.hops.push_back({port, k, there[k] > here[k]});
  }
  return e;
}

sconnect::Options ways(const Exits& e, const std::vector<u32>& here, const std::vector<u32>& there) {
  std::vector<Hop> wanted;
  for (const Hop& hop : e.hops)
    if (hop.up ? there[hop.dimension] > here[hop.dimension] : there[hop.dimension] < here[hop.dimension])
      wanted.push_back(hop);
  u32 differing = 0;
  for (u32 k = 0; k < here.size(); ++k) differing += here[k] != there[k];
  const bool crosses = differing > wanted.size();
  if (wanted.empty()) return option(e.cross, e.second && e.two);

  const bool has_free = e.cross == kNone && here.size() > 1;
  sconnect::Options set = 0;
  for (u32 vc : {0u, 1u}) {
    const bool up = vc == 1;
    // Two kinds of hops need virtual channel 0: crossing to the second TIC, and negative hops in the free dimension
    // (dimension 0 of a node with one TIC, whose hops may occur at any time).
    if (up && ((has_free && there[0] < here[0]) || (crosses && !e.second))) continue;
    // If `cross` has one virtual channel and both TICs have hosts, virtual channel 0 of the first TIC is for messages
    // that will cross to the second one.
    if (!up && e.crosses_without_vcs && !e.second && !crosses) continue;
    const auto free = [&](const Hop& hop) { return has_free && hop.dimension == 0; };
    bool first = false;  // hops of this sign must precede hops of the other sign
    for (const Hop& hop : wanted) first |= !free(hop) && hop.up == up;
    for (const Hop& hop : wanted)
      if (hop.up == up || (!free(hop) && !first)) set |= option(hop.port, vc);
  }
  return set;
}

}  // namespace

std::vector<u16> sconnect_tables_by_coordinates(const SconnectFabric& f) {
  if (f.kind != "mesh" && f.kind != "hypercube") return {};
  std::vector<u16> entry = sconnect_host_entries(f);
  std::vector<std::vector<u32>> at;
  for (u32 node = 0; node < f.nodes; ++node) at.push_back(coordinates(f, node));
  for (u32 tic = 0; tic < f.tics; ++tic) {
    const Exits e = exits(f, tic);
    const u32 here = f.node_of[tic];
    for (u32 d = 0; d < f.nodes; ++d) {
      u16& options = entry[std::size_t{tic} * f.nodes + d];
      if (d != here)
        options = static_cast<u16>(ways(e, at[here], at[d]));
      else if (!options)
        options = static_cast<u16>(option(e.cross, e.two));  // only the node's other TIC has the port to the host
    }
  }
  return entry;
}

}  // namespace flitlab
