/// Conditions between the parameters of the T3E.
#include "host/routers/t3e/checks.hpp"
#include "host/config/cross_checks.hpp"
#include "host/routers/t3e/tables.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {

void check_t3e(const Experiment& e) {
  const t3e::Shape shape(e.ints("topology.shape"), e.ints("topology.partial_planes"));
  if (longest_packet(e) > t3e::kLongestPacket)
    throw ConfigError("A T3E's packets have at most " + std::to_string(t3e::kLongestPacket) +
                      " flits, and traffic.packet_flits" +
                      (e.has("traffic.reply_flits") ? " or traffic.reply_flits" : "") + " makes some of " +
                      std::to_string(longest_packet(e)) + ". Make them shorter.");
  if (message_classes(e) != (e.has("traffic.message_classes") ? 2 : 1))
    throw ConfigError(
        "traffic.message_classes = 1: a T3E has virtual channels for requests and for responses. Leave it at 2.");
  const u32 straight = e.u32_of("router.straight_delay");
  for (const char* path : {"router.turn_delay", "router.destination_delay"})
    if (e.u32_of(path) <= straight)
      throw ConfigError(std::string(path) + " = " + std::to_string(e.u32_of(path)) +
                        " must be more than router.straight_delay = " + std::to_string(straight) + ".");
  if (e.u32_of("router.source_delay") < straight + 2)
    throw ConfigError("router.source_delay = " + std::to_string(e.u32_of("router.source_delay")) +
                      " must be at least router.straight_delay + 2 = " + std::to_string(straight + 2) +
                      ": the arbiter must know of a PE's flits a clock ahead.");
  const u32 turn = e.u32_of("router.turn_delay"), wait = turn - straight;
  if (e.u32_of("router.destination_delay") <= wait)
    throw ConfigError("router.destination_delay = " + std::to_string(e.u32_of("router.destination_delay")) +
                      " must be more than router.turn_delay - router.straight_delay = " + std::to_string(wait) +
                      ", the way to the crossbar.");
  const u32 barrier = e.u32_of("barrier.router_delay");
  if (e.u32_of("barrier.units") && (barrier < straight || barrier - straight >= e.u32_of("router.destination_delay")))
    throw ConfigError("barrier.router_delay = " + std::to_string(barrier) +
                      " must be at least router.straight_delay = " + std::to_string(straight) +
                      " and less than that plus router.destination_delay = " +
                      std::to_string(e.u32_of("router.destination_delay")) + ".");
  if (e.u32_of("barrier.root") >= shape.nodes())
    throw ConfigError("barrier.root = " + std::to_string(e.u32_of("barrier.root")) + ": nodes are numbered 0 to " +
                      std::to_string(shape.nodes() - 1) + ".");
  if (e.str("boot.state") == "cold" && e.str("routing.vc_select") == "full")
    throw ConfigError(
        "boot.state = \"cold\": routing.vc_select = \"full\" has tables that are in no register, so nobody could load "
        "them. Set routing.vc_select = \"optimised\".");
  if (e.u32_of("router.adaptive_vcs") && e.flag("routing.adaptive") &&
      e.u32_of("router.adaptive_buffer_flits") < longest_packet(e))
    throw ConfigError("router.adaptive_buffer_flits = " + std::to_string(e.u32_of("router.adaptive_buffer_flits")) +
                      " is too small: packets of " + std::to_string(longest_packet(e)) +
                      " flits must fit whole. Raise it, or set routing.adaptive = false.");
}

}  // namespace flitlab
