/// Routing tables of S-Connect for Python: of any fabric that is given as a list of links.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "host/routers/sconnect/build.hpp"
#include "host/routers/sconnect/make_tables.hpp"
#include "host/routers/sconnect/order.hpp"
#include "kernels/common/error.hpp"

namespace py = pybind11;

namespace flitlab {
namespace {

using sconnect::kPorts;
using sconnect::kSerial;
using sconnect::Link;
using sconnect::LinkKind;

using Ends = std::tuple<u32, u32, u32, u32>;  ///< TIC, port, TIC and port at the far end
using HostAt = std::tuple<u32, u32, u32>;     ///< TIC, port, node
using Entries = py::array_t<u16, py::array::c_style | py::array::forcecast>;

SconnectFabric fabric_of(u32 tics, const std::vector<Ends>& links, const std::vector<HostAt>& hosts) {
  if (tics > 4 * kMostSconnectNodes) throw ConfigError("tics = " + std::to_string(tics) + " are too many.");
  SconnectFabric f;
  f.kind = "graph";
  f.tics = tics;
  f.node_of.assign(tics, kNone);
  f.links.resize(std::size_t{tics} * kPorts);
  for (u32 tic = 0; tic < tics; ++tic) f.names.push_back(std::to_string(tic));
  const auto place = [&](u32 tic, u32 port, const Link& link) {
    const std::string name = "port " + std::to_string(port) + " of TIC " + std::to_string(tic);
    if (tic >= tics || port >= kPorts) throw ConfigError(name + " does not exist.");
    if (link.kind != LinkKind::kHost && (link.far >= tics || link.port >= kPorts || link.far == tic))
      throw ConfigError(name + " leads to no other TIC.");
    Link& there = f.links[std::size_t{tic} * kPorts + port];
    if (there.kind != LinkKind::kNone) throw ConfigError(name + " is there twice.");
    there = link;
  };
  for (const auto& [tic, port, far, far_port] : links) {
    const LinkKind kind = port < kSerial ? LinkKind::kSerial : LinkKind::kParallel;
    place(tic, port, {far, static_cast<u8>(std::min(far_port, 255u)), kind, 1, 0});
  }
  for (const auto& [tic, port, node] : hosts) {
    place(tic, port, {f.terminals++, 0, LinkKind::kHost, 1, 0});
    if (node >= tics) throw ConfigError("node " + std::to_string(node) + ": number nodes from 0.");
    if (f.node_of[tic] != kNone && f.node_of[tic] != node)
      throw ConfigError("TIC " + std::to_string(tic) + " cannot be of two nodes.");
    f.node_of[tic] = node;
    f.nodes = std::max(f.nodes, node + 1);
  }
  for (u32 tic = 0; tic < tics; ++tic)
    for (u32 port = 0; port < kPorts; ++port) {
      const Link& link = f.link(tic, port);
      if (!leads_to_tic(link)) continue;
      const Link& back = f.link(link.far, link.port);
      if (back.kind != link.kind || back.far != tic || back.port != port)
        throw ConfigError("port " + std::to_string(port) + " of TIC " + std::to_string(tic) +
                          " leads to one that does not lead back: give both directions of every channel.");
    }
  f.shape = {f.nodes};
  const auto at = sconnect_hosts(f);
  for (u32 node = 0; node < f.nodes; ++node)
    if (at[node].empty()) throw ConfigError("node " + std::to_string(node) + " has no host.");
  if (!f.nodes) throw ConfigError("there is no host, so there is nowhere to go.");
  for (u32 hops : sconnect_hops(f, {0}))
    if (hops == kNone) throw ConfigError("the fabric is in pieces.");
  return f;
}

}  // namespace

void add_sconnect_tables(py::module_& m) {
  m.def(
      "sconnect_tables",
      [](u32 tics, const std::vector<Ends>& links, const std::vector<HostAt>& hosts) {
        const SconnectFabric f = fabric_of(tics, links, hosts);
        SconnectTables tables;
        {
          py::gil_scoped_release released;
          tables = shortest_sconnect_tables(f);
        }
        Entries entries({py::ssize_t{f.tics}, py::ssize_t{f.nodes}});
        std::copy(tables.entry.begin(), tables.entry.end(), entries.mutable_data());
        return py::make_tuple(entries, tables.tree, tables.mean_hops, tables.stretch);
      },
      py::arg("tics"), py::arg("links"), py::arg("hosts"),
      "sconnect_tables(tics, links, hosts) -> tuple: entries [tics][nodes], whether they follow a spanning "
      "tree, mean hops, and these divided by those of the shortest ways.");
  m.def(
      "sconnect_table_fault",
      [](u32 tics, const std::vector<Ends>& links, const std::vector<HostAt>& hosts, const Entries& entries) {
        const SconnectFabric f = fabric_of(tics, links, hosts);
        if (entries.size() != py::ssize_t{f.tics} * f.nodes)
          throw ConfigError("there are " + std::to_string(entries.size()) + " entries for " + std::to_string(f.tics) +
                            " TICs and " + std::to_string(f.nodes) + " nodes.");
        return sconnect_table_fault(f, {entries.data(), entries.data() + entries.size()});
      },
      py::arg("tics"), py::arg("links"), py::arg("hosts"), py::arg("entries"),
      "sconnect_table_fault(tics, links, hosts, entries) -> str: what is wrong with tables, empty if nothing.");
}

}  // namespace flitlab
