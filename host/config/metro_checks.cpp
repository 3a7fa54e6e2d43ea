/// Conditions between the parameters of METRO.
#include <bit>

#include "host/config/cross_checks.hpp"
#include "host/error.hpp"
#include "host/metro/network.hpp"

namespace flitlab {
namespace {

void power_of_two(const char* path, u32 value) {
  if (!std::has_single_bit(value))
    throw ConfigError(std::string(path) + ": " + std::to_string(value) +
                      " is not a power of two. Give 1, 2, 4 and so on.");
}

u32 bits_of(u32 x) { return static_cast<u32>(std::bit_width(x - 1)); }

void check_multibutterfly(const Experiment& e) {
  const std::vector<u32> radix = e.ints("topology.radix"), dilation = e.ints("topology.dilation");
  if (radix.size() != dilation.size() || radix.empty() || radix.size() > metro::kMaxStages)
    throw ConfigError("topology.radix = " + list_text(radix) + " and topology.dilation = " + list_text(dilation) +
                      ": give one of each per stage, for 1 to " + std::to_string(metro::kMaxStages) + " stages.");
  const u32 wires = metro_endpoints(e) * e.u32_of("topology.links");
  u64 blocks = 1;
  for (u32 s = 0; s < radix.size(); ++s) {
    power_of_two("topology.radix", radix[s]);
    power_of_two("topology.dilation", dilation[s]);
    const u32 ports = radix[s] * dilation[s];
    const std::string where = "stage " + std::to_string(s) + " of topology.radix and topology.dilation";
    if (ports > metro::kMaxPorts)
      throw ConfigError(where + " makes routers of " + std::to_string(ports) + " ports; at most " +
                        std::to_string(metro::kMaxPorts) + " are possible.");
    if (wires / blocks % ports != 0 || wires / blocks == 0)
      throw ConfigError(where + ": " + std::to_string(wires / blocks) +
                        " wires come to each of its classes, which do not fill routers of " + std::to_string(ports) +
                        " ports. Change topology.links or the dilation.");
    blocks *= radix[s];
  }
}

void check_fat_tree(const Experiment& e) {
  const u32 arity = e.u32_of("topology.arity"), ports = e.u32_of("topology.ports"), links = e.u32_of("topology.links");
  power_of_two("topology.arity", arity);
  power_of_two("topology.ports", ports);
  power_of_two("topology.links", links);
  if (2 * e.u32_of("topology.levels") - 1 > metro::kMaxStages)
    throw ConfigError("topology.levels: a way has at most " + std::to_string(metro::kMaxStages) + " routers.");
  metro_endpoints(e);
  if (ports < 2 * arity / 2 || arity > ports || arity * links % ports != 0)
    throw ConfigError("topology.arity = " + std::to_string(arity) + " with topology.links = " + std::to_string(links) +
                      " brings " + std::to_string(arity * links) +
                      " wires to a node next to endpoints, which do not "
                      "fill routers of topology.ports = " +
                      std::to_string(ports) + ". Change one of them.");
}

}  // namespace

void check_metro(const Experiment& e) {
  const std::string& mode = e.str("traffic.mode");
  if (e.flag("endpoint.stalls") && mode != "open")
    throw ConfigError("endpoint.stalls = true is there for traffic.mode = \"open\", and this is \"" + mode +
                      "\": set it to false.");
  if (mode == "request_reply" && e.u32_of("traffic.window") != 1)
    throw ConfigError("traffic.window = " + std::to_string(e.u32_of("traffic.window")) +
                      ": an endpoint has one message under way, and its reply comes over the same connection. Set it "
                      "to 1.");
  const u32 max_dilation = e.u32_of("router.max_dilation"), width = e.u32_of("router.width");
  power_of_two("router.max_dilation", max_dilation);
  const std::string& kind = e.str("topology.kind");
  if (kind == "file" && e.str("topology.file").empty())
    throw ConfigError("topology.kind = \"file\" needs topology.file (CSV lines router,... and wire,...).");
  if (kind == "multibutterfly") check_multibutterfly(e);
  if (kind == "fat_tree") check_fat_tree(e);
  u32 dilation = 1, ports = 1, radix = 2;
  if (kind == "multibutterfly") {
    for (u32 s = 0; s < e.ints("topology.radix").size(); ++s) {
      dilation = std::max(dilation, e.ints("topology.dilation")[s]);
      radix = std::max(radix, e.ints("topology.radix")[s]);
      ports = std::max(ports, e.ints("topology.radix")[s] * e.ints("topology.dilation")[s]);
    }
  } else if (kind == "fat_tree") {
    ports = e.u32_of("topology.ports");
    dilation = std::max(ports / 2, ports / e.u32_of("topology.arity"));
    radix = e.u32_of("topology.arity");
  }
  if (dilation > max_dilation)
    throw ConfigError("router.max_dilation = " + std::to_string(max_dilation) +
                      ": the network needs routers of dilation " + std::to_string(dilation) + ". Raise it.");
  if (width < bits_of(ports) || width < bits_of(radix))
    throw ConfigError("router.width = " + std::to_string(width) + " bits cannot name one of " + std::to_string(ports) +
                      " backward ports: it must be " + std::to_string(bits_of(ports)) + " or more.");
  const u32 most = e.u32_of("router.max_turn_delay");
  for (const char* path : {"topology.wire_delay", "topology.entry_delay"})
    if (e.u32_of(path) > most)
      throw ConfigError(std::string(path) + " = " + std::to_string(e.u32_of(path)) +
                        " is more than ports can be configured for: raise router.max_turn_delay = " +
                        std::to_string(most) + ", or shorten the wires.");
  for (u32 stage : e.has("router.detailed_stages") ? e.ints("router.detailed_stages") : std::vector<u32>{})
    if (kind == "multibutterfly" && stage >= e.ints("topology.radix").size())
      throw ConfigError("router.detailed_stages contains " + std::to_string(stage) + ": stages are numbered 0 to " +
                        std::to_string(e.ints("topology.radix").size() - 1) + ".");
}

}  // namespace flitlab
