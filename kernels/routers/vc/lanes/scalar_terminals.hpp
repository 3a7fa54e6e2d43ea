#pragma once
/// Terminals with scalar state (one terminal at a time) at routers with lane state. Closed-loop traffic uses them,
/// because there terminals do more work than routers. They run one by one (kernels/traffic/terminal.hpp), and only
/// their flits and credits are converted.
#include "kernels/routers/vc/lanes/state.hpp"
#include "kernels/routers/vc/terminal_link.hpp"
#include "kernels/traffic/terminal.hpp"

namespace flitlab::vc::lanes {

/// View for a terminal whose router has lane state.
template <class C, class S, class T>
struct ScalarTerminalView : vc::View<1, false, T> {
  const State<C, S>& lanes;

  ScalarTerminalView(const vc::View<1, false, T>& view, const State<C, S>& state)
      : vc::View<1, false, T>(view), lanes(state) {}
};

// Interface between terminals and routers, as kernels/traffic/injection.hpp requires it.

template <class C, class S, class T>
FLITLAB_INLINE Packet& injection_descriptor(const ScalarTerminalView<C, S, T>& v, u32 index, u32 vc, u32 position) {
  return v.lanes.ring[queue_of<C, S>(S::ports_of(v.t), index, S::network_ports_of(v.t), vc) * S::descriptors(v.t.ring) + position];
}

template <class C, class S, class T>
FLITLAB_INLINE void send_to_router(const ScalarTerminalView<C, S, T>& v, u32 index, u8 flit_byte, Cycle now) {
  v.lanes.terminal_flit(v.lanes.inject_flits, (now + v.t.inject_delay) & v.t.slot_mask, index).write(flit_byte);
}

template <class C, class S, class T>
FLITLAB_INLINE void credit_to_router(const ScalarTerminalView<C, S, T>& v, u32 index, u32 vc, Cycle now) {
  v.lanes.terminal_element(v.lanes.eject_credits, (now + v.t.credit_delay) & v.t.slot_mask, index) = C::only(vc);
}

/// One cycle of the terminals of a block.
template <class C, class S, class V>
FLITLAB_INLINE void step_scalar_terminals(const V& v, const State<C, S>& s, u32 b, Cycle now) {
  const auto& t = v.t;
  const u32 slot = now & t.slot_mask;
  C::for_each(C::members(s.terminal_flits(s.eject_flits, slot, b).any()), [&](u32 lane) {
    const u32 index = b * C::lanes + lane;
    v.terminals[index].at(t.terminal_fields.flit_mail, slot) = s.terminal_flit(s.eject_flits, slot, index).read();
  });
  C::for_each(C::members(s.of_terminals(s.inject_credits, slot, b)), [&](u32 lane) {
    const u32 index = b * C::lanes + lane;
    v.terminals[index].at(t.terminal_fields.credit_mail, slot) =
        to_number(s.terminal_element(s.inject_credits, slot, index));
  });
  s.put_terminal_flits(s.inject_flits, (now + t.inject_delay) & t.slot_mask, b, {});
  s.of_terminals(s.eject_credits, (now + t.credit_delay) & t.slot_mask, b) = typename C::Value{};
  const ScalarTerminalView<C, S, typename V::Table> scalar_view(v, s);
  C::for_each(C::members(s.block[b].valid),
              [&](u32 lane) { TerminalPhase::run(scalar_view, b * C::lanes + lane, now); });
}

}  // namespace flitlab::vc::lanes
