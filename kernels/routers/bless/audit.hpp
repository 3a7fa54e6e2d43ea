#pragma once
/// Audit between cycles. It counts flits on the channels and packets by their last flits, for the conservation check,
/// and raises a fault if a flit is on a channel that does not exist or two reassembly buffers hold the same packet.
#include "kernels/routers/bless/interface.hpp"

namespace flitlab::bless {

struct AuditRouter {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    const auto node = v.routers[index];
    u32 flits = 0, last = 0;
    bool fits = true;
    for (u32 i = 0; i < (t.slot_mask + 1) * t.channels; ++i) {
      if (!node.at(t.router_fields.came, i)) continue;
      const Flit& flit = node.at(t.router_fields.mail, i);
      ++flits;
      last += is_last(flit);
      fits &= (t.wired[index] >> i % t.channels & 1) && flit.via < flit.flits;
    }
    count(*v.shard, Total::kAuditedFlits, flits);
    count(*v.shard, Total::kAuditedPackets, last);
    if (!fits) raise_fault(node.at(t.router_fields.control).fault, kFaultBookkeeping, kNoFaultPort);
  }
};

struct AuditTerminal {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.terminals;
  }
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    const InterfaceFields& f = t.interface_fields;
    const auto terminal = v.terminals[index];
    TerminalControl& control = terminal.at(t.terminal_fields.control);
    const Flit& sending = terminal.at(f.sending);
    const u32 open = terminal.at(f.reassembly).open;
    u32 packets = control.lane.left != 0;  // the packet being sent: its last flit has not left
    bool fits = open <= t.reassembly_buffers && sending.via + control.lane.left == sending.flits;
    for (u32 i = 0; fits && i < open; ++i) {
      const Partial& partial = terminal.at(f.partial, i);
      packets += partial.last_here;
      fits = partial.left && partial.last_here <= 1;
      for (u32 j = 0; j < i; ++j) {
        const Partial& other = terminal.at(f.partial, j);
        fits &= partial.src != other.src || partial.id != other.id;
      }
    }
    count(*v.shard, Total::kAuditedPackets, packets);
    if (!fits) raise_fault(control.fault, kFaultBookkeeping, kNoFaultPort);
  }
};

}  // namespace flitlab::bless
