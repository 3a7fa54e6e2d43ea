#include "host/routers/sconnect/fabric.hpp"

#include "host/config/experiment.hpp"
#include "host/routers/sconnect/build.hpp"
#include "kernels/routers/sconnect/params.hpp"

namespace flitlab {

namespace {

/// Returns the fabric with the wiring that `topology.kind` selects.
SconnectFabric wired(const Experiment& e) {
  SconnectNodes nodes;
  nodes.dual = e.is({sconnect::param::topology.node, "dual"});
  nodes.host_ports = e.u32_of(sconnect::param::topology.host_ports);
  nodes.delay = e.u32_of(sconnect::param::topology.channel_delay);
  if (e.is({sconnect::param::topology.phases, "random"}))
    nodes.phase_seed = e.u32_of(sconnect::param::topology.phase_seed);
  const std::string& kind = e.str(sconnect::param::topology.kind);
  if (kind == "mesh") return make_sconnect_mesh(e.ints(sconnect::param::topology.shape), nodes);
  if (kind == "hypercube") return make_sconnect_hypercube(e.u32_of(sconnect::param::topology.dimensions), nodes);
  if (kind == "random")
    return make_sconnect_random(e.u32_of(sconnect::param::topology.nodes), e.u32_of(sconnect::param::topology.degree),
                                e.u32_of(sconnect::param::topology.wiring_seed), nodes);
  if (kind == "tree")
    return make_sconnect_tree(e.u32_of(sconnect::param::topology.arity), e.u32_of(sconnect::param::topology.levels),
                              e.is({sconnect::param::topology.inner, "switches"}), nodes);
  return read_sconnect_graph(e.text(sconnect::param::topology.file), nodes);
}

}  // namespace

SconnectFabric make_sconnect_fabric(const Experiment& e) {
  SconnectFabric f = wired(e);
  f.parallel_vcs = e.u32_of(sconnect::param::topology.parallel_vcs);
  f.mixed_entries = e.is({sconnect::param::routing.entries, "mixed"});
  return f;
}

}  // namespace flitlab
