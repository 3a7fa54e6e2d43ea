/// Bounds of the state fields of the single switch.
#include "host/routers/switch/plan.hpp"

namespace flitlab {

std::vector<Bound> SwitchPlan::bounds() const {
  const sw::Table& t = table_;
  const u64 all = t.terminals < 64 ? (u64{1} << t.terminals) - 1 : ~u64{0};
  std::vector<Bound> bounds{{"router.input.output", below_or(t.terminals, kNone)},
                            {"router.output.wanted", subset(all)},
                            {"router.output.first", below(t.output_buffers)},
                            {"router.output.held", at_most(t.output_buffers)}};
  add_packet(bounds, "router.ring", {t.terminals, t.terminals});
  add_source(bounds, t.traffic, t.mode, t.terminal_fields);
  bounds.push_back({"router.control.fault", at_most(0)});
  return bounds;
}

}  // namespace flitlab
