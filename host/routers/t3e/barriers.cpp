#include "host/routers/t3e/barriers.hpp"

#include "host/plan/elements.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/t3e/params.hpp"

namespace flitlab {

void T3ePlan::set_barrier_trees(const Experiment& e) {
  const auto& applications = machine_.assignment.applications;
  const u32 root = e.u32_of(t3e::param::barrier.root);
  const std::vector<u8> no_faults(table_.routers, 0);
  for (u32 unit = 0; unit < table_.barrier_units; ++unit) {
    const t3e::Application& members = applications[unit % applications.size()];
    const auto tree =
        t3e::make_barrier_tree(machine_.shape, machine_.break_cycle ? no_faults : machine_.broken, members, root);
    for (u32 member : members)
      if (member != root && tree[member].parent == t3e::kNoParent)
        throw ConfigError("barrier.root = " + std::to_string(root) + " has no working path to node " +
                          std::to_string(member) + ". Choose another root.");
    barrier_trees_.insert(barrier_trees_.end(), tree.begin(), tree.end());
  }
}

namespace t3e {
namespace {

void check_unit(const Table& t, u32 unit) {
  if (unit >= t.barrier_units)
    throw ConfigError("barrier unit " + std::to_string(unit) + " is not in use: barrier.units = " +
                      std::to_string(t.barrier_units) + (t.barrier_units ? ", numbered from 0." : ". Increase it."));
}

constexpr const char* kStates[] = {"S_BAR", "S_ARM", "S_EUR"};

}  // namespace

std::string barrier_state(const Engine& engine, const T3ePlan& plan, u32 pe, u32 unit) {
  const Table& t = plan.table();
  check_unit(t, unit);
  return kStates[static_cast<u32>(get_element<BarrierUnit>(engine, 0, kPeKind, pe, "barrier", unit).state)];
}

void operate_barrier(Engine& engine, const T3ePlan& plan, u32 pe, u32 unit, const std::string& operation) {
  const Table& t = plan.table();
  check_unit(t, unit);
  const std::string name = operation + " of PE " + std::to_string(pe) + " on barrier unit " + std::to_string(unit);
  if (t.barrier_program != BarrierProgram::kByHand)
    throw ConfigError(name + ": PEs follow barrier.operation by themselves. Set it to \"by_hand\".");
  if (operation != "OP_BAR" && operation != "OP_EUR" && operation != "OP_EUR_B")
    throw ConfigError(name + ": operations are OP_BAR, OP_EUR and OP_EUR_B.");
  if (!(t.barrier[unit * t.routers + pe].children >> kNodePort & 1))
    throw ConfigError(name + ": the PE takes no part in that unit.");
  auto u = get_element<BarrierUnit>(engine, 0, kPeKind, pe, "barrier", unit);
  const bool joins = operation != "OP_EUR", finds = operation != "OP_BAR";
  if (u.state == BarrierState::kArm || (finds && u.state != BarrierState::kBar))
    throw ConfigError(name + " is not possible in state " + kStates[static_cast<u32>(u.state)] + ".");
  if (finds) u.send_eureka = 1;
  if (joins) {
    u.send_join = 1;
    u.armed = static_cast<Cycle>(engine.now());
  }
  u.state = joins ? BarrierState::kArm : BarrierState::kEur;
  set_element(engine, 0, kPeKind, pe, "barrier", u, unit);
}

BarrierPorts barrier_ports(const Engine& engine, const T3ePlan& plan, u32 node, u32 unit) {
  const Table& t = plan.table();
  check_unit(t, unit);
  const auto r = get_element<BarrierRegister>(engine, 0, kRouterKind, node, "barrier", unit);
  const u32 turned = get_element<Registers>(engine, 0, kRouterKind, node, "registers").turned;
  const auto names = [&](u32 set) {
    std::vector<std::string> list;
    for (; set; set &= set - 1) list.push_back(plan.port_name(node, lowest_bit(set), turned));
    return list;
  };
  return {names(r.children), names(r.joined), r.parent == kNoParent ? "" : plan.port_name(node, r.parent, turned)};
}

}  // namespace t3e
}  // namespace flitlab
