/// Barrier and eureka units of the T3E as its software sees them (paper, section 6).
#include "host/routers/t3e/plan.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/t3e/params.hpp"

namespace flitlab {
namespace {

void check_unit(const t3e::Table& t, u32 unit) {
  if (unit >= t.barrier_units)
    throw ConfigError("barrier unit " + std::to_string(unit) + " is not in use: barrier.units = " +
                      std::to_string(t.barrier_units) + (t.barrier_units ? ", numbered from 0." : ". Raise it."));
}

constexpr const char* kStates[] = {"S_BAR", "S_ARM", "S_EUR"};

}  // namespace

void T3ePlan::set_barrier_trees(const Experiment& e) {
  const auto& applications = machine_.staff.applications;
  const u32 root = e.u32_of(t3e::param::barrier.root);
  const std::vector<u8> sound(table_.routers, 0);
  for (u32 unit = 0; unit < table_.barrier_units; ++unit) {
    const t3e::Application& members = applications[unit % applications.size()];
    const auto tree =
        t3e::make_barrier_tree(machine_.shape, machine_.break_cycle ? sound : machine_.broken, members, root);
    for (u32 member : members)
      if (member != root && tree[member].parent == t3e::kNoParent)
        throw ConfigError("barrier.root = " + std::to_string(root) + " is not connected to node " +
                          std::to_string(member) + ". Choose another.");
    barrier_trees_.insert(barrier_trees_.end(), tree.begin(), tree.end());
  }
}

std::string T3ePlan::barrier_state(const Engine& engine, u32 pe, u32 unit) const {
  check_unit(table_, unit);
  std::vector<t3e::BarrierUnit> units(std::size_t{table_.terminals} * table_.barrier_units);
  engine.get_field(0, 1, layout_.kinds[1].field("barrier"), units.data());
  return kStates[static_cast<u32>(units[pe * table_.barrier_units + unit].state)];
}

void T3ePlan::barrier_operation(Engine& engine, u32 pe, u32 unit, const std::string& operation) const {
  check_unit(table_, unit);
  const std::string name = operation + " of PE " + std::to_string(pe) + " on barrier unit " + std::to_string(unit);
  if (table_.barrier_program != t3e::BarrierProgram::kByHand)
    throw ConfigError(name + ": PEs follow barrier.operation by themselves. Set it to \"by_hand\".");
  if (operation != "OP_BAR" && operation != "OP_EUR" && operation != "OP_EUR_B")
    throw ConfigError(name + ": operations are OP_BAR, OP_EUR and OP_EUR_B.");
  if (!(barrier_trees_[unit * table_.routers + pe].children >> t3e::kNodePort & 1))
    throw ConfigError(name + ": the PE takes no part in that unit.");
  const FieldInfo& info = layout_.kinds[1].field("barrier");
  std::vector<t3e::BarrierUnit> units(std::size_t{table_.terminals} * table_.barrier_units);
  engine.get_field(0, 1, info, units.data());
  t3e::BarrierUnit& u = units[pe * table_.barrier_units + unit];
  const bool joins = operation != "OP_EUR", finds = operation != "OP_BAR";
  if (u.state == t3e::BarrierState::kArm || (finds && u.state != t3e::BarrierState::kBar))
    throw ConfigError(name + " is not possible in state " + kStates[static_cast<u32>(u.state)] + ".");
  if (finds) u.send_eureka = 1;
  if (joins) {
    u.send_join = 1;
    u.armed = static_cast<Cycle>(engine.now());
  }
  u.state = joins ? t3e::BarrierState::kArm : t3e::BarrierState::kEur;
  engine.set_field(0, 1, info, units.data());
}

BarrierSnapshot T3ePlan::barrier_register(const Engine& engine, u32 node, u32 unit) const {
  check_unit(table_, unit);
  std::vector<t3e::BarrierRegister> all(std::size_t{table_.routers} * t3e::kBarrierUnits);
  engine.get_field(0, 0, layout_.kinds[0].field("barrier"), all.data());
  const t3e::BarrierRegister& r = all[node * t3e::kBarrierUnits + unit];
  const auto names = [&](u32 set) {
    std::vector<std::string> list;
    for (; set; set &= set - 1) list.push_back(port_name(lowest_bit(set)));
    return list;
  };
  return {names(r.children), names(r.joined), r.parent == t3e::kNoParent ? "" : port_name(r.parent)};
}

}  // namespace flitlab
