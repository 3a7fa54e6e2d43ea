#pragma once
/// State before cycle 0: routers as configured, wires undriven, first messages scheduled.
#include "kernels/routers/metro/endpoint.hpp"

namespace flitlab::metro {

struct StartRouter {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    const auto node = v.routers[index];
    const RouterSetup& setup = t.setup[index / t.slices];
    RouterControl& control = node.at(t.router_fields.control);
    control.forward_on = control.backward_on = ~u32{0};
    control.fast = setup.fast;
    control.swallow = setup.swallow;
    control.log_radix = setup.log_radix;
    control.log_dilation = setup.log_dilation;
    for (u32 p = 0; p < t.ports(); ++p)
      node.at(t.router_fields.turn_delay, p) = t.wires[index / t.slices * t.ports() + p].delay;
  }
};

struct StartEndpoint {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.terminals;
  }
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    const auto terminal = v.terminals[index];
    TerminalControl& control = terminal.at(t.terminal_fields.control);
    control.next = first_creation(t.traffic, *v.row, index);
    if (never_sends(t.traffic, index)) control.next.at = kNever;
    control.oldest = control.next;
    u32 links = 0;
    for (u32 l = 0; l < t.links; ++l)
      if (t.endpoint_wires[index * 2 * t.links + l].item != kNone) links |= 1u << l;
    terminal.at(t.endpoint_fields.links_on) = links;
    for (u32 i = 0; i < t.terminals; ++i) terminal.at(t.serial_fields.last_serial, i) = 0xFF;
  }
};

}  // namespace flitlab::metro
