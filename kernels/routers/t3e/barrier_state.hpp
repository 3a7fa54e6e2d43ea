#pragma once
/// State of the virtual barrier and eureka networks (paper, section 6): a register of each unit in every router, and
/// the unit itself at every PE.
#include "kernels/common/layout.hpp"
#include "kernels/common/types.hpp"

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
  u8 children;
  u8 parent;       ///< port; kNoParent: this is the root
  u8 joined;       ///< children whose barrier signal has come
  u8 send_join;    ///< 1: a join is to go to the parent
  u8 send_eureka;  ///< 1: a eureka is to go to the parent
  u8 send_done;    ///< children that a completion is to go to
  u8 send_found;   ///< children that a eureka is to go to
  u8 pad;
};
static_assert(sizeof(BarrierRegister) == 8);
inline constexpr u8 kNoParent = 7;

/// States of a unit at a PE (paper, Figure 6).
enum class BarrierState : u8 { kBar, kArm, kEur };

/// A unit at a PE, and the program that uses it.
struct BarrierUnit {
  Cycle next;   ///< when the PE acts on the unit next
  Cycle armed;  ///< when it joined last
  u32 round;    ///< barriers completed
  BarrierState state;
  u8 send_join;  ///< 1: a join is to go to the router
  u8 send_eureka;
  u8 pad;
};
static_assert(sizeof(BarrierUnit) == 16);

/// What PEs do with their units.
enum class BarrierProgram : u8 { kBarrier, kEureka, kByHand };

/// Of a router.
struct BarrierFields {
  Field<u64> mail;                   ///< [S] byte p: barrier packet arriving at port p
  Field<u32> pending;                ///< [1] units with anything to send (bits)
  Field<BarrierRegister> registers;  ///< [32]
};

/// Of a terminal.
struct BarrierPeFields {
  Field<u8> mail;           ///< [S]
  Field<BarrierUnit> unit;  ///< [units]
};

}  // namespace flitlab::t3e
