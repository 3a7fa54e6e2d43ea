/// Search for barrier units that have stopped in a state of a T3E (paper, section 6). A unit progresses by itself while
/// one of its messages is in transit or the program of one of its PEs is about to act. Otherwise it waits for software.
/// This is correct if the registers of its routers agree with the states of its PEs. If they disagree, a message was
/// lost, and the unit has stopped.
#include <algorithm>

#include "host/plan/stopped.hpp"
#include "host/routers/t3e/plan.hpp"

namespace flitlab {
namespace {

using t3e::BarrierRegister;
using t3e::BarrierState;
using t3e::BarrierUnit;
using t3e::kNodePort;

class StoppedSearch {
 public:
  StoppedSearch(const T3ePlan& plan, const std::vector<std::byte>& state, Cycle now)
      : plan_(plan),
        t_(plan.table()),
        now_(now),
        routers_{const_cast<std::byte*>(state.data()), plan.layout().kinds[0].item_bytes},
        pes_{const_cast<std::byte*>(state.data()) + plan.layout().kind_offset(1, 1),
             plan.layout().kinds[1].item_bytes} {
    find_messages();
  }

  /// Returns "" if a unit progresses or waits for software. Otherwise returns a clause that names what the unit waits
  /// for.
  std::string stopped(u32 unit) const {
    if (moving_ >> unit & 1) return "";
    std::vector<u32> members;
    for (u32 pe = 0; pe < t_.routers; ++pe)
      if (tree(unit, pe).children >> kNodePort & 1) members.push_back(pe);
    if (members.empty() || std::any_of(members.begin(), members.end(), [&](u32 pe) { return will_act(unit, pe); }))
      return "";
    std::string why = lost_down(unit, members);
    if (why.empty()) why = lost_up(unit);
    if (why.empty() && t_.barrier_program != t3e::BarrierProgram::kByHand)
      why = pe_name(members.front()) + " waits for a PE that never acts";
    return why.empty() ? "" : why + broken_link(unit);
  }

 private:
  const BarrierRegister& tree(u32 unit, u32 node) const { return t_.barrier[unit * t_.routers + node]; }
  const BarrierRegister& register_of(u32 unit, u32 node) const {
    return routers_[node].at(t_.barrier_fields.registers, unit);
  }
  const BarrierUnit& unit_of(u32 unit, u32 pe) const { return pes_[pe].at(t_.barrier_pe_fields.unit, unit); }
  static std::string pe_name(u32 pe) { return "PE " + std::to_string(pe); }

  /// Finds the units that have a message on a link, in a register or at a PE.
  void find_messages() {
    for (u32 n = 0; n < t_.routers; ++n) {
      for (u32 slot = 0; slot <= t_.slot_mask; ++slot) {
        for (u64 packets = routers_[n].at(t_.barrier_fields.mail, slot); packets; packets >>= 8)
          if (packets & t3e::kBarrierMark) moving_ |= 1u << (packets & 31);
        if (const u8 packet = pes_[n].at(t_.barrier_pe_fields.mail, slot)) moving_ |= 1u << (packet & 31);
      }
      moving_ |= routers_[n].at(t_.barrier_fields.pending);
      for (u32 unit = 0; unit < t_.barrier_units; ++unit)
        if (unit_of(unit, n).send_join | unit_of(unit, n).send_eureka) moving_ |= 1u << unit;
    }
  }

  /// Returns whether the program of a PE will act on a unit without waiting.
  bool will_act(u32 unit, u32 pe) const {
    const BarrierUnit& u = unit_of(unit, pe);
    return u.state != BarrierState::kArm && u.next >= now_ && u.next != kNever;
  }

  /// Returns a clause about a PE that has missed a message down the tree (a completion or a eureka), or "".
  std::string lost_down(u32 unit, const std::vector<u32>& members) const {
    u32 rounds = 0;
    for (u32 pe : members) rounds = std::max(rounds, unit_of(unit, pe).round);
    for (u32 pe : members)
      if (const u32 round = unit_of(unit, pe).round; round != rounds)
        return pe_name(pe) + " waits for the completion of barrier " + std::to_string(round + 1) +
               ", which other PEs have received";
    const auto found = [&](u32 pe) {  // with by_hand, a PE in S_ARM may have joined a barrier without a eureka
      const BarrierState state = unit_of(unit, pe).state;
      return state == BarrierState::kEur ||
             (state == BarrierState::kArm && t_.barrier_program == t3e::BarrierProgram::kEureka);
    };
    if (std::none_of(members.begin(), members.end(), found)) return "";
    for (u32 pe : members)
      if (unit_of(unit, pe).state == BarrierState::kBar)
        return pe_name(pe) + " waits in S_BAR for a eureka that other PEs have signalled or received";
    return "";
  }

  /// Returns a clause about a router that has missed a join, or "". A join is missed if the router's PE, or all PEs at
  /// and below a child router, have joined, and the router has not received this.
  std::string lost_up(u32 unit) const {
    std::string why;
    for (u32 n = 0; n < t_.routers && why.empty(); ++n)
      if (tree(unit, n).parent == t3e::kNoParent && tree(unit, n).children) joined(unit, n, why);
    return why;
  }

  /// Returns whether all PEs at and below a node have joined. Sets `why` if a router there has missed a join.
  bool joined(u32 unit, u32 node, std::string& why) const {
    const BarrierRegister& r = tree(unit, node);
    u32 children = 0;
    for (u32 set = r.children; set; set &= set - 1) {
      const u32 port = lowest_bit(set);
      const bool has = port == kNodePort ? unit_of(unit, node).state == BarrierState::kArm
                                         : joined(unit, t_.peers[node * t3e::kPorts + port].item, why);
      children |= u32{has} << port;
    }
    const bool all = children == r.children;
    const u32 received = register_of(unit, node).joined;
    if (!why.empty() || (all && !received && r.parent != t3e::kNoParent))
      return all;  // the router has sent its join to the parent
    if (all && !received)
      why = "all PEs have joined, but the root, router " + plan_.router_name(node) + ", has not completed the barrier";
    else if (const u32 missed = children & ~received)
      why = "router " + plan_.router_name(node) + " waits for the join of " + child_name(node, lowest_bit(missed));
    return all;
  }

  std::string child_name(u32 node, u32 port) const {
    if (port == kNodePort) return pe_name(node) + ", which is in S_ARM";
    return "router " + plan_.router_name(t_.peers[node * t3e::kPorts + port].item) +
           ", below which all PEs are in S_ARM";
  }

  /// Returns a note on a broken link of the unit's tree, or "".
  std::string broken_link(u32 unit) const {
    for (u32 n = 0; n < t_.routers; ++n)
      if (const u32 up = tree(unit, n).parent; up != t3e::kNoParent && !t3e::link_works(t_, n, up, now_))
        return " (the unit's tree crosses the broken link " + plan_.port_name(up) + " of router " +
               plan_.router_name(n) + ")";
    return "";
  }

  const T3ePlan& plan_;
  const t3e::Table& t_;
  Cycle now_;
  Items<1> routers_, pes_;
  u32 moving_ = 0;  ///< units with a message in transit (bits)
};

}  // namespace

std::string T3ePlan::find_stopped(const std::vector<std::byte>& state, Cycle now) const {
  if (!table_.barrier_units) return "";
  const StoppedSearch watch(*this, state, now);
  std::vector<StoppedUnit> units;
  for (u32 unit = 0; unit < table_.barrier_units; ++unit)
    if (std::string why = watch.stopped(unit); !why.empty()) units.push_back({std::to_string(unit), std::move(why)});
  return describe_stopped("barrier unit", units);
}

}  // namespace flitlab
