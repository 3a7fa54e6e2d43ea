/// Setup of host ports: priorities of their packets, and which priorities have queues.
#include <algorithm>

#include "host/routers/sconnect/checks.hpp"
#include "host/routers/sconnect/plan.hpp"
#include "host/topology/patterns.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/routers/sconnect/host_queues.hpp"
#include "kernels/routers/sconnect/params.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {
namespace {

/// Kinds of messages that an experiment may send: single messages, quads (messages of four parts).
struct Kinds {
  bool singles = false, quads = false;
};

Kinds kinds_of(const Experiment& e, bool quads_fit) {
  // The lengths of a trace's packets are not known yet.
  if (!e.has(param::traffic.packet_flits)) return {true, quads_fit};
  Kinds kinds;
  for (const auto& [flits, weight] : e.lengths(param::traffic.packet_flits))
    if (weight > 0) (flits > 1 ? kinds.quads : kinds.singles) = true;
  return kinds;
}

}  // namespace

void SconnectPlan::set_hosts(const Experiment& e) {
  sconnect::Table& t = table_;
  const Kinds kinds = kinds_of(e, quads_fit_);
  for (u32 port = 0; port < sconnect::kPorts - sconnect::kSerial; ++port) {
    const std::vector<u32> weights = sconnect_priorities(e, port);
    const std::vector<u32> below = cumulative_thresholds({weights.begin(), weights.end()});
    std::copy(below.begin(), below.end(), t.priority_below[port]);
    u32 used = kinds.quads ? 1u << t.quad_priority : 0;
    for (u32 priority = 0; kinds.singles && priority < sconnect::kPriorities; ++priority)
      if (below[priority] > (priority ? below[priority - 1] : 0)) used |= 1u << priority;
    const bool apart = e.is({sconnect::param::host.queues, "priorities"}) && bit_count(used) > 1;
    t.queues[port] = static_cast<u8>(apart ? used : 0);
  }
  if (t.loops()) t.reply_priority = static_cast<u8>(sconnect_reply_priority(e));
  for (u32 priority : e.ints(sconnect::param::host.refuses)) t.refuses |= 1u << priority;
}

u32 SconnectPlan::packet_priority(const ReplicaRow& row, u32 terminal, u32 id) const {
  const sconnect::Table& t = table_;
  if (t.loops() && id & kReplyId) return t.reply_priority;
  u32 port = 0;
  while (fabric_.links[port].kind != sconnect::LinkKind::kHost || fabric_.links[port].far != terminal) ++port;
  const u32 flits = t.mode == TrafficMode::kTrace ? 1 : packet_flits(t.traffic, row, terminal, id);
  return sconnect::packet_priority(t, row, port % sconnect::kPorts, terminal, id, flits);
}

}  // namespace flitlab
