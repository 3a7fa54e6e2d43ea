/// Conditions between the parameters of Blue Gene/L's torus.
#include "host/config/cross_checks.hpp"
#include "host/error.hpp"
#include "kernels/routers/bgl/state.hpp"

namespace flitlab {

void check_bgl(const Experiment& e) {
  const std::vector<u32>& shape = e.ints("topology.shape");
  if (shape.size() > 3)
    throw ConfigError("topology.shape = " + list_text(shape) + " has " + std::to_string(shape.size()) +
                      " dimensions: Blue Gene/L's torus has one to three.");
  if (terminal_count(e) < 2)
    throw ConfigError("topology.shape = " + list_text(shape) + " has one node; give two or more.");
  if (e.str("traffic.mode") == "request_reply")
    throw ConfigError("traffic.mode = \"request_reply\" is not there for router.kind = \"bgl\": use another one.");
  if (longest_packet(e) > bgl::kFullPacket)
    throw ConfigError("Blue Gene/L's packets have 1 to 8 chunks of 32 bytes, and traffic.packet_flits makes some of " +
                      std::to_string(longest_packet(e)) + ". Make them shorter.");
  const bool bubble = e.str("router.escape") == "bubble";
  if (bubble && e.u32_of("router.escape_flits") < 2 * bgl::kFullPacket)
    throw ConfigError("router.escape_flits = " + std::to_string(e.u32_of("router.escape_flits")) +
                      ": packets enter the bubble channel only into space for two of full size, so it must have 16 "
                      "chunks or more.");
  if (e.str("traffic.mode") == "broadcast") {
    const std::vector<u32>& dims = e.ints("broadcast.dimensions");
    bool fits = dims.size() == 1 || (dims.size() == 2 && dims[0] != dims[1]);
    for (u32 d : dims) fits = fits && d < shape.size() && shape[d] > 1;
    if (!fits)
      throw ConfigError("broadcast.dimensions = " + list_text(dims) +
                        ": give one dimension of the torus that has more than one node, or two different ones.");
    if (e.u32_of("broadcast.root") >= terminal_count(e))
      throw ConfigError("broadcast.root = " + std::to_string(e.u32_of("broadcast.root")) +
                        ": nodes are numbered 0 to " + std::to_string(terminal_count(e) - 1) + ".");
    if (e.flag("injection.infinite") || e.u32_of("injection.fifos") < bgl::kNormalFifos)
      throw ConfigError(
          "traffic.mode = \"broadcast\" has an injection FIFO for each direction: leave injection.fifos "
          "at 6 and injection.infinite at false.");
  }
  if (e.flag("injection.infinite") && e.u32_of("injection.put_interval"))
    throw ConfigError("injection.put_interval = " + std::to_string(e.u32_of("injection.put_interval")) +
                      " paces software that fills real FIFOs: set injection.infinite = false, or the interval to 0.");
  if (const std::string& mode = e.str("traffic.mode");
      e.flag("injection.infinite") && mode != "open" && mode != "batch")
    throw ConfigError("injection.infinite = true is there for traffic.mode = \"open\" and \"batch\", and this is \"" +
                      mode + "\": set it to false.");
}

}  // namespace flitlab
