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

std::vector<u32> sconnect_reserve(const Experiment& e) {
  u32 longest = e.str("traffic.mode") == "trace" ? sconnect::kQuadParts : 1;
  if (e.has("traffic.packet_flits"))
    for (const auto& [flits, weight] : e.lengths("traffic.packet_flits"))
      if (weight > 0) longest = std::max(longest, static_cast<u32>(flits));
  const u32 buffers = e.u32_of("router.buffers");
  std::vector<u32> reserve = e.ints("router.reserve");
  if (reserve.size() == 1) reserve.resize(sconnect::kClasses, reserve[0]);
  if (reserve.empty()) {
    const std::vector<u32> weights = e.ints("host.priorities");
    const u32 used = static_cast<u32>(weights.size() - std::count(weights.begin(), weights.end(), 0u));
    const u32 others = longest * (sconnect::kClasses - sconnect::kVcs * used);
    const u32 shared = std::min(buffers / 2, buffers - std::min(buffers, others));
    for (u32 weight : weights)
      reserve.insert(reserve.end(), sconnect::kVcs,
                     weight ? std::max(longest, shared / (sconnect::kVcs * used)) : longest);
  }
  if (reserve.size() != sconnect::kClasses)
    throw ConfigError("router.reserve = " + list_text(reserve) +
                      ": give one number, or eight, for the classes 2 "
                      "priority + virtual channel.");
  const u32 sum = std::accumulate(reserve.begin(), reserve.end(), 0u);
  if (sum > buffers)
    throw ConfigError("router.reserve = " + list_text(reserve) + " adds up to " + std::to_string(sum) +
                      ", more than router.buffers = " + std::to_string(buffers) +
                      ". Reserve less, or give more buffers.");
  if (*std::min_element(reserve.begin(), reserve.end()) < longest)
    throw ConfigError("router.reserve = " + list_text(reserve) + ": without room for " +
                      (longest > 1 ? "a quad of 4" : "a message") +
                      " kept for each class, one could keep another from moving for ever. Give " +
                      std::to_string(longest) + " or more of each.");
  return reserve;
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
  if (e.has("traffic.packet_flits"))
    for (const auto& [flits, weight] : e.lengths("traffic.packet_flits"))
      if (weight > 0 && flits != 1 && flits != sconnect::kQuadParts)
        throw ConfigError("traffic.packet_flits contains " + std::to_string(flits) +
                          ": a message is 1 flit, and a quad is 4 (router.kind = \"sconnect\").");
  const std::vector<u32> weights = e.ints("host.priorities");
  if (weights.size() != sconnect::kPriorities || std::accumulate(weights.begin(), weights.end(), u64{0}) == 0)
    throw ConfigError("host.priorities = " + list_text(weights) +
                      ": give four weights, of priorities 0 to 3, and not all of them 0.");
  sconnect_reserve(e);
  if (e.u32_of("topology.channel_delay") % sconnect::kClocks)
    throw ConfigError(
        "topology.channel_delay = " + std::to_string(e.u32_of("topology.channel_delay")) +
        " clocks is not a whole number of slots: a routing cycle has 6 clocks. Give 6, 12, 18 and so on.");
  const std::string& kind = e.str("topology.kind");
  if (kind == "graph" && e.str("topology.file").empty())
    throw ConfigError("topology.kind = \"graph\" needs topology.file (CSV lines a,b).");
  if (e.str("routing.tables") == "file" && e.str("routing.file").empty())
    throw ConfigError("routing.tables = \"file\" needs routing.file (CSV lines TIC,destination,channel,VC).");
}

}  // namespace flitlab
