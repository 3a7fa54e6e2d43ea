#include "host/plan/inspection.hpp"

#include "host/plan/plan.hpp"

namespace flitlab {
namespace {

/// Returns the columns of a row as values.
template <Row T>
std::vector<InspectValue> values_of(const T& row) {
  std::vector<InspectValue> values;
  T::for_each_column(
      row, [&](const Column& c, const auto& value) { values.push_back({c.name, datum_of(value), c.unit, c.meaning}); });
  return values;
}

}  // namespace

InspectNode router_tree(const Plan& plan, const std::vector<std::byte>& state, u32 router, Cycle now) {
  std::vector<PortSnapshot> ports = plan.inspect_router(state, router);
  plan.describe_router(state, router, now, ports);
  const Fill fill = plan.fill(state, router, ports);
  InspectNode node{"router",
                   plan.router_name(router),
                   {{"held", fill.held, plan.fill_of(), "occupancy of the router"},
                    {"places", fill.places, plan.fill_of(), "capacity of the router"}},
                   {}};
  for (const PortSnapshot& port : ports) {
    InspectNode& part = node.parts.emplace_back();
    part.kind = "port";
    part.name = port.name;
    part.note = port.note;
    part.values = values_of(port);
    for (const VcSnapshot& vc : port.vcs) part.parts.push_back({"vc", vc.name, values_of(vc), {}, "", vc.note});
  }
  return node;
}

InspectNode terminal_tree(const Plan& plan, const std::vector<std::byte>& state, u32 terminal) {
  return {"terminal", std::to_string(terminal), values_of(plan.inspect_terminal(state, terminal)), {}};
}

}  // namespace flitlab
