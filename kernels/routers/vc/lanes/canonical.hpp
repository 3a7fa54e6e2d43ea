#pragma once
/// Conversion between scalar state and lane state, for hashes, checkpoints, inspection and audits.
///
/// Conversion has an overload of `shape` for each field of a router and of a terminal, and an overload of `form` for
/// each member of these fields. The two directions follow from these lists and from the scalar state's lists of members
/// (kernels/common/fields.hpp), so a field or member without an overload does not compile. The rest of a Block is 0
/// after a load (`asleep`, `passed`, `sent`).
#include "kernels/routers/vc/lanes/state.hpp"
#include "kernels/traffic/closed_loop.hpp"

namespace flitlab::vc::lanes {

/// Index of an element in a field: port, virtual channel (or slot of an inbox), and position in a packet queue (or word
/// of a set or slot). Also the sizes of these dimensions.
struct At {
  u32 port, vc, position;
};
/// The shape of a field that lane state does not replace.
struct NotInLanes {};

/// Conversion of one router and its terminals: from scalar state to lane state (kLoad), or back.
template <class C, class S, class V, bool kLoad>
struct Conversion {
  const V& v;  ///< view of the scalar state
  const State<C, S>& s;
  const Wiring& wiring;
  u32 index;
  Cycle now;
  u32 i = 0;  ///< terminal of the router that is converted
  Block<C, S>& k = s.block[index / C::lanes];
  u32 lane = index % C::lanes;
  using Row = typename C::Row;
  using E = typename C::Element;
  static constexpr E kAll = static_cast<E>(~E{0});
  using Rows = Row[S::ports];

  /// Inlined, so that the members stay in registers.
  FLITLAB_INLINE void convert() const {
    convert_fields(RouterFields::pointers(), v.t.router_fields, v.routers[index]);
    const u32 concentration = S::concentration_of(v.t);
    const u32 terminals = index < v.t.terminal_routers ? concentration : 0;
    for (u32 terminal = 0; terminal < terminals; ++terminal) {
      const Conversion of_terminal{v, s, wiring, index, now, terminal};
      if (kLoad) of_terminal.element(of_terminal.terminals().valid) = kAll;
      of_terminal.convert_fields(TerminalFields::pointers(), v.t.terminal_fields,
                                 v.terminals[index * concentration + terminal]);
    }
  }

 private:
  template <auto... kFields, class Fields>
  FLITLAB_INLINE void convert_fields(Pointers<kFields...>, Fields fields, Item<V::width> item) const {
    (convert_field(Of<kFields>{}, fields, item), ...);
  }
  template <auto kField, class Fields>
  FLITLAB_INLINE void convert_field(Of<kField> field, const Fields& fields, Item<V::width> item) const {
    const auto all = shape(field);
    if constexpr (std::is_same_v<decltype(all), const At>) {
      u32 i = 0;
      for (u32 port = 0; port < all.port; ++port)
        for (u32 vc = 0; vc < all.vc; ++vc)
          for (u32 position = 0; position < all.position; ++position)
            convert(field, item.at(fields.*kField, i++), At{port, vc, position});
    }
  }
  /// Converts a number, or each member of a record that has no form as a whole.
  template <auto kPointer, class X>
  FLITLAB_INLINE void convert(Of<kPointer> pointer, X& x, At at) const {
    if constexpr (std::is_class_v<X> && !requires { this->form(pointer, x, at); })
      convert_members(X::pointers(), x, at);
    else
      form(pointer, x, at);
  }
  template <auto... kMembers, class X>
  FLITLAB_INLINE void convert_members(Pointers<kMembers...>, X& x, At at) const {
    (convert(Of<kMembers>{}, x.*kMembers, at), ...);
  }

  // Fields of a router.
  using R = RouterFields;
  FLITLAB_HD At shape(Of<&R::control>) const { return {1, 1, v.t.set_words}; }
  FLITLAB_HD At shape(AnyOf<&R::flit_mail, &R::credit_mail>) const { return {1, v.t.slot_mask + 1, v.t.port_words}; }
  FLITLAB_HD At shape(Of<&R::port>) const { return {ports(), 1, 1}; }
  FLITLAB_HD At shape(AnyOf<&R::input, &R::output, &R::claim>) const { return {ports(), v.t.vcs, 1}; }
  FLITLAB_HD NotInLanes shape(AnyOf<&R::connection, &R::queues, &R::queue, &R::owed, &R::pick_of_port>) const {
    return {};
  }
  FLITLAB_HD At shape(Of<&R::ring>) const { return {ports(), v.t.vcs, v.t.ring}; }
  FLITLAB_HD auto shape(Of<&R::input_matrix>) const { return of_matrix({ports(), v.t.vcs, 1}); }
  FLITLAB_HD auto shape(Of<&R::output_matrix>) const { return of_matrix({ports(), ports(), 1}); }

  FLITLAB_HD void form(Of<&RouterControl::flits>, u64& x, At at) const { sets(x, k.filled, at); }
  FLITLAB_HD void form(Of<&RouterControl::credits>, u64& x, At at) const { sets(x, k.credited, at); }
  FLITLAB_HD void form(Of<&RouterControl::granted>, u64& x, At at) const { sets(x, k.granted, at); }
  FLITLAB_HD void form(Of<&RouterControl::pending>, u64& x, At at) const {
    if (kLoad) return;  // from the stages of input VCs
    x = any_of(k.pending, S::allocation_delay_of(v.t), at);
  }
  FLITLAB_HD void form(Of<&RouterControl::taken>, u64& x, At at) const { sets(x, k.taken, at); }
  FLITLAB_HD void form(Of<&RouterControl::waiting>, u64& x, At at) const {
    if (kLoad) return;  // from the stages of input VCs
    u64 fresh, due;
    sets(fresh, k.fresh, at);
    sets(due, k.due, at);
    x = fresh | due | any_of(k.in_routing, S::routing_delay_of(v.t), at);
  }
  FLITLAB_HD void form(Of<&RouterControl::bids>, u64& x, At) const { constant(x, 0); }
  FLITLAB_HD void form(Of<&RouterControl::closed>, u32& x, At at) const {
    if constexpr (S::exact) {
      constant(x, 0);
    } else {
      const u32 first = at.position << v.t.set_shift;
      const u64 ports = (u64{1} << (1u << v.t.set_shift)) - 1;
      E& closed = element(k.closed);
      exchange(x, closed, closed | u64{x} << first, closed >> first & ports);
    }
  }
  FLITLAB_HD void form(Of<&RouterControl::fault>, u32& x, At at) const {
    if (!at.position) same(x, s.fault[index]);
  }

  FLITLAB_HD void form(Of<&R::flit_mail>, u64& x, At at) const {
    const u32 ahead = ahead_of(at.vc);
    for (u32 port = 8 * at.position; port < ports() && port < 8 * at.position + 8; ++port)
      arrival(reinterpret_cast<u8*>(&x)[port % 8], flit_to(port, ahead), ahead,
              port >= network_ports() ? v.t.inject_delay : link_delay_of(v.t, index, port));
  }
  FLITLAB_HD void form(Of<&R::credit_mail>, u64& x, At at) const {
    const u32 ahead = ahead_of(at.vc);
    for (u32 port = 8 * at.position; port < ports() && port < 8 * at.position + 8; ++port)
      arrival(reinterpret_cast<u8*>(&x)[port % 8], credit_to(port, ahead), ahead, credit_delay_of(v.t, index, port));
  }

  FLITLAB_HD void form(Of<&PortState::pick_vc>, u8& x, At at) const { pointer(x, k.first_vc[at.port]); }
  FLITLAB_HD void form(Of<&PortState::pick_input>, u8& x, At at) const { pointer(x, k.first_input[at.port]); }
  FLITLAB_HD void form(Of<&PortState::pick_output>, u8& x, [[maybe_unused]] At at) const {
    if constexpr (S::exact)
      constant(x, 0);
    else
      pointer(x, k.first_output[at.port]);
  }
  FLITLAB_HD void form(Of<&PortState::occupied>, u8& x, [[maybe_unused]] At at) const {
    if constexpr (S::exact)
      constant(x, 0);
    else
      same(x, element(k.occupied[at.port]));
  }
  FLITLAB_HD void form(Of<&R::input_matrix>, u32& x, At at) const {
    if constexpr (!S::exact) extended(x, k.input_matrix[at.port][at.vc]);
  }
  FLITLAB_HD void form(Of<&R::output_matrix>, u32& x, At at) const {
    if constexpr (!S::exact) extended(x, k.output_matrix[at.port][at.vc]);
  }
  FLITLAB_HD void form(Of<&PortState::flits_sent>, u32& x, At at) const {
    u32& before = s.flits_sent[std::size_t{index} * ports() + at.port];
    exchange(x, before, x, before + element(k.sent[at.port]));
  }

  FLITLAB_HD void form(Of<&InputVc::ready_at>, Cycle& x, At at) const {
    exchange(x, ready_at(at), x, stage_of(at) == VcState::kRouting ? route_known_at(at) : ready_at(at));
  }
  FLITLAB_HD void form(Of<&InputVc::flits>, u16& x, At at) const { counter(x, k.flits[at.port], at); }
  FLITLAB_HD void form(Of<&InputVc::left>, u16& x, At at) const { counter(x, k.left[at.port], at); }
  FLITLAB_HD void form(Of<&InputVc::packets>, u8& x, At at) const { counter(x, k.packets[at.port], at); }
  FLITLAB_HD void form(Of<&InputVc::first>, u8& x, At at) const {
    E& first = element(k.first[at.port][at.vc]);
    exchange(x, first, x, has(k.passed, at) ? next_position(first, v.t.ring) : first);
  }
  FLITLAB_HD void form(Of<&InputVc::out_port>, u8& x, At at) const { only_member(x, k.out_port[at.port][at.vc]); }
  FLITLAB_HD void form(Of<&InputVc::out_vc>, u8& x, At at) const { only_member(x, k.out_vc[at.port][at.vc]); }
  FLITLAB_HD void form(Of<&InputVc::stage>, VcState& x, At at) const {
    if (!kLoad) return static_cast<void>(x = stage_of(at));
    // `ready_at` is converted before `stage`, as in InputVc.
    const u32 routing_delay = S::routing_delay_of(v.t), allocation_delay = S::allocation_delay_of(v.t);
    const i32 ahead = static_cast<i32>(ready_at(at) - now);
    const bool fresh = x == VcState::kRouting && ahead == static_cast<i32>(routing_delay);
    const bool in_routing = x == VcState::kRouting && ahead >= 0 && !fresh;
    put(k.fresh, at, fresh);
    if (in_routing && routing_delay) put(k.in_routing[ready_at(at) % routing_delay], at, true);
    put(k.due, at, (x == VcState::kRouting || x == VcState::kWaiting) && !fresh && !in_routing);
    put(k.routed, at, x == VcState::kWaiting);
    put(k.heads, at, x == VcState::kHead);
    if (x == VcState::kHead && ahead >= 0 && allocation_delay)
      put(k.pending[ready_at(at) % allocation_delay], at, true);
  }
  FLITLAB_HD void form(Of<&InputVc::pick>, u8& x, At at) const { same(x, element(k.pick_out[at.port][at.vc])); }
  FLITLAB_HD void form(Of<&InputVc::allowed>, u16& x, At at) const { same(x, element(k.allowed[at.port][at.vc])); }

  FLITLAB_HD void form(Of<&OutputVc::credits>, u16& x, At at) const {
    counter(x, k.credits[at.port], at);
    if (kLoad) put(k.some_credits, at, x != 0);
  }
  FLITLAB_HD void form(Of<&OutputVc::owner>, u16& x, At at) const {
    E& owner = element(k.owner[at.port][at.vc]);
    exchange(x, owner, x == kNoOwner ? 0 : to_lanes(x), has(k.taken, at) ? from_lanes(owner) : kNoOwner);
  }
  /// A round-robin pointer over input VCs: one past the VC served last, initially 0.
  FLITLAB_HD void form(Of<&OutputVc::pick>, u16& x, At at) const {
    E& pick = element(k.pick_in[at.port][at.vc]);
    exchange(x, pick, x ? to_lanes(x - 1u) + 1 : 0, pick ? from_lanes(pick - 1u) + 1 : 0);
  }
  FLITLAB_HD void form(Of<&OutputVc::tail>, u8& x, At at) const { same(x, element(k.tail[at.port][at.vc])); }
  FLITLAB_HD void form(Of<&R::claim>, u16& x, At) const { constant(x, kNoOwner); }
  FLITLAB_HD void form(Of<&R::ring>, Packet& x, At at) const { same(x, queue(at.port, at.vc)[at.position]); }

  // Fields of a terminal. Lane state does not replace the records of closed loops, and the state of several
  // classes, traces and programs.
  using T = TerminalFields;
  FLITLAB_HD At shape(AnyOf<&T::flit_mail, &T::credit_mail>) const { return {1, 1, v.t.slot_mask + 1}; }
  FLITLAB_HD auto shape(Of<&T::control>) const { return of_terminals(At{1, 1, 1}); }
  FLITLAB_HD auto shape(AnyOf<&T::output, &T::first>) const { return of_terminals(At{1, v.t.vcs, 1}); }
  FLITLAB_HD auto shape(Of<&T::ring>) const { return of_terminals(At{1, v.t.vcs, v.t.ring}); }
  FLITLAB_HD auto shape(Of<&T::loop>) const { return of_loops(At{1, 1, 1}); }
  FLITLAB_HD auto shape(Of<&T::held>) const { return of_loops(At{1, v.t.vcs, 1}); }
  FLITLAB_HD NotInLanes shape(AnyOf<&T::source, &T::transaction, &T::reply, &T::trace, &T::program>) const {
    return {};
  }

  FLITLAB_HD void form(Of<&T::flit_mail>, u8& x, At at) const {
    const u32 ahead = ahead_of(at.position);
    arrival(x, s.terminal_flit(s.eject_flits, here(ahead), place(i)), ahead, v.t.eject_delay);
  }
  FLITLAB_HD void form(Of<&T::credit_mail>, u8& x, At at) const {
    const u32 ahead = ahead_of(at.position);
    arrival(x, CreditSlot<E>{&s.terminal_element(s.inject_credits, here(ahead), place(i))}, ahead,
            v.t.injection_credit_delay);
  }
  FLITLAB_HD void form(Of<&T::control>, TerminalControl& x, At at) const {
    same(x, s.terminal[place(i)]);
    if (kLoad) s.next_creation[place(i)] = x.next.at;
    if (kLoad) element(terminals().queued) = x.sent != x.created ? kAll : E{0};
    convert_members(PacketInInjection::pointers(), x.lane, at);
  }
  FLITLAB_HD void form(Of<&PacketInInjection::left>, u16& x, At at) const {
    same(x, element(at.port ? loops().left_to_send : terminals().left_to_send));
  }
  FLITLAB_HD void form(Of<&PacketInInjection::vc>, u8& x, At at) const {
    only_member(x, at.port ? loops().send_vc : terminals().send_vc);
  }
  FLITLAB_HD void form(Of<&PacketInInjection::pick>, u8& x, At at) const {
    vc_pointer(x, at.port ? loops().first_send_vc : terminals().first_send_vc);
  }
  /// The record stays in the scalar state's memory, except for these members.
  FLITLAB_HD void form(Of<&T::loop>, LoopControl& x, At at) const {
    if (kLoad) {
      const auto terminal = v.terminals[index * S::concentration_of(v.t) + i];
      s.next_creation[place(i)] = next_request(v, terminal.at(v.t.terminal_fields.control), x);
      s.next_reply[place(i)] = next_reply(v, terminal, x);
      element(loops().queued) = x.created ? kAll : E{0};
      element(loops().full) = accepts_request(v, x) ? E{0} : kAll;
    }
    at.port = 1;  // not the control's packet in injection
    convert_members(PacketInInjection::pointers(), x.lane, at);
    exchange(x.served, element(loops().replied), x.served ? kAll : E{0}, element(loops().replied) != 0);
    vc_pointer(x.take, loops().first_take);
  }
  FLITLAB_HD void form(Of<&T::held>, EjectionVc& x, At at) const {
    counter(x.flits, loops().held, at);
    counter(x.left, loops().left, at);
    if (!kLoad) return;
    const auto terminal = v.terminals[index * S::concentration_of(v.t) + i];
    const u32 first = terminal.at(v.t.terminal_fields.first, at.vc);
    if (!is_reply(terminal.at(v.t.terminal_fields.ring, at.vc * v.t.ring + first)))
      element(loops().requests) |= C::only(at.vc);
  }
  FLITLAB_HD void form(Of<&InjectionVc::credits>, u16& x, At at) const {
    counter(x, terminals().injection_credits, at);
  }
  FLITLAB_HD void form(Of<&InjectionVc::tail>, u8& x, At at) const {
    same(x, element(terminals().injection_tail[at.vc]));
  }
  FLITLAB_HD void form(Of<&T::first>, u8& x, At at) const { same(x, element(terminals().arriving_first[at.vc])); }
  FLITLAB_HD void form(Of<&T::ring>, Packet& x, At at) const { same(x, queue(ports() + i, at.vc)[at.position]); }

  // Forms of a number x in lane state.
  /// Stores x in lane state as `in_lanes`, or sets x to `in_scalar`, which are functions of x and of `place`.
  template <class X, class L, class InLanes, class InScalar>
  FLITLAB_HD void exchange(X& x, L& place, const InLanes& in_lanes, const InScalar& in_scalar) const {
    if constexpr (kLoad)
      place = static_cast<L>(in_lanes);
    else
      x = static_cast<X>(in_scalar);
  }
  /// The same number, perhaps with fewer bits.
  FLITLAB_HD void same(auto& x, auto& place) const { exchange(x, place, x, place); }
  /// The same set. Scalar state has more bits, all equal to the highest bit of an element, which is no member: they are
  /// 1 in a matrix arbiter until the first grant.
  FLITLAB_HD void extended(u32& x, Row& row) const {
    const E set = element(row);
    exchange(x, element(row), x, static_cast<i32>(static_cast<std::make_signed_t<E>>(set)));
  }
  /// No place in lane state, because between cycles it has this value.
  template <class X>
  FLITLAB_HD void constant(X& x, std::type_identity_t<X> value) const {
    if (!kLoad) x = value;
  }
  template <class X>
  FLITLAB_HD void counter(X& x, auto& counts, At at) const {
    if (kLoad)
      counts.set(lane, at.vc, x);
    else
      x = static_cast<X>(counts.get(lane, at.vc));
  }
  /// The set whose only member is x. An empty set stands for "no choice yet", which is 0 in scalar state.
  FLITLAB_HD void only_member(u8& x, Row& row) const {
    exchange(x, element(row), C::only(x), element(row) ? lowest_bit(u32{element(row)}) : 0);
  }
  /// A round-robin pointer, as the set of the indices at or above it. It may be one past the last index.
  FLITLAB_HD void pointer(u8& x, Row& row) const {
    exchange(x, element(row), ~u64{0} << x, lowest_bit(element(row) | u64{1} << 8 * sizeof(E)));
  }
  /// A round-robin pointer over virtual channels, which is 0 instead of one past the last one.
  FLITLAB_HD void vc_pointer(u8& x, Row& row) const {
    pointer(x, row);
    if (!kLoad && x == v.t.vcs) x = 0;
  }
  /// A flit or credit that arrives `ahead` cycles from now. Lane state overwrites slots but does not clear them
  /// (rows of senders), so slots beyond the delay hold flits that have arrived.
  FLITLAB_HD void arrival(u8& x, const auto& slot, u32 ahead, u32 delay) const {
    if (kLoad)
      slot.write(x);
    else
      x = ahead < delay ? slot.read() : u8{0};
  }
  /// Sets of virtual channels: a row for each port. `at.position`: word of the sets.
  FLITLAB_HD void sets(u64& x, Rows& rows, At at) const {
    if (!kLoad) x = 0;
    const u32 first = at.position << v.t.set_shift, end = first + (1u << v.t.set_shift);
    for (u32 port = first; port < ports() && port < end; ++port)
      if (kLoad)
        element(rows[port]) = static_cast<E>(vcs_of(v.t, x, port));
      else
        x |= u64{element(rows[port])} << bit_of(v.t, port, 0);
  }

  /// Returns the union of the first n rings' rows.
  template <u32 kRows>
  FLITLAB_HD u64 any_of(Rows (&rings)[kRows], u32 n, At at) const {
    u64 all = 0;
    for (u32 row = 0; row < kRows && row < n; ++row) {
      u64 set;
      sets(set, rings[row], at);
      all |= set;
    }
    return all;
  }

  // Places in lane state.
  FLITLAB_HD Terminals<C, S>& terminals() const { return s.terminals(index / C::lanes, i); }
  FLITLAB_HD Loops<C, S>& loops() const { return s.loops[s.row_of(index / C::lanes, i)]; }
  FLITLAB_HD u32 place(u32 terminal) const { return s.place_of(index / C::lanes, terminal, lane); }
  /// Returns the first cycle in which a packet whose route is computed has it.
  FLITLAB_HD Cycle route_known_at(At at) const {
    const u32 delay = S::routing_delay_of(v.t);
    if (has(k.fresh, at)) return now + delay;
    for (u32 ahead = 0; ahead < delay; ++ahead)
      if (has(k.in_routing[(now + ahead) % delay], at)) return now + ahead;
    return ready_at(at);
  }
  FLITLAB_HD u32 ports() const { return S::ports_of(v.t); }
  FLITLAB_HD u32 network_ports() const { return S::network_ports_of(v.t); }
  FLITLAB_HD E& element(Row& row) const { return lane_of(row, lane); }
  FLITLAB_HD bool has(Rows& rows, At at) const { return element(rows[at.port]) >> at.vc & 1; }
  FLITLAB_HD void put(Rows& rows, At at, bool member) const {
    E& set = element(rows[at.port]);
    set = static_cast<E>((set & ~C::only(at.vc)) | u32{member} << at.vc);
  }
  /// Returns the shape of a field that lane state replaces if it has terminals.
  static FLITLAB_HD auto of_terminals(At shape) {
    if constexpr (kLaneTerminals<typename V::Table>)
      return shape;
    else
      return NotInLanes{};
  }
  /// Returns the shape of a field of closed loops.
  FLITLAB_HD auto of_loops(At shape) const {
    if constexpr (kLaneTerminals<typename V::Table>)
      return v.t.mode == TrafficMode::kRequestReply ? shape : At{};
    else
      return NotInLanes{};
  }
  /// Returns the shape of a matrix, which is empty without matrix arbiters.
  FLITLAB_HD auto of_matrix([[maybe_unused]] At shape) const {
    if constexpr (S::exact)
      return NotInLanes{};
    else
      return v.t.arbiter == ArbiterKind::kMatrix ? shape : At{};
  }
  /// Returns how many cycles from now the flits in a slot of scalar state's inboxes arrive.
  FLITLAB_HD u32 ahead_of(u32 slot) const { return (slot - now) & v.t.slot_mask; }
  FLITLAB_HD u32 here(u32 ahead) const { return s.slot(now + ahead); }
  FLITLAB_HD const Peer& peer(u32 port) const { return v.t.peers[std::size_t{index} * ports() + port]; }
  /// Return the slot of the flit or credit that arrives at a port `ahead` cycles from now.
  FLITLAB_HD FlitSlot<E, FlitsOf<C, S>::planes> flit_to(u32 port, u32 ahead) const {
    if (port >= network_ports()) return s.terminal_flit(s.inject_flits, here(ahead), place(port - network_ports()));
    if (wiring.other_end) return {s.flit_row(here(ahead), port) + index, s.planes};
    const u32 slot = s.slot_of_arriving(now + ahead, link_delay_of(v.t, index, port));
    return {peer(port).item == kNone ? nullptr : s.flit_row(slot, peer(port).port) + peer(port).item, s.planes};
  }
  FLITLAB_HD CreditSlot<E> credit_to(u32 port, u32 ahead) const {
    if (port >= network_ports())
      return {&s.terminal_element(s.eject_credits, here(ahead), place(port - network_ports()))};
    if (wiring.other_end) return {s.credit_row(here(ahead), port) + index};
    const u32 slot = s.slot_of_arriving(now + ahead, credit_delay_of(v.t, index, port));
    return {peer(port).item == kNone ? nullptr : s.credit_row(slot, peer(port).port) + peer(port).item};
  }
  /// Convert the number of an input VC between scalar state, which numbers t.vcs VCs per port, and lane state, which
  /// numbers S::vcs per port.
  FLITLAB_HD u32 to_lanes(u32 flat) const { return flat / v.t.vcs * S::vcs + flat % v.t.vcs; }
  FLITLAB_HD u32 from_lanes(u32 flat) const { return flat / S::vcs * v.t.vcs + flat % S::vcs; }
  /// Returns the packet queue of (port, vc); with `port` = ports, the terminal's queue of arriving packets.
  FLITLAB_HD Packet* queue(u32 port, u32 vc) const {
    return &s.ring[queue_of<C, S>(v.t, index, port, vc) * S::descriptors(v.t.ring)];
  }
  FLITLAB_HD Cycle& ready_at(At at) const { return s.ready_at[queue_of<C, S>(v.t, index, at.port, at.vc)]; }
  FLITLAB_HD VcState stage_of(At at) const {
    if (has(k.fresh, at) || (has(k.due, at) && !has(k.routed, at))) return VcState::kRouting;
    for (u32 row = 0; row < S::routing_delay_of(v.t); ++row)
      if (has(k.in_routing[row], at)) return VcState::kRouting;
    if (has(k.due, at)) return VcState::kWaiting;
    if (has(k.heads, at)) return VcState::kHead;
    return has(k.granted, at) ? VcState::kBody : VcState::kIdle;
  }
};

}  // namespace flitlab::vc::lanes
