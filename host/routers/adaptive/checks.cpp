/// Conditions between parameters of the adaptive router.
#include <algorithm>

#include "host/config/cross_checks.hpp"
#include "host/routers/adaptive/checks.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/adaptive/params.hpp"
#include "kernels/routers/adaptive/state.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

void check_adaptive(const Experiment& e) {
  check_topology(e);
  const std::string& mode = e.str(param::traffic.mode);
  if (const u32 longest = longest_packet(e); longest != 1)
    throw ConfigError(length_keys(e) + " makes packets of up to " + std::to_string(longest) +
                      " flits, but a message of an adaptive router is one flit. " +
                      (mode == "program" ? "Raise traffic.flit_bytes, or lower traffic.payload_bytes" : "Set it to 1") +
                      "; router.message_units is the length of a message.");
  if (comes_from_host(e) && e.u32_of(adaptive::param::router.ejection) != 1)
    throw ConfigError("router.ejection = " + std::to_string(e.u32_of(adaptive::param::router.ejection)) +
                      " does not fit traffic.mode = \"" + mode +
                      "\", in which a terminal accepts one message a cycle. Set it "
                      "to 1.");
  if (e.u32_of(adaptive::param::router.channel_buffers) + e.u32_of(adaptive::param::router.spare_buffers) == 0)
    throw ConfigError(
        "router.spare_buffers = 0 with router.channel_buffers = 0 leaves no buffer that a new message could wait in. "
        "Raise one of them.");
  const std::vector<u32> priorities = e.ints(adaptive::param::router.priorities);
  if (priorities.empty() || priorities.size() > adaptive::kPriorities ||
      std::all_of(priorities.begin(), priorities.end(), [](u32 weight) { return weight == 0; }))
    throw ConfigError("router.priorities = " + list_text(priorities) +
                      ": give the weights of priority 0, 1, 2 and 3, or of the first of them; at least one must not "
                      "be 0.");
}

}  // namespace flitlab
