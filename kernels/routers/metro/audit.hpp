#pragma once
/// Audit between cycles: every message has been accepted exactly once or is still being sent, and routers' sets of
/// ports agree with the states of their ports.
#include "kernels/routers/metro/endpoint.hpp"

namespace flitlab::metro {

struct AuditRouter {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    const auto node = v.routers[index];
    RouterControl& control = node.at(t.router_fields.control);
    u32 active = 0, used = 0;
    for (u32 p = 0; p < t.inputs; ++p) {
      const ForwardPort& f = node.at(t.router_fields.forward, p);
      active |= u32{f.state != PortState::kIdle} << p;
      if (f.state != PortState::kForward && f.state != PortState::kReverse) continue;
      if (used >> f.out & 1) raise_fault(control.fault, kFaultBookkeeping, t.inputs + f.out);  // port used twice
      used |= 1u << f.out;
    }
    if (active != control.active || used != control.used) raise_fault(control.fault, kFaultBookkeeping, kNoFaultPort);
  }
};

struct AuditEndpoint {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.terminals;
  }
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    const auto terminal = v.terminals[index];
    const Source& source = terminal.at(t.endpoint_fields.source);
    TerminalControl& control = terminal.at(t.terminal_fields.control);
    if (source.body) {
      count(*v.shard, Total::kAuditedPackets);
      count(*v.shard, Total::kAuditedFlits, source.body);
    }
    // An abandoned message may or may not have been accepted; a damaged message may have been accepted by chance.
    if (t.most_attempts || (t.damaging && t.crc.bits < 32)) return;
    for (u32 d = 0; d < t.terminals; ++d) {
      const u8 next = terminal.at(t.serial_fields.next_serial, d);
      const u8 taken = v.terminals[d].at(t.serial_fields.last_serial, index);
      const bool open = source.body && source.destination == d;
      if (taken != static_cast<u8>(next - 1) && !(open && taken == static_cast<u8>(next - 2)))
        raise_fault(control.fault, kFaultLostMessage, kNoFaultPort);
    }
  }
};

}  // namespace flitlab::metro
