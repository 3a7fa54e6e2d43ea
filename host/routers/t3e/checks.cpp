/// Conditions between the parameters of a T3E.
#include "host/routers/t3e/checks.hpp"
#include "host/config/cross_checks.hpp"
#include "host/routers/t3e/tables.hpp"
#include "host/routers/t3e/wiring.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/t3e/params.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

void check_t3e(const Experiment& e) {
  const t3e::Shape shape(e.ints(t3e::param::topology.shape), e.ints(t3e::param::topology.partial_planes));
  t3e::wiring_of(e, shape);
  if (longest_packet(e) > t3e::kLongestPacket)
    throw ConfigError("A T3E's packets have at most " + std::to_string(t3e::kLongestPacket) + " flits, and " +
                      length_keys(e) + " allows " + std::to_string(longest_packet(e)) + ". Make them shorter.");
  if (message_classes(e) != (e.has(param::traffic.message_classes) ? 2 : 1))
    throw ConfigError(
        "traffic.message_classes = 1: a T3E has separate virtual channels for requests and responses. Leave it at 2.");
  const u32 straight = e.u32_of(t3e::param::router.straight_delay);
  for (const ParamRecord* p : {&t3e::param::router.turn_delay, &t3e::param::router.destination_delay})
    if (e.u32_of(*p) <= straight)
      throw ConfigError(std::string(p->path) + " = " + std::to_string(e.u32_of(*p)) +
                        " must be more than router.straight_delay = " + std::to_string(straight) + ".");
  if (e.u32_of(t3e::param::router.source_delay) < straight + 2)
    throw ConfigError("router.source_delay = " + std::to_string(e.u32_of(t3e::param::router.source_delay)) +
                      " must be at least router.straight_delay + 2 = " + std::to_string(straight + 2) +
                      ": the arbiter needs to see a PE's flits one clock ahead.");
  const u32 turn = e.u32_of(t3e::param::router.turn_delay), wait = turn - straight;
  if (e.u32_of(t3e::param::router.destination_delay) <= wait)
    throw ConfigError("router.destination_delay = " + std::to_string(e.u32_of(t3e::param::router.destination_delay)) +
                      " must be more than router.turn_delay - router.straight_delay = " + std::to_string(wait) +
                      ", the delay up to the crossbar.");
  const u32 barrier = e.u32_of(t3e::param::barrier.router_delay);
  if (e.u32_of(t3e::param::barrier.units) &&
      (barrier < straight || barrier - straight >= e.u32_of(t3e::param::router.destination_delay)))
    throw ConfigError("barrier.router_delay = " + std::to_string(barrier) +
                      " must be at least router.straight_delay = " + std::to_string(straight) +
                      " and less than that plus router.destination_delay = " +
                      std::to_string(e.u32_of(t3e::param::router.destination_delay)) + ".");
  if (e.u32_of(t3e::param::barrier.root) >= shape.nodes())
    throw ConfigError("barrier.root = " + std::to_string(e.u32_of(t3e::param::barrier.root)) +
                      ": nodes are numbered 0 to " + std::to_string(shape.nodes() - 1) + ".");
  if (e.is({t3e::param::boot.state, "cold"}) && e.is({t3e::param::routing.vc_select, "full"}))
    throw ConfigError(
        "boot.state = \"cold\": routing.vc_select = \"full\" has tables that are in no register, so software cannot "
        "load them. Set routing.vc_select = \"optimised\".");
  if (e.u32_of(t3e::param::router.adaptive_vcs) && e.flag(t3e::param::routing.adaptive) &&
      e.u32_of(t3e::param::router.adaptive_buffer_flits) < longest_packet(e))
    throw ConfigError(
        "router.adaptive_buffer_flits = " + std::to_string(e.u32_of(t3e::param::router.adaptive_buffer_flits)) +
        " is too small: packets of " + std::to_string(longest_packet(e)) +
        " flits must fit as a whole. Increase it, or set routing.adaptive = false.");
}

}  // namespace flitlab
