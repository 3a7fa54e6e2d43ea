#include "host/plan/inspection.hpp"

#include "host/plan/plan.hpp"

namespace flitlab {
namespace {

InspectNode vc_node(const VcSnapshot& s) {
  InspectNode node{"vc", s.name, {}, {}, "", s.note};
  VcSnapshot::for_each_column(s, [&](const Column& c, const auto& value) {
    node.values.push_back({c.name, datum_of(value), c.unit, c.meaning});
  });
  return node;
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
    part.values = {{"peer", none_if(port.peer), "", "router or terminal at the far end; none: not connected"},
                   {"to_terminal", port.to_terminal, "", "whether the far end is a terminal"}};
    for (const VcSnapshot& vc : port.vcs) part.parts.push_back(vc_node(vc));
  }
  return node;
}

InspectNode terminal_tree(const Plan& plan, const std::vector<std::byte>& state, u32 terminal) {
  const TerminalSnapshot s = plan.inspect_terminal(state, terminal);
  return {"terminal",
          std::to_string(terminal),
          {{"created", s.created, "packets", "created since cycle 0"},
           {"sent", s.sent, "packets", "packets whose head has been injected"},
           {"received", s.received, "packets", "packets whose tail has arrived"},
           {"queued", s.queued, "packets", "in the source queue"},
           {"flits_left", s.flits_left, "flits", "of the packet being injected, still to be sent"},
           {"vc", s.vc, "", "virtual channel on which it is injected"},
           {"next_creation", s.next_creation == kNever ? Datum{} : Datum{s.next_creation}, "cycle",
            "creation of the next packet; none: no more packets"},
           {"credits", Datum::list_of(s.credits), "flits", "of the injection channel, per virtual channel"}},
          {}};
}

}  // namespace flitlab
