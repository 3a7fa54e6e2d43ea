#include "host/routers/sconnect/fabric.hpp"

#include "host/config/experiment.hpp"
#include "host/routers/sconnect/build.hpp"

namespace flitlab {

SconnectFabric make_sconnect_fabric(const Experiment& e) {
  SconnectNodes nodes;
  nodes.dual = e.str("topology.node") == "dual";
  nodes.host_ports = e.u32_of("topology.host_ports");
  nodes.delay = sconnect_delay("topology.channel_delay", e.u32_of("topology.channel_delay"));
  const std::string& kind = e.str("topology.kind");
  if (kind == "mesh") return make_sconnect_mesh(e.ints("topology.shape"), nodes);
  if (kind == "hypercube") return make_sconnect_hypercube(e.u32_of("topology.dimensions"), nodes);
  if (kind == "random")
    return make_sconnect_random(e.u32_of("topology.nodes"), e.u32_of("topology.degree"),
                                e.u32_of("topology.wiring_seed"), nodes);
  if (kind == "tree")
    return make_sconnect_tree(e.u32_of("topology.arity"), e.u32_of("topology.levels"),
                              e.str("topology.inner") == "switches", nodes);
  return read_sconnect_graph(e.text("topology.file"), nodes);
}

}  // namespace flitlab
