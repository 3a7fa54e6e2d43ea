#pragma once
/// State of the virtual barrier and eureka networks (paper, section 6). Each unit has a register in every router, and a
/// state at every PE.
#include "kernels/common/fields.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/types.hpp"
#include "kernels/routers/t3e/choices.hpp"

namespace flitlab::t3e {

inline constexpr u32 kBarrierUnits = 32;

/// Message of a one-flit barrier packet, up or down the tree of a unit. In an inbox it is the byte 0x80 | message << 5
/// | unit.
enum class BarrierMessage : u8 {
  kJoin,    ///< up: all PEs below have joined the barrier
  kEureka,  ///< up: a PE below has signalled a eureka
  kDone,    ///< down: all PEs have joined the barrier
  kFound    ///< down: a PE has signalled a eureka
};
inline constexpr u8 kBarrierMark = 0x80;
FLITLAB_HD constexpr u8 barrier_byte(BarrierMessage message, u32 unit) {
  return static_cast<u8>(kBarrierMark | static_cast<u32>(message) << 5 | unit);
}

/// Register of a unit in a router: a node of the unit's spanning tree. Sets of ports are bits and include the PE's
/// port.
struct BarrierRegister {
  FLITLAB_MEMBERS(BarrierRegister,
    (u8, children, "", "ports to the children in the tree"),
    (u8, parent, "", "port to the parent; kNoParent: root, or outside the tree"),
    (u8, joined, "", "children whose join has arrived"),
    (u8, send_join, "", "1: a join waits to be sent to the parent"),
    (u8, send_eureka, "", "1: a eureka waits to be sent to the parent"),
    (u8, send_done, "", "children to which a completion is to be sent"),
    (u8, send_found, "", "children to which a eureka is to be sent, before any completion"),
    (u8, found_after, "", "children to which a eureka is to be sent after the completion in send_done"))
};
static_assert(sizeof(BarrierRegister) == 8);
inline constexpr u8 kNoParent = 7;

/// States of a unit at a PE (paper, Figure 6).
enum class BarrierState : u8 { kBar, kArm, kEur };

/// A unit at a PE, with the state of the program that uses it.
struct BarrierUnit {
  FLITLAB_MEMBERS(BarrierUnit,
    (Cycle, next, "cycle", "the PE's next action on the unit"),
    (Cycle, armed, "cycle", "the PE's last join"),
    (u32, round, "", "barriers completed"),
    (BarrierState, state, "", "BarrierState"),
    (u8, send_join, "", "1: a join waits to be sent to the router"),
    (u8, send_eureka, "", "1: a eureka waits to be sent to the router"),
    (u8, pad))
};
static_assert(sizeof(BarrierUnit) == 16);

/// Fields of a router, if barrier units are in use.
struct BarrierFields {
  FLITLAB_FIELDS(BarrierFields,
    (u64, mail, t.barrier_units ? t.slot_mask + 1 : 0, "", "[slot] byte p: barrier packet arriving at port p",
      "barrier_mail"),
    (u32, pending, t.barrier_units ? 1 : 0, "", "units with messages to send (bits)", "barrier_pending"),
    (BarrierRegister, registers, t.barrier_units ? kBarrierUnits : 0, "", "[unit] registers: nodes of the units' trees",
      "barrier"))
};

/// Fields of a terminal, if barrier units are in use.
struct BarrierPeFields {
  FLITLAB_FIELDS(BarrierPeFields,
    (u8, mail, t.barrier_units ? t.slot_mask + 1 : 0, "", "[slot] barrier packet arriving", "barrier_mail"),
    (BarrierUnit, unit, t.barrier_units, "", "[unit] units in use", "barrier"))
};

}  // namespace flitlab::t3e
