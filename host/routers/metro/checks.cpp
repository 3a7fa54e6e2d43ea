/// Checks of the conditions between METRO's parameters.
#include <bit>

#include "host/config/cross_checks.hpp"
#include "host/routers/metro/checks.hpp"
#include "host/routers/metro/network.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/metro/params.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {
namespace {

void power_of_two(std::string_view path, u32 value) {
  if (!std::has_single_bit(value))
    throw ConfigError(std::string(path) + ": " + std::to_string(value) +
                      " is not a power of two. Give 1, 2, 4 and so on.");
}

void check_multibutterfly(const Experiment& e) {
  const std::vector<u32> radix = e.ints(metro::param::topology.radix),
                         dilation = e.ints(metro::param::topology.dilation);
  if (radix.size() != dilation.size() || radix.empty() || radix.size() > metro::kMaxStages)
    throw ConfigError("topology.radix = " + list_text(radix) + " and topology.dilation = " + list_text(dilation) +
                      ": give one of each per stage, for 1 to " + std::to_string(metro::kMaxStages) + " stages.");
  const u32 wires = metro_endpoints(e) * e.u32_of(metro::param::topology.links);
  u64 blocks = 1;
  for (u32 s = 0; s < radix.size(); ++s) {
    power_of_two(metro::param::topology.radix.path, radix[s]);
    power_of_two(metro::param::topology.dilation.path, dilation[s]);
    const u32 ports = radix[s] * dilation[s];
    const std::string where = "stage " + std::to_string(s) + " of topology.radix and topology.dilation";
    if (ports > metro::kMaxPorts)
      throw ConfigError(where + " makes routers of " + std::to_string(ports) + " ports; at most " +
                        std::to_string(metro::kMaxPorts) + " are possible.");
    if (wires / blocks % ports != 0 || wires / blocks == 0)
      throw ConfigError(where + ": " + std::to_string(wires / blocks) +
                        " wires lead to each class of destinations, which do not fill routers of " +
                        std::to_string(ports) + " ports. Change topology.links or the dilation.");
    blocks *= radix[s];
  }
}

void check_fat_tree(const Experiment& e) {
  const u32 arity = e.u32_of(metro::param::topology.arity), ports = e.u32_of(metro::param::topology.ports),
            links = e.u32_of(metro::param::topology.links);
  power_of_two(metro::param::topology.arity.path, arity);
  power_of_two(metro::param::topology.ports.path, ports);
  power_of_two(metro::param::topology.links.path, links);
  if (2 * e.u32_of(metro::param::topology.levels) - 1 > metro::kMaxStages)
    throw ConfigError("topology.levels: a path has at most " + std::to_string(metro::kMaxStages) + " routers.");
  metro_endpoints(e);
  if (ports < 2 * arity / 2 || arity > ports || arity * links % ports != 0)
    throw ConfigError("topology.arity = " + std::to_string(arity) + " with topology.links = " + std::to_string(links) +
                      " gives " + std::to_string(arity * links) +
                      " wires to a node next to endpoints, which do not "
                      "fill routers of topology.ports = " +
                      std::to_string(ports) + ". Change one of them.");
}

}  // namespace

std::vector<u32> metro_shape(const Experiment& e) {
  return is_graph(e) ? std::vector<u32>{} : std::vector<u32>{metro_endpoints(e)};
}

void check_metro(const Experiment& e) {
  const std::string& mode = e.str(param::traffic.mode);
  if (e.flag(metro::param::endpoint.stalls) && mode != "open")
    throw ConfigError("endpoint.stalls = true applies to traffic.mode = \"open\", and the mode is \"" + mode +
                      "\": set it to false.");
  if (!e.is_auto(metro::param::endpoint.think_cycles) && !e.flag(metro::param::endpoint.stalls) &&
      mode != "request_reply")
    throw ConfigError(
        "endpoint.think_cycles = " + std::to_string(e.u32_of(metro::param::endpoint.think_cycles)) +
        ": in traffic.mode = \"" + mode +
        "\" only processors that stall have a time to work, and these do not stall. Set endpoint.stalls = true in "
        "\"open\", or remove it (auto).");
  if (mode == "request_reply" && e.u32_of(param::traffic.window) != 1)
    throw ConfigError("traffic.window = " + std::to_string(e.u32_of(param::traffic.window)) +
                      ": an endpoint has one message in flight, and its reply arrives over the same connection. Set it "
                      "to 1.");
  if (!e.is_auto(metro::param::router.max_dilation))
    power_of_two(metro::param::router.max_dilation.path, e.u32_of(metro::param::router.max_dilation));
  const std::string& kind = e.str(metro::param::topology.kind);
  if (kind == "file" && e.str(metro::param::topology.file).empty())
    throw ConfigError("topology.kind = \"file\" needs topology.file (CSV lines router,... and wire,...).");
  if (kind == "multibutterfly") check_multibutterfly(e);
  if (kind == "fat_tree") check_fat_tree(e);
  for (u32 stage :
       e.has(metro::param::router.detailed_stages) ? e.ints(metro::param::router.detailed_stages) : std::vector<u32>{})
    if (const u32 stages = kind == "multibutterfly" ? static_cast<u32>(e.ints(metro::param::topology.radix).size())
                           : kind == "fat_tree"     ? 2 * e.u32_of(metro::param::topology.levels) - 1
                                                    : metro::kMaxStages;
        stage >= stages)
      throw ConfigError("router.detailed_stages contains " + std::to_string(stage) + ": stages are numbered 0 to " +
                        std::to_string(stages - 1) + ".");
}

}  // namespace flitlab
