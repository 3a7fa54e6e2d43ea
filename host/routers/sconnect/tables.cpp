/// Choice of the method that makes routing tables; spanning-tree tables; properties of tables.
#include "host/routers/sconnect/tables.hpp"

#include <algorithm>

#include "host/config/cross_checks.hpp"
#include "host/config/experiment.hpp"
#include "host/config/memory.hpp"
#include "host/plan/interrupt.hpp"
#include "host/routers/sconnect/dependencies.hpp"
#include "host/routers/sconnect/grid.hpp"
#include "host/routers/sconnect/loads.hpp"
#include "host/routers/sconnect/make_tables.hpp"
#include "host/routers/sconnect/order.hpp"
#include "host/routers/sconnect/queues.hpp"
#include "host/routers/sconnect/table_cache.hpp"
#include "host/routers/sconnect/turns.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/sconnect/params.hpp"
#include "kernels/routers/sconnect/route.hpp"

namespace flitlab {

using sconnect::kPorts;
using sconnect::LinkKind;
using sconnect::option;

namespace {

/// Sets the properties of tables without a fault. In large fabrics it uses a sample of the destinations.
void measure(const SconnectFabric& f, SconnectTables& t) {
  const auto hosts = sconnect_hosts(f);
  const SconnectDependencies waits(f, t.entry);
  u64 pairs = 0, kept = 0, hops = 0, direct_hops = 0, options = 0, vertices = 0;
  const u32 stride = (f.nodes + 2047) / 2048;
  for (u32 d = 0; d < f.nodes; d += stride) {
    check_interrupt();
    const std::vector<u32> ways = waits.shortest(d), direct = sconnect_hops(f, hosts[d]);
    for (u32 s = 0; s < f.nodes; ++s)
      for (u32 tic : hosts[s]) {
        if (s == d) continue;
        ++pairs;
        kept += ways[2 * tic] == direct[tic];
        hops += ways[2 * tic];
        direct_hops += direct[tic];
      }
    // Pairs (TIC, virtual channel of arrival) on the shortest paths that the tables allow, numbered 2 TIC + virtual
    // channel.
    std::vector<bool> seen(2 * f.tics, false);
    std::vector<u32> stack;
    const auto visit = [&](u32 vertex) {
      if (seen[vertex]) return;
      seen[vertex] = true;
      stack.push_back(vertex);
    };
    for (u32 s = 0; s < f.nodes; ++s)
      if (s != d)
        for (u32 tic : hosts[s]) visit(2 * tic);
    while (!stack.empty()) {
      const u32 vertex = stack.back(), tic = vertex / 2;
      stack.pop_back();
      if (ways[vertex] == 0) continue;
      ++vertices;
      const sconnect::Options all = sconnect::allowed(t.entry[std::size_t{tic} * f.nodes + d], vertex & 1);
      options += bit_count(all);
      for (sconnect::Options left = all; left; left &= left - 1) {
        const u32 bit = lowest_bit(left), next = 2 * f.link(tic, bit / 2).far + bit % 2;
        if (ways[next] + 1 == ways[vertex]) visit(next);
      }
    }
  }
  t.busiest = SconnectLoads(f, t.entry, stride).busiest();
  if (pairs) t.kept = static_cast<double>(kept) / static_cast<double>(pairs);
  if (pairs) t.mean_hops = static_cast<double>(hops) / static_cast<double>(pairs);
  if (direct_hops) t.stretch = static_cast<double>(hops) / static_cast<double>(direct_hops);
  if (vertices) t.alternates = static_cast<double>(options) / static_cast<double>(vertices);
}

constexpr const char* kTableAdvice = "Routing tables have an entry for every TIC and node.";

u64 table_bytes(const SconnectFabric& f) { return u64{f.tics} * f.nodes * sizeof(u16); }

SconnectTables blank(const SconnectFabric& f) {
  require_memory("topology", table_bytes(f), kTableAdvice);
  SconnectTables t;
  t.entry.resize(std::size_t{f.tics} * f.nodes);
  return t;
}

/// Returns the options of a TIC for messages to its own node: its host ports. 0: the TIC has no host port.
u16 own_hosts(const SconnectFabric& f, u32 tic) {
  sconnect::Options hosts = 0;
  for (u32 port = 0; port < kPorts; ++port)
    if (f.link(tic, port).kind == LinkKind::kHost) hosts |= option(port, 0);
  return static_cast<u16>(hosts);
}

/// Adapts tables to the hardware. The tables assume two virtual channels on every port, and entries that mix serial and
/// parallel ports. Where a parallel port has one queue, messages use it for both virtual channels. Where entries cannot
/// mix ports, they keep the serial ports. Returns false if the result has a fault.
bool fit(const SconnectFabric& f, std::vector<u16>& entry) {
  bool changed = false;
  for (u32 i = 0; i < entry.size(); ++i) {
    const u32 tic = i / f.nodes;
    sconnect::Options options = entry[i];
    for (u32 port = sconnect::kSerial; port < kPorts; ++port)
      if (f.vcs(tic, port) == 1 && options & option(port, 1)) options = (options & ~option(port, 1)) | option(port, 0);
    if (!f.mixed_entries && sconnect::is_mixed(options)) options &= sconnect::kSerialOptions;
    changed |= options != entry[i];
    entry[i] = static_cast<u16>(options);
  }
  return !changed || sconnect_table_fault(f, entry).empty();
}

}  // namespace

SconnectTables shortest_sconnect_tables(const SconnectFabric& f) {
  if (std::vector<u16> entry = sconnect_tables_by_coordinates(f); !entry.empty())
    return given_sconnect_tables(f, std::move(entry));
  // If an order of the TICs keeps all shortest paths, it gives messages many options.
  for (const SconnectOrder& order : sconnect_orders(f)) {
    const SconnectLengths lengths = sconnect_lengths(f, order);
    if (lengths.ways > lengths.direct) continue;
    SconnectTables t = blank(f);
    SconnectPaths ways(f, order);
    for (u32 d = 0; d < f.nodes; ++d) {
      ways.find(d);
      for (u32 tic = 0; tic < f.tics; ++tic) t.entry[std::size_t{tic} * f.nodes + d] = ways.entry(tic);
    }
    if (!fit(f, t.entry)) continue;
    measure(f, t);
    return t;
  }
  std::vector<u16> entry = sconnect_tables_by_queues(f);
  if (!entry.empty()) return given_sconnect_tables(f, std::move(entry));
  entry = sconnect_tables_by_turns(f);
  return fit(f, entry) ? given_sconnect_tables(f, std::move(entry)) : tree_sconnect_tables(f);
}

SconnectTables tree_sconnect_tables(const SconnectFabric& f) {
  SconnectTables t = blank(f);
  t.tree = true;
  // The spanning tree of shortest paths from the root: messages go up on virtual channel 0 and down on virtual channel
  // 1.
  const u32 root = sconnect_centre(f);
  const std::vector<u32> depth = sconnect_hops(f, {root});
  std::vector<u32> parent_port(f.tics, kNone);
  for (u32 tic = 0; tic < f.tics; ++tic)
    for (u32 port = kPorts; port-- > 0;)
      if (leads_to_tic(f.link(tic, port)) && depth[f.link(tic, port).far] + 1 == depth[tic]) parent_port[tic] = port;
  const auto hosts = sconnect_hosts(f);
  for (u32 d = 0; d < f.nodes; ++d) {
    for (u32 tic = 0; tic < f.tics; ++tic)
      if (tic != root) t.entry[std::size_t{tic} * f.nodes + d] = static_cast<u16>(option(parent_port[tic], 0));
    // Messages descend to the TIC with a host that is nearer to the root. The node's other TIC is below it or off the
    // path.
    const u32 home =
        *std::min_element(hosts[d].begin(), hosts[d].end(), [&](u32 a, u32 b) { return depth[a] < depth[b]; });
    for (u32 tic = home; tic != root;) {
      const sconnect::Link& up = f.link(tic, parent_port[tic]);
      t.entry[std::size_t{up.far} * f.nodes + d] = static_cast<u16>(option(up.port, 1));
      tic = up.far;
    }
    for (u32 tic : hosts[d]) t.entry[std::size_t{tic} * f.nodes + d] = own_hosts(f, tic);
  }
  fit(f, t.entry);  // even with one queue per port there is no cycle, because messages go up before they go down
  measure(f, t);
  return t;
}

SconnectTables given_sconnect_tables(const SconnectFabric& f, std::vector<u16> entry) {
  SconnectTables t;
  t.entry = std::move(entry);
  measure(f, t);
  return t;
}

std::vector<u16> sconnect_host_entries(const SconnectFabric& f) {
  std::vector<u16> entry = blank(f).entry;
  for (u32 tic = 0; tic < f.tics; ++tic)
    if (f.node_of[tic] != kNone) entry[std::size_t{tic} * f.nodes + f.node_of[tic]] = own_hosts(f, tic);
  return entry;
}

SconnectTables make_sconnect_tables(const Experiment& e, const SconnectFabric& f) {
  const std::string& how = e.str(sconnect::param::routing.tables);
  // The cache keeps the second copy for the next network.
  require_memory(size_text(e), 2 * table_bytes(f), kTableAdvice);
  if (how == "none") {
    SconnectTables t = blank(f);
    t.entry.assign(t.entry.size(), 0);
    return t;
  }
  if (how == "file") return read_sconnect_tables(f, e.text(sconnect::param::routing.file));
  static SconnectTableCache kept(std::size_t{64} << 20);  // bytes: the tables of two fabrics of 4096 TICs fit
  return kept.get(f, how == "tree" ? tree_sconnect_tables : shortest_sconnect_tables);
}

}  // namespace flitlab
