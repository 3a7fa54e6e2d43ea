#pragma once
/// Terminals with scalar state (one terminal at a time) at routers with lane state. Several classes of packets use
/// them; traces, because the host hands packets to terminals; and on GPUs also closed loops. They run one by one
/// (kernels/traffic/terminal.hpp), and only their flits and credits are converted.
#include "kernels/routers/vc/lanes/state.hpp"
#include "kernels/routers/vc/terminal_link.hpp"
#include "kernels/traffic/terminal.hpp"

namespace flitlab::vc::lanes {

/// View for a terminal whose router has lane state. `V`: view of the engine.
template <class C, class S, class V>
struct ScalarTerminalView : V {
  const State<C, S>& lanes;

  FLITLAB_HD ScalarTerminalView(const V& view, const State<C, S>& state) : V(view), lanes(state) {}
};

/// Returns the place of a terminal in the arrays of lane state.
template <class C, class S, class T>
FLITLAB_INLINE u32 place_of_terminal(const State<C, S>& s, const T& t, u32 index) {
  const u32 concentration = S::concentration_of(t), router = index / concentration;
  return s.place_of(router / C::lanes, index % concentration, router % C::lanes);
}

// Interface between terminals and routers, as kernels/traffic/injection.hpp requires it.

template <class C, class S, class V>
FLITLAB_INLINE Packet& injection_descriptor(const ScalarTerminalView<C, S, V>& v, u32 index, u32 vc, u32 position) {
  const u32 concentration = S::concentration_of(v.t), port = S::network_ports_of(v.t) + index % concentration;
  return v.lanes.ring[queue_of<C, S>(v.t, index / concentration, port, vc) * S::descriptors(v.t.ring) + position];
}

template <class C, class S, class V>
FLITLAB_INLINE void send_to_router(const ScalarTerminalView<C, S, V>& v, u32 index, u8 flit_byte, Cycle now) {
  v.lanes
      .terminal_flit(v.lanes.inject_flits, v.lanes.slot(now + v.t.inject_delay), place_of_terminal(v.lanes, v.t, index))
      .write(flit_byte);
}

template <class C, class S, class V>
FLITLAB_INLINE void credit_to_router(const ScalarTerminalView<C, S, V>& v, u32 index, u32 vc, Cycle now) {
  v.lanes.terminal_element(v.lanes.eject_credits, v.lanes.slot(now + v.t.credit_delay),
                           place_of_terminal(v.lanes, v.t, index)) = C::only(vc);
}

/// Returns the first cycle in which a terminal has work although no flit or credit arrives; 0: in every cycle. With
/// scalar terminals, `next_creation` of lane state has these cycles.
template <class V>
FLITLAB_INLINE Cycle next_work(const V& v, u32 index, Cycle now) {
  if (v.t.mode != TrafficMode::kTrace && v.t.mode != TrafficMode::kClasses) return 0;
  const auto terminal = v.terminals[index];
  const TerminalControl& control = terminal.at(v.t.terminal_fields.control);
  if (control.lane.left || control.sent != control.created) return 0;
  if (v.t.mode == TrafficMode::kClasses) return control.next.at;
  if (has_queued_program(v)) {
    ProgramPacket packet;
    return next_program_packet(v, terminal, index, now, packet) ? 0 : program_wakes(v, terminal, index, now);
  }
  Cycle next = kNever;
  for (u32 c = 0; c < v.t.traffic.classes; ++c)
    if (const Cycle first = next_creation_from_trace(v, terminal, c); first < next) next = first;
  return next;
}

/// One cycle of the terminals of a block.
template <class C, class S, class V>
FLITLAB_INLINE void step_scalar_terminals(const V& v, const State<C, S>& s, u32 b, Cycle now) {
  const auto& t = v.t;
  const u32 slot = s.slot(now), scalar_slot = now & t.slot_mask;
  const ScalarTerminalView<C, S, V> scalar_view(v, s);
  for (u32 i = 0; i < S::concentration_of(t); ++i) {
    const u32 row = s.row_of(b, i);
    Cycle* next = s.next_creation + std::size_t{row} * C::lanes;
    const auto flits = C::members(s.terminal_flits(s.eject_flits, slot, row).any());
    const auto credits = C::members(s.of_terminals(s.inject_credits, slot, row));
    C::for_each(flits, [&](u32 lane) {
      v.terminals[s.terminal_of(b, i, lane)].at(t.terminal_fields.flit_mail, scalar_slot) =
          s.terminal_flit(s.eject_flits, slot, s.place_of(b, i, lane)).read();
    });
    C::for_each(credits, [&](u32 lane) {
      v.terminals[s.terminal_of(b, i, lane)].at(t.terminal_fields.credit_mail, scalar_slot) =
          to_number(s.terminal_element(s.inject_credits, slot, s.place_of(b, i, lane)));
    });
    s.put_terminal_flits(s.inject_flits, s.slot(now + t.inject_delay), row, {});
    s.of_terminals(s.eject_credits, s.slot(now + t.credit_delay), row) = typename C::Value{};
    C::for_each(C::members(s.terminals(b, i).valid) & (C::at_most(next, now) | flits | credits), [&](u32 lane) {
      const u32 index = s.terminal_of(b, i, lane);
      TerminalPhase::run(scalar_view, index, now);
      next[lane] = next_work(scalar_view, index, now);
    });
  }
}

}  // namespace flitlab::vc::lanes
