/// Conditions between the parameters of Blue Gene/L's torus.
#include <algorithm>

#include "host/config/cross_checks.hpp"
#include "host/routers/bgl/checks.hpp"
#include "host/routers/bgl/table.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/bgl/params.hpp"
#include "kernels/routers/bgl/state.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {
namespace {

void check_dead_nodes(const Experiment& e) {
  const std::vector<u32> dead = e.ints(bgl::param::faults.nodes);
  const u32 nodes = terminal_count(e);
  for (u32 node : dead) {
    const std::string name = "faults.nodes contains " + std::to_string(node);
    if (node >= nodes) throw ConfigError(name + ": nodes are numbered 0 to " + std::to_string(nodes - 1) + ".");
    if (std::count(dead.begin(), dead.end(), node) > 1) throw ConfigError(name + " twice. Leave one out.");
  }
  if (dead.size() > bgl::kMostDead)
    throw ConfigError("faults.nodes names " + std::to_string(dead.size()) + " nodes; at most " +
                      std::to_string(bgl::kMostDead) + " are supported.");
  if (dead.size() + 2 > nodes)
    throw ConfigError("faults.nodes = " + list_text(dead) + " leaves " + std::to_string(nodes - dead.size()) + " of " +
                      std::to_string(nodes) + " nodes. At least two must be live.");
  if (!dead.empty() && !e.is({bgl::param::router.escape_order, "dimension"}))
    throw ConfigError("faults.nodes: hint bits avoid dead nodes only with the escape order of the machine. Set " +
                      quoted(e, bgl::param::router.escape_order) + " to \"dimension\", or leave the nodes out.");
}

/// Throws ConfigError if a node of the root's line or plane is dead, because every node of that line or plane has to
/// forward packets.
void check_filled(const Experiment& e) {
  const std::vector<u32> dims = e.ints(bgl::param::broadcast.dimensions), shape = e.ints(bgl::param::topology.shape);
  const u32 root = e.u32_of(bgl::param::broadcast.root);
  for (u32 node : e.ints(bgl::param::faults.nodes)) {
    if (node == root)
      throw ConfigError("broadcast.root = " + std::to_string(root) + " is dead (faults.nodes). Choose a live node.");
    bool inside = true;
    u32 a = node, b = root;
    for (u32 d = 0; d < shape.size(); a /= shape[d], b /= shape[d], ++d)
      inside = inside && (std::count(dims.begin(), dims.end(), d) || a % shape[d] == b % shape[d]);
    if (inside)
      throw ConfigError("broadcast.root = " + std::to_string(root) + " and broadcast.dimensions = " + list_text(dims) +
                        ": node " + std::to_string(node) +
                        " has to be reached, but is dead (faults.nodes). Choose others.");
  }
}

}  // namespace

void check_bgl(const Experiment& e) {
  const std::vector<u32>& shape = e.ints(bgl::param::topology.shape);
  if (shape.size() > 3)
    throw ConfigError("topology.shape = " + list_text(shape) + " has " + std::to_string(shape.size()) +
                      " dimensions: Blue Gene/L's torus has one to three.");
  if (terminal_count(e) < 2)
    throw ConfigError("topology.shape = " + list_text(shape) + " has one node; give two or more.");
  if (longest_packet(e) > bgl::kFullPacket) {
    throw ConfigError(length_keys(e) + " makes packets of " + std::to_string(longest_packet(e)) +
                      " chunks. Blue Gene/L's packets have 1 to 8 chunks of 32 bytes. Make them shorter.");
  }
  check_dead_nodes(e);
  const bool bubble = e.is({bgl::param::router.escape, "bubble"});
  if (bubble && e.u32_of(bgl::param::router.escape_flits) < 2 * bgl::kFullPacket)
    throw ConfigError("router.escape_flits = " + std::to_string(e.u32_of(bgl::param::router.escape_flits)) +
                      ": packets enter the bubble channel only with space for two full packets, so it needs 16 chunks "
                      "or more.");
  if (e.is({bgl::param::router.acks, "packets"}) && !e.u32_of(bgl::param::router.ack_bytes))
    throw ConfigError(
        "router.acks = \"packets\" and router.ack_bytes = 0: token packets need a size. Set router.ack_bytes, or set "
        "router.acks to \"charged\".");
  if (e.flag(bgl::param::router.link_protocol)) {
    // Time of one packet; if acknowledgments are packets, also that of a full packet that has just started on the
    // reverse link.
    const u32 packets = bgl::has_token_packets(e) ? 2 : 1;
    const u32 round_trip = packets * bgl::kChunkBytes * bgl::kFullPacket + e.u32_of(bgl::param::router.trailer_bytes) +
                           2 * e.u32_of(bgl::param::router.ack_bytes) + e.u32_of(bgl::param::router.gap_bytes) +
                           2 * e.u32_of(bgl::param::topology.channel_delay) +
                           e.u32_of(bgl::param::router.pipeline_delay) + e.u32_of(bgl::param::router.arbitration_delay);
    if (e.u32_of(bgl::param::router.retransmission_timeout) <= round_trip)
      throw ConfigError(
          "router.retransmission_timeout = " + std::to_string(e.u32_of(bgl::param::router.retransmission_timeout)) +
          ": an acknowledgment can take " + std::to_string(round_trip) + " cycles; give more than that.");
  }
  if (e.is({param::traffic.mode, "broadcast"})) {
    const std::vector<u32>& dims = e.ints(bgl::param::broadcast.dimensions);
    bool fits = dims.size() == 1 || (dims.size() == 2 && dims[0] != dims[1]);
    for (u32 d : dims) fits = fits && d < shape.size() && shape[d] > 1;
    if (!fits)
      throw ConfigError("broadcast.dimensions = " + list_text(dims) +
                        ": give one dimension with more than one node, or two different ones.");
    if (e.u32_of(bgl::param::broadcast.root) >= terminal_count(e))
      throw ConfigError("broadcast.root = " + std::to_string(e.u32_of(bgl::param::broadcast.root)) +
                        ": nodes are numbered 0 to " + std::to_string(terminal_count(e) - 1) + ".");
    check_filled(e);
    if (e.flag(bgl::param::injection.infinite) || e.u32_of(bgl::param::injection.fifos) < bgl::kNormalFifos)
      throw ConfigError(
          "traffic.mode = \"broadcast\" uses one injection FIFO for each direction: leave injection.fifos "
          "at 6 and injection.infinite at false.");
  }
  if (e.flag(bgl::param::injection.infinite) && e.u32_of(bgl::param::injection.put_interval))
    throw ConfigError("injection.put_interval = " + std::to_string(e.u32_of(bgl::param::injection.put_interval)) +
                      " paces software that fills finite FIFOs. Set injection.infinite = false, or the interval to 0.");
  const u32 packet = e.u32_of(bgl::param::software.packet_time), chunk = e.u32_of(bgl::param::software.chunk_time);
  if (e.flag(bgl::param::injection.infinite) && packet + chunk + e.u32_of(bgl::param::software.start_spread))
    throw ConfigError(
        "injection.infinite = true: packets enter infinite FIFOs without software. Set it to false, or "
        "software.packet_time, software.chunk_time and software.start_spread to 0.");
  if (const std::string& mode = e.str(param::traffic.mode);
      e.flag(bgl::param::injection.infinite) && mode != "open" && mode != "batch")
    throw ConfigError("injection.infinite = true needs traffic.mode = \"open\" or \"batch\", and this is \"" + mode +
                      "\". Set it to false.");
}

}  // namespace flitlab
