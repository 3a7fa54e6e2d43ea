/// Bounds of the state fields of the adaptive router.
#include "host/routers/adaptive/plan.hpp"

namespace flitlab {

std::vector<Bound> AdaptivePlan::bounds() const {
  const adaptive::Table& t = table_;
  std::vector<Bound> bounds{
      {"router.control.stored", [buffers = t.buffers](u64 stored, u32 item, u32) { return stored <= buffers[item]; }},
      {"router.came", arrives_by(t.wired, t.channels)},
      {"router.order", below(t.positions)},
      {"router.options", below(u64{1} << t.channels)}};
  for (const char* packets : {"router.pool", "router.mail"})
    add_packet(bounds, packets, {t.routers, t.terminals, t.concentration, t.priorities});
  add_source(bounds, t.traffic, t.mode, t.terminal_fields);
  bounds.push_back({"router.control.fault", at_most(0)});
  return bounds;
}

}  // namespace flitlab
