/// Conditions between the parameters of S-Connect.
#include <algorithm>
#include <numeric>

#include "host/config/cross_checks.hpp"
#include "host/error.hpp"
#include "host/topology/topology.hpp"
#include "kernels/routers/sconnect/channel.hpp"
#include "kernels/routers/sconnect/state.hpp"

namespace flitlab {

std::vector<u32> sconnect_shape(const Experiment& e) {
  const u32 hosts = e.u32_of("topology.host_ports");
  if (hosts == 1 && e.has("topology.shape")) return e.ints("topology.shape");
  if (hosts == 1 && e.has("topology.dimensions")) return std::vector<u32>(e.u32_of("topology.dimensions"), 2);
  u32 nodes = 0;
  if (e.has("topology.nodes")) nodes = e.u32_of("topology.nodes");
  if (e.has("topology.dimensions")) nodes = 1u << e.u32_of("topology.dimensions");
  if (e.has("topology.shape")) nodes = count_terminals(e.ints("topology.shape"), 1);
  return nodes ? std::vector<u32>{nodes * hosts} : std::vector<u32>{};
}

void check_sconnect(const Experiment& e) {
  const std::string& mode = e.str("traffic.mode");
  if (mode != "open" && mode != "batch" && mode != "trace")
    throw ConfigError("traffic.mode = \"" + mode +
                      "\" does not fit router.kind = \"sconnect\", whose hosts know open, batch and trace.");
  if (e.has("traffic.packet_length") && e.str("traffic.packet_length") == "geometric")
    throw ConfigError(
        "traffic.packet_length = \"geometric\": messages of S-Connect are all of one length, or quads of four. "
        "Use \"list\".");
  bool quads = mode == "trace";
  if (e.has("traffic.packet_flits"))
    for (const auto& [flits, weight] : e.lengths("traffic.packet_flits")) {
      if (!(weight > 0)) continue;
      if (flits != 1 && flits != sconnect::kQuadParts)
        throw ConfigError("traffic.packet_flits contains " + std::to_string(flits) +
                          ": a message is 1 flit, and a quad is 4 (router.kind = \"sconnect\").");
      quads |= flits > 1;
    }
  if (!e.is_auto("router.reserve")) {
    const u32 reserve = e.u32_of("router.reserve"), buffers = e.u32_of("router.buffers");
    if (reserve * sconnect::kClasses > buffers)
      throw ConfigError("router.reserve = " + std::to_string(reserve) + " for each of " +
                        std::to_string(sconnect::kClasses) +
                        " classes is more than router.buffers = " + std::to_string(buffers) + ". Reserve at most " +
                        std::to_string(buffers / sconnect::kClasses) + ".");
    if (reserve < (quads ? sconnect::kQuadParts : 1))
      throw ConfigError("router.reserve = " + std::to_string(reserve) + ": without room for " +
                        (quads ? "a quad of 4" : "a message") +
                        " kept for each class, one could keep another from moving for ever. Give " +
                        (quads ? "4" : "1") + " or more.");
  } else if (quads && e.u32_of("router.buffers") < sconnect::kQuadParts * sconnect::kClasses) {
    throw ConfigError("router.buffers = " + std::to_string(e.u32_of("router.buffers")) +
                      " cannot keep room for a quad of 4 for each of 8 classes. Give 32 or more.");
  }
  if (e.u32_of("topology.channel_delay") % sconnect::kClocks)
    throw ConfigError(
        "topology.channel_delay = " + std::to_string(e.u32_of("topology.channel_delay")) +
        " clocks is not a whole number of slots: a routing cycle has 6 clocks. Give 6, 12, 18 and so on.");
  const std::vector<u32> weights = e.ints("host.priorities");
  if (weights.size() != sconnect::kPriorities || std::accumulate(weights.begin(), weights.end(), u64{0}) == 0)
    throw ConfigError("host.priorities = " + list_text(weights) +
                      ": give four weights, of priorities 0 to 3, and not all of them 0.");
  const std::string& kind = e.str("topology.kind");
  if (kind == "graph" && e.str("topology.file").empty())
    throw ConfigError("topology.kind = \"graph\" needs topology.file (CSV lines a,b).");
  if (e.str("routing.tables") == "file" && e.str("routing.file").empty())
    throw ConfigError("routing.tables = \"file\" needs routing.file (CSV lines TIC,destination,channel,VC).");
}

}  // namespace flitlab
