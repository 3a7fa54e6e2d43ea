#pragma once
/// Injection: route choices of software, free injection FIFOs, and their round-robin order.
#include "kernels/routers/bgl/calendar.hpp"
#include "kernels/routers/bgl/hints.hpp"
#include "kernels/routers/bgl/processor.hpp"
#include "kernels/routers/bgl/streams.hpp"
#include "kernels/traffic/injection.hpp"

namespace flitlab::bgl {

/// Returns the route word of packet `number` of a terminal: hint bits set by hardware or software, dynamic or
/// deterministic, priority, and reception group.
template <class V>
FLITLAB_INLINE u16 first_route(const V& v, u32 index, u32 number, u32 destination, u32 chunks) {
  const auto& t = v.t;
  const Random4 draws = philox(v.row->seed, bgl::stream::kPacket, index, number);
  const u32 ties = t.register_ties ? ties_by_registers(t, t.address[index]) : draws.word[0] >> 29;
  u32 route = minimal_hints(t, t.address[index], t.address[destination], ties);
  if (t.dynamic_threshold == kNone || draws.word[1] < t.dynamic_threshold) route |= kDynamic;
  if (draws.word[2] < t.priority_threshold) route = (route & ~u32{kDynamic}) | kHighPriority;
  if (draws.word[3] >> 31 && t.reception_groups == 2) route |= kSecondGroup;
  if ((t.dead_count | t.given_count) && destination != index)
    route = software_route(t, t.address[index], t.address[destination], route, draws.word[0] << 3);
  return static_cast<u16>(route | (chunks - 1) << kLengthShift);
}

/// Writes a packet into an injection FIFO and notifies the node, which sees it `injection_delay` cycles later.
template <class V, int W>
FLITLAB_INLINE void end_put(const V& v, const Item<W>& terminal, u32 index, u32 fifo, const Packet& packet, Cycle now) {
  const auto& t = v.t;
  InjectionFifo& state = terminal.at(t.software_fields.injection, fifo);
  const auto node = v.nodes[index];
  node.at(t.injection_fields.ring, fifo * t.injection_ring + state.tail) = packet;
  state.tail = static_cast<u8>(state.tail + 1u == t.injection_ring ? 0 : state.tail + 1);
  const Cycle first_request = now + t.injection_delay;
  node.at(t.node_fields.from_software, first_request & t.software_mask).put |= u64{1} << fifo;
  note(software_actions_at(v, index, first_request), index);
}

/// Reserves room and puts a packet into an injection FIFO. The FIFO must have room, and its processor must be idle.
template <class V, int W>
FLITLAB_INLINE void put(const V& v, const Item<W>& terminal, u32 index, u32 fifo, const Packet& packet, Cycle now) {
  const auto& t = v.t;
  u8& room = terminal.at(t.software_fields.injection, fifo).room;
  room = static_cast<u8>(room - packet.flits);
  if (t.processors)
    begin(v, terminal, index, processor_of_injection(t, fifo), kPuts, fifo, packet.flits, now).packet = packet;
  else
    end_put(v, terminal, index, fifo, packet, now);
}

/// Returns the injection FIFOs of a priority that have room for a packet and an idle processor.
template <class V, int W>
FLITLAB_INLINE u32 fifos_with_room(const V& v, const Item<W>& terminal, bool high, u32 chunks) {
  const auto& t = v.t;
  u32 set = 0;
  FLITLAB_ROLLED for (u32 f = high ? kNormalFifos : 0; f < (high ? kInjectionFifos : t.fifos); ++f) set |=
      u32{terminal.at(t.software_fields.injection, f).room >= chunks} << f;
  return set & injection_fifos_of_idle(v, terminal);
}

/// Returns the next FIFO of `set` in round-robin order, and advances the round-robin pointer if the FIFO is a normal
/// one.
template <class T>
FLITLAB_INLINE u32 next_fifo(const T& t, SoftwareControl& software, u32 set) {
  const u32 fifo = first_at_or_after(set, software.put);
  if (fifo < kNormalFifos) software.put = static_cast<u8>(fifo + 1 == t.fifos ? 0 : fifo + 1);
  return fifo;
}

}  // namespace flitlab::bgl
