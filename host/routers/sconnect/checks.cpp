#include <algorithm>
#include <numeric>

#include "host/config/cross_checks.hpp"
#include "host/routers/sconnect/checks.hpp"
#include "host/topology/topology.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/sconnect/channel.hpp"
#include "kernels/routers/sconnect/params.hpp"
#include "kernels/routers/sconnect/state.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

std::vector<u32> sconnect_shape(const Experiment& e) {
  const u32 hosts = e.u32_of(sconnect::param::topology.host_ports);
  if (hosts == 1 && e.has(sconnect::param::topology.shape)) return e.ints(sconnect::param::topology.shape);
  if (hosts == 1 && e.has(sconnect::param::topology.dimensions))
    return std::vector<u32>(e.u32_of(sconnect::param::topology.dimensions), 2);
  u32 nodes = 0;
  if (e.has(sconnect::param::topology.nodes)) nodes = e.u32_of(sconnect::param::topology.nodes);
  if (e.has(sconnect::param::topology.dimensions)) nodes = 1u << e.u32_of(sconnect::param::topology.dimensions);
  if (e.has(sconnect::param::topology.shape)) nodes = count_terminals(e.ints(sconnect::param::topology.shape), 1);
  return nodes ? std::vector<u32>{nodes * hosts} : std::vector<u32>{};
}

std::vector<u32> sconnect_priorities(const Experiment& e, u32 port) {
  const std::vector<u32> second = e.ints(sconnect::param::host.second_priorities);
  return port && !second.empty() ? second : e.ints(sconnect::param::host.priorities);
}

namespace {

bool is_loop(const Experiment& e) { return e.is({param::traffic.mode, "request_reply"}); }

bool has_quads(const Experiment& e, const ParamRecord& lengths) {
  if (!e.has(lengths)) return false;
  const Lengths& all = e.lengths(lengths);
  return std::any_of(all.begin(), all.end(), [](const auto& l) { return l.second > 0 && l.first > 1; });
}

void check_flits(const Experiment& e, const ParamRecord& lengths) {
  if (!e.has(lengths)) return;
  for (const auto& [flits, weight] : e.lengths(lengths))
    if (weight > 0 && flits != 1 && flits != sconnect::kQuadParts)
      throw ConfigError(std::string(lengths.path) + " contains " + std::to_string(flits) +
                        ": a message is 1 flit, and a quad is 4 (router.kind = \"sconnect\").");
}

}  // namespace

u32 sconnect_request_priority(const Experiment& e) {
  u32 highest = has_quads(e, param::traffic.packet_flits) ? e.u32_of(sconnect::param::host.quad_priority) : 0;
  for (u32 port = 0; port < 2; ++port) {
    const std::vector<u32> weights = sconnect_priorities(e, port);
    for (u32 p = 0; p < weights.size(); ++p)
      if (weights[p]) highest = std::max(highest, p);
  }
  return highest;
}

u32 sconnect_reply_priority(const Experiment& e) {
  if (!e.is_auto(sconnect::param::host.reply_priority)) return e.u32_of(sconnect::param::host.reply_priority);
  return std::min(sconnect_request_priority(e) + 1, sconnect::kPriorities - 1);
}

SconnectReservations sconnect_reservations(const Experiment& e) {
  const bool quads = has_quads(e, param::traffic.packet_flits), loop = is_loop(e),
             reply_quads = has_quads(e, param::traffic.reply_flits);
  const u32 buffers = e.u32_of(sconnect::param::router.buffers), hosts = e.u32_of(sconnect::param::topology.host_ports);
  const bool many =
      e.is({sconnect::param::topology.node, "dual"}) || e.str(sconnect::param::topology.kind) == "tree" || is_graph(e);
  // Largest number of queues of one priority at any TIC: the queues of four serial channels, plus queues of host ports
  // or of parallel ports to other TICs (two parallel ports in a switch of three TICs).
  const u32 queues =
      sconnect::kVcs * sconnect::kSerial + (many ? 2 * e.u32_of(sconnect::param::topology.parallel_vcs) : hosts);
  std::vector<u32> weights = sconnect_priorities(e, 0);
  const std::vector<u32> second = sconnect_priorities(e, 1);
  for (u32 p = 0; p < weights.size(); ++p) weights[p] += second[p];
  const u32 reply_priority = loop ? sconnect_reply_priority(e) : sconnect::kPriorities;
  if (loop) ++weights[reply_priority];
  const u32 used = static_cast<u32>(weights.size() - std::count(weights.begin(), weights.end(), 0u));
  // The smallest reservation that excludes deadlock: one buffer for each queue, or four buffers if quads may use the
  // queue.
  const auto least = [&](bool with_quads) {
    std::vector<u32> list;
    for (u32 p = 0; p < weights.size(); ++p)
      list.push_back((with_quads && p == e.u32_of(sconnect::param::host.quad_priority)) ||
                             (reply_quads && p == reply_priority)
                         ? sconnect::kQuadParts
                         : weights[p] > 0);
    return list;
  };
  const auto sum = [&](const std::vector<u32>& list) { return queues * std::accumulate(list.begin(), list.end(), 0u); };
  std::vector<u32> reserve = e.ints(sconnect::param::router.reserve);
  const bool given = !reserve.empty();
  if (reserve.size() == 1) reserve.resize(sconnect::kPriorities, reserve[0]);
  if (!given) {
    // A trace may have quads if the pool has room for their reservations.
    reserve = least(quads || (comes_from_host(e) && sum(least(true)) <= buffers));
    // Reserve three quarters of the pool; any queue may use the rest.
    std::vector<u32> more = reserve;
    for (u32& r : more)
      if (r) r = std::max(r, buffers * 3 / 4 / (queues * used));
    if (sum(more) <= buffers) reserve = more;
  }
  const std::string text =
      given ? "router.reserve = " + list_text(reserve) : "router.buffers = " + std::to_string(buffers);
  if (reserve.size() != sconnect::kPriorities)
    throw ConfigError(text + ": give one number, or four numbers for priorities 0 to 3.");
  const u32 left = buffers - std::min(buffers, sum(reserve));
  const bool automatic = e.is_auto(sconnect::param::router.control_buffers);
  const u32 control = automatic ? std::min(1u, left / 2) : e.u32_of(sconnect::param::router.control_buffers);
  if (sum(reserve) + 2 * control > buffers)
    throw ConfigError(text + ": " + list_text(reserve) + " buffers in each of " + std::to_string(queues) +
                      " queues of priorities 0 to 3 take " + std::to_string(sum(reserve)) +
                      (control ? ", and control messages " + std::to_string(2 * control) : "") +
                      (given ? ", and router.buffers is " + std::to_string(buffers) : "") + ". Reserve less" +
                      (automatic ? "" : " (router.reserve, router.control_buffers)") +
                      ", use fewer priorities (host.priorities) or no quads, or give more buffers.");
  const std::vector<u32> needed = least(quads);
  for (u32 p = 0; p < weights.size(); ++p)
    if (reserve[p] < needed[p])
      throw ConfigError(text + ": without " + (needed[p] > 1 ? "the four buffers of a quad" : "a buffer") +
                        " reserved for each queue of priority " + std::to_string(p) + ", queues can deadlock. Give " +
                        std::to_string(needed[p]) + " or more.");
  return {reserve, control};
}

namespace {

/// Checks the parameters of a closed loop. Replies must not have a lower priority than requests: they would wait behind
/// blocked requests.
void check_loop(const Experiment& e) {
  if (!is_loop(e) && !e.is_auto(sconnect::param::host.reply_priority))
    throw ConfigError("host.reply_priority = " + std::to_string(sconnect_reply_priority(e)) + ": in traffic.mode = \"" +
                      e.str(param::traffic.mode) +
                      "\" hosts send no replies. Use traffic.mode = \"request_reply\", or remove host.reply_priority.");
  if (!is_loop(e)) return;
  if (const u32 highest = sconnect_request_priority(e); sconnect_reply_priority(e) < highest)
    throw ConfigError("host.reply_priority = " + std::to_string(sconnect_reply_priority(e)) +
                      ": requests of priority " + std::to_string(highest) +
                      " would block the replies that they wait for. Give " + std::to_string(highest) +
                      " or more, or \"auto\".");
  if (e.u32_of(param::traffic.message_classes) != 2)
    throw ConfigError("traffic.message_classes = " + std::to_string(e.u32_of(param::traffic.message_classes)) +
                      ": S-Connect separates replies from requests by priority. Leave it at 2, and use "
                      "host.reply_priority.");
}

}  // namespace

void check_sconnect(const Experiment& e) {
  if (e.has(param::traffic.packet_length) && e.is({param::traffic.packet_length, "geometric"}))
    throw ConfigError(
        "traffic.packet_length = \"geometric\": S-Connect has messages of 1 flit and quads of 4. Use \"list\".");
  check_flits(e, param::traffic.packet_flits);
  check_flits(e, param::traffic.reply_flits);
  if (e.is({param::traffic.mode, "program"}) && longest_packet(e) != 1)
    throw ConfigError(length_keys(e) + " makes packets of up to " + std::to_string(longest_packet(e)) +
                      " flits, but a packet of a program is a single message of 1 flit (router.kind = \"sconnect\"). "
                      "Raise traffic.flit_bytes, or lower traffic.payload_bytes.");
  for (u32 port = 0; port < 2; ++port) {
    const std::vector<u32> weights = sconnect_priorities(e, port);
    if (weights.size() != sconnect::kPriorities || std::accumulate(weights.begin(), weights.end(), u64{0}) == 0)
      throw ConfigError((port ? "host.second_priorities = " : "host.priorities = ") + list_text(weights) +
                        ": give four weights for priorities 0 to 3, at least one of them not 0.");
  }
  if (!e.ints(sconnect::param::host.second_priorities).empty() && e.u32_of(sconnect::param::topology.host_ports) == 1)
    throw ConfigError("host.second_priorities = " + list_text(e.ints(sconnect::param::host.second_priorities)) +
                      ": hosts have one port each. Set topology.host_ports = 2, or remove host.second_priorities.");
  check_loop(e);
  sconnect_reservations(e);
  if (!e.is_auto(sconnect::param::router.host_buffers) &&
      e.u32_of(sconnect::param::router.host_buffers) > e.u32_of(sconnect::param::router.buffers))
    throw ConfigError("router.host_buffers = " + std::to_string(e.u32_of(sconnect::param::router.host_buffers)) +
                      " exceeds the pool: router.buffers is " +
                      std::to_string(e.u32_of(sconnect::param::router.buffers)) + ". Give 1 to " +
                      std::to_string(e.u32_of(sconnect::param::router.buffers)) + ", or \"auto\".");
  const std::string& kind = e.str(sconnect::param::topology.kind);
  if (kind == "graph" && e.str(sconnect::param::topology.file).empty())
    throw ConfigError("topology.kind = \"graph\" needs topology.file (CSV lines a,b).");
  if (e.is({sconnect::param::routing.tables, "file"}) && e.str(sconnect::param::routing.file).empty())
    throw ConfigError(
        "routing.tables = \"file\" needs routing.file (CSV lines TIC,destination node,port,virtual channel).");
}

}  // namespace flitlab
