#pragma once
/// State of the virtual barrier and eureka networks (paper, section 6): a register of each unit in every router, and
/// the unit itself at every PE.
#include "kernels/common/fields.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/types.hpp"
#include "kernels/routers/t3e/choices.hpp"

namespace flitlab::t3e {

inline constexpr u32 kBarrierUnits = 32;

/// What a one-flit barrier packet says. In mail it is 0x80 | message << 5 | unit.
enum class BarrierMessage : u8 {
  kJoin,    ///< up: all PEs below have joined the barrier
  kEureka,  ///< up: a PE below has found something
  kDone,    ///< down: all have joined
  kFound    ///< down: somebody has found something
};
inline constexpr u8 kBarrierMark = 0x80;
FLITLAB_HD constexpr u8 barrier_mail(BarrierMessage message, u32 unit) {
  return static_cast<u8>(kBarrierMark | static_cast<u32>(message) << 5 | unit);
}

/// Register of a unit in a router: a node of the unit's spanning tree. Sets of ports are bits; the PE is a port as
/// well.
struct BarrierRegister {
  FLITLAB_MEMBERS(BarrierRegister,
    (u8, children, "", "ports below in the tree"),
    (u8, parent, "", "port; kNoParent: this is the root"),
    (u8, joined, "", "children whose barrier signal has come"),
    (u8, send_join, "", "1: a join is to go to the parent"),
    (u8, send_eureka, "", "1: a eureka is to go to the parent"),
    (u8, send_done, "", "children that a completion is to go to"),
    (u8, send_found, "", "children that a eureka is to go to, before any completion"),
    (u8, found_after, "", "children that a eureka is to go to after the completion in send_done"))
};
static_assert(sizeof(BarrierRegister) == 8);
inline constexpr u8 kNoParent = 7;

/// States of a unit at a PE (paper, Figure 6).
enum class BarrierState : u8 { kBar, kArm, kEur };

/// A unit at a PE, and the program that uses it.
struct BarrierUnit {
  FLITLAB_MEMBERS(BarrierUnit,
    (Cycle, next, "cycle", "when the PE acts on the unit next"),
    (Cycle, armed, "cycle", "when it joined last"),
    (u32, round, "", "barriers completed"),
    (BarrierState, state, "", "BarrierState"),
    (u8, send_join, "", "1: a join is to go to the router"),
    (u8, send_eureka, "", "1: a eureka is to go to the router"),
    (u8, pad))
};
static_assert(sizeof(BarrierUnit) == 16);

/// Of a router that has barrier units.
struct BarrierFields {
  FLITLAB_FIELDS(BarrierFields,
    (u64, mail, t.barrier_units ? t.slot_mask + 1 : 0, "", "[slot] byte p: barrier packet arriving at port p",
      "barrier_mail"),
    (u32, pending, t.barrier_units ? 1 : 0, "", "units with anything to send, as bits", "barrier_pending"),
    (BarrierRegister, registers, t.barrier_units ? kBarrierUnits : 0, "", "[unit] nodes of the units' trees",
      "barrier"))
};

/// Of a terminal of such a router.
struct BarrierPeFields {
  FLITLAB_FIELDS(BarrierPeFields,
    (u8, mail, t.barrier_units ? t.slot_mask + 1 : 0, "", "[slot] barrier packet arriving", "barrier_mail"),
    (BarrierUnit, unit, t.barrier_units, "", "[unit] units in use", "barrier"))
};

}  // namespace flitlab::t3e
