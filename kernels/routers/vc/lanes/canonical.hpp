#pragma once
/// Conversion between scalar state and lane state, for hashes, checkpoints, inspection and audits.
#include "kernels/routers/vc/lanes/state.hpp"

namespace flitlab::vc::lanes {

/// Convert a round-robin pointer to the set of the indices at or above it, and back. A pointer may be one past the last
/// index.
FLITLAB_INLINE u8 from_pointer_on(u32 pointer) { return static_cast<u8>(0xFFu << pointer); }
FLITLAB_INLINE u8 pointer_of(u32 from_pointer_on) { return static_cast<u8>(lowest_bit(from_pointer_on | 0x100u)); }
/// Returns the member of a set of one member; 0 for an empty set, which stands for "no choice yet".
FLITLAB_INLINE u8 only_member(u32 set) { return static_cast<u8>(set ? lowest_bit(set) : 0); }

/// One router and its terminal in scalar state and in lane state.
template <class C, class S, class V>
struct Pair {
  const V& v;  ///< view of the scalar state
  const State<C, S>& s;
  u32 index;
  Cycle now;
  Block<C, S>& k = s.block[index / C::lanes];
  u32 lane = index % C::lanes;
  Item<V::width> router = v.routers[index], terminal = v.terminals[index];

  FLITLAB_HD const Peer& peer(u32 port) const { return v.t.peers[std::size_t{index} * S::ports + port]; }
  /// Return the inbox slot of the cycle `ahead` cycles from now, in scalar state (there) and in lane state (here).
  FLITLAB_HD u32 there(u32 ahead) const { return (now + ahead) & v.t.slot_mask; }
  FLITLAB_HD u32 here(u32 ahead) const { return s.slot(now + ahead); }
  /// Returns the number of inbox slots in scalar state.
  FLITLAB_HD u32 cycles() const { return v.t.slot_mask + 1; }
  using Position = FlitSlot<FlitsOf<C, S>::planes>;
  /// Return the location, in lane state, of the flit or credit that arrives at a port.
  FLITLAB_HD Position flit_to(u32 port, u32 slot) const {
    if (port == S::network_ports) return s.terminal_flit(s.inject_flits, slot, index);
    return {peer(port).item == kNone ? nullptr : s.flit_row(slot, peer(port).port) + peer(port).item, s.planes};
  }
  FLITLAB_HD u8* credit_to(u32 port, u32 slot) const {
    if (port == S::network_ports) return &s.terminal_byte(s.eject_credits, slot, index);
    return peer(port).item == kNone ? nullptr : s.credit_row(slot, peer(port).port) + peer(port).item;
  }

  /// Convert the number of an input VC between scalar state, which numbers t.vcs VCs per port, and lane state, which
  /// numbers S::vcs per port.
  FLITLAB_HD u32 to_lanes(u32 flat) const { return flat / v.t.vcs * S::vcs + flat % v.t.vcs; }
  FLITLAB_HD u32 from_lanes(u32 flat) const { return flat / S::vcs * v.t.vcs + flat % S::vcs; }
  /// Convert a round-robin pointer over input VCs: one past the VC served last, initially 0.
  FLITLAB_HD u32 pointer_to_lanes(u32 pointer) const { return pointer ? to_lanes(pointer - 1) + 1 : 0; }
  FLITLAB_HD u32 pointer_from_lanes(u32 pointer) const { return pointer ? from_lanes(pointer - 1) + 1 : 0; }
  /// Return the packet queue of (port, vc) in lane state and in scalar state, and the terminal's queue of arriving
  /// packets.
  FLITLAB_HD Packet* lane_queue(u32 port, u32 vc) const {
    return &s.ring[queue_of<C, S>(index, port, vc) * S::descriptors(v.t.ring)];
  }
  FLITLAB_HD Packet& scalar_queue_entry(u32 port, u32 vc, u32 position) const {
    return router.at(v.t.router_fields.ring, (port * v.t.vcs + vc) * v.t.ring + position);
  }
  FLITLAB_HD Packet& arriving(u32 vc, u32 position) const {
    return terminal.at(v.t.terminal_fields.ring, vc * v.t.ring + position);
  }

  FLITLAB_HD void load() const {
    const auto& t = v.t;
    lane_of(k.valid, lane) = 0xFF;
    const RouterControl& control = router.at(t.router_fields.control);
    s.fault[index] = control.fault;
    for (u32 port = 0; port < S::ports; ++port) {
      const auto set = [&](typename C::Row& to, u64 from) {
        lane_of(to, lane) = static_cast<u8>(vcs_of(t, from, port));
      };
      set(k.filled[port], control.flits);
      set(k.credited[port], control.credits);
      set(k.granted[port], control.granted);
      set(k.pending[port], control.pending);
      set(k.taken[port], control.taken);
      const PortState& state = router.at(t.router_fields.port, port);
      lane_of(k.first_vc[port], lane) = from_pointer_on(state.pick_vc);
      lane_of(k.first_input[port], lane) = from_pointer_on(state.pick_input);
      s.flits_sent[std::size_t{index} * S::ports + port] = state.flits_sent;
      for (u32 vc = 0; vc < t.vcs; ++vc) load(port, vc);
      for (u32 ahead = 0; ahead < cycles(); ++ahead) {
        flit_to(port, here(ahead)).write(byte_of_port(router.at(t.router_fields.flit_mail, there(ahead)), port));
        if (u8* credit = credit_to(port, here(ahead)))
          *credit = to_set(byte_of_port(router.at(t.router_fields.credit_mail, there(ahead)), port));
      }
    }
    load_terminal();
  }

  FLITLAB_HD void load(u32 port, u32 vc) const {
    const auto& t = v.t;
    const u32 flat = port * t.vcs + vc, bit = 1u << vc;
    for (u32 position = 0; position < t.ring; ++position)
      lane_queue(port, vc)[position] = scalar_queue_entry(port, vc, position);
    const InputVc& in = router.at(t.router_fields.input, flat);
    k.flits[port].set(lane, vc, in.flits);
    k.left[port].set(lane, vc, in.left);
    k.packets[port].set(lane, vc, in.packets);
    lane_of(k.first[port][vc], lane) = in.first;
    lane_of(k.out_port[port][vc], lane) = static_cast<u8>(1u << in.out_port);
    lane_of(k.out_vc[port][vc], lane) = static_cast<u8>(1u << in.out_vc);
    lane_of(k.pick_out[port][vc], lane) = in.pick;
    lane_of(k.allowed[port][vc], lane) = static_cast<u8>(in.allowed);
    s.ready_at[queue_of<C, S>(index, port, vc)] = in.ready_at;
    const bool later = in.stage == VcState::kRouting && in.ready_at == now + v.t.routing_delay;
    const bool waits = in.stage == VcState::kRouting || in.stage == VcState::kWaiting;
    const auto put = [&](typename C::Row& set, bool member) {
      lane_of(set, lane) = static_cast<u8>((lane_of(set, lane) & ~bit) | (member ? bit : 0));
    };
    put(k.fresh[port], later);
    put(k.due[port], waits && !later);
    put(k.routed[port], in.stage == VcState::kWaiting);
    put(k.heads[port], in.stage == VcState::kHead);
    const OutputVc& out = router.at(t.router_fields.output, flat);
    k.credits[port].set(lane, vc, out.credits);
    put(k.some_credits[port], out.credits);
    lane_of(k.owner[port][vc], lane) = static_cast<u8>(out.owner == kNoOwner ? 0 : to_lanes(out.owner));
    lane_of(k.pick_in[port][vc], lane) = static_cast<u8>(pointer_to_lanes(out.pick));
    lane_of(k.tail[port][vc], lane) = out.tail;
  }

  FLITLAB_HD void load_terminal() const {
    const auto& t = v.t;
    for (u32 ahead = 0; ahead < cycles(); ++ahead) {
      const u32 to = here(ahead), from = there(ahead);
      s.terminal_flit(s.eject_flits, to, index).write(terminal.at(t.terminal_fields.flit_mail, from));
      s.terminal_byte(s.inject_credits, to, index) = to_set(terminal.at(t.terminal_fields.credit_mail, from));
    }
    if constexpr (!kLaneTerminals<typename V::Table>) return;
    const TerminalControl& control = terminal.at(t.terminal_fields.control);
    s.terminal[index] = control;
    s.next_creation[index] = control.next.at;
    lane_of(k.queued, lane) = control.sent != control.created ? 0xFF : 0;
    lane_of(k.left_to_send, lane) = static_cast<u8>(control.lane.left);
    lane_of(k.send_vc, lane) = static_cast<u8>(1u << control.lane.vc);
    lane_of(k.first_send_vc, lane) = from_pointer_on(control.lane.pick);
    for (u32 vc = 0; vc < t.vcs; ++vc) {
      const InjectionVc& out = terminal.at(t.terminal_fields.output, vc);
      k.injection_credits.set(lane, vc, out.credits);
      lane_of(k.injection_tail[vc], lane) = out.tail;
      lane_of(k.arriving_first[vc], lane) = terminal.at(t.terminal_fields.first, vc);
    }
    for (u32 vc = 0; vc < t.vcs; ++vc)
      for (u32 position = 0; position < t.ring; ++position) lane_queue(S::ports, vc)[position] = arriving(vc, position);
  }

  FLITLAB_HD void store() const {
    const auto& t = v.t;
    RouterControl& control = router.at(t.router_fields.control);
    control = RouterControl{};
    control.fault = s.fault[index];
    for (u32 slot = 0; slot < cycles(); ++slot)
      router.at(t.router_fields.flit_mail, slot) = router.at(t.router_fields.credit_mail, slot) = 0;
    for (u32 port = 0; port < S::ports; ++port) {
      const auto set = [&](u64& to, u32 from) { to |= u64{from} << bit_of(t, port, 0); };
      set(control.flits, lane_of(k.filled[port], lane));
      set(control.credits, lane_of(k.credited[port], lane));
      set(control.granted, lane_of(k.granted[port], lane));
      set(control.pending, lane_of(k.pending[port], lane));
      set(control.waiting, u32{lane_of(k.fresh[port], lane)} | lane_of(k.due[port], lane));
      set(control.taken, lane_of(k.taken[port], lane));
      PortState& state = router.at(t.router_fields.port, port);
      state = PortState{};
      state.pick_vc = pointer_of(lane_of(k.first_vc[port], lane));
      state.pick_input = pointer_of(lane_of(k.first_input[port], lane));
      state.flits_sent = s.flits_sent[std::size_t{index} * S::ports + port] + lane_of(k.sent[port], lane);
      for (u32 vc = 0; vc < t.vcs; ++vc) store(port, vc);
      const bool to_terminal = port == S::network_ports;
      // Slots are overwritten, not cleared, so slots beyond the delay hold flits that have already arrived.
      for (u32 ahead = 0; ahead < (to_terminal ? t.inject_delay : t.link_delay); ++ahead)
        if (const u8 flit = flit_to(port, here(ahead)).read())
          put_byte(router.at(t.router_fields.flit_mail, there(ahead)), port, flit);
      for (u32 ahead = 0; ahead < t.credit_delay; ++ahead)
        if (const u8* credit = credit_to(port, here(ahead)))
          put_byte(router.at(t.router_fields.credit_mail, there(ahead)), port, to_number(*credit));
    }
    store_terminal();
  }

  FLITLAB_HD VcState stage_of(u32 port, u32 vc) const {
    const auto in = [&](const typename C::Row& set) { return (lane_of(set, lane) >> vc & 1) != 0; };
    if (in(k.fresh[port]) || (in(k.due[port]) && !in(k.routed[port]))) return VcState::kRouting;
    if (in(k.due[port])) return VcState::kWaiting;
    if (in(k.heads[port])) return VcState::kHead;
    return in(k.granted[port]) || in(k.pending[port]) ? VcState::kBody : VcState::kIdle;
  }

  FLITLAB_HD void store(u32 port, u32 vc) const {
    const auto& t = v.t;
    const u32 flat = port * t.vcs + vc;
    for (u32 position = 0; position < t.ring; ++position)
      scalar_queue_entry(port, vc, position) = lane_queue(port, vc)[position];
    InputVc& in = router.at(t.router_fields.input, flat);
    in.flits = static_cast<u16>(k.flits[port].get(lane, vc));
    in.left = static_cast<u16>(k.left[port].get(lane, vc));
    in.packets = static_cast<u8>(k.packets[port].get(lane, vc));
    in.first = lane_of(k.first[port][vc], lane);
    if (lane_of(k.passed[port], lane) >> vc & 1) in.first = next_position(in.first, t.ring);
    in.out_port = only_member(lane_of(k.out_port[port][vc], lane));
    in.out_vc = only_member(lane_of(k.out_vc[port][vc], lane));
    in.pick = lane_of(k.pick_out[port][vc], lane);
    in.allowed = lane_of(k.allowed[port][vc], lane);
    in.stage = stage_of(port, vc);
    in.ready_at = s.ready_at[queue_of<C, S>(index, port, vc)];
    if (in.stage == VcState::kRouting) in.ready_at = now + (lane_of(k.fresh[port], lane) >> vc & 1);
    OutputVc& out = router.at(t.router_fields.output, flat);
    out = OutputVc{};
    out.credits = static_cast<u16>(k.credits[port].get(lane, vc));
    const bool taken = lane_of(k.taken[port], lane) >> vc & 1;
    out.owner = taken ? static_cast<u16>(from_lanes(lane_of(k.owner[port][vc], lane))) : kNoOwner;
    out.pick = static_cast<u16>(pointer_from_lanes(lane_of(k.pick_in[port][vc], lane)));
    out.tail = lane_of(k.tail[port][vc], lane);
    router.at(t.router_fields.claim, flat) = kNoOwner;
  }

  FLITLAB_HD void store_terminal() const {
    const auto& t = v.t;
    for (u32 ahead = 0; ahead < cycles(); ++ahead) {
      const u32 from = here(ahead), to = there(ahead);
      terminal.at(t.terminal_fields.flit_mail, to) =
          ahead < t.eject_delay ? s.terminal_flit(s.eject_flits, from, index).read() : u8{0};
      terminal.at(t.terminal_fields.credit_mail, to) =
          ahead < t.credit_delay ? to_number(s.terminal_byte(s.inject_credits, from, index)) : u8{0};
    }
    if constexpr (!kLaneTerminals<typename V::Table>) return;
    TerminalControl& control = terminal.at(t.terminal_fields.control);
    control = s.terminal[index];
    control.lane.left = lane_of(k.left_to_send, lane);
    control.lane.vc = only_member(lane_of(k.send_vc, lane));
    const u8 first = pointer_of(lane_of(k.first_send_vc, lane));
    control.lane.pick = first == t.vcs ? u8{0} : first;
    for (u32 vc = 0; vc < t.vcs; ++vc) {
      InjectionVc& out = terminal.at(t.terminal_fields.output, vc);
      out = InjectionVc{};
      out.credits = static_cast<u16>(k.injection_credits.get(lane, vc));
      out.tail = lane_of(k.injection_tail[vc], lane);
      terminal.at(t.terminal_fields.first, vc) = lane_of(k.arriving_first[vc], lane);
    }
    for (u32 vc = 0; vc < t.vcs; ++vc)
      for (u32 position = 0; position < t.ring; ++position) arriving(vc, position) = lane_queue(S::ports, vc)[position];
  }
};

}  // namespace flitlab::vc::lanes
